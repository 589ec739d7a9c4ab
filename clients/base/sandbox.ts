/**
 * Starts and watches processes that parse untrusted input. They have no environment, may read only the code that they
 * need, and have limits on memory and processor time. clients/files/files.ts and clients/crawl/site/pages.ts choose
 * what these processes parse. The processes load this file too, so it imports little, and not zod.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { inBackground, patientNiceness, stepBack } from './background.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';

type Sandboxed = ChildProcessByStdio<Writable, Readable, Readable>;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The interval of memory checks, in milliseconds. Between two checks a process can grow by about 30 MiB. */
const memoryPollMs = 25;

/**
 * Node's flags for a sandboxed process. The process may read `code` and the packages. It may not start a process or a
 * thread, and may not load native code. `code`: paths relative to the project's root or absolute; a `*` at the end
 * includes everything below the path. Node 24 cannot restrict the network; with an empty environment the process has no
 * secret to send.
 */
export function sandboxFlags(memoryMb: number, code: readonly string[]): string[] {
  return [
    '--permission',
    ...[...code, 'node_modules/*', 'package.json'].map((path) => `--allow-fs-read=${resolve(root, path)}`),
    `--max-old-space-size=${Math.max(64, Math.floor(memoryMb * 0.75))}`,
    '--disallow-code-generation-from-strings',
    '--no-warnings',
  ];
}

export type KernelLimits = {
  /** The kernel ends the process after this much processor time. */
  cpuSeconds: number;
  /**
   * Maximum memory the process may allocate, in KiB, including memory outside JavaScript's heap. Node needs about 600
   * MiB to start. Enforced on Linux.
   */
  dataKb?: number;
};

/** Runs `entry` with `flags` and the kernel's limits (Windows has none). `background`: runs it at low priority. */
function startSandboxed(
  entry: string,
  flags: readonly string[],
  { cpuSeconds, dataKb }: KernelLimits,
  { background = false }: { background?: boolean } = {},
): Sandboxed {
  const stdio = ['pipe', 'pipe', 'pipe'] as ['pipe', 'pipe', 'pipe'];
  const options = { env: {}, cwd: root, stdio, ...(background ? inBackground : {}) };
  if (process.platform === 'win32') return spawn(process.execPath, [...flags, entry], options);
  // The kernel enforces these limits even when this process is gone. They are memory, processor time, no core dump, and
  // being killed first when the machine runs out of memory. The soft time limit ends the child with SIGXCPU, so
  // `deathOf` can tell it from an operator's kill.
  const time = `ulimit -S -t ${cpuSeconds}; ulimit -H -t ${cpuSeconds + 2}`;
  const data = dataKb === undefined ? '' : `ulimit -d ${dataKb} 2>/dev/null; `;
  const limits = `ulimit -c 0; ${data}${time}; { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$0" "$@"`;
  const child = spawn('/bin/sh', ['-c', limits, process.execPath, ...flags, entry], options);
  if (background) stepBack(child.pid, patientNiceness);
  return child;
}

/**
 * While `held`, the child keeps this process alive; otherwise this process may exit although the child still runs. A
 * child is held while it works.
 */
export function hold(child: Sandboxed, held: boolean): void {
  for (const part of [child, child.stdin as Socket, child.stdout as Socket, child.stderr as Socket]) {
    if (held) part.ref();
    else part.unref();
  }
}

/** Resident memory of a process in MiB, read from /proc (about 30 µs); undefined where /proc does not exist. */
export function residentMb(pid: number | undefined): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  } catch {
    return undefined;
  }
}

/** Calls `onOver` when a process uses more than `memoryMb`. The returned function ends the watch. */
function watchMemory(child: Sandboxed, memoryMb: number, onOver: () => void): () => void {
  const watch = setInterval(() => {
    const mb = residentMb(child.pid);
    if (mb !== undefined && mb > memoryMb) onOver();
  }, memoryPollMs);
  return () => clearInterval(watch);
}

type Ended = { code: number | null; signal: NodeJS.Signals | null; stderr: string };

