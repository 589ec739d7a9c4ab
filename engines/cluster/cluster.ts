/**
 * Runs the services of docker-compose.yml on one machine without containers. Each service is a process that listens on
 * a port of 127.0.0.1 and is restarted when it dies.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { exists, makeFolder, run } from '../cache.ts';
import type { Report } from '../cache.ts';
import { startGuarded, type Guarded } from '../child.ts';
import { findChromium } from '../chromium.ts';
import { findEmbedding } from '../embedding/embedding.ts';
import { findHaproxy } from '../haproxy.ts';
import { lockDataDir } from '../lock.ts';
import { explainMongod, findMongod } from '../mongod.ts';
import { accepts, freePort, isFree } from '../ports.ts';
import { createDatabase, findPostgresql, unprivileged } from '../postgresql.ts';
import { findRedis } from '../redis.ts';
import { createSupervisor, untilOrFailure, type Failure, type Watched } from '../supervisor.ts';
import { findTemporalServer } from '../temporalserver.ts';
import { findVersitygw } from '../versitygw.ts';
import { workerEnv } from '../system.ts';
import * as shape from './shape.ts';
import { nodePorts, temporalConfig } from './temporalconfig.ts';

export type Cluster = {
  /** The balancer's URL, `http://HOST:PORT` without `/v1`. */
  url: string;
  mongodbUri: string;
  /** The address at which the balancer takes connections to Temporal. */
  temporalAddress: string;
  logDir: string;
  /** The names of all services, as in docker-compose.yml. */
  services: readonly string[];
  /** Kills the process of a service. It is started again after a second. */
  kill(service: string): Promise<void>;
  pid(service: string): number;
  /** Resolves when a service cannot be started again. */
  failed: Promise<Failure>;
  stop(): Promise<void>;
  /** Kills every process at once. */
  killAll(): void;
};

type Service = {
  name: string;
  layer: Watched['layer'];
  command: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
  explain?: (lines: string) => string;
  /** True for a Node program, which says when it is ready. Any other service is ready when it accepts connections. */
  node?: boolean;
};

/** How long a process may take to finish its work when it is stopped, in ms. */
const graceMs = 25_000;
const startUpMs = 120_000;
/**
 * Time limit for a Node program, in ms. The first worker builds the workflow bundle, which takes minutes on a slow
 * machine.
 */
const nodeStartUpMs = 15 * 60_000;

type Options = {
  dataDir: string;
  /** The balancer's port. */
  port: number;
  /** The environment of the API and the workers. The cluster adds the addresses of its services. */
  env: NodeJS.ProcessEnv;
  report: Report;
  /**
   * Returns the path of one of this system's programs, such as `api/server.ts`. By default, this is the path of its
   * source.
   */
  program?: (entry: string) => string;
};

/**
 * Starts all services and resolves when the balancer answers and every worker polls. @throws EngineError after stopping
 * what was started
 */
