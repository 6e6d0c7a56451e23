// Express with its query parser, cookie-parser and basic-auth.
'use strict';
const basicAuth = require('basic-auth');
const cookieParser = require('cookie-parser');
const express = require('express');

// All texts in a value, which may be a list or an object.
function texts(value) {
  if (value === undefined || value === null) return [];
  return typeof value === 'object' ? Object.values(value).flatMap(texts) : [String(value)];
}

function credentials(request) {
  const basic = basicAuth(request);
  if (basic) return [`basic ${basic.name}:${basic.pass}`];
  const [scheme, token] = (request.get('Authorization') || '').split(/\s+/);
  return token ? [`${scheme.toLowerCase()} ${token}`] : [];
}

function answer(handler, method) {
  return (request, response) => {
    const read = {
      handler,
      method,
      query: texts(request.query.api_key),
      cookie: texts(request.cookies.session_id),
      authorization: credentials(request),
    };
    const text = JSON.stringify(read).replace(
        /[^\x20-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
    response.set('X-Read', text).end();
  };
}

const app = express();
app.set('case sensitive routing', true);
app.use(cookieParser());
app.use('/graphql', answer('mount'));
app.all('/api/login', answer('login'));
for (const method of ['get', 'post', 'put', 'patch', 'delete', 'options']) {
  app[method]('/method', answer('other', method.toUpperCase()));
}
app.use(answer('other'));
app.use((error, request, response, next) => response.status(400).end());
app.listen(Number(process.argv[2]), '127.0.0.1');
