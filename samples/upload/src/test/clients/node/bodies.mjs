// Sends bodies unchanged, one after the other, with Node's fetch or its HTTP/2 client. See ../README.md.
import { readFile } from 'node:fs/promises';
import { connect } from 'node:http2';

const job = JSON.parse(await readFile(process.argv[2], 'utf8'));
const session = job.http2 ? connect(job.root, { rejectUnauthorized: false }) : null;

async function byFetch(path, type, body) {
  const answer = await fetch(new URL(path, job.root), { method: 'POST', headers: { 'Content-Type': type }, body });
  return { status: answer.status, body: await answer.text() };
}

function byStream(path, type, body) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type });
    const answer = { status: 0, body: '' };
    stream.setEncoding('utf8');
    stream.on('response', (headers) => (answer.status = headers[':status']));
    stream.on('data', (text) => (answer.body += text));
    stream.on('end', () => resolve(answer));
    stream.on('error', reject);
    stream.end(body);
  });
}

const answers = [];
for (const { path, type, file } of job.bodies) {
  answers.push(await (job.http2 ? byStream : byFetch)(path, type, await readFile(file)));
}
session?.close();
console.log(JSON.stringify(answers));
