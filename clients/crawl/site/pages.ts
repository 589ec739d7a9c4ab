/**
 * Reads HTML pages in a small pool of processes. A process reads many pages, because starting one takes longer than
 * reading a page; it is replaced before its memory grows. A page that exceeds a limit ends only its own process.
 * Nothing is fetched here.
 */
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { z } from 'zod';
import { Unreadable, unreadableReasons, type UnreadableReason } from '../../../models/rules/base/unreadable.ts';
import type { PageJob } from './pages/child.ts';
import { maxPageLinks } from './pages/limits.ts';
import type { PageContent, PageInput } from './pages/read.ts';
import { abortable } from '../../base/abortable.ts';
import {
  deathOf,
  hold,
  residentMb,
  sandboxFlags,
  startSandboxed,
  watchMemory,
  type Sandboxed,
} from '../../base/sandbox.ts';

export type { PageContent, PageInput, PageLink } from './pages/read.ts';

export type PagesOptions = {
  /** Maximum number of processes; they are started on demand. */
  size?: number;
  /** Limit of resident memory of one process, in MiB. An idle one takes about 90. */
  memoryMb?: number;
  /** Wall-clock time limit for one page, in milliseconds. */
  timeoutMs?: number;
  /** A process is replaced after this many pages, or once it uses more than `restingMb` between pages. */
  pagesPerProcess?: number;
  restingMb?: number;
  /** A process is ended after this idle time, in milliseconds. */
  idleMs?: number;
  /** Our crawler's name, which pages may use in `<meta name>` and `X-Robots-Tag`. */
  agent?: string;
  /** The path of the built reading program (workers/readers.ts). Without it, the sources are run. */
  program?: string | undefined;
};

export type ReadPageOptions = { signal?: AbortSignal };

export type Pages = {
  /**
   * Reads the content of an HTML page. @throws `Unreadable` (timed_out, out_of_memory, crashed, too_deep,
   * too_much_text, too_wide, binary, broken), which must not be retried; the signal's reason; an ordinary error of the
   * process itself, which may be retried.
   */
  read(input: PageInput & { body: Buffer }, options?: ReadPageOptions): Promise<PageContent>;
  /** Ends every process; running and waiting reads fail. */
  close(): Promise<void>;
};

const entry = fileURLToPath(new URL('pages/child.ts', import.meta.url));
const code = [
  'clients/base/charset.ts',
  'clients/files/*',
  'clients/crawl/site/pages/*',
  'clients/base/background.ts',
  'clients/base/sandbox.ts',
  'models/rules/*',
];
/** Maximum size of a reply, in bytes of JSON: the text limit plus headings, escapes and links. */
const maxReplyBytes = 64 * 1024 * 1024;
/**
 * Limit of processor time of one process, in seconds. Processes are replaced long before, so only a hanging one reaches
 * it.
 */
const cpuSeconds = (timeoutMs: number): number => 120 + Math.ceil(timeoutMs / 1000) * 2;
const maxBusyMs = 60_000;
/** Time limit for a process to load its parsers. A loaded machine needs seconds. */
const startTimeoutMs = 60_000;

const page = z.object({
  title: z.string(),
  language: z.string().exactOptional(),
  canonical: z.string().exactOptional(),
  refresh: z.string().exactOptional(),
  noindex: z.boolean(),
  nofollow: z.boolean(),
  links: z.array(z.object({ url: z.string(), nofollow: z.boolean() })).max(maxPageLinks),
  chunks: z.array(z.object({ ordinal: z.int(), heading: z.string(), text: z.string() })),
  textLength: z.int(),
  contentHash: z.string().length(64),
  empty: z.boolean(),
});
const reasons = Object.keys(unreadableReasons) as [UnreadableReason, ...UnreadableReason[]];
const reply = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), page }),
  z.object({ ok: z.literal(false), reason: z.enum(reasons), detail: z.string() }),
]);

/** A reading process and the state of its current page. */
type Reader = {
  child: Sandboxed;
  /** The next line that the process writes; rejects when the process ends first. */
  nextLine(): Promise<string>;
  kill(why: unknown): void;
  /** Whether the process was killed or has ended. A killed process may still run for a moment. */
  over(): boolean;
  gone: Promise<void>;
  pages: number;
  busyMs: number;
  idle: NodeJS.Timeout | undefined;
};

