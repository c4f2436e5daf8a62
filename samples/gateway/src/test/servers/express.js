// An application of Express with multer. It prints its port, and responds to a form with the parts that it finds. The README describes the response.
'use strict';
const { createHash } = require('node:crypto');
const express = require('express');
const multer = require('multer');

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

// multer turns names with brackets into objects and arrays.
function fields(name, value) {
  if (Array.isArray(value)) {
    return value.flatMap((each) => fields(`${name}[]`, each));
  }
  return typeof value === 'string'
    ? [[name, '-', sha256(value)]]
    : Object.entries(value).flatMap(([key, each]) => fields(`${name}[${key}]`, each));
}

const app = express();
app.post('/', multer({ defParamCharset: 'utf8' }).any(), (request, response) => {
  const parts = Object.entries(request.body).flatMap(([name, value]) => fields(name, value));
  parts.push(...request.files.map((file) => [file.fieldname, file.originalname, sha256(file.buffer)]));
  parts.unshift([request.headers['content-length'] ?? 'chunked']);
  response.type('text/plain').send(parts.map((part) => part.join('\t')).join('\n'));
});
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
