// Plain Node: the target by the URL standard, the cookie and the credentials by hand, as many
// programs do.
'use strict';
const http = require('http');

function handlerOf(path) {
  if (path === '/api/login') return 'login';
  return path === '/graphql' || path.startsWith('/graphql/') ? 'mount' : 'other';
}

function cookie(field) {
  const pairs = (field || '').split(';').map((pair) => pair.trim().split('='));
  const found = pairs.find(([name]) => name === 'session_id');
  return found && decodeURIComponent(found.slice(1).join('='));
}

function credentials(field) {
  const [scheme, rest] = (field || '').split(' ');
  if (!rest) return undefined;
  const basic = scheme.toLowerCase() === 'basic';
  return scheme.toLowerCase() + ' ' + (basic ? Buffer.from(rest, 'base64').toString('latin1') : rest);
}

function list(value) {
  return value === undefined || value === null ? [] : [value];
}

const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://backend.test');
  const read = {
    handler: handlerOf(url.pathname),
    method: request.method,
    query: list(url.searchParams.get('api_key')),
    cookie: list(cookie(request.headers.cookie)),
    authorization: list(credentials(request.headers.authorization)),
  };
  const text = JSON.stringify(read).replace(
      /[^\x20-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  response.writeHead(200, {'X-Read': text, 'Content-Length': 0});
  response.end();
});
// A target or an encoding that it cannot read ends in an error; the server stays.
process.on('uncaughtException', () => server.closeAllConnections());
server.listen(Number(process.argv[2]), '127.0.0.1');
