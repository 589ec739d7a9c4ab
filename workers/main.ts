/**
 * A worker process: runs the fleets in FLEETS (all when unset), the sweeper, and the schedules. It drains on SIGTERM.
 */
import { Client, Connection } from '@temporalio/client';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { bundleWorkflows } from './bundle.ts';
import { buildReaders } from './readers.ts';
import { fleetNames, fleets, type FleetName } from './fleets.ts';
import { guardFailures } from './failures.ts';
import { embeddingMeter, histogramBuckets } from './metrics.ts';
import { createRecrawlSchedules, ensureSchedules } from './schedules.ts';
import { ensureSearchAttributes } from './searchattributes.ts';
import type { Fleet, StartSaved, WorkerDeps } from './slices/slice.ts';
import { startSweeper } from './sweeper.ts';
import { connectionTo, startSaved } from '../workflows/start.ts';
import { createLog } from '../api/http/log.ts';
import { openBots } from '../providers/recall/open.ts';
import { openEmbedding } from '../clients/embedding/open.ts';
import { openIntelligence } from '../intelligence/open.ts';
import { createFiles } from '../clients/files/files.ts';
import { createGithub } from '../providers/github/client.ts';
import { createHttp } from '../clients/http/http.ts';
import { createMcp } from '../clients/mcp/mcp.ts';
import { createLinear } from '../providers/linear/client.ts';
import { createMailer } from '../providers/mail/client.ts';
import { createObjectStore } from '../clients/s3/s3.ts';
import { createPages } from '../clients/crawl/site/pages.ts';
import { createRenderer } from '../clients/crawl/render/render.ts';
import { withMerging } from '../clients/knowledge/search/merging.ts';
import { createSearch } from '../clients/knowledge/search/search.ts';
import { createSlack } from '../providers/slack/client.ts';
import { createTeamsBot } from '../providers/teams/client.ts';
import { createSites } from '../clients/crawl/site/site.ts';
import { ConfigError, readConfig, type Config } from '../config.ts';
import { connectMongo, disconnectMongo } from '../models/base/connect.ts';
import { createSecretBox } from '../models/base/secretbox.ts';
import { listLackingOwners, wakeEmbedding } from '../models/knowledge/embedding.ts';
import { hostPort } from '../models/rules/base/address.ts';

/**
 * The running workers of one process. `close` accepts no new work, lets running activities finish for `drainSeconds`,
 * and disconnects.
 */
export type WorkerProcess = {
  close(): Promise<void>;
  /** Resolves when the workers stop; rejects when one fails. */ running: Promise<void>;
};

