/**
 * Reads uploaded files. Each file is read in a separate, single-use process without environment, file access or
 * knowledge of other files. The process is killed at its limits, so a hostile file is refused with a reason and harms
 * nothing else.
 * This file must not run a parser in the caller's process. `sniffFile` only reads a file's head, its archive directory
 * and the start of one entry.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { openPromise, type Entry, type ZipFile } from 'yauzl';
import { z } from 'zod';
import type { Block, CutChunk } from '../../models/rules/knowledge/chunks.ts';
import {
  detectFileType,
  documentTitle,
  isZip,
  maxFileBytes,
  type FileType,
} from '../../models/rules/knowledge/document.ts';
import { headBytes, Unreadable } from '../../models/rules/base/unreadable.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import type { FileJob } from './child.ts';
import { defaultLimits, maxMailBytes, type Limits } from './limits.ts';
import { mailContent, type ReadMail } from './mailformat.ts';
import type { ReadableType } from './readers.ts';
import { resultIn } from '../base/reply.ts';
import { createReaders, hold, limited, type Reader } from '../base/sandbox.ts';

export type FilesOptions = {
  /** Limit of resident memory of one reading process, in MiB. An idle process takes about 100 MiB. */
  memoryMb?: number;
  /** Wall-clock time limit for one file, in milliseconds. */
  timeoutMs?: number;
  /** For a file that is read in the background, the time limit is multiplied by this factor. */
  patience?: number;
  /**
   * The number of idle processes kept ready with warmed-up text parsers, so that a small file does not wait for a
   * start.
   */
  spares?: number;
  limits?: Partial<Limits>;
  /** Maximum number of files read concurrently; unlimited by default. */
  atOnce?: number;
  /** Limit of processor time for one PDF, in seconds. */
  pdfSeconds?: number;
  /** The path of the program that workers/readers.ts builds. Without it, the TypeScript sources are run. */
  program?: string | undefined;
};

export type ReadOptions = {
  signal?: AbortSignal;
  /** Reads at low priority and does not use the processes that are kept ready. */
  background?: boolean;
};

export type Files = {
  /**
   * The blocks of a file, from a path or a stream of its bytes. @throws `Unreadable`, which must not be retried; the
   * signal's reason; an ordinary error of the process itself, which may be retried.
   */
  extract(source: Readable | string, type: ReadableType, options?: ReadOptions): Promise<Block[]>;
  /**
   * The chunks of a file. Chunking runs in the reading process too, so that the caller's thread stays free. Throws like
   * `extract`.
   */
  chunk(source: Readable | string, type: FileType, options?: ReadOptions & { filename?: string }): Promise<CutChunk[]>;
  /** Parses a mail from its bytes. Throws like `extract`. */
  mail(source: Readable, options?: ReadOptions): Promise<ReadMail>;
  /** Ends every process, idle or busy; running reads fail. */
  close(): Promise<void>;
};

/**
 * Limits for a process that reads a PDF: `dataKb` of memory, `heapMb` of JavaScript's heap, `text` in characters. The
 * kernel enforces `dataKb`, because a small PDF can allocate any amount of memory outside that heap at once. An
 * ordinary PDF needs 0.2 s and 150 MiB (measured).
 */
const pdfBounds = { dataKb: 700 * 1024, heapMb: 192, text: 200_000 } as const;
/** The share of a process's memory limit that `sandboxFlags` gives to JavaScript's heap. */
const heapShare = 0.75;

const entry = fileURLToPath(new URL('child.ts', import.meta.url));
/**
 * The delay before a replacement process is started, in ms. A start takes about 300 ms of processor time. The further
 * processing of the current document takes about as long and must not be slowed down.
 */
