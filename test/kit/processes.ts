/** Starts the real API and worker programs as processes, with the engines of the test run. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync } from 'node:fs';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultServices } from '../../config.ts';
import type { Queue } from '../../models/rules/base/work.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The file name of a program in the folder of built programs (programs.ts). */
export const builtName = (program: string): string => program.replace(/\.ts$/u, '.mjs');

export type Running = {
  child: ChildProcess;
  /** The URL of an API; empty for a worker. */
  url: string;
  /** The log output of the process so far. */
  output(): string;
  /** Sends SIGTERM and waits for the end. Fails when the process did not end cleanly. */
  stop(): Promise<void>;
  /** Sends SIGKILL, like the crash of a machine. */
  kill(): Promise<void>;
};

/**
 * The environment of one system. Each has its own database, task queues and folder, so that systems of different tests
 * never meet.
 */
export type SystemEnv = Record<string, string> & { DATA_DIR: string };

/** Creates a folder that is removed at the end of the test run. */
export const newFolder = (name: string): string => mkdtempSync(join(process.env['TEST_FOLDERS']!, `${name}-`));

/** A closed port, so that a connection is refused at once. */
const nowhere = 'http://127.0.0.1:1';
/** Addresses of other services for every test that sets none, so that no test reaches a real service. */
const servicesNowhere = Object.keys(defaultServices).map((name) => `${name}=${nowhere}`);
/** The addresses of `servicesNowhere`, overridden by those that a test sets. */
const servicesWith = (set?: string): string => [...servicesNowhere, set].filter(Boolean).join(',');

/** Limits high enough for hundreds of tests within a minute from one machine. A test about a limit sets its own. */
const testLimits = [
  'sign_in_per_minute=5',
  'accounts_per_hour=100000',
  'callbacks_per_minute=100000',
  'writes_per_minute=100000',
  'queries_per_minute=100000',
  'digests_per_minute=100000',
  'sockets_per_address=10000',
  'connects_per_minute=100000',
  'address_connects_per_minute=100000',
  'address_messages_per_minute=100000',
  'test_replies_per_minute=100000',
  'test_conversations_per_month=100000',
].join(',');

/** The default limits of tests, overridden by those that a test sets. */
const limitsWith = (set?: string): string => [testLimits, set].filter(Boolean).join(',');

/**
 * The environment variables of a test system. `name` consists of letters, digits, `_` and `-`. It names the database
 * and the task queues, so each separate system of a test run needs a name of its own.
 */
export function systemEnv(name: string, extra: Record<string, string> = {}): SystemEnv {
  const mongo = new URL(process.env['TEST_MONGODB_URI']!);
  mongo.pathname = `/${name}`;
  return {
    DATA_DIR: newFolder(name),
    MONGODB_URI: mongo.href,
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS']!,
    TASK_QUEUE_PREFIX: `${name}-`,
    PORT: '0',
    PUBLIC_URL: 'http://127.0.0.1:3000',
    SECRET_KEY: 'a1'.repeat(32),
    // The sites that tests crawl are on this machine.
    EGRESS_ALLOW: '127.0.0.1',
    PUPPETEER_EXECUTABLE_PATH: process.env['TEST_CHROMIUM']!,
    // Without embeddings, answers use lexical search only. A test turns the models on with `withEmbedding`.
    EMBEDDING: 'off',
    TEST_WORKFLOW_BUNDLE: process.env['TEST_WORKFLOW_BUNDLE']!,
    TEST_PROGRAMS: process.env['TEST_PROGRAMS']!,
    LINEAR_WEBHOOK_SECRET: 'linear-deployment-secret',
    LOG_LEVEL: 'info',
    ...extra,
    LIMITS: limitsWith(extra['LIMITS']),
    SERVICE_URLS: servicesWith(extra['SERVICE_URLS']),
  };
}

/** The additional environment for embeddings, with the models that `npm test` downloaded. */
export const withEmbedding = (): Record<string, string> => ({
  EMBEDDING: process.env['TEST_EMBEDDING']!,
});

