/**
 * Starts a server process that cannot outlive this one, not even when this one is killed with SIGKILL, and that
 * the terminal's Ctrl-C does not reach: whoever started it decides the order in which things stop.
 * POSIX only. It must not know what it starts.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { EngineError, isAlive, readable } from './cache.ts';

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
  /** The last lines of the log, for an error message. */
  lastLines(count?: number): Promise<string>;
};

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
        stdio: ['ignore', log, log, 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
        detached: true,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: options.env ?? process.env,
      },
    );
  } finally {
    closeSync(log);
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
    (await readFile(options.logPath, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-count).join('\n');
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

function openLog(path: string): number {
  try {
    return openSync(path, 'a');
  } catch (error) {
    throw readable(error);
  }
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
