// A client of the Model Context Protocol by its own SDK: mcp_client.js URL TOOL...
// It lists the tools, calls each TOOL, and prints what came of the calls, as JSON.
"use strict";
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

async function main() {
  const [url, ...names] = process.argv.slice(2);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { reconnectionOptions: { maxRetries: 0 } }));
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const results = [];
  for (const name of names) {
    results.push(await client.callTool({ name, arguments: {} }, undefined, { timeout: 5000 }).then(
        (result) => ({ text: result.content[0].text, tokens: result._meta?.usage?.tokens }),
        (error) => ({ error: error.constructor.name, code: error.code, message: error.message, data: error.data ?? null })));
  }
  console.log(JSON.stringify({ tools, results }));
  await client.close();
}
main();