/**
 * Copies what workers build (workflow bundle and readers) into this data folder, because building takes seconds of
 * processor time.
 */
export async function giveBuilt(dataDir: string): Promise<void> {
  const built = process.env['TEST_BUILT']!;
  await mkdir(dataDir, { recursive: true });
  for (const name of await readdir(built))
    await symlink(join(built, name), join(dataDir, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
}

export async function removeDataDir(env: SystemEnv): Promise<void> {
  await rm(env.DATA_DIR, { recursive: true, force: true });
}

const jitter = join(root, 'test/kit/jitter.cjs');

/**
 * Each of these fleets passes overflow on to another one. A test without the other fleet would sometimes wait for ever.
 */
const overflow: Partial<Record<Queue, Queue>> = { documents: 'backlog', deliveries: 'slowdeliveries' };

/** @throws when a fleet is named without the one that takes its overflow. */
function checkFleets(fleets: readonly string[]): void {
  for (const [fleet, other] of Object.entries(overflow))
    if (fleets.includes(fleet) && !fleets.includes(other))
      throw new Error(`FLEETS names ${fleet}, which hands work to ${other} now and then: name both.`);
}

/** The environment variables of this process that a program needs. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'];

/**
 * Starts a program and waits until it is ready. A test run starts the built program, a benchmark starts the sources.
 * `program` is a path from the project's root.
 */
export async function startProcess(program: string, env: SystemEnv): Promise<Running> {
  checkFleets((env['FLEETS'] ?? '').split(','));
  const programs = process.env['TEST_PROGRAMS'];
  if (programs !== undefined) await giveBuilt(env.DATA_DIR);
  const child = fork(programs === undefined ? join(root, program) : new URL(builtName(program), programs), {
    cwd: root,
    env: {
      ...Object.fromEntries(passedOn.map((name) => [name, process.env[name]])),
      ...env,
      // A test that sets one limit or address keeps the defaults of the others. They let many tests share a system.
      LIMITS: limitsWith(env['LIMITS']),
      SERVICE_URLS: servicesWith(env['SERVICE_URLS']),
    },
    execArgv: ['--disable-warning=ExperimentalWarning', ...(process.env['TEST_JITTER'] ? ['--require', jitter] : [])],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const log = createWriteStream(join(env.DATA_DIR, `${program.replaceAll('/', '-')}-${child.pid}.log`));
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (piece: Buffer) => (output += piece.toString()));
    stream.pipe(log, { end: false });
  }
  const ended = once(child, 'exit');
  const closed = once(child, 'close');
  const ready = new Promise<string>((resolve) => {
    child.on('message', (message: { type?: string; url?: string }) => {
      if (message.type === 'ready') resolve(message.url ?? '');
    });
  });
  const url = await Promise.race([
    ready,
    ended.then(async ([code, signal]) => {
      // The output may arrive after the exit.
      if (code !== null) await closed;
      throw new Error(`${program} ended before it was ready (${code ?? signal}):\n${output}`);
    }),
  ]);
  return {
    child,
    url,
    output: () => output,
    async stop() {
      child.kill('SIGTERM');
      const [code, signal] = (await ended) as [number | null, string | null];
      log.end();
      if (code !== 0) throw new Error(`${program} did not end cleanly (${code ?? signal}):\n${output}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
      log.end();
    },
  };
}

/** Sends SIGKILL to a process that may have ended already. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Moves the clock of a chatapi.ts process ahead by this many milliseconds, and resolves once the process uses it. */
export async function moveClock({ child }: Running, ahead: number): Promise<void> {
  const moved = once(child, 'message');
  child.send({ ahead });
  await moved;
}

/**
 * Returns the signal that ended a faulty program. Work that an earlier test left may reach the fault before the program
 * reports that it is ready.
 */
export async function deathOf(starting: ReturnType<typeof startProcess>): Promise<unknown> {
  try {
    const { child } = await starting;
    return child.signalCode ?? (await once(child, 'exit'))[1];
  } catch (error) {
    return /ready \((\w+)\)/u.exec((error as Error).message)?.[1];
  }
}
