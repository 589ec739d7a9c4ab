/**
 * Starts a server process that ends with this process, even if this process is killed with SIGKILL. The terminal's
 * Ctrl-C does not reach the server, so that this process decides the order in which servers stop. POSIX only.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, openSync, renameSync, statSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, readable } from './cache.ts';
import { isAlive } from './takelock.mjs';

/**
 * A guard shell between this process and the server. Descriptor 3 is a pipe that only this process holds. When this
 * process ends for any reason, the kernel closes the pipe, `read` returns and the shell ends the server. Descriptor 4
 * carries the server's process id. `detached` starts a new session, which the terminal's signals do not reach.
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
  /** The process id of the server, not of the guard. */
  pid: number;
  /** Resolves when the server has ended, with its exit code or 128 + n for signal n. */
  exited: Promise<number>;
  running(): boolean;
  /** Sends SIGTERM, then SIGKILL after `graceMs`; resolves when the server is gone. Idempotent. */
  stop(graceMs?: number): Promise<void>;
  /** Sends SIGKILL without waiting. */
  kill(): void;
  /** Whether a Node child has sent the message that it is ready; needs `ipc`. */
  saidReady(): boolean;
  /** The last lines of the log that this run wrote. */
  lastLines(count?: number): Promise<string>;
  /** Says why the server ended, from the last lines of its log, in sentences that an error message can append. */
  explain(): Promise<string>;
};

/**
 * The size in bytes above which a log is renamed to `NAME.1` at the next start. Only one old log is kept, so the logs
 * of a server take at most twice this size plus the output of two runs.
 */
const logLimit = 10 * 1024 * 1024;
/** The number of bytes read from a log's end. mongod writes about 50 KiB before it aborts. */
const tailBytes = 256 * 1024;

/**
 * Starts `command` and appends both output streams to `logPath`. `ipc` opens a Node message channel. @throws
 * EngineError when the program cannot be started
 */
export async function startGuarded(options: {
  command: string;
  args: readonly string[];
  logPath: string;
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  ipc?: boolean;
  /** Makes sentences from the last lines of the log; `lastWords` by default. */
  explain?: (lines: string) => string;
  /** A folder that the guard removes if this process is killed before removing the folder itself. */
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
  let saidReady = false;
  guard.on('message', (message: { type?: unknown } | null) => {
    saidReady ||= message?.type === 'ready';
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
      // There is no process to signal, because the server has just ended. `exited` reports the end.
    }
  };
  return {
    pid,
    exited,
    running: () => !ended && isAlive(pid),
    lastLines,
    explain: async () => (options.explain ?? lastWords)(await lastLines(200)),
    kill: () => signal('SIGKILL'),
    saidReady: () => saidReady,
    async stop(graceMs = 10_000) {
      if (ended) return;
      signal('SIGTERM');
      const timer = setTimeout(() => signal('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** A server that is ready. `stop` waits until it has ended. */
export type Server = { child: Guarded; stop(): Promise<void> };

/**
 * Starts a server, and resolves when `ready` does; stops it when `ready` rejects. `folder`: a temporary folder, which
 * is removed when the server has stopped.
 */
export async function startServer({
  graceMs,
  folder,
  ready,
  ...options
}: Omit<Parameters<typeof startGuarded>[0], 'removeAfter'> & {
  graceMs: number;
  folder?: string | undefined;
  ready: (child: Guarded) => Promise<void>;
}): Promise<Server> {
  const child = await startGuarded({ ...options, ...(folder === undefined ? {} : { removeAfter: folder }) });
  const stop = async (): Promise<void> => {
    await child.stop(graceMs);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await ready(child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { child, stop };
}

/**
 * Waits until `state` returns true. `began`: when the period of `ms` began, so that several waits of one start share
 * the period. @throws EngineError with the reason, when the server ends first or after `ms`
 */
export async function untilReady(
  name: string,
  child: Guarded,
  ms: number,
  state: () => Promise<boolean>,
  began = Date.now(),
): Promise<void> {
  while (!(await state())) {
    if (!child.running()) throw new EngineError(`${name} stopped while starting. ${await child.explain()}`);
    if (Date.now() > began + ms)
      throw new EngineError(`${name} was not ready within ${ms / 1000} s. ${await child.explain()}`);
    await sleep(20);
  }
}

/** The last lines of a process for people: a single line unchanged, several under a heading. */
export function lastWords(lines: string): string {
  const last = lines.split('\n').filter(Boolean).slice(-16);
  if (last.length === 0) return 'It said nothing.';
  return last.length === 1 ? last[0]! : `Its last lines:\n${last.join('\n')}`;
}

/** Opens the log for appending. `begins`: the position where this run starts. */
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

/** Reads the server's process id, the only line that the guard writes to descriptor 4. */
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
