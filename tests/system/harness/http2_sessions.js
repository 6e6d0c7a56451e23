// A client of node:http2: some hundred streams on one session, of which some are cancelled.
//   node http2_sessions.js URL      answers with {"status": count, ...} as JSON
const http2 = require('http2');

const session = http2.connect(process.argv[2]);
const found = {};
const count = (what) => (found[what] = (found[what] ?? 0) + 1);

function ask(i) {
  return new Promise((done) => {
    const body = i % 3 === 0 ? 'x'.repeat(i * 100) : null;
    const stream = session.request({ ':path': `/${i}`, ':method': body === null ? 'GET' : 'POST' });
    let got = 0;
    stream.on('response', (headers) => {
      count(headers[':status']);
      if (i % 7 === 0) stream.close(http2.constants.NGHTTP2_CANCEL);
    });
    stream.on('data', (piece) => (got += piece.length));
    stream.on('error', () => count('error'));
    stream.on('close', () => done(got));
    stream.end(body ?? undefined);
  });
}

Promise.all(Array.from({ length: 300 }, (_, i) => ask(i))).then((sizes) => {
  found.whole = sizes.filter((n) => n === 20000).length;
  session.close(() => console.log(JSON.stringify(found)));
});
