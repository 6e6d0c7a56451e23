// A headless Chromium: runs pieces of JavaScript, a line of JSON on stdin each, with `page` (a page of
// puppeteer-core), `browser` and `axe` (the source of axe-core); answers with {"value"} or {"error"}.
//   node page_browser.js CHROMIUM PROFILE ARGUMENT...
const fs = require('fs');
const readline = require('readline');
const puppeteer = require('puppeteer-core');

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const Script = Object.getPrototypeOf(async () => {}).constructor;

async function main() {
  const [executablePath, userDataDir, ...more] = process.argv.slice(2);
  const browser = await puppeteer.launch({
    executablePath, userDataDir, headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...more],
  });
  const page = await browser.newPage();
  const heard = [];
  page.on('console', (m) => ['error', 'warn'].includes(m.type()) && heard.push(m.text()));
  page.on('pageerror', (e) => heard.push(String(e)));
  page.on('dialog', (d) => heard.push(`dialog: ${d.message()}`) && d.dismiss());
  page.on('request', (r) => heard.requests?.push(r.url()));
  process.stdout.write('{"value": "ready"}\n');
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      const { script, given } = JSON.parse(line);
      const value = await new Script('page', 'browser', 'axe', 'heard', 'given', script)(page, browser, axe, heard, given);
      answer = { value: value ?? null };
    } catch (e) {
      answer = { error: String(e.stack ?? e) };
    }
    process.stdout.write(JSON.stringify(answer) + '\n');
  }
  await browser.close();
}

main();
