/**
 * A worker process. It runs the fleets of `--fleet crawl,documents` or FLEETS (all when neither is set), and the
 * sweeper. With the fleet `maintenance`, it also creates the schedules. On SIGTERM it accepts no new work, and ends
 * when running activities have ended or `drainSeconds` have passed.
 */
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { bundleWorkflows } from './bundle.ts';
import { openClients, settingsOf } from './clients.ts';
import { buildReaders } from './readers.ts';
import { fleetNames, fleets, type FleetName } from './fleets.ts';
import { guardFailures } from './failures.ts';
import { keepBeating } from './heartbeat.ts';
import { histogramBuckets, workerMeter } from './metrics.ts';
import { startTracing, traceparent } from '../clients/base/tracing.ts';
import { useTrace } from '../models/base/trace.ts';
import { carryTrace } from '../workflows/tracing.ts';
import { traceActivity } from './tracing.ts';
import { useMeter } from '../clients/base/meter.ts';
import { createRecrawlSchedules, ensureSchedules } from './schedules.ts';
import { replayOpen } from './replay.ts';
import { sharedThreads, sharingThreads } from './threads.ts';
import { ensureSearchAttributes } from './searchattributes.ts';
import type { Fleet, WorkerDeps } from './slices/slice.ts';
import { startSweeper } from './sweeper.ts';
import { encryptionOf } from '../workflows/encryption.ts';
import { connectionTo, startSaved } from '../workflows/start.ts';
import { createLog } from '../api/http/log.ts';
import { runProgram } from '../api/http/program.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { connectRedis, disconnectRedis } from '../models/base/redis.ts';
import { wakeLacking } from '../models/knowledge/embedding.ts';
import { hostPort } from '../models/rules/base/address.ts';
import { defined } from '../models/rules/base/defined.ts';

/**
 * The running workers of one process. `close` accepts no new work, gives running activities `drainSeconds` to finish,
 * and disconnects.
 */
export type WorkerProcess = {
  close(): Promise<void>;
  /** Resolves when the workers stop; rejects when one fails. */ running: Promise<void>;
};

/** Starts the fleets in this process. `adapt` lets tests replace dependencies. `bundle`: a prebuilt workflow bundle. */
export async function startWorkers(
  config: Config,
  adapt: (deps: WorkerDeps) => WorkerDeps = (deps) => deps,
  bundle?: WorkflowBundleOption,
): Promise<WorkerProcess> {
  if (!config.mongodbUri || !config.temporalAddress) {
    throw new ConfigError('MONGODB_URI and TEMPORAL_ADDRESS are not set; `npm start` starts both and sets them.');
  }
  const names = chosenFleets(config.fleets);
  const log = createLog('worker', config.logLevel);
  // A child process builds the bundle while this process connects.
  const bundling = bundle ?? bundleWorkflows(config.dataDir, { encrypted: config.encryptsPayloads });
  Promise.resolve(bundling).catch(() => undefined);
  const building = buildReaders(config.dataDir).catch((error: unknown) => {
    log.warn(
      { err: error },
      'the programs that read files and pages could not be built; their sources are run, which takes longer',
    );
    return undefined;
  });
  installRuntime(config, log);
  useMeter(workerMeter(Runtime.instance().metricMeter));
  const tracing = await startTracing('worker', config.tracesUrl);
  useTrace(traceparent);
  await connectMongo(config.mongodbUri);
  connectRedis(config.redisUrl, (error) => log.warn({ err: error }, 'Redis is away; frames are not published'));
  const address = config.temporalAddress;
  const connection = await NativeConnection.connect({ address, ...config.temporalAccess }).catch((error: unknown) => {
    throw new Error(`Temporal does not answer at ${address}: ${(error as Error).message}`, { cause: error });
  });
  const clientConnection = await Connection.connect(connectionTo(address, config));
  const namespaced = {
    namespace: config.temporalNamespace,
    ...encryptionOf(config),
    interceptors: { workflow: [carryTrace] },
  };
  const temporal = new Client({ connection: clientConnection, ...namespaced });
  await ensureSearchAttributes(clientConnection, config.temporalNamespace);

  const clock = () => new Date();
  const { clients, close: closeClients } = openClients(config, {
    log,
    clock,
    readers: await building,
    spares: names.some((name) => fleets[name].readerReady) ? 1 : 0,
  });
  const starter = { temporal, clock, log, config };
  const nearby = { ...starter, near: new Client({ connection, ...namespaced }) };
  const stopping = new AbortController();
  const deps = adapt({
    ...clients,
    ...settingsOf(config),
    schedules: createRecrawlSchedules(temporal, config.taskQueuePrefix),
    start: (model, record, intents) => startSaved(starter, model, record, intents),
    startNear: (model, record, intents) => startSaved(nearby, model, record, intents),
    clock,
    stopping: stopping.signal,
    log,
  });
  const workflowBundle = await bundling;
  const activities = new Map(names.map((name) => [name, fleets[name].activities(deps)]));
  const Sharing = sharingThreads([...activities.values()].flatMap(Object.keys));
  const parts = { connection, workflowBundle, log, threads: names.length > 1 ? sharedThreads : 1 };
  const workers = await Promise.all(
    names.map((name) => Sharing.create(workerOptions(name, config, { ...parts, activities: activities.get(name)! }))),
  );
  const running = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  running.catch(() => undefined);
  if (names.includes('maintenance')) await ensureSchedules(temporal, config.taskQueuePrefix);
  if (names.includes('embedding') && clients.embedding.model !== undefined)
    void wakeLacking(clients.embedding.model, clock()).catch((error: unknown) =>
      log.warn({ err: error }, 'what lacks vectors was not listed; maintenance does it within the hour'),
    );
  const sweeper = startSweeper(starter);
  log.info({ fleets: names }, 'worker ready');
  return {
    running,
    async close() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await sweeper.stop();
      const drained = setTimeout(() => stopping.abort(), config.drainSeconds * 1_000);
      await running.finally(() => clearTimeout(drained));
      stopping.abort();
      await closeClients();
      await connection.close();
      await clientConnection.close();
      disconnectRedis();
      await disconnectMongo();
      await tracing.stop();
      log.info('worker stopped');
    },
  };
}

