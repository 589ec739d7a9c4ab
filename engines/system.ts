/**
 * Starts the whole system on one machine: MongoDB and Temporal if no address is configured, then the API and the
 * workers.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { Config } from '../config.ts';
import { hostPort } from '../models/rules/base/address.ts';
import { EngineError, makeFolder, readable } from './cache.ts';
import type { Report } from './cache.ts';
import { startGuarded } from './child.ts';
import type { Guarded } from './child.ts';
import { findChromium } from './chromium.ts';
import { findEmbedding } from './embedding/embedding.ts';
import { lockDataDir } from './lock.ts';
import { embeddedUri, startMongod } from './mongod.ts';
import { freePort, isFree } from './ports.ts';
import { createSupervisor, untilOrFailure, type Failure, type Watched } from './supervisor.ts';
import { isAlive } from './takelock.mjs';
import { startTemporal } from './temporal.ts';

export type System = {
  /** The API's URL, `http://HOST:PORT` without `/v1`. */
  url: string;
  mongodbUri: string;
  temporalAddress: string;
  /** The URL of the Temporal UI: `temporal_ui` in `SERVICE_URLS`, otherwise that of the embedded server. */
  uiAddress: string | undefined;
  logDir: string;
  /** Resolves when a process that is not restarted ends unexpectedly; stays pending otherwise. */
  failed: Promise<Failure>;
  /**
   * After this call, the API and the workers are restarted when they die. Before this call, the death of one of them
   * resolves `failed`.
   */
  keepUp(): void;
  /** Drains the API and the workers, then stops Temporal, then MongoDB. */
  stop(): Promise<void>;
  /** Kills every process at once. Acknowledged data is safe. */
  killAll(): void;
};

type Ports = { mongod?: number; temporal?: number; ui?: number; pids?: number[] };

/**
 * Starts all processes and resolves when the API is ready and a worker polls. `env`: the environment of the API and the
 * workers, to which the addresses of MongoDB and Temporal are added. `aborted` is checked between steps. @throws
 * EngineError with one sentence, after stopping what was already started
 */