/** Starts the fleets in this process. `adapt` lets tests replace parts; `bundle`: a bundle that was built before. */
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
  const bundling = bundle ?? bundleWorkflows(config.dataDir);
  Promise.resolve(bundling).catch(() => undefined);
  const building = buildReaders(config.dataDir).catch((error: unknown) => {
    log.warn(
      { err: error },
      'the programs that read files and pages could not be built; their sources are run, which takes longer',
    );
    return undefined;
  });
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => log.warn({ ...meta, level_name: level }, message)),
    // The SDK must not handle signals, because this process drains in its own order.
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
  await connectMongo(config.mongodbUri);
  const address = config.temporalAddress;
  const connection = await NativeConnection.connect({ address }).catch((error: unknown) => {
    throw new Error(`Temporal does not answer at ${address}: ${(error as Error).message}`, { cause: error });
  });
  const clientConnection = await Connection.connect(connectionTo(address));
  const temporal = new Client({ connection: clientConnection, namespace: config.temporalNamespace });
  await ensureSearchAttributes(clientConnection, config.temporalNamespace);

  const readers = await building;
  const files = createFiles({
    program: readers?.files,
    spares: names.some((name) => fleets[name].readerReady) ? 1 : 0,
  });
  const http = createHttp({
    userAgent: userAgent(config),
    egressAllow: config.egressAllow,
    // A request's timeout includes its wait for a connection. The crawler's own queue comes before that.
    connectionsPerOrigin: Math.max(4, config.crawlConcurrency),
  });
  const outbound = createHttp({
    userAgent: userAgent(config, 'SupportPlatform'),
    egressAllow: config.egressAllow,
    // Many organizations' endpoints may share an origin; attempts are already limited per destination.
    connectionsPerOrigin: 64,
  });
  const pages = createPages({ program: readers?.pages, agent: crawlerName });
  const embedding = openEmbedding(config, log, { meter: embeddingMeter(Runtime.instance().metricMeter) });
  const search = withMerging(createSearch({ uri: config.searchUri, model: embedding.model }));
  const clock = () => new Date();
  const renderer = createRenderer({
    executablePath: config.chromiumPath,
    ...(config.chromiumSandbox === undefined ? {} : { sandbox: config.chromiumSandbox }),
    http,
    userAgent: userAgent(config),
    onStartFailure: (error) => log.error({ err: error }, 'the browser for pages that need JavaScript did not start'),
  });
  const concurrency = config.crawlConcurrency;
  const sites = createSites({ http, pages, renderer, agent: crawlerName, clock, concurrency });
  const schedules = createRecrawlSchedules(temporal, config.taskQueuePrefix);
  const { quotas, testRepliesPerMinute, testConversationsPerMonth, inboundBuckets } = config;
  // For URLs that the operator configured, which may be private. Organizations cannot choose these URLs.
  const services = createHttp({
    userAgent: userAgent(config),
    egressAllow: [
      ...config.egressAllow,
      ...[
        config.linearApiUrl,
        config.githubApiUrl,
        config.slack.apiUrl,
        config.teams.tokenUrl,
        ...(config.s3.endpoint === undefined ? [] : [config.s3.endpoint]),
      ].map((url) => new URL(url).host),
    ],
    connectionsPerOrigin: 20,
  });
  const linear = createLinear({ http: services, url: config.linearApiUrl });
  const github = createGithub({ http: services, url: config.githubApiUrl });
  const slack = createSlack({ http: services, respond: outbound, url: config.slack.apiUrl });
  const secrets = createSecretBox(config.secretKeys);
  const bots = openBots(config.meetingBots, config.egressAllow);
  const outsideBot = bots.outside;
  const mcp = createMcp({ http: outbound, egressAllow: config.egressAllow });
  const starter = { temporal, clock, log, config };
  const start: StartSaved = (model, record, intents) => startSaved(starter, model, record, intents);
  const nearby = { ...starter, near: new Client({ connection, namespace: config.temporalNamespace }) };
  const startNear: StartSaved = (model, record, intents) => startSaved(nearby, model, record, intents);
  const stopping = new AbortController();
  const deps = adapt({
    files,
    sites,
    search,
    intelligence: openIntelligence(config.openai, embedding, log),
    embedding,
    linear,
    github,
    slack,
    slackApp: config.slack.app,
    teams: config.teams.app && createTeamsBot({ login: services, http: outbound }, config.teams.app),
    mailer: createMailer({ egressAllow: config.egressAllow }),
    mail: { ...config.mail, outsidePerDay: config.rates.outside_mails.points },
    objects: createObjectStore(services, config.s3),
    inboundBuckets,
    secrets,
    schedules,
    http: outbound,
    mcp,
    publicUrl: config.publicUrl,
    egressAllow: config.egressAllow,
    start,
    startNear,
    quotas,
    testRepliesPerMinute,
    testConversationsPerMonth,
    clock,
    stopping: stopping.signal,
    log,
    outsideBot,
  });
  const workflowBundle = await bundling;
  const workers = await Promise.all(
    names.map((name) =>
      Worker.create({
        connection,
        namespace: config.temporalNamespace,
        taskQueue: `${config.taskQueuePrefix}${name}`,
        activities: fleets[name].activities(deps),
        interceptors: { activity: [guardFailures(log)] },
        maxConcurrentActivityTaskExecutions: fleets[name].maxActivities,
        stickyQueueScheduleToStartTimeout: deadWorkerAfter,
        // A cancellation arrives with the next heartbeat.
        maxHeartbeatThrottleInterval: '1 second',
        ...workflowOptions(fleets[name], workflowBundle),
        shutdownGraceTime: `${config.drainSeconds}s`,
        shutdownForceTime: `${config.drainSeconds + 5}s`,
      }),
    ),
  );
  const running = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  running.catch(() => undefined);
  if (names.includes('maintenance')) await ensureSchedules(temporal, config.taskQueuePrefix);
  if (names.includes('embedding') && embedding.model !== undefined)
    void embedWhatLacks(embedding.model, clock()).catch((error: unknown) =>
      log.warn({ err: error }, 'what lacks vectors was not listed; maintenance does it within the hour'),
    );
  const sweeper = startSweeper(starter);
  log.info({ fleets: names }, 'worker ready');
  return {
    running,
    async close() {
      await sweeper.stop();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      const drained = setTimeout(() => stopping.abort(), config.drainSeconds * 1_000);
      await running.finally(() => clearTimeout(drained));
      stopping.abort();
      await embedding.close();
      await files.close();
      await renderer.close();
      await bots.close();
      await pages.close();
      await http.close();
      await services.close();
      await mcp.close();
      await outbound.close();
      search.close();
      await connection.close();
      await clientConnection.close();
      await disconnectMongo();
      log.info('worker stopped');
    },
  };
}