/** Sends the log of Temporal's SDK to this log, and exposes the SDK's metrics when WORKER_METRICS_PORT is set. */
function installRuntime(config: Config, log: Logger): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta: { error: err, ...meta } = {} }) =>
      log.warn({ ...meta, ...defined({ err }), level_name: level }, message),
    ),
    // The SDK must not handle signals, because this process stops its parts in its own order.
    shutdownSignals: [],
    ...(config.workerMetricsPort === undefined
      ? {}
      : {
          telemetryOptions: {
            metrics: {
              prometheus: {
                bindAddress: hostPort(config.host, config.workerMetricsPort),
                histogramBucketOverrides: histogramBuckets,
              },
            },
          },
        }),
  });
}

type Parts = {
  connection: NativeConnection;
  activities: object;
  threads: number;
  workflowBundle: WorkflowBundleOption;
  log: Logger;
};

const workerOptions = (
  name: FleetName,
  config: Config,
  { connection, activities, threads, workflowBundle, log }: Parts,
): WorkerOptions => ({
  connection,
  namespace: config.temporalNamespace,
  taskQueue: `${config.taskQueuePrefix}${name}`,
  activities,
  ...encryptionOf(config),
  interceptors: { activity: [traceActivity, keepBeating, guardFailures(log)] },
  maxConcurrentActivityTaskExecutions: fleets[name].maxActivities,
  ...versionOf(config),
  stickyQueueScheduleToStartTimeout: deadWorkerAfter,
  // An activity learns of its cancellation with its next heartbeat, so heartbeats must be frequent.
  maxHeartbeatThrottleInterval: '1 second',
  ...workflowOptions(fleets[name], workflowBundle),
  workflowThreadPoolSize: threads,
  shutdownGraceTime: `${config.drainSeconds}s`,
  shutdownForceTime: `${config.drainSeconds + 5}s`,
});

/**
 * The name of the deployment in Temporal. The fleets of one version of this software are one version of the deployment.
 */
export const deploymentName = (taskQueuePrefix: string): string => `${taskQueuePrefix}support-platform`;

/** With a build id, Temporal gives work to the version that an operator has made the current one. */
const versionOf = ({ workerBuildId, taskQueuePrefix }: Config): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
  workerBuildId === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          version: { deploymentName: deploymentName(taskQueuePrefix), buildId: workerBuildId },
          useWorkerVersioning: true,
          defaultVersioningBehavior: 'AUTO_UPGRADE',
        },
      };

/** A worker without a bundle polls for activities only. */
const workflowOptions = ({ maxWorkflowTasks }: Fleet, workflowBundle: WorkflowBundleOption): Partial<WorkerOptions> =>
  maxWorkflowTasks === undefined ? {} : { workflowBundle, maxConcurrentWorkflowTaskExecutions: maxWorkflowTasks };

/**
 * Temporal offers a workflow's next task first to the worker that ran the last one, and to other workers after this
 * time. If that worker has died, a signal or update waits this long, so the time is well below the API's timeout for
 * updates. A live worker takes a task within milliseconds; if it is too busy, another worker replays the history.
 */
const deadWorkerAfter = '2 seconds';

function chosenFleets(wanted: string[] | undefined): FleetName[] {
  const unknown = wanted?.filter((name) => !(name in fleets)) ?? [];
  if (unknown.length > 0)
    throw new ConfigError(`FLEETS names ${unknown.join(', ')}; there are ${fleetNames.join(', ')}.`);
  return wanted ? (wanted as FleetName[]) : fleetNames;
}

if (import.meta.main)
  await runProgram(async () => {
    const { values } = parseArgs({ options: { fleet: { type: 'string' }, replay: { type: 'boolean' } } });
    if (values.replay) process.exit(await replayOpen(readConfig(process.env)));
    const FLEETS = values.fleet ?? process.env['FLEETS'];
    return startWorkers(readConfig({ ...process.env, FLEETS }));
  });