export async function startSystem(options: {
  config: Config;
  env: NodeJS.ProcessEnv;
  report: Report;
  aborted?: AbortSignal;
}): Promise<System> {
  const { config, report } = options;
  const logDir = join(config.dataDir, 'logs');
  await makeFolder(logDir);
  if (!(await isFree(0, config.host))) throw noSuchHost(config.host);
  await checkWritable(config.dataDir);
  const lock = await lockDataDir(config.dataDir, report, options.aborted);
  let ports: Ports = {};
  const explain = async (one: Watched): Promise<string> => {
    // The disk is checked first, because on a full disk the engine's log does not contain the reason.
    const disk = await checkWritable(config.dataDir).then(
      () => undefined,
      (error: unknown) => (error instanceof EngineError ? error.message : undefined),
    );
    return disk ?? one.child.explain();
  };
  // engines.json is written by one call at a time, so that it lists both of two processes that start together.
  const inTurn = pLimit(1);
  const rememberAll = (): Promise<void> =>
    inTurn(() => remember(config.dataDir, { ...ports, pids: supervisor.pids() }));
  const supervisor = createSupervisor(report, explain, rememberAll);
  const { failed, watch, keepUp, kill: killAll } = supervisor;
  const stop = async (): Promise<void> => {
    lock.stopping();
    await supervisor.stop();
    lock.release();
  };
  try {
    ports = await choosePorts(config, options.aborted);
    options.aborted?.throwIfAborted();
    const began = Date.now();
    const done = (what: string): void => report(`${what} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
    const context = { config, ports, logDir, report, watch, done };
    const [mongodbUri, temporal, chromium, embedding] = await settleAll([
      embedMongod(context),
      embedTemporal(context),
      findChromium(report).catch((error: Error) => {
        report(`Pages that need a browser will not be read: ${error.message}`);
        return undefined;
      }),
      embeddingFolder(config, report),
    ]);
    options.aborted?.throwIfAborted();
    await rememberAll();
    const env = {
      ...options.env,
      PORT: String(config.port),
      DATA_DIR: config.dataDir,
      MONGODB_URI: mongodbUri,
      TEMPORAL_ADDRESS: temporal.address,
      SERVICE_URLS: [options.env['SERVICE_URLS'], temporal.uiAddress && `temporal_ui=${temporal.uiAddress}`]
        .filter(Boolean)
        .join(','),
      ...(chromium === undefined ? {} : { PUPPETEER_EXECUTABLE_PATH: chromium }),
      ...(embedding === undefined ? {} : { EMBEDDING: embedding }),
    };
    const host = ['0.0.0.0', '::', 'localhost'].includes(config.host) ? '127.0.0.1' : config.host;
    const url = `http://${hostPort(host, config.port)}`;
    await startProcesses({ ...context, env, url, failed });
    await rememberAll();
    return {
      url,
      mongodbUri,
      temporalAddress: temporal.address,
      uiAddress: temporal.uiAddress,
      logDir,
      failed,
      keepUp,
      stop,
      killAll,
    };
  } catch (error) {
    await stop();
    throw readable(error);
  }
}

/**
 * Like Promise.all, but rejects only after all have settled, so that no process starts after the failure was reported.
 */
async function settleAll<T extends readonly unknown[]>(promises: { [K in keyof T]: Promise<T[K]> }): Promise<T> {
  const results = await Promise.allSettled(promises);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return results.map((result) => (result.status === 'fulfilled' ? result.value : undefined)) as unknown as T;
}

type Context = {
  config: Config;
  ports: Ports;
  logDir: string;
  report: Report;
  watch: (one: Watched) => void;
  done: (what: string) => void;
};

async function embedMongod({ config, ports, logDir, report, watch, done }: Context): Promise<string> {
  if (config.mongodbUri !== undefined) return config.mongodbUri;
  const port = await freePort(ports.mongod);
  const dataDir = join(config.dataDir, 'mongodb');
  const mongod = await startMongod({ dataDir, port, report, logPath: join(logDir, 'mongod.log') });
  ports.mongod = port;
  watch({ name: 'MongoDB', child: mongod.child, stop: () => mongod.stop(), layer: 0 });
  done('MongoDB is ready');
  return mongod.uri;
}

async function embedTemporal({ config, ports, logDir, report, watch, done }: Context) {
  if (config.temporalAddress !== undefined) return { address: config.temporalAddress, uiAddress: config.temporalUiUrl };
  const port = await freePort(ports.temporal);
  const uiPort = await freePort(ports.ui);
  const dataDir = join(config.dataDir, 'temporal');
  const temporal = await startTemporal({ dataDir, port, uiPort, report, logPath: join(logDir, 'temporal.log') });
  Object.assign(ports, { temporal: port, ui: uiPort });
  watch({ name: 'Temporal', child: temporal.child, stop: () => temporal.stop(), layer: 1 });
  done('Temporal is ready');
  return { address: temporal.address, uiAddress: config.temporalUiUrl ?? temporal.uiAddress };
}

/**
 * The cache folder of the embedding models. Undefined when `EMBEDDING` does not need this folder or when the download
 * fails. After a failed download, the API and the workers retry it; until it succeeds, search is lexical only.
 */
async function embeddingFolder({ embedding }: Config, report: Report): Promise<string | undefined> {
  if (embedding.state === 'off' || embedding.folder !== undefined || embedding.urls.length > 0) return undefined;
  return findEmbedding(report).catch((error: Error) => {
    report(`Until there are embedding models, passages are found by words alone, and only offered: ${error.message}`);
    return undefined;
  });
}

/**
 * The environment of a worker: `env` plus settings that limit memory. Node sizes its heap by the machine's memory. In a
 * heap of 2 GiB or more, V8 lets garbage grow to four times the live data. In a smaller heap, it grows to less than
 * twice the live data. glibc gives threads up to eight arenas per core, and each arena keeps its peak size. Settings in
 * `env` take precedence.
 */
export const workerEnv = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  MALLOC_ARENA_MAX: '2',
  ...env,
  NODE_OPTIONS: `--max-old-space-size=1024 --max-semi-space-size=16 ${env['NODE_OPTIONS'] ?? ''}`.trim(),
});

