// Express with its parser of JSON: of the types that it takes for JSON by default, and below /any of all. The field
// X-Read has the members `model` and `params.name`.
'use strict';
const express = require('express');

function answer(request, response) {
  const body = request.body;
  const read = {model: body?.model, name: body?.params?.name};
  const text = JSON.stringify(read).replace(
      /[^\x20-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
  response.set('X-Read', text).end();
}

const app = express();
app.use('/any', express.json({type: () => true, limit: '1mb'}));
app.use(express.json({limit: '1mb'}));
app.use(answer);
app.use((error, request, response, next) => response.status(400).end());
app.listen(Number(process.argv[2]), '127.0.0.1');