export async function startCluster(options: Options): Promise<Cluster> {
  const { dataDir, port, report } = options;
  const logDir = join(dataDir, 'logs');
  await makeFolder(logDir);
  const programs = await findPrograms(report);
  const lock = await lockDataDir(dataDir, report);
  const { ports, keys } = await remembered(dataDir);
  const place = (service: string, usual: number): string => `127.0.0.1:${ports[`${service}:${usual}`]}`;
  const services = new Map<string, Watched>();
  const supervisor = createSupervisor(
    report,
    (one) => one.child.explain(),
    async () => undefined,
  );
  const { failed, kill: killAll } = supervisor;
  const stop = async (): Promise<void> => {
    lock.stopping();
    await supervisor.stop();
    lock.release();
  };

  async function start(service: Service): Promise<void> {
    const { name, layer, command, args, env = { PATH: process.env['PATH'] }, explain } = service;
    const restart = (): Promise<Guarded> =>
      startGuarded({
        command,
        args,
        env,
        cwd: dataDir,
        logPath: join(logDir, `${name}.log`),
        ...(service.node === true ? { ipc: true } : {}),
        ...(explain === undefined ? {} : { explain }),
      });
    const watched: Watched = {
      name,
      child: await restart(),
      layer,
      restart,
      stop: (running) => running.stop(layer === 0 ? 10_000 : graceMs),
    };
    services.set(name, watched);
    supervisor.watch(watched);
    if (service.node !== true) return;
    const { child } = watched;
    await untilOrFailure(
      `${name} is ready`,
      failed,
      nodeStartUpMs,
      async () => child.saidReady(),
      () => child.explain(),
    );
  }

  const began = Date.now();
  const done = (what: string): void => report(`${what} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  const context: Context = { options, programs, place, keys, start, failed };
  try {
    // After a cluster was killed, its processes may still be ending and using their ports. So the start waits until the
    // ports are free.
    for (const used of Object.values(ports)) await until(`port ${used} is free`, failed, () => isFree(used));
    await Promise.all([startMongo(context), startPostgresql(context), startRedis(context), startIndex(context)]);
    done('MongoDB, PostgreSQL, Redis and the index are ready');
    await startTemporal(context);
    done('Temporal and the balancer are ready');
    await startOurs(context);
    done('The API, the workers and the embedding services are ready');
    supervisor.keepUp();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    mongodbUri: shape.appEnvironment(place)['MONGODB_URI']!,
    temporalAddress: place('balancer', 7233),
    logDir,
    services: [...services.keys()],
    async kill(service) {
      const { child } = services.get(service)!;
      child.kill();
      await child.exited;
    },
    pid: (service) => services.get(service)!.child.pid,
    failed,
    stop,
    killAll,
  };
}

type Programs = Awaited<ReturnType<typeof findPrograms>>;
type Context = {
  options: Options;
  programs: Programs;
  /** Returns the address of a service. `usual`: the service's port in docker-compose.yml. */
  place: (service: string, usual: number) => string;
  keys: Record<'secret' | 's3', string>;
  start: (service: Service) => Promise<void>;
  failed: Promise<Failure>;
};

/** Finds or builds the programs one after the other, because a build uses all cores. */
async function findPrograms(report: Report) {
  return {
    mongod: await findMongod(report),
    postgresql: await findPostgresql(report),
    redis: await findRedis(report),
    versitygw: await findVersitygw(report),
    haproxy: await findHaproxy(report),
    temporal: await findTemporalServer(report),
    chromium: await findChromium(report),
    embedding: await findEmbedding(report),
  };
}

/**
 * The ports and secrets of the cluster in this folder. Later starts use the same ones, because MongoDB stores the ports
 * of its members, and stored secrets can only be read with the same key.
 */
async function remembered(dataDir: string): Promise<{ ports: Record<string, number>; keys: Context['keys'] }> {
  const file = join(dataDir, 'cluster.json');
  if (await exists(file)) return JSON.parse(await readFile(file, 'utf8'));
  const listening: [string, number][] = [
    ...shape.mongo.members.map((name): [string, number] => [name, 27_017]),
    ['postgresql', 5432],
    ['redis', 6379],
    ['s3', 7070],
    ['balancer', 7233],
    ...[...shape.apis, ...shape.embeddingServices].map((name): [string, number] => [name, 3000]),
    ...shape.temporal.nodes.flatMap((name) => nodePorts.map((usual): [string, number] => [name, usual])),
  ];
  const ports: Record<string, number> = {};
  for (const [name, usual] of listening) {
    let port = await freePort();
    while (Object.values(ports).includes(port)) port = await freePort();
    ports[`${name}:${usual}`] = port;
  }
  const stored = { ports, keys: { secret: randomBytes(32).toString('hex'), s3: randomBytes(18).toString('hex') } };
  await writeFile(file, JSON.stringify(stored), { mode: 0o600 });
  return stored;
}

async function startMongo({ options, programs, place, start, failed }: Context): Promise<void> {
  const { members, set, settings } = shape.mongo;
  for (const name of members) {
    const folder = join(options.dataDir, name);
    await makeFolder(folder);
    await start({
      name,
      layer: 0,
      command: programs.mongod,
      args: [
        `--replSet=${set}`,
        '--bind_ip=127.0.0.1',
        `--port=${portOf(place(name, 27_017))}`,
        `--dbpath=${folder}`,
        // The three members of the replica set share the machine with all other services. By default, each member would
        // take half of the memory for its cache.
        '--wiredTigerCacheSizeGB=0.5',
        '--nounixsocket',
        '--quiet',
      ],
      explain: explainMongod,
    });
  }
  for (const name of members) await untilAccepts(name, place(name, 27_017), failed);
  const client = new MongoClient(`mongodb://${place(members[0]!, 27_017)}/`, { directConnection: true });
  try {
    const admin = client.db('admin');
    await admin
      .command({
        replSetInitiate: {
          _id: set,
          members: members.map((name, _id) => ({ _id, host: place(name, 27_017) })),
          settings,
        },
      })
      .catch((error: { codeName?: string }) => {
        if (error.codeName !== 'AlreadyInitialized') throw error;
      });
    await until(
      'MongoDB has a primary',
      failed,
      async () => (await admin.command({ hello: 1 }))['primary'] !== undefined,
    );
  } finally {
    await client.close();
  }
}

async function startPostgresql({ options, programs: { postgresql }, place, start, failed }: Context): Promise<void> {
  const folder = join(options.dataDir, 'postgresql');
  await createDatabase(postgresql, folder);
  const address = place('postgresql', 5432);
  await start({
    name: 'postgresql',
    layer: 0,
    ...unprivileged(postgresql.command, [
      '-D',
      folder,
      '-p',
      String(portOf(address)),
      ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'].flatMap((set) => [
        '-c',
        set,
      ]),
    ]),
    env: { PATH: process.env['PATH'], ...postgresql.env },
  });
  await untilAccepts('postgresql', address, failed);
}