/** Starts the API and the workers in parallel, because neither needs the other. */
async function startProcesses(
  context: Context & { env: NodeJS.ProcessEnv; url: string; failed: Promise<Failure> },
): Promise<void> {
  const { config, logDir, env, url, watch, done, failed } = context;
  if (!(await isFree(config.port, config.host))) throw portTaken(config.port);
  // A process that is still running five seconds after the configured drain time is killed.
  const graceMs = (config.drainSeconds + 5) * 1000;
  const start = async (name: string, entry: string, log: string, variables = env): Promise<Guarded> => {
    const restart = (): Promise<Guarded> =>
      startGuarded({
        command: process.execPath,
        args: ['--disable-warning=ExperimentalWarning', fileURLToPath(new URL(`../${entry}`, import.meta.url))],
        logPath: join(logDir, log),
        env: variables,
        ipc: true,
      });
    const child = await restart();
    watch({ name, child, stop: (running) => running.stop(graceMs), layer: 2, restart });
    return child;
  };
  const [, worker] = await Promise.all([
    start('The API', 'api/server.ts', 'api.log'),
    start('The worker', 'workers/main.ts', 'worker.log', workerEnv(env)),
  ]);
  const workerIsReady = async (): Promise<void> => {
    const ready = async () => worker.saidReady();
    await untilOrFailure('the worker is ready', failed, startUpMs, ready, () => worker.explain());
    done('The worker is ready');
  };
  const apiIsReady = async (): Promise<void> => {
    await untilOrFailure(`the API at ${url} is ready`, failed, startUpMs, () => isReady(url));
    done('The API is ready');
  };
  await Promise.all([workerIsReady(), apiIsReady()]);
}

/** Time limit for the API and the workers to be ready, in ms. Measured: two to three seconds on two idle cores. */
const startUpMs = 90_000;

/** True when the API answers that it is ready, otherwise its answer or the reason why there is none. */
async function isReady(url: string): Promise<true | string> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5000) });
    const text = await response.text();
    return response.status === 200 || `${response.status} ${text}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function portTaken(port: number): EngineError {
  return new EngineError(
    `Port ${port} is taken by another program. Stop it, or choose another: PORT=${port + 1} npm start`,
  );
}

function noSuchHost(host: string): EngineError {
  return new EngineError(
    `HOST is ${host}, which is no address of this machine. Set it to one, or leave it out for 127.0.0.1.`,
  );
}

const portsFile = 'engines.json';

/**
 * Chooses the engines' ports: those of the last start with this data folder, otherwise ports derived from PORT, so that
 * people find them again. First waits up to 20 seconds until the processes of a killed start have ended. A port that is
 * in use is replaced later.
 */
async function choosePorts(config: Config, aborted?: AbortSignal): Promise<Ports> {
  const remembered = await rememberedPorts(config.dataDir);
  const deadline = Date.now() + 20_000;
  while (Date.now() < deadline && (await stillRunning(remembered.pids ?? []))) {
    aborted?.throwIfAborted();
    await sleep(50);
  }
  if (!(await isFree(config.port, config.host))) throw portTaken(config.port);
  const derived = (offset: number): number => (config.port + offset <= 65_535 ? config.port + offset : 0);
  return {
    mongod: remembered.mongod ?? derived(24_017),
    temporal: remembered.temporal ?? derived(4233),
    ui: remembered.ui ?? derived(5233),
  };
}

async function rememberedPorts(dataDir: string): Promise<Ports> {
  const stored = await readFile(join(dataDir, portsFile), 'utf8').catch(() => '{}');
  try {
    return JSON.parse(stored) as Ports;
  } catch {
    // The file is incomplete, so other ports are chosen.
    return {};
  }
}

/** The connection string of the embedded MongoDB, with the port from the last start with this data folder. */
export async function embeddedMongodbUri(dataDir: string): Promise<string | undefined> {
  const { mongod } = await rememberedPorts(dataDir);
  return mongod === undefined ? undefined : embeddedUri(mongod);
}

/** The address of the embedded Temporal, with the port from the last start with this data folder. */
export async function embeddedTemporalAddress(dataDir: string): Promise<string | undefined> {
  const { temporal } = await rememberedPorts(dataDir);
  return temporal === undefined ? undefined : `127.0.0.1:${temporal}`;
}

/** Whether one of these processes is still alive. Process ids are reused, so the command line is checked too. */
async function stillRunning(pids: readonly number[]): Promise<boolean> {
  for (const pid of pids.filter(isAlive)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (/mongod|temporal|api\/server\.ts|workers\/main\.ts/.test(command)) return true;
  }
  return false;
}

async function remember(dataDir: string, ports: Ports): Promise<void> {
  await writeFile(join(dataDir, portsFile), JSON.stringify(ports));
}

/** Detects a full or read-only disk by writing one MiB, because an engine's own message would be less clear. */
async function checkWritable(dataDir: string): Promise<void> {
  const probe = join(dataDir, `.probe-${process.pid}`);
  try {
    await writeFile(probe, Buffer.alloc(1024 * 1024));
  } catch (error) {
    throw readable(error);
  } finally {
    await rm(probe, { force: true });
  }
}