const refillAfterMs = 300;
/** Maximum size of a reply, in bytes of JSON: the text limit plus column names and escapes. */
const maxReplyBytes = 128 * 1024 * 1024;
const replies = {
  blocks: z.array(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('heading'), level: z.int().min(1).max(6), text: z.string() }),
      z.object({ kind: z.literal('text'), text: z.string(), item: z.boolean().exactOptional() }),
      z.object({ kind: z.literal('row'), table: z.string(), cells: z.array(z.tuple([z.string(), z.string()])) }),
    ]),
  ),
  chunks: z.array(z.object({ ordinal: z.int(), heading: z.string(), text: z.string() })),
};

/**
 * Watches the transfer of the source to the process. The returned function is for a failed transfer: it tells whether
 * the source failed before the process stopped reading.
 */
function watchFeed(source: Readable, sink: Writable): () => boolean {
  let first: 'source' | 'sink' | undefined;
  source.once('error', () => (first ??= 'source'));
  source.once('close', () => {
    if (!source.readableEnded) first ??= 'source';
  });
  for (const event of ['error', 'close']) sink.once(event, () => (first ??= 'sink'));
  return () => first === 'source';
}

export function createFiles(options: FilesOptions = {}): Files {
  const { memoryMb = 512, timeoutMs = 30_000, patience = 4, spares = 1, pdfSeconds = 8, program } = options;
  const seconds = Math.ceil(timeoutMs / 1000);
  const limits: Limits = { ...defaultLimits, ...options.limits };
  const readers = createReaders({ entry, program, maxReplyBytes, who: 'the file reader' });
  const ready: Reader[] = [];

  const start = (strict: boolean, background = false): Reader =>
    strict
      ? readers.start(pdfBounds.heapMb / heapShare, { cpuSeconds: pdfSeconds, dataKb: pdfBounds.dataKb }, background)
      : readers.start(memoryMb, { cpuSeconds: background ? seconds : seconds * 2 + 10 }, background);
  const refill = (): void => {
    if (readers.closed()) return;
    for (let missing = spares - ready.length; missing > 0; missing -= 1) {
      const reader = start(false);
      hold(reader.child, false);
      ready.push(reader);
    }
  };
  const take = (): Reader => {
    for (let reader = ready.shift(); reader; reader = ready.shift()) if (!reader.over()) return reader;
    return start(false);
  };

  const limit = options.atOnce === undefined ? undefined : pLimit(options.atOnce);
  const run = (source: Readable | string, job: FileJob, options: ReadOptions): Promise<unknown> =>
    limit ? limit(() => readOne(source, job, options)) : readOne(source, job, options);

  const readOne = async (source: Readable | string, job: FileJob, options: ReadOptions): Promise<unknown> => {
    const { signal, background = false } = options;
    if (readers.closed()) throw new Error('the file reader is closed');
    signal?.throwIfAborted();
    // A PDF needs strict kernel limits on memory and processor time. The idle processes were started without them, so a
    // PDF always gets a new process.
    const strict = job.want !== 'mail' && job.type === 'pdf';
    const reader = background || strict ? start(strict, background) : take();
    const { child } = reader;
    hold(child, true);
    // In the background a file may wait long for a free core. That is not the file's fault, so this time limit gives an
    // ordinary `Error`. `cpuSeconds` limits the processor time of the file itself.
    const time = background
      ? { ms: timeoutMs * patience, late: () => new Error('the file reader got too little processor time') }
      : { ms: timeoutMs, late: () => new Unreadable('timed_out') };
    try {
      const bytes = typeof source === 'string' ? createReadStream(source) : source;
      child.stdin.write(`${JSON.stringify(job)}\n`);
      const sourceFailed = watchFeed(bytes, child.stdin);
      const feed = pipeline(bytes, child.stdin).catch((error: unknown) => {
        // When the process stopped reading, its reply or exit gives the reason. When the source failed, the process is
        // killed, so that a partial source never counts as the file.
        if (sourceFailed()) reader.kill(error);
      });
      const line = await limited(reader, { signal, ...time, memoryMb }).finally(() => {
        // A process that replied early (for a file that is too large) reads no more. So the bytes that it has not read
        // are dropped.
        child.stdin.destroy();
        return feed;
      });
      reader.throwIfKilled();
      return resultIn(line);
    } finally {
      reader.kill();
      hold(child, false);
      // The replacement process starts only after this file and a delay. So its start slows down neither this file nor
      // the processing of the file's chunks.
      setTimeout(refill, refillAfterMs).unref();
    }
  };

  refill();
  const base = { maxBytes: maxFileBytes, limits };
  return {
    async extract(source, type, options = {}) {
      const bounds = type === 'pdf' ? { ...limits, maxTextCharacters: pdfBounds.text } : limits;
      const job: FileJob = { ...base, limits: bounds, type, want: 'blocks', title: '' };
      return replies.blocks.parse(await run(source, job, options));
    },
    async chunk(source, type, { filename = '', ...options } = {}) {
      const title = documentTitle(filename);
      return replies.chunks.parse(await run(source, { ...base, type, want: 'chunks', title }, options));
    },
    async mail(source, options = {}) {
      return mailContent.parse(await run(source, { maxBytes: maxMailBytes, limits, want: 'mail' }, options));
    },
    close: () => readers.close(),
  };
}

