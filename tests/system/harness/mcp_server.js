// A server of the Model Context Protocol by its own SDK, over HTTP: mcp_server.js PORT
// Its tools `search` and `fetch` say in `_meta.usage.tokens` what they have cost. Below /json it answers with JSON,
// elsewhere with events.
"use strict";
const http = require("node:http");
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const costs = { search: 7, fetch: 40 };

function made() {
  const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" };
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: Object.keys(costs).map((name) => ({ name, inputSchema })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => ({
    content: [{ type: "text", text: `${params.name} is done` }],
    _meta: { usage: { tokens: costs[params.name] } },
  }));
  return server;
}

http.createServer(async (request, response) => {
  const server = made();
  const enableJsonResponse = request.url.startsWith("/json");
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
  response.on("close", () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), "127.0.0.1", () => console.error("listening"));