/** Signals that mean the process crashed. An operator's kill uses other signals. */
const ownDeaths = new Set<string>(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGABRT', 'SIGTRAP', 'SIGFPE']);

/**
 * Interprets the end of a process for the input that it was reading. `Unreadable` (out_of_memory, timed_out, crashed)
 * means that the input is at fault. An ordinary `Error` means that the input is not at fault and a retry may help.
 * Undefined when the process ended normally. `who` names the process in the error.
 */
function deathOf({ code, signal, stderr }: Ended, who: string): Error | undefined {
  if (/heap out of memory|Allocation failed|out of memory|bad_alloc/i.test(stderr))
    return new Unreadable('out_of_memory');
  if (signal === 'SIGXCPU') return new Unreadable('timed_out');
  if (signal && ownDeaths.has(signal)) return new Unreadable('crashed', { cause: new Error(stderr) });
  if (code === 0) return undefined;
  return new Error(`${who} ended with ${signal ?? code}: ${stderr.trim().slice(-500)}`);
}

export type Reader = {
  child: Sandboxed;
  /** The next line that the process writes; rejects when the process ends first. */
  nextLine(): Promise<string>;
  /**
   * Ends the process. `why`: the error with which `nextLine` then rejects. Without `why` that error tells how the
   * process ended.
   */
  kill(why?: unknown): void;
  /** Throws the reason for which the process was killed, if there is one. */
  throwIfKilled(): void;
  /** Whether the process was killed or has ended. A killed process may still run for a moment. */
  over(): boolean;
  gone: Promise<void>;
};

/** `maxReplyBytes`: the process is ended when it writes a longer line. `who` names the process in errors. */
type ReaderOptions = { maxReplyBytes: number; who: string; background?: boolean };

function startReader(
  program: string,
  flags: readonly string[],
  limits: KernelLimits,
  { maxReplyBytes, who, background = false }: ReaderOptions,
): Reader {
  const child = startSandboxed(program, flags, limits, { background });
  let parts: Buffer[] = [];
  let length = 0;
  let stderr = '';
  let verdict: unknown;
  let killed = false;
  let ended: { error: unknown } | undefined;
  let waiting: { resolve(line: string): void; reject(error: unknown): void } | undefined;
  const lines: string[] = [];
  const kill = (why?: unknown): void => {
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
    child.on('error', end);
    child.once('close', (code, signal) =>
      end(deathOf({ code, signal, stderr }, who) ?? new Error(`${who} ended early`)),
    );
  });
  return {
    child,
    nextLine() {
      const line = lines.shift();
      if (line !== undefined) return Promise.resolve(line);
      return new Promise((resolve, reject) => {
        if (ended) reject(ended.error);
        else waiting = { resolve, reject };
      });
    },
    kill,
    throwIfKilled() {
      if (verdict !== undefined) throw verdict;
    },
    over: () => killed || child.exitCode !== null || child.signalCode !== null,
    gone,
  };
}

/** The source files that every sandboxed program may read. They are needed only when the program runs from source. */
const sharedCode = [
  'clients/base/background.ts',
  'clients/base/charset.ts',
  'clients/base/sandbox.ts',
  'clients/files/*',
  'models/rules/*',
];

type ReadersOptions = Omit<ReaderOptions, 'background'> & { entry: string; program: string | undefined };

/**
 * The processes that run one program: the built file `program`, or the source file `entry` if there is no built file.
 */
export function createReaders({ entry, program = entry, ...options }: ReadersOptions) {
  const readable = [join(dirname(program), '*'), ...(program === entry ? sharedCode : [])];
  const alive = new Set<Reader>();
  let closed = false;
  return {
    start(memoryMb: number, limits: KernelLimits, background = false): Reader {
      const reader = startReader(program, sandboxFlags(memoryMb, readable), limits, { ...options, background });
      alive.add(reader);
      void reader.gone.then(() => alive.delete(reader));
      return reader;
    },
    closed: () => closed,
    /** Ends every process, idle or busy. `why`: see `Reader.kill`. */
    async close(why?: unknown): Promise<void> {
      closed = true;
      const readers = [...alive];
      for (const reader of readers) {
        hold(reader.child, true);
        reader.kill(why);
      }
      await Promise.all(readers.map(({ gone }) => gone));
    },
  };
}

/** `late` makes the error for a process that takes longer than `ms`. */
export type ReadLimits = { signal: AbortSignal | undefined; ms: number; late(): Error; memoryMb: number };

/** Waits for the reader's next line. The time limit, the memory limit and the caller's signal each kill the process. */
export async function limited(reader: Reader, { signal, ms, late, memoryMb }: ReadLimits): Promise<string> {
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
}

/**
 * The reason why an input could not be parsed. A missing permission is a defect of this program, so that error is
 * rethrown.
 */
export function reasonOf(error: unknown): Unreadable['reason'] {
  if (error instanceof Unreadable) return error.reason;
  // Some parsers wrap a stack overflow into an ordinary error.
  if (error instanceof Error && /call stack/i.test(error.message)) return 'too_deep';
  // Every other RangeError means a string or buffer too large to allocate.
  if (error instanceof RangeError) return 'out_of_memory';
  if (error instanceof Error && 'code' in error && error.code === 'ERR_ACCESS_DENIED') throw error;
  return 'broken';
}
