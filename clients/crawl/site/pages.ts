/**
 * Reads HTML pages in a small pool of processes. A process reads many pages, because starting a process takes longer
 * than reading a page. It is replaced after `pagesPerProcess` pages, or when its memory has grown. A page that exceeds
 * a limit ends only its own process. This file fetches nothing.
 */
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { Unreadable } from '../../../models/rules/base/unreadable.ts';
import type { PageJob } from './pages/child.ts';
import { pageContent, type PageContent } from './pages/content.ts';
import type { PageInput } from './pages/read.ts';
import { abortable } from '../../base/abortable.ts';
import { resultIn } from '../../base/reply.ts';
import { createReaders, hold, limited, residentMb, type Reader } from '../../base/sandbox.ts';

export type { PageContent, PageInput };

export type PagesOptions = {
  /** Maximum number of processes; they are started on demand. */
  size?: number;
  /** Limit of resident memory of one process, in MiB. An idle process takes about 90 MiB. */
  memoryMb?: number;
  /** Wall-clock time limit for one page, in milliseconds. */
  timeoutMs?: number;
  /** A process is replaced after this many pages, or once it uses more than `restingMb` between pages. */
  pagesPerProcess?: number;
  restingMb?: number;
  /** A process is ended after this idle time, in milliseconds. */
  idleMs?: number;
  /** The crawler's name, which pages may use in `<meta name>` and `X-Robots-Tag` to address this crawler. */
  agent?: string;
  /** The path of the program that workers/readers.ts builds. Without it, the TypeScript sources are run. */
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
/** Maximum size of a reply, in bytes of JSON: the text limit plus headings, escapes and links. */
const maxReplyBytes = 64 * 1024 * 1024;
/**
 * Limit of processor time of one process, in seconds. A process is replaced after 60 s of work (`maxBusyMs`), so only a
 * hanging process reaches this limit.
 */
const cpuSeconds = (timeoutMs: number): number => 120 + Math.ceil(timeoutMs / 1000) * 2;
const maxBusyMs = 60_000;
/** Time limit for a process to load its parsers, in ms. A busy machine needs seconds. */
const startTimeoutMs = 60_000;

/**
 * A reading process. `pages`: the number of pages it has read. `busyMs`: the time it has worked. `idle`: the timer that
 * ends it when it stays idle.
 */
type PageReader = Reader & { pages: number; busyMs: number; idle: NodeJS.Timeout | undefined };

export function createPages(options: PagesOptions = {}): Pages {
  const { size = 1, memoryMb = 512, timeoutMs = 10_000, pagesPerProcess = 2_000, restingMb = 320 } = options;
  const { idleMs = 60_000, agent = '', program } = options;
  const inTurn = pLimit(size);
  const readers = createReaders({ entry, program, maxReplyBytes, who: 'the page reader' });
  const resting: PageReader[] = [];

  const start = async (signal: AbortSignal | undefined): Promise<PageReader> => {
    const started = readers.start(memoryMb, { cpuSeconds: cpuSeconds(timeoutMs) });
    const reader: PageReader = { ...started, pages: 0, busyMs: 0, idle: undefined };
    const late = (): Error => new Error('the page reader did not start in time');
    await limited(reader, { signal, ms: startTimeoutMs, late, memoryMb });
    return reader;
  };

  const rest = (reader: PageReader): void => {
    const worn = reader.pages >= pagesPerProcess || reader.busyMs >= maxBusyMs;
    if (readers.closed() || worn || (residentMb(reader.child.pid) ?? 0) > restingMb) return reader.kill();
    hold(reader.child, false);
    reader.idle = setTimeout(() => reader.kill(), idleMs).unref();
    resting.push(reader);
  };

  const take = async (signal: AbortSignal | undefined): Promise<PageReader> => {
    for (let reader = resting.pop(); reader; reader = resting.pop()) {
      clearTimeout(reader.idle);
      if (reader.over()) continue;
      hold(reader.child, true);
      return reader;
    }
    return start(signal);
  };

  /** Gives a page to a reading process and returns the reply of that process, a line of JSON. */
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
      const line = await limited(reader, { signal, ms: timeoutMs, late: () => new Unreadable('timed_out'), memoryMb });
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
        if (readers.closed()) throw new Error('the page reader is closed');
        return ask(input, signal);
      });
      const line = await (signal === undefined ? asked : abortable(asked, signal));
      // This pause lets the next waiting page go to the free reading process, which reads it while this process parses
      // the reply.
      await setImmediate();
      return pageContent.parse(resultIn(line));
    },
    async close() {
      for (const { idle } of resting) clearTimeout(idle);
      await readers.close(new Error('the page reader is closed'));
    },
  };
}
