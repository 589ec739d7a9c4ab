/**
 * Starts and watches processes that parse untrusted input. They have no environment, may read only the code that they
 * need, and have limits on memory and processor time. This file does not know what is parsed; clients/files/files.ts
 * and clients/crawl/site/pages.ts do.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { inBackground, patientNiceness, stepBack } from './background.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';

export type Sandboxed = ChildProcessByStdio<Writable, Readable, Readable>;

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The interval of memory checks, in milliseconds. A process can grow by about 30 MiB in between. */
const memoryPollMs = 25;

/**
 * Node's flags for a sandboxed process. The process may read `code` and the packages. It may not start a process or a
 * thread, and may not load native code. `code`: paths relative to the project's root or absolute; a `*` at the end
 * stands for everything below. Node 24 cannot restrict the network; with an empty environment the process has no secret
 * to send.
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
export function startSandboxed(
  entry: string,
  flags: readonly string[],
  { cpuSeconds, dataKb }: KernelLimits,
  { background = false }: { background?: boolean } = {},
): Sandboxed {
  const stdio = ['pipe', 'pipe', 'pipe'] as ['pipe', 'pipe', 'pipe'];
  const options = { env: {}, cwd: root, stdio, ...(background ? inBackground : {}) };
  if (process.platform === 'win32') return spawn(process.execPath, [...flags, entry], options);
  // The kernel enforces these limits even when this process is gone: memory, processor time, no core dump, and being
  // killed first when the machine runs out of memory. The soft time limit ends the child with SIGXCPU, which differs
  // from the signals of an operator's kill.
  const time = `ulimit -S -t ${cpuSeconds}; ulimit -H -t ${cpuSeconds + 2}`;
  const data = dataKb === undefined ? '' : `ulimit -d ${dataKb} 2>/dev/null; `;
  const limits = `ulimit -c 0; ${data}${time}; { echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null; exec "$0" "$@"`;
  const child = spawn('/bin/sh', ['-c', limits, process.execPath, ...flags, entry], options);
  if (background) stepBack(child.pid, patientNiceness);
  return child;
}

/**
 * While `held`, the child keeps this process alive; otherwise this process may exit. A child is held while it works.
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
export function watchMemory(child: Sandboxed, memoryMb: number, onOver: () => void): () => void {
  const watch = setInterval(() => {
    const mb = residentMb(child.pid);
    if (mb !== undefined && mb > memoryMb) onOver();
  }, memoryPollMs);
  return () => clearInterval(watch);
}

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stderr: string };

/** Signals that mean the process crashed. An operator's kill uses other signals. */
const ownDeaths = new Set<string>(['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGABRT', 'SIGTRAP', 'SIGFPE']);

/**
 * Interprets the end of a process for the input that it was reading. `Unreadable` (out_of_memory, timed_out, crashed)
 * means that the input is at fault. An ordinary `Error` means that the input is not at fault and a retry may help.
 * Undefined when the process ended normally. `who` names the process in the error.
 */
export function deathOf({ code, signal, stderr }: Ended, who: string): Error | undefined {
  if (/heap out of memory|Allocation failed|out of memory|bad_alloc/i.test(stderr))
    return new Unreadable('out_of_memory');
  if (signal === 'SIGXCPU') return new Unreadable('timed_out');
  if (signal && ownDeaths.has(signal)) return new Unreadable('crashed', { cause: new Error(stderr) });
  if (code === 0) return undefined;
  return new Error(`${who} ended with ${signal ?? code}: ${stderr.trim().slice(-500)}`);
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
