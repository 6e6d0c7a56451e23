// An HTTP/2 server of node:http2, by prior knowledge: http2_server.js PORT
// It answers with the request as JSON, or as the path says:
//   /sized/N       N bytes    /status/N   that status, without content
//   /hints         103 first  /trailers   the request's trailers, behind the body
//   /count         the bytes of the request's body
"use strict";
const http2 = require("node:http2");

const server = http2.createServer({ maxSendHeaderBlockLength: 1 << 20 });
let sessions = 0;

server.on("session", () => ++sessions);
server.on("stream", (stream, headers) => {
  let size = 0;
  let trailers = {};
  stream.on("data", (piece) => (size += piece.length));
  stream.on("trailers", (found) => (trailers = found));
  stream.on("error", () => {});
  stream.on("end", () => {
    const [, what, argument] = headers[":path"].split("/");
    if (what === "sized") {
      stream.respond({ ":status": 200 });
      stream.end(Buffer.alloc(Number(argument), "x"));
    } else if (what === "status") {
      stream.respond({ ":status": Number(argument) }, { endStream: true });
    } else if (what === "hints") {
      stream.additionalHeaders({ ":status": 103, link: "</a.css>" });
      stream.respond({ ":status": 200 });
      stream.end("ok");
    } else if (what === "trailers") {
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": String(size), "x-up": trailers["x-up"] ?? "none" }));
      stream.end("ok");
    } else if (what === "count") {
      stream.respond({ ":status": 200, "content-type": "text/plain" });
      stream.end(String(size));
    } else {
      stream.respond({ ":status": 200, "content-type": "application/json" });
      stream.end(JSON.stringify({ headers, sessions }));
    }
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.error("listening"));
