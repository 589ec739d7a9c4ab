/** Uploads one file and waits until the document answers questions, with a progress bar at a terminal. */
import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Client } from './client.ts';
import { CliError } from './errors.ts';
import { createBar, size, visible, type Bar, type Output } from './output.ts';
import { documentReply, uploadReply, type document } from '../api/knowledge/contract/documents.ts';

type Document = z.infer<typeof document>;
export type Target = { client: Client; orgId: string; mode: 'test' | 'live' | undefined };
/**
 * The result for one file. `document` is missing when no document was stored. `error` is missing when the document
 * answers questions or is being processed.
 */
export type Added = { file: string; duplicate: boolean } & (
  { document: Document; error?: undefined } | { document?: Document; error: CliError }
);

/** The shortest and the longest interval of polling a document's status, in ms. Most documents are ready at once. */
const firstPollMs = 100;
const lastPollMs = 2_000;
/**
 * Time limit for processing, in ms. A worker gives up on a document much earlier. So a document that takes longer shows
 * that something else is wrong.
 */
const processingTimeoutMs = 15 * 60_000;

/**
 * What a command waits for. `uploaded`: the document is stored. `indexed`: the lexical search finds it. `meaning`: it
 * also has embeddings.
 */
export type Awaited = 'uploaded' | 'indexed' | 'meaning';
/** `wait` is true for `--wait`, false for `--no-wait`, and undefined without either. */
export const awaitedOf = (wait: boolean | undefined): Awaited =>
  wait === undefined ? 'indexed' : wait ? 'meaning' : 'uploaded';

/**
 * Uploads `file` and waits until the document has reached `given.until`. A failure is returned as a result, not thrown.
 */
export async function addDocument(
  target: Target,
  file: string,
  given: { segments?: string[]; authority?: string; until: Awaited },
  output: Output,
): Promise<Added> {
  const name = basename(file);
  let bar: Bar | undefined;
  let uploaded: z.infer<typeof uploadReply> | undefined;
  try {
    const blob = await openFile(file);
    const drawn = (bar = uploadBar(output, name, blob.size));
    const data = new FormData();
    if (given.segments !== undefined) data.append('segments', given.segments.join(','));
    if (given.authority !== undefined) data.append('authority', given.authority);
    // Control characters are not allowed in the header of a form's part; the server makes the rest of the name safe.
    // oxlint-disable-next-line no-control-regex -- control characters are what it replaces
    data.append('file', blob, name.replace(/[\u0000-\u001f\u007f]/g, '_'));
    uploaded = await target.client.request('POST', `/orgs/${target.orgId}/documents`, uploadReply, {
      query: { mode: target.mode },
      // The sent bytes include the parts of the form around the file, so they exceed the file's size at the end.
      form: { data, onSent: (bytes) => drawn.update(Math.min(bytes, blob.size)) },
    });
    drawn.update(blob.size, { state: 'processing' });
    const document = await waitFor(given.until, target, uploaded.document, output);
    const duplicate = uploaded.duplicate === true;
    bar.stop();
    if (document.status === 'failed')
      return failed(output, { file, duplicate, document, error: processingError(document) });
    const passages = document.status === 'indexed' ? `, ${document.chunk_count} passages` : '';
    output.say(`${name}: ${duplicate ? 'already there' : document.status}${passages}, ${document.doc_id}`);
    if (duplicate && differs(document, given)) {
      output.note(`${document.doc_id} keeps its segments and priority; change them with docs tag and docs authority.`);
    }
    return { file, duplicate, document };
  } catch (error) {
    bar?.stop();
    if (!(error instanceof CliError)) throw error;
    return failed(output, { file, duplicate: false, ...(uploaded ? { document: uploaded.document } : {}), error });
  }
}

function failed(output: Output, added: Added & { error: CliError }): Added {
  const { error, document } = added;
  const further = error.details.map(({ message }) => message).filter((message) => !error.message.includes(message));
  const sentences = new Set([error.message, ...further]);
  output.note(`${basename(added.file)}: failed: ${[...sentences].join(' ')}${document ? ` (${document.doc_id})` : ''}`);
  return added;
}

/** The error of a document with the status `failed`. */
export function processingError(document: Document): CliError {
  return new CliError(document.error ?? 'The document could not be read.', { code: 'PROCESSING_FAILED' });
}

/** Waits until the document has reached `until` or has failed; returns the document. */
export async function waitFor(until: Awaited, target: Target, document: Document, output: Output): Promise<Document> {
  if (until === 'uploaded') return document;
  const indexed = await poll(target, document, ({ status }) => status === 'indexed' || status === 'failed');
  if (until === 'indexed' || indexed.status === 'failed') return indexed;
  if (indexed.embedded_at === null && (await comparesNothing(target.client))) {
    output.note(
      `${target.client.url} compares nothing by meaning (EMBEDDING=off); ${document.doc_id} answers by its words.`,
    );
    return indexed;
  }
  return poll(target, indexed, ({ embedded_at }) => embedded_at !== null);
}

async function poll(
  { client, orgId, mode }: Target,
  document: Document,
  isReady: (document: Document) => boolean,
): Promise<Document> {
  const deadline = performance.now() + processingTimeoutMs;
  let current = document;
  for (let delay = firstPollMs; !isReady(current); delay = Math.min(delay * 1.5, lastPollMs)) {
    if (performance.now() > deadline) {
      const state = current.status === 'indexed' ? 'not found by meaning yet' : `still ${current.status}`;
      throw new CliError(`${document.doc_id} is ${state}; look again with docs list.`, { code: 'TIMEOUT' });
    }
    await wait(delay);
    const path = `/orgs/${orgId}/documents/${document.doc_id}`;
    current = (await client.request('GET', path, documentReply, { query: { mode } })).document;
  }
  return current;
}

const health = z.object({ embedding: z.object({ state: z.string() }) });

/** Whether the server reports that it has no embedding model. False when its report cannot be read. */
async function comparesNothing({ url }: Client): Promise<boolean> {
  try {
    const at = `${url.replace(/\/v1$/, '')}/health/ready`;
    const reply = await fetch(at, { redirect: 'manual', signal: AbortSignal.timeout(5_000) });
    return health.parse(await reply.json()).embedding.state === 'off';
  } catch {
    return false;
  }
}

/** A file as a Blob, which is read while it is sent. @throws CliError */
export async function openFile(file: string): Promise<Blob> {
  try {
    if (!(await stat(file)).isFile()) throw new CliError('This is not a file.', { code: 'FILE' });
    return await openAsBlob(file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const known: Record<string, string> = { ENOENT: 'There is no such file.', EACCES: 'You may not read this file.' };
    throw new CliError(known[code ?? ''] ?? message, { code: 'FILE', cause: error });
  }
}

function differs(document: Document, given: { segments?: string[]; authority?: string }): boolean {
  const segments = given.segments !== undefined && given.segments.join() !== document.segments.join();
  return segments || (given.authority !== undefined && given.authority !== document.authority);
}

/** A progress bar for the bytes sent, then the server's processing in words. */
function uploadBar(output: Output, name: string, bytes: number): Bar {
  const shown = visible(name);
  const file = shown.length > 40 ? `${shown.slice(0, 39)}…` : shown;
  const format = `[{bar}] {percentage}% of ${size(bytes)}  {state}  {file}`;
  return createBar(output, format, bytes, { state: 'uploading', file });
}