async function startRedis({ programs: { redis }, place, start, failed }: Context): Promise<void> {
  const address = place('redis', 6379);
  const args = ['--port', String(portOf(address)), '--bind', '127.0.0.1', ...shape.redisOptions];
  await start({ name: 'redis', layer: 0, command: redis.command, args, env: redis.env });
  await untilAccepts('redis', address, failed);
}

/** The id of the access key to the S3 server that stores the search index. */
const s3User = 'support';
const s3Region = 'us-east-1';

async function startIndex({ options, programs, place, keys, start, failed }: Context): Promise<void> {
  const folder = join(options.dataDir, 's3');
  await makeFolder(join(folder, shape.index.bucket));
  const address = place('s3', 7070);
  const access = ['--access', s3User, '--secret', keys.s3, '--region', s3Region];
  const args = [...access, '--port', address, '--quiet', 'posix', folder];
  await start({ name: 's3', layer: 0, command: programs.versitygw, args });
  await untilAccepts('s3', address, failed);
}

async function startTemporal({ options, programs, place, start, failed }: Context): Promise<void> {
  const { dataDir, port } = options;
  await makeTables(programs.temporal.schemaTool, place('postgresql', 5432), failed);
  await writeFile(join(dataDir, 'dynamic.yaml'), shape.temporal.dynamicConfig);
  for (const name of shape.temporal.nodes) {
    const folder = join(dataDir, name);
    await makeFolder(folder);
    const config = temporalConfig({
      portOf: (usual) => portOf(place(name, usual)),
      database: place('postgresql', 5432),
      frontend: place('balancer', 7233),
      dynamicConfig: join(dataDir, 'dynamic.yaml'),
    });
    await writeFile(join(folder, 'cluster.yaml'), config);
    const args = ['--root', '/', '--config', folder.slice(1), '--env', 'cluster', '--allow-no-auth', 'start'];
    await start({ name, layer: 1, command: programs.temporal.server, args });
    // Nodes start one after the other. The first node stores the description of the Temporal cluster, and two nodes
    // that store it at the same time fail.
    await untilAccepts(name, place(name, 7233), failed);
  }
  const file = join(dataDir, 'haproxy.cfg');
  await writeFile(file, shape.haproxyConfig(place, `127.0.0.1:${port}`));
  const { command, env } = programs.haproxy;
  await start({ name: 'balancer', layer: 1, command, args: ['-db', '-f', file], env });
  await ensureNamespace(place('balancer', 7233), failed);
}

/** Creates or updates Temporal's tables. `schemaTool` is Temporal's own program for this and contains the schemas. */
async function makeTables(schemaTool: string, database: string, failed: Promise<Failure>): Promise<void> {
  const [host, port] = database.split(':') as [string, string];
  const tool = (...args: string[]) =>
    run(schemaTool, ['--plugin', 'postgres12', '--ep', host, '-p', port, '-u', 'temporal', ...args]);
  const works = (...args: string[]): Promise<boolean> =>
    tool(...args).then(
      () => true,
      () => false,
    );
  for (const [db, name] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const) {
    const update = ['--db', db, 'update-schema', '--schema-name', `postgresql/v12/${name}`];
    // `create-database` succeeds once PostgreSQL accepts connections, even if the database exists already.
    await until('PostgreSQL takes connections', failed, () => works('--db', db, 'create-database'));
    if (await works(...update)) continue;
    await tool('--db', db, 'setup-schema', '-v', '0.0');
    await tool(...update);
  }
}

