/**
 * Starts a server process that cannot outlive this one, not even when this one is killed with SIGKILL, and that
 * the terminal's Ctrl-C does not reach: whoever started it decides the order in which things stop.
 * POSIX only. It must not know what it starts.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, renameSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { EngineError, readable } from './cache.ts';
import { isAlive } from './takelock.mjs';

/**
 * A shell between us and the server. Descriptor 3 is a pipe only we hold: when we end, however that happens, the
 * kernel closes it, `read` returns and the server is ended. Descriptor 4 tells us the server's own process id.
 * `detached` gives the group its own session, out of the terminal's reach.
 */
const guardScript = `
remove=$1
shift
"$@" </dev/null 3<&- 4>&- &
child=$!
echo $child >&4
exec 4>&-
( read -r _ <&3
  kill -TERM $child 2>/dev/null
  n=0
  while kill -0 $child 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
  kill -KILL $child 2>/dev/null
) >/dev/null 2>&1 5<&- &
watcher=$!
exec 3<&-
wait $child
code=$?
kill $watcher 2>/dev/null
if [ -n "$remove" ] && ! kill -0 $PPID 2>/dev/null; then rm -rf "$remove"; fi
exit $code
`;

export type Guarded = {
  /** The server's own process id, not the guard's. */
  pid: number;
  /** Settles when the server has ended: its exit code, 128 + n for signal n. */
  exited: Promise<number>;
  /** True until the server has ended. */
  running(): boolean;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when the server is gone. Calling it again is harmless. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL, now. */
  kill(): void;
  /** Messages of a Node child, when `ipc` was asked for. */
  onMessage(listener: (message: unknown) => void): void;
  /** The last lines of the log that it wrote itself, none of those of an earlier run. */
  lastLines(count?: number): Promise<string>;
  /** The same for people, as sentences that may follow another. */
  explain(): Promise<string>;
};

/** A log is begun anew above this size, and the former kept beside it: at most twice that, and what one run writes. */
const logLimit = 10 * 1024 * 1024;
/** How much of a log's end is read. mongod's own last words before it aborts are some 50 KiB. */
const tailBytes = 256 * 1024;

/**
 * Starts `command` with both output streams appended to `logPath`. `ipc` opens a Node message channel.
 * Throws EngineError when the program cannot be started.
 */
export async function startGuarded(options: {
  command: string;
  args: readonly string[];
  logPath: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  ipc?: boolean;
  /** Makes sentences of its last lines; `lastWords` unless told. */
  explain?: (lines: string) => string;
  /** A folder the guard removes when we were killed and could not do it ourselves. */
  removeAfter?: string;
}): Promise<Guarded> {
  if (process.platform === 'win32') {
    throw new EngineError(
      'The embedded engines run on Linux and macOS. On Windows use WSL, or set MONGODB_URI and TEMPORAL_ADDRESS.',
    );
  }
  const log = openLog(options.logPath);
  let guard: ChildProcess;
  try {
    guard = spawn(
      '/bin/sh',
      ['-c', guardScript, 'guard', options.removeAfter ?? '', options.command, ...options.args],
      {
        stdio: ['ignore', log.file, log.file, 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
        detached: true,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: options.env ?? process.env,
      },
    );
  } finally {
    closeSync(log.file);
  }
  let ended = false;
  const exited = new Promise<number>((resolve) => {
    guard.once('exit', (code) => {
      ended = true;
      resolve(code ?? 137);
    });
    guard.once('error', () => {
      ended = true;
      resolve(127);
    });
  });
  const lastLines = async (count = 12): Promise<string> =>
    (await tail(options.logPath, log.begins).catch(() => '')).trimEnd().split('\n').slice(-count).join('\n');
  const pid = await readPid(guard);
  if (pid === undefined) throw new EngineError(`${options.command} could not be started: ${await lastLines()}`);
  const signal = (name: NodeJS.Signals): void => {
    if (ended) return;
    try {
      process.kill(pid, name);
    } catch {
      // It ended in this very moment; `exited` says so.
    }
  };
  return {
    pid,
    exited,
    running: () => !ended && isAlive(pid),
    lastLines,
    explain: async () => (options.explain ?? lastWords)(await lastLines(200)),
    kill: () => signal('SIGKILL'),
    onMessage: (listener) => void guard.on('message', listener),
    async stop(graceMs = 10_000) {
      if (ended) return;
      signal('SIGTERM');
      const timer = setTimeout(() => signal('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** What a process said last, for people: one line as it is, more with what they are. */
export function lastWords(lines: string): string {
  const last = lines.split('\n').filter(Boolean).slice(-16);
  if (last.length === 0) return 'It said nothing.';
  return last.length === 1 ? last[0]! : `Its last lines:\n${last.join('\n')}`;
}

/** The log, open for appending, and where in it this run begins. */
function openLog(path: string): { file: number; begins: number } {
  try {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > logLimit) renameSync(path, `${path}.1`);
    const file = openSync(path, 'a');
    return { file, begins: fstatSync(file).size };
  } catch (error) {
    throw readable(error);
  }
}

async function tail(path: string, begins: number): Promise<string> {
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  const from = Math.max(begins, size - tailBytes);
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(Math.max(0, size - from)), position: from });
  return buffer.toString('utf8', 0, bytesRead);
}

/** The guard's first and only line on descriptor 4. */
async function readPid(guard: ChildProcess): Promise<number | undefined> {
  const pipe = guard.stdio[4];
  if (!pipe || !('on' in pipe)) return undefined;
  const text = await new Promise<string>((resolve) => {
    let read = '';
    pipe.on('data', (chunk: Buffer) => {
      read += chunk.toString();
    });
    pipe.once('close', () => resolve(read));
    pipe.once('error', () => resolve(read));
    guard.once('error', () => resolve(''));
  });
  const pid = Number(text.trim());
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}
