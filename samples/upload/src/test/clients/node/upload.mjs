// Sends forms with Node's fetch and FormData. See ../README.md.
import { readFile } from 'node:fs/promises';
import { File } from 'node:buffer';
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(await readFile(line, 'utf8'));
  const form = new FormData();
  for (const part of job.parts) {
    if (part.file === undefined) {
      form.append(part.name, part.text);
    } else {
      form.append(part.name, new File([await readFile(part.file)], part.filename, { type: part.type }));
    }
  }
  const answer = await fetch(job.url, { method: 'POST', body: form });
  console.log(JSON.stringify({ status: answer.status, body: await answer.text() }));
}