/** A worker without a bundle polls for activities only. */
const workflowOptions = (
  { maxWorkflowTasks }: Fleet,
  workflowBundle: WorkflowBundleOption,
): Partial<Pick<WorkerOptions, 'workflowBundle' | 'maxConcurrentWorkflowTaskExecutions'>> =>
  maxWorkflowTasks === undefined ? {} : { workflowBundle, maxConcurrentWorkflowTaskExecutions: maxWorkflowTasks };

/**
 * Temporal offers a workflow's next task first to the worker that ran the last one, and to other workers after this
 * time. If that worker has died, a signal or update waits this long, so the time is well below the API's timeout for
 * updates. A live worker takes a task within milliseconds; if it is too busy, another worker replays the history.
 */
const deadWorkerAfter = '2 seconds';

/** Starts embedding of passages that were stored without an embedding model or with a former one. */
async function embedWhatLacks(model: string, now: Date): Promise<void> {
  for (const owner of await listLackingOwners(model)) await wakeEmbedding(owner, now);
}

/** The name by which robots.txt addresses the crawler. */
const crawlerName = 'SupportPlatformBot';

/** Identifies the sender of requests and how to contact it. */
function userAgent({ crawlerContact }: Config, name = crawlerName): string {
  return `${name}/1.0${crawlerContact === undefined ? '' : ` (+${crawlerContact})`}`;
}

function chosenFleets(wanted: string[] | undefined): FleetName[] {
  const unknown = wanted?.filter((name) => !(name in fleets)) ?? [];
  if (unknown.length > 0)
    throw new ConfigError(`FLEETS names ${unknown.join(', ')}; there are ${fleetNames.join(', ')}.`);
  return wanted ? (wanted as FleetName[]) : fleetNames;
}

if (import.meta.main) {
  try {
    const workers = await startWorkers(readConfig(process.env));
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= workers.close().then(
        () => process.exit(0),
        (error: unknown) => {
          process.stderr.write(`${(error as Error).message}\n`);
          process.exit(1);
        },
      );
    };
    // `disconnect`: the parent process that started this one has ended.
    for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(event, close);
    // A failed worker stops the process; its supervisor restarts it.
    workers.running.catch(close);
    // Sent last, because the receiver may stop this process at once.
    process.send?.({ type: 'ready' });
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  }
}
