// Plain Node before the URL standard: url.parse and querystring, the path decoded and then
// normalised as servers of files do, the cookie by a regular expression.
'use strict';
const http = require('http');
const path = require('path');
const querystring = require('querystring');
const url = require('url');

function handlerOf(name) {
  if (name === '/api/login') return 'login';
  return name === '/graphql' || name.startsWith('/graphql/') ? 'mount' : 'other';
}

function credentials(field) {
  const found = /^\s*(\S+)\s+(\S+)/.exec(field || '');
  if (!found) return [];
  const scheme = found[1].toLowerCase();
  return [scheme + ' ' + (scheme === 'basic' ? Buffer.from(found[2], 'base64').toString('latin1') : found[2])];
}

function read(request) {
  const target = url.parse(request.url);
  const cookie = /(?:^|;\s*)session_id\s*=\s*([^;]*)/.exec(request.headers.cookie || '');
  return {
    handler: handlerOf(path.posix.normalize(decodeURIComponent(target.pathname))),
    method: request.method,
    query: [querystring.parse(target.query).api_key].flat().filter((value) => value),
    cookie: cookie ? [querystring.unescape(cookie[1])] : [],
    authorization: credentials(request.headers.authorization),
  };
}

http.createServer((request, response) => {
  try {
    const text = JSON.stringify(read(request)).replace(
        /[^\x20-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
    response.writeHead(200, {'X-Read': text, 'Content-Length': 0});
  } catch {  // no encoding, no URL
    response.writeHead(400, {'Content-Length': 0});
  }
  response.end();
}).listen(Number(process.argv[2]), '127.0.0.1');
