/**
 * The process that reads one file and exits. On stdin it gets a line of JSON and the file's bytes; on stdout it writes
 * one line of JSON. It has no environment and may read only code. It ends with its parent and never reads a second
 * file.
 */
import { toChunks } from '../../models/rules/knowledge/chunks.ts';
import { type FileType } from '../../models/rules/knowledge/document.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { Reply } from '../base/reply.ts';
import { reasonOf } from '../base/sandbox.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { readers, type ReadableType } from './readers.ts';

/** The parent's request: `chunks` (with the document's `title`), the `blocks`, or the content of a mail. */
export type FileJob = { maxBytes: number; limits: Limits } & (
  { type: ReadableType; want: 'blocks' | 'chunks'; title: string } | { want: 'mail' }
);

/**
 * The whole input; undefined when the parent ended without a request. `onJob` is called as soon as the request has
 * arrived.
 */
async function readInput(onJob: () => void): Promise<{ job: FileJob; bytes: Buffer } | undefined> {
  const parts: Buffer[] = [];
  let job: FileJob | undefined;
  let length = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (!job) {
      const line = Buffer.concat(parts);
      const end = line.indexOf(10);
      if (end === -1) continue;
      job = JSON.parse(line.toString('utf8', 0, end)) as FileJob;
      onJob();
      parts.splice(0, parts.length, line.subarray(end + 1));
      length = line.length - end - 1;
    }
    if (length > job.maxBytes) throw new Unreadable('too_large');
  }
  return job && { job, bytes: Buffer.concat(parts) };
}

/**
 * A sample for warm-up. It contains every common Markdown construct, because Node compiles the code for a construct
 * when it is first used. A small file then waits 15 ms less than after a sample of a few words, and 35 ms less than
 * without any sample.
 */
const sample = Buffer.from(`# A

One. See [two](https://a.example/b "C"), **three**, \`*4#\`; *max.* 5,000 € (\\$6). Dr. Ü said: "Is it?" – e.g. now.

1. Five <b>six</b>
   - seven

   Eight.
2. ~~Nine~~

> A &amp; b
> c

## B

| c | d |
|:--|--:|
| **e** | \`1\` |

- [x] f
- [g][h] i@a.example <https://a.example> https://a.example j\x20\x20
  k

\`\`\`
l
\`\`\`

    m

![n](o.png)
***

[h]: https://a.example/p 'Q'

R
-

<div><p>S</p></div>
`);

/**
 * The file types whose readers an idle process has loaded and warmed up. The readers of DOCX and XLSX take a third of
 * the processor time of a start, so they are loaded only for such a file. A DOCX or XLSX waits 40 to 90 ms for its
 * reader.
 */
const prepared = ['csv', 'md', 'txt'] as const satisfies readonly FileType[];

/** Loads and warms up readers until a request arrives. */
async function prepare(busy: () => boolean): Promise<void> {
  for (const type of prepared) {
    // Yields to the event loop, so that an arriving request is noticed.
    await new Promise((resolve) => setImmediate(resolve));
    if (busy()) return;
    const read = await readers[type]();
    toChunks((await read(sample, defaultLimits)).list);
  }
}

async function resultOf(job: FileJob, bytes: Buffer): Promise<unknown> {
  if (job.want === 'mail') return (await import('./mail.ts')).readMail(bytes, job.limits);
  const read = await readers[job.type]();
  const { list } = await read(bytes, job.limits);
  const chunks = toChunks(list, { title: job.title });
  return job.want === 'chunks' ? chunks : list;
}

async function answer(): Promise<Reply | undefined> {
  let asked = false;
  const reading = readInput(() => {
    asked = true;
  });
  // The promise is awaited below. Until then, this handler prevents an unhandled rejection.
  reading.catch(() => undefined);
  await prepare(() => asked);
  try {
    const input = await reading;
    if (!input) return undefined;
    return { ok: true, result: await resultOf(input.job, input.bytes) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const detail = cause instanceof Error ? `${cause.name}: ${cause.message}` : 'not an error';
    return { ok: false, reason: reasonOf(error), detail: detail.slice(0, 300) };
  }
}

const reply = await answer();
// The newline marks the end of the reply, so the parent does not wait for this process to exit.
if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`, () => process.exit(0));
