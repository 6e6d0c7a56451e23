// Node's HTTP server with its strict parser. Tells what it read: GET on the second port takes
// away the list of all requests and errors since the last one.
'use strict';
const http = require('http');

let seen = [];

const strict = {insecureHTTPParser: false, keepAliveTimeout: 0};
const reader = http.createServer(strict, (request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('error', () => {});  // cut short: 'clientError' or nothing tells of it
  request.on('end', () => {
    seen.push({
      method: request.method,
      target: request.url,
      fields: request.rawHeaders,
      body: Buffer.concat(pieces).toString('latin1'),
    });
    const answer = 'read ' + request.url;
    response.writeHead(200, {'Content-Length': Buffer.byteLength(answer)});
    response.end(answer);
  });
});

reader.on('clientError', (error, socket) => {
  seen.push({error: error.code || String(error), packet: String(error.rawPacket)});
  socket.destroy();
});

const reporter = http.createServer((request, response) => {
  const report = JSON.stringify(seen);
  seen = [];
  response.writeHead(200, {'Content-Length': Buffer.byteLength(report)});
  response.end(report);
});

reader.listen(0, '127.0.0.1', () => reporter.listen(0, '127.0.0.1', () => {
  console.error('ports', reader.address().port, reporter.address().port);
}));
