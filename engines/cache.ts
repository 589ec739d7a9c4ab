/**
 * Helpers that all installers of engines share: the cache folder, a lock so that one installer runs at a time, atomic
 * installs, checksums, and running another program. An engine is a program that the system or its tests need, such as
 * MongoDB.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { takeLock } from './takelock.mjs';

/** Receives one line of progress at a time. */
export type Report = (line: string) => void;

/** A failure that the user can fix. The message is shown without a stack trace. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}

/**
 * For use with `catch`. Throws an EngineError with the sentence that `say` makes of the error's message. Rethrows an
 * EngineError unchanged, because its message already is a sentence.
 */
export const orSay =
  (say: (why: string) => string) =>
  (error: unknown): never => {
    throw error instanceof EngineError ? error : new EngineError(say((error as Error).message));
  };

/**
 * The cache folder, which all clones of this project on this machine share. Its place is read from `XDG_CACHE_HOME` and
 * not from config.ts, because engines belong to the machine, not to one system's configuration.
 */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  return resolve(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'support-platform', 'engines');
}

/**
 * Returns the folder `<cache>/<name>-<version>`. If it is missing, `fill(temporaryFolder)` fills a temporary folder,
 * which is then renamed, so a partial install is never visible. A second installer waits for the first.
 */
export async function cached(
  options: { name: string; version: string; report: Report; root?: string },
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const root = options.root ?? cacheRoot();
  const label = `${options.name}-${options.version}`;
  const folder = join(root, label);
  if (await exists(folder)) return folder;
  await makeFolder(root);
  return withLock(
    join(root, `${label}.lock`),
    `another process installs ${label}; waiting for it`,
    options.report,
    async () => {
      if (await exists(folder)) return folder;
      // This process holds the lock, so a temporary folder that exists was left by a killed installer.
      const left = (await readdir(root)).filter((name) => name.startsWith(`.${label}-`));
      await Promise.all(left.map((name) => rm(join(root, name), { recursive: true, force: true })));
      const temporary = await mkdtemp(join(root, `.${label}-`));
      try {
        await fill(temporary);
        await rename(temporary, folder);
      } catch (error) {
        throw readable(error);
      } finally {
        await rm(temporary, { recursive: true, force: true, maxRetries: 3 });
      }
      return folder;
    },
  );
}

/** Runs `work` while holding the lock file. */
export async function withLock<T>(path: string, waiting: string, report: Report, work: () => Promise<T>): Promise<T> {
  let said = false;
  const lock = await takeLock(path, () => {
    if (!said) report(waiting);
    said = true;
  }).catch((error: unknown) => {
    throw readable(error);
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Creates a folder and its parents. @throws EngineError with a readable sentence when the disk is full or read-only */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    throw readable(error);
  }
}

/** Converts disk errors to a sentence that says what to do; returns other errors unchanged. */
export function readable(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  const where = path === undefined ? '' : ` (at ${path})`;
  if (code === 'ENOSPC') return new EngineError(`The disk is full${where}. Free some space and try again.`);
  if (code === 'EDQUOT') return new EngineError(`Your disk quota is used up${where}. Free some space and try again.`);
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return new EngineError(`No permission to write${where}. Choose another folder or change its owner.`);
  }
  if (code === 'ENOTDIR' || code === 'EEXIST')
    return new EngineError(`There is a file where a folder is needed${where}.`);
  return error;
}

/** The full path of a program on PATH; undefined when there is none. */
export async function onPath(program: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const candidate = join(folder, program);
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return candidate;
  }
  return undefined;
}

/** The SHA-256 of a file in hex. */
export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** @throws EngineError when a file's SHA-256 is not the pinned one */
export async function verify(path: string, pinned: string): Promise<void> {
  const found = await sha256(path);
  if (found !== pinned)
    throw new EngineError(`${path} has SHA-256 ${found}, but ${pinned} is pinned; it was not used.`);
}

/**
 * Downloads `url` to `path`. Gives up after `connectMs` when the host does not respond, so that a machine without
 * internet access soon tries another source. Throws on any status except 200.
 */
export async function download(url: string, path: string, connectMs = 4000): Promise<void> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), connectMs);
  let response: Response;
  try {
    response = await fetch(url, { signal: abort.signal });
  } finally {
    clearTimeout(timer);
  }
  if (response.status !== 200 || response.body === null) throw new Error(`${url} answered ${response.status}`);
  await makeFolder(dirname(path));
  await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
}

/**
 * Runs a program to its end and returns its output. `onLine` gets each line of both streams. `heartbeat` is reported
 * every 15 seconds with the elapsed seconds, so that a long silent step does not look like a hang. A failure throws an
 * Error with the last lines.
 */
export async function run(
  command: string,
  args: readonly string[],
  options: {
    env?: Record<string, string | undefined>;
    cwd?: string;
    onLine?: (line: string) => void;
    heartbeat?: { text: string; report: Report };
  } = {},
): Promise<string> {
  const child = spawn(command, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Signals that stop this process are passed on, because the child would otherwise continue.
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, passOn);
  const lines: string[] = [];
  let out = '';
  const take = (chunk: Buffer): void => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      lines.push(line);
      if (lines.length > 40) lines.shift();
      options.onLine?.(line);
    }
  };
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    take(chunk);
  });
  child.stderr.on('data', take);
  const started = Date.now();
  const { heartbeat } = options;
  const beat = heartbeat
    ? setInterval(() => heartbeat.report(`${heartbeat.text} (${Math.round((Date.now() - started) / 1000)} s)`), 15_000)
    : undefined;
  try {
    const code = await new Promise<number | NodeJS.Signals>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) => resolve(status ?? signal ?? 1));
    });
    if (code === 0) return out;
    if (lines.some((line) => /no space left on device|ENOSPC/i.test(line))) {
      throw new EngineError('The disk is full. Free some space and try again.');
    }
    throw new Error(`${command} ended with ${code}:\n${lines.slice(-12).join('\n')}`);
  } finally {
    clearInterval(beat);
    for (const signal of signals) process.off(signal, passOn);
  }
}

/** This machine's platform, by which tables of checksums are keyed: `linux-x64`, `darwin-arm64`, … */
export const platform = `${process.platform}-${process.arch}`;