/** At most this many names of an archive's directory are read to detect the type. */
const maxSniffedEntries = 5_000;

/** At most this many bytes of `[Content_Types].xml` are unpacked: the main part is named in its first lines. */
const maxContentTypesBytes = 256 * 1024;

type Directory = { names: string[]; contentTypes: string };

async function readBeginning(zip: ZipFile, entry: Entry): Promise<string> {
  const stream = await zip.openReadStreamPromise(entry);
  let text = '';
  for await (const piece of stream.setEncoding('latin1') as AsyncIterable<string>) {
    text += piece;
    if (text.length > maxContentTypesBytes) break;
  }
  return text;
}

/**
 * The entries of a ZIP file's directory; undefined when the directory is unreadable. Unpacks only the start of one
 * entry.
 */
async function readDirectory(path: string): Promise<Directory | undefined> {
  const zip = await openPromise(path, { autoClose: false, decodeStrings: true }).catch(() => undefined);
  if (!zip) return undefined;
  // Closing the file may fail after the result is known; that error is ignored.
  zip.on('error', () => undefined);
  try {
    const names: string[] = [];
    let types: Entry | undefined;
    for await (const entry of zip.eachEntry()) {
      names.push(entry.fileName);
      if (entry.fileName === '[Content_Types].xml') types ??= entry;
      if (names.length >= maxSniffedEntries) break;
    }
    // The entry may be encrypted or damaged; the result then has no content types.
    const contentTypes = types ? await readBeginning(zip, types).catch(() => '') : '';
    return { names, contentTypes };
  } catch {
    return undefined;
  } finally {
    zip.close();
  }
}

type Detect<T> = (head: Uint8Array, filename: string, zipEntries?: readonly string[], contentTypes?: string) => T;

/**
 * The type of an uploaded file, detected from its head, its archive directory and its filename. @throws Problem
 * VALIDATION (empty), TOO_LARGE (over 25 MiB) or UNSUPPORTED_FILE_TYPE, each with a detail on `file`.
 */
export const sniffFile = (path: string, filename: string): Promise<FileType> => sniff(path, filename, detectFileType);

/**
 * Detects a file's type like `sniffFile`, but with the caller's rule: `detect` gets the file's head, the filename, and
 * the archive's entries.
 */
export async function sniff<T>(path: string, filename: string, detect: Detect<T>): Promise<T> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > maxFileBytes) {
      const message = 'The file is larger than 25 MiB; split it into smaller files.';
      throw new Problem('TOO_LARGE', { message, details: [{ path: ['body', 'file'], message }] });
    }
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, headBytes)), 0, undefined, 0);
    const head = buffer.subarray(0, bytesRead);
    const directory = isZip(head) ? await readDirectory(path) : undefined;
    return detect(head, filename, directory?.names, directory?.contentTypes);
  } finally {
    await file.close();
  }
}
