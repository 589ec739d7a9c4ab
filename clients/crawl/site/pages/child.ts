/**
 * The process that reads pages one after the other. On stdin it gets a line of JSON and the page's bytes; on stdout it
 * writes one line of JSON. It has no environment, may read only code, and keeps nothing of a page.
 */
import type { Reply } from '../../../base/reply.ts';
import { reasonOf } from '../../../base/sandbox.ts';
import { readPage, type PageInput } from './read.ts';

/** The header that the parent sends before each page: the number of bytes that follow, and the input of the reader. */
export type PageJob = { length: number; input: PageInput; agent: string };

function answer({ input, agent }: PageJob, body: Buffer): Reply {
  try {
    return { ok: true, result: readPage(body, input, agent) };
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : 'not an error';
    return { ok: false, reason: reasonOf(error), detail: detail.slice(0, 300) };
  }
}

const write = (line: string): Promise<void> => new Promise((resolve) => process.stdout.write(line, () => resolve()));

/** A sample page for warm-up: it makes Node compile the reader and Readability before the first page arrives. */
const sample = Buffer.from(`<title>a</title><div>${'<p>One two, three. <a href="/b">Four</a></p>'.repeat(60)}</div>`);
answer({ length: sample.length, input: { url: 'http://a.example/' }, agent: '' }, sample);
await write('ready\n');

let parts: Buffer[] = [];
let length = 0;
let job: PageJob | undefined;
for await (const part of process.stdin as AsyncIterable<Buffer>) {
  parts.push(part);
  length += part.length;
  if (!job) {
    const head = Buffer.concat(parts);
    const end = head.indexOf(10);
    if (end === -1) continue;
    job = JSON.parse(head.toString('utf8', 0, end)) as PageJob;
    parts = [head.subarray(end + 1)];
    length -= end + 1;
  }
  if (length < job.length) continue;
  const body = Buffer.concat(parts);
  const asked = job;
  parts = [];
  length = 0;
  job = undefined;
  await write(`${JSON.stringify(answer(asked, body))}\n`);
}
