// Reads forms with a parser of Node: reader.js busboy|@fastify/busboy|undici|formidable|multer|multiparty|@remix-run/multipart-parser.
// The README of the suite describes the protocol.
'use strict';
const { Readable } = require('node:stream');
const fs = require('node:fs');

// busboy decodes a field in the charset of its Content-Type. The comparison needs the bytes.
function keepBytes() {
  const utils = require('busboy/lib/utils.js');
  utils.convertToUTF8 = (data, charset, hint) =>
    typeof data === 'string' ? Buffer.from(data, 'latin1').toString(charset === 'utf-8' || hint ? 'utf8' : 'latin1') : data.latin1Slice(0, data.length);
}

function web(body) {
  return new ReadableStream({
    start(to) {
      body.forEach((chunk) => to.enqueue(chunk));
      to.close();
    },
  });
}

function busboy() {
  keepBytes();
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
    parser.on('close', () => resolve(parts)).on('error', reject);
    body.forEach((chunk) => parser.write(chunk));
    parser.end();
  });
}

function fastifyBusboy() {
  const Busboy = require('@fastify/busboy');
  return (contentType, body) => new Promise((resolve, reject) => {
    const parts = [];
    // Handles every part as a file, because a field would be decoded in the charset of its Content-Type.
    const parser = new Busboy({ headers: { 'content-type': contentType }, isPartAFile: () => true });
    parser.on('file', (name, stream, filename) => {
      const chunks = [];
      parts.push([name, filename, chunks]);
      stream.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    });
    parser.on('finish', () => resolve(parts)).on('error', reject);
    body.forEach((chunk) => parser.write(chunk));
    parser.end();
  });
}

function undici() {
  const { Response } = require('undici');
  return async (contentType, body) => {
    const parts = [];
    const form = await new Response(web(body), { headers: { 'content-type': contentType } }).formData();
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
    const form = make({ allowEmptyFiles: true, minFileSize: 0, maxFields: 0 });
    form.onPart = (part) => {
      const chunks = [];
      parts.push([part.name, part.originalFilename, chunks]);
      part.on('data', (chunk) => chunks.push(chunk));
    };
    await form.parse(request(contentType, body));
    return parts;
  };
}

// A request like the one that Node's HTTP server passes to a parser.
function request(contentType, body) {
  const chunks = body.values();
  const from = new Readable({ read() { this.push(chunks.next().value ?? null); } });
  from.headers = { 'content-type': contentType, 'content-length': String(body.reduce((sum, chunk) => sum + chunk.length, 0)) };
  return from;
}

function multer() {
  keepBytes();
  let parts;
  // multer keeps fields and files in two objects. This function records their order.
  require.cache[require.resolve('append-field')] = {
    exports: (store, name, value) => parts.push([name, null, [Buffer.from(value, 'latin1')]]),
  };
  const storage = {
    _handleFile(from, file, done) {
      const chunks = [];
      parts.push([file.fieldname, file.originalname, chunks]);
      file.stream.on('data', (chunk) => chunks.push(chunk)).on('end', () => done(null, {})).on('error', done);
    },
    _removeFile: (from, file, done) => done(null),
  };
  const make = require('multer');
  const read = make({ storage, defParamCharset: 'utf8', limits: { fieldSize: Infinity } }).any();
  return (contentType, body) => new Promise((resolve, reject) => {
    parts = [];
    read(request(contentType, body), {}, (error) => error ? reject(error) : resolve(parts));
  });
}

function multiparty() {
  const { Form } = require('multiparty');
  return (contentType, body) => new Promise((resolve, reject) => {
    const parts = [];
    const form = new Form();
    form.on('part', (part) => {
      const chunks = [];
      parts.push([part.name, part.filename, chunks]);
      part.on('data', (chunk) => chunks.push(chunk)).on('error', reject);
    });
    form.on('close', () => resolve(parts)).on('error', reject);
    form.parse(request(contentType, body));
  });
}

function remix() {
  return async (contentType, body) => {
    const { parseMultipartRequest } = await import('@remix-run/multipart-parser');
    const headers = { 'content-type': contentType };
    const from = new Request('http://a/', { method: 'POST', body: web(body), headers, duplex: 'half' });
    const parts = [];
    for await (const part of parseMultipartRequest(from, { maxFileSize: 1e9, maxHeaderSize: 1e6 })) {
      parts.push([part.name, part.filename, part.content]);
    }
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

// A library may make the pipe non-blocking, so a synchronous write could fail.
function write(data) {
  return new Promise((resolve) => process.stdout.write(data, resolve));
}

async function main() {
  const library = process.argv[2];
  const readers = { busboy, '@fastify/busboy': fastifyBusboy, undici, formidable, multer, multiparty, '@remix-run/multipart-parser': remix };
  const read = readers[library]();
  await write(packed(require(`${__dirname}/node_modules/${library}/package.json`).version));
  for (let header; (header = readFully(4)) !== null; ) {
    const batch = readFully(header.readInt32BE());
    const answers = [];
    for (let at = 0; at < batch.length; ) {
      const start = at + 4 + batch.readInt32BE(at);
      const type = batch.toString('utf8', at + 4, start);
      at = start + 8 + batch.readInt32BE(start + 4);
      const size = batch.readInt32BE(start) || batch.length;
      const chunks = [];
      for (let from = start + 8; from < at; from += size) {
        chunks.push(batch.subarray(from, Math.min(from + size, at)));
      }
      let idle;
      // Some parsers wait forever for a missing close-delimiter. Node then has nothing left to do.
      const late = new Promise((resolve, reject) => { idle = () => reject(new Error('no end')); });
      process.once('beforeExit', idle);
      try {
        const parts = await Promise.race([read(type, chunks), late]);
        answers.push(Buffer.from([1]), Buffer.from(Uint32Array.of(parts.length).buffer).reverse());
        parts.forEach(([name, filename, chunks]) => answers.push(packed(name), packed(filename), packed(Buffer.concat(chunks))));
      } catch (e) {
        answers.push(Buffer.from([0]), packed(String(e).slice(0, 200)));
      }
      process.removeListener('beforeExit', idle);
    }
    await write(packed(Buffer.concat(answers)));
  }
}

process.on('uncaughtException', (e) => { console.error(e); process.exit(1); });
main();
