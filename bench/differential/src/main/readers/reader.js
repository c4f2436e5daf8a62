// Reads forms with a parser of Node: reader.js busboy|fastify-busboy|undici|formidable. What goes in and out: README.md.
'use strict';
const { Readable } = require('node:stream');
const fs = require('node:fs');

function busboy() {
  // It gives a field as text in the charset that its Content-Type says; the bytes are wanted.
  const utils = require('busboy/lib/utils.js');
  utils.convertToUTF8 = (data, charset, hint) =>
    typeof data === 'string' ? Buffer.from(data, 'latin1').toString(charset === 'utf-8' || hint ? 'utf8' : 'latin1') : data.latin1Slice(0, data.length);
  const make = require('busboy');
  return (contentType, body) => new Promise((resolve, reject) => {
    const parts = [];
    const parser = make({ headers: { 'content-type': contentType }, defParamCharset: 'utf8' });
    parser.on('field', (name, value) => parts.push([name, null, [Buffer.from(value, 'latin1')]]));
    parser.on('file', (name, stream, info) => {
      const chunks = [];
      parts.push([name, info.filename, chunks]);
      stream.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    });
    parser.on('close', () => resolve(parts)).on('error', reject).end(body);
  });
}

function fastifyBusboy() {
  const Busboy = require('@fastify/busboy');
  return (contentType, body) => new Promise((resolve, reject) => {
    const parts = [];
    // Every part as bytes: a field's text would be in the charset that its Content-Type says.
    const parser = new Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => true });
    parser.on('file', (name, stream, filename) => {
      const chunks = [];
      parts.push([name, filename, chunks]);
      stream.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    });
    parser.on('finish', () => resolve(parts)).on('error', reject).end(body);
  });
}

function undici() {
  const { Response } = require('undici');
  return async (contentType, body) => {
    const parts = [];
    const form = await new Response(body, { headers: { 'content-type': contentType } }).formData();
    for (const [name, value] of form) {
      const file = typeof value !== 'string';
      parts.push([name, file ? value.name : null, [Buffer.from(file ? await value.arrayBuffer() : value)]]);
    }
    return parts;
  };
}

function formidable() {
  const { formidable: make } = require('formidable');
  return async (contentType, body) => {
    const parts = [];
    const request = Readable.from([body], { objectMode: false });
    request.headers = { 'content-type': contentType, 'content-length': String(body.length) };
    const form = make({ allowEmptyFiles: true, minFileSize: 0, maxFields: 0 });
    form.onPart = (part) => {
      const chunks = [];
      parts.push([part.name, part.originalFilename, chunks]);
      part.on('data', (chunk) => chunks.push(chunk));
    };
    await form.parse(request);
    return parts;
  };
}

function packed(value) {
  if (value === null || value === undefined) {
    return Buffer.from([0xff, 0xff, 0xff, 0xff]);
  }
  const data = Buffer.isBuffer(value) ? value : Buffer.from(value);
  const size = Buffer.alloc(4);
  size.writeInt32BE(data.length);
  return Buffer.concat([size, data]);
}

function readFully(size) {
  const data = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const count = fs.readSync(0, data, at, size - at, null);
    if (count === 0) {
      return null;
    }
    at += count;
  }
  return data;
}

function write(data) {
  for (let at = 0; at < data.length; ) {
    at += fs.writeSync(1, data, at);
  }
}

async function main() {
  const read = { busboy, 'fastify-busboy': fastifyBusboy, undici, formidable }[process.argv[2]]();
  const library = process.argv[2].replace('fastify-', '@fastify/');
  write(packed(require(`${__dirname}/node_modules/${library}/package.json`).version));
  for (let header; (header = readFully(4)) !== null; ) {
    const batch = readFully(header.readInt32BE());
    const answers = [];
    for (let at = 0; at < batch.length; ) {
      const texts = [];
      for (let i = 0; i < 2; i++) {
        const end = at + 4 + batch.readInt32BE(at);
        texts.push(batch.subarray(at + 4, end));
        at = end;
      }
      let timer;
      // One of them never ends where it does not find an end.
      const late = new Promise((resolve, reject) => { timer = setTimeout(() => reject(new Error('no end')), 5000); });
      try {
        const parts = await Promise.race([read(texts[0].toString(), texts[1]), late]);
        answers.push(Buffer.from([1]), Buffer.from(Uint32Array.of(parts.length).buffer).reverse());
        parts.forEach(([name, filename, chunks]) => answers.push(packed(name), packed(filename), packed(Buffer.concat(chunks))));
      } catch (e) {
        answers.push(Buffer.from([0]), packed(String(e).slice(0, 200)));
      }
      clearTimeout(timer);
    }
    write(packed(Buffer.concat(answers)));
  }
}

process.on('uncaughtException', (e) => { console.error(e); process.exit(1); });
main();
