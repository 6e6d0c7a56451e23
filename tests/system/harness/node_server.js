// An HTTP server that answers after a moment: node_server.js PORT WORKERS. With workers, a primary
// process accepts connections for them (node:cluster).
"use strict";
const cluster = require("node:cluster");
const http = require("node:http");

const [port, workers] = process.argv.slice(2).map(Number);

if (workers > 0 && cluster.isPrimary) {
  let listening = 0;
  cluster.on("listening", () => {
    if (++listening === workers) {
      console.error("listening");
    }
  });
  for (let i = 0; i < workers; ++i) {
    cluster.fork();
  }
} else {
  const answer = (request, response) => setTimeout(() => response.end("ok"), 2);
  http.createServer(answer).listen(port, "127.0.0.1", () => {
    if (!cluster.isWorker) {
      console.error("listening");
    }
  });
}
