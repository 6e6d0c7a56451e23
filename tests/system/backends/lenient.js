// Express as it routes by default: without regard to letter case and a slash at the end.
'use strict';
const express = require('express');

function answer(handler) {
  return (request, response) => {
    response.set('X-Read', JSON.stringify({handler}));
    const {password} = request.body || {};
    if (password === undefined) return response.end();
    const right = password === 'right';
    if (request.is('json')) return response.status(right ? 200 : 401).end();
    return right ? response.redirect(302, '/welcome') : response.end('wrong');
  };
}

const app = express();
app.use(express.urlencoded({extended: false}), express.json());
for (const path of process.env.PATHS.split(' ')) {
  if (path.startsWith('=')) app.all(path.slice(1), answer(path));
  else app.use(path, answer(path));
}
app.use(answer('other'));
app.use((error, request, response, next) => response.status(400).end());
app.listen(Number(process.argv[2]), '127.0.0.1');