const namespace = 'default';
const day = 24 * 60 * 60;

async function ensureNamespace(address: string, failed: Promise<Failure>): Promise<void> {
  const connection = Connection.lazy({ address });
  const ask = <T>(call: () => Promise<T>): Promise<T> => connection.withDeadline(Date.now() + 5_000, call);
  try {
    await until('Temporal answers', failed, async () => {
      try {
        await ask(() =>
          connection.workflowService.registerNamespace({
            namespace,
            workflowExecutionRetentionPeriod: { seconds: (3 * day) as never },
          }),
        );
      } catch (error) {
        if (!/already/i.test((error as Error).message)) return false;
      }
      // The other nodes learn of a new namespace some seconds later, so this also waits until the namespace can be
      // read.
      return ask(() => connection.workflowService.describeNamespace({ namespace })).then(
        () => true,
        () => false,
      );
    });
  } finally {
    await connection.close();
  }
}

async function startOurs({ options, programs, place, keys, start, failed }: Context): Promise<void> {
  const { program = (entry: string) => fileURLToPath(new URL(`../../${entry}`, import.meta.url)) } = options;
  const env: NodeJS.ProcessEnv = {
    SECRET_KEY: keys.secret,
    PUBLIC_URL: `http://127.0.0.1:${options.port}`,
    PUPPETEER_EXECUTABLE_PATH: programs.chromium,
    ...options.env,
    ...shape.appEnvironment(place),
    DATA_DIR: join(options.dataDir, 'ours'),
    SEARCH_URI: shape.index.uri,
    SERVICE_URLS: [options.env['SERVICE_URLS'], `s3=http://${place('s3', 7070)}`].filter(Boolean).join(','),
    AWS_ACCESS_KEY_ID: s3User,
    AWS_SECRET_ACCESS_KEY: keys.s3,
    AWS_REGION: s3Region,
  };
  const node = (name: string, entry: string, own: NodeJS.ProcessEnv) =>
    start({
      name,
      layer: 2,
      command: process.execPath,
      args: ['--disable-warning=ExperimentalWarning', program(entry)],
      env: own,
      node: true,
    });
  const listening = (name: string) => ({ HOST: '127.0.0.1', PORT: String(portOf(place(name, 3000))) });
  // The embedding services get only these variables, because they need no secret and no address of another service.
  const embedding = (name: string) => ({
    PATH: process.env['PATH'],
    DATA_DIR: join(options.dataDir, name),
    EMBEDDING: programs.embedding,
    ...listening(name),
  });
  await Promise.all(shape.embeddingServices.map((name) => node(name, 'workers/embedding.ts', embedding(name))));
  await Promise.all(shape.apis.map((name) => node(name, 'api/server.ts', { ...env, ...listening(name) })));
  // The first worker starts alone, because it builds the bundles of the workflows and of the programs that read files.
  // The other workers load these bundles from the data folder. They start two at a time, because a start keeps a core
  // busy for seconds.
  const [first, ...others] = shape.workers;
  const worker = ({ name, fleet }: (typeof shape.workers)[number]) =>
    node(name, 'workers/main.ts', workerEnv({ ...env, FLEETS: fleet }));
  await worker(first!);
  for (let at = 0; at < others.length; at += 2) await Promise.all(others.slice(at, at + 2).map(worker));
  await until('the balancer answers', failed, async () => {
    const answer = await fetch(`http://127.0.0.1:${options.port}/health/ready`).catch(() => undefined);
    return answer?.status === 200;
  });
}

const portOf = (address: string): number => Number(address.split(':')[1]);

/** Waits until `state` returns true. Fails when a service fails first or `startUpMs` have passed. */
const until = (what: string, failed: Promise<Failure>, state: () => Promise<boolean>): Promise<void> =>
  untilOrFailure(what, failed, startUpMs, state);

const untilAccepts = (name: string, address: string, failed: Promise<Failure>): Promise<void> =>
  until(`${name} accepts connections`, failed, () => accepts(portOf(address)));