function startReader(program: string, memoryMb: number, timeoutMs: number): Reader {
  const readable = program === entry ? code : [join(dirname(program), '*')];
  const child = startSandboxed(program, sandboxFlags(memoryMb, readable), { cpuSeconds: cpuSeconds(timeoutMs) });
  let parts: Buffer[] = [];
  let length = 0;
  let stderr = '';
  let verdict: unknown;
  let killed = false;
  let ended: { error: unknown } | undefined;
  let waiting: { resolve(line: string): void; reject(error: unknown): void } | undefined;
  const lines: string[] = [];
  const kill = (why: unknown): void => {
    verdict ??= why;
    killed = true;
    child.kill('SIGKILL');
  };
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > maxReplyBytes) return kill(new Unreadable('too_much_text'));
    if (part.at(-1) !== 10) return;
    const line = Buffer.concat(parts).toString('utf8');
    parts = [];
    length = 0;
    if (waiting) waiting.resolve(line);
    else lines.push(line);
    waiting = undefined;
  });
  child.stderr.on('data', (part: Buffer) => {
    stderr = (stderr + part.toString('utf8')).slice(-4_096);
  });
  // The `close` handler below reports the failure, so write errors are ignored.
  child.stdin.on('error', () => undefined);
  const gone = new Promise<void>((resolve) => {
    const end = (error: unknown): void => {
      ended ??= { error: verdict ?? error };
      waiting?.reject(ended.error);
      waiting = undefined;
      resolve();
    };
    child.once('error', end);
    child.once('close', (exitCode, signal) =>
      end(deathOf({ code: exitCode, signal, stderr }, 'the page reader') ?? new Error('the page reader ended early')),
    );
  });
  const nextLine = (): Promise<string> => {
    const line = lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    return new Promise((resolve, reject) => {
      if (ended) reject(ended.error);
      else waiting = { resolve, reject };
    });
  };
  const over = (): boolean => killed || child.exitCode !== null || child.signalCode !== null;
  return { child, nextLine, kill, over, gone, pages: 0, busyMs: 0, idle: undefined };
}

export function createPages(options: PagesOptions = {}): Pages {
  const { size = 1, memoryMb = 512, timeoutMs = 10_000, pagesPerProcess = 2_000, restingMb = 320 } = options;
  const { idleMs = 60_000, agent = '', program = entry } = options;
  const inTurn = pLimit(size);
  const resting: Reader[] = [];
  const alive = new Set<Reader>();
  let closed = false;

  const start = async (signal: AbortSignal | undefined): Promise<Reader> => {
    const reader = startReader(program, memoryMb, timeoutMs);
    alive.add(reader);
    reader.child.once('close', () => alive.delete(reader));
    await limited(reader, signal, startTimeoutMs, () => new Error('the page reader did not start in time'));
    return reader;
  };

  /**
   * Waits for the reader's next line. The time limit, the memory limit and the caller's signal each kill the process.
   */
  const limited = async (
    reader: Reader,
    signal: AbortSignal | undefined,
    ms: number,
    late: () => Error,
  ): Promise<string> => {
    const onAbort = (): void => reader.kill(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const clock = setTimeout(() => reader.kill(late()), ms);
    const unwatch = watchMemory(reader.child, memoryMb, () => reader.kill(new Unreadable('out_of_memory')));
    try {
      if (signal?.aborted) onAbort();
      return await reader.nextLine();
    } finally {
      clearTimeout(clock);
      unwatch();
      signal?.removeEventListener('abort', onAbort);
    }
  };

  const rest = (reader: Reader): void => {
    const worn = reader.pages >= pagesPerProcess || reader.busyMs >= maxBusyMs;
    if (closed || worn || (residentMb(reader.child.pid) ?? 0) > restingMb) return reader.kill(undefined);
    hold(reader.child, false);
    reader.idle = setTimeout(() => reader.kill(undefined), idleMs).unref();
    resting.push(reader);
  };

  const take = async (signal: AbortSignal | undefined): Promise<Reader> => {
    for (let reader = resting.pop(); reader; reader = resting.pop()) {
      clearTimeout(reader.idle);
      if (reader.over()) continue;
      hold(reader.child, true);
      return reader;
    }
    return start(signal);
  };

  /** Gives a page to a reader; returns its reply, a line of JSON. */
  const ask = async (
    { body, ...input }: PageInput & { body: Buffer },
    signal: AbortSignal | undefined,
  ): Promise<string> => {
    const reader = await take(signal);
    const began = performance.now();
    const job: PageJob = { length: body.length, input, agent: agent.toLowerCase() };
    try {
      reader.child.stdin.write(`${JSON.stringify(job)}\n`);
      reader.child.stdin.write(body);
      const line = await limited(reader, signal, timeoutMs, () => new Unreadable('timed_out'));
      reader.pages += 1;
      reader.busyMs += performance.now() - began;
      rest(reader);
      return line;
    } catch (error) {
      reader.kill(error);
      throw error;
    }
  };

  return {
    async read(input, { signal } = {}) {
      const asked = inTurn(async () => {
        signal?.throwIfAborted();
        if (closed) throw new Error('the page reader is closed');
        return ask(input, signal);
      });
      const line = await (signal === undefined ? asked : abortable(asked, signal));
      // This pause lets the next page go to a reader, which reads it while this reply is parsed.
      await setImmediate();
      const answer = reply.parse(JSON.parse(line));
      if (!answer.ok) throw new Unreadable(answer.reason, { cause: new Error(answer.detail) });
      return answer.page;
    },
    async close() {
      closed = true;
      const readers = [...alive];
      for (const reader of readers) {
        clearTimeout(reader.idle);
        hold(reader.child, true);
        reader.kill(new Error('the page reader is closed'));
      }
      await Promise.all(readers.map(({ gone }) => gone));
    },
  };
}
