/**
 * Finds or builds the Temporal command-line tool, and runs its development server on 127.0.0.1. Production uses
 * docker-compose.yml instead.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { EngineError, cached, download, makeFolder, onPath, platform, run, verify } from './cache.ts';
import { buildWithGo } from './go.ts';
import type { Report } from './cache.ts';
import { lastWords, startServer, untilReady } from './child.ts';
import type { Guarded, Server } from './child.ts';
import { accepts, freePort, isFree } from './ports.ts';
import { cliType, searchAttributes } from '../workflows/attributes.ts';

/**
 * 1.5.1 (server 1.29.1) is the newest version that `go install` accepts, because later ones have a replace directive.
 * The archives are from the Temporal project's releases.
 */
const version = '1.5.1';
const archives: Record<string, { name: string; sha256: string }> = {
  'linux-x64': { name: 'linux_amd64', sha256: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d' },
  'linux-arm64': { name: 'linux_arm64', sha256: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5' },
  'darwin-x64': { name: 'darwin_amd64', sha256: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9' },
  'darwin-arm64': { name: 'darwin_arm64', sha256: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415' },
};
const attributes = Object.values(searchAttributes);
const goModule = 'github.com/temporalio/cli/cmd/temporal';
/** The number of packages that the build compiles, for the progress line. Counted in a finished build. */
const goPackages = 1450;

/**
 * By default the development server polls 20 times a second, which adds 50 ms to each step (measured). One partition
 * preserves the order of a queue. The new matcher and fairness prevent one organization from starving another. Eager
 * execution returns an activity with the workflow task that requested it, which saves 10 ms of a chat's answer
 * (decision 83). By default a timer fires up to a second late, so that the clocks of several servers may differ; here
 * there is only one server.
 */
const dynamicConfig = [
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  'history.transferProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxTimeShift="10ms"',
  'history.visibilityProcessorMaxPollRPS=1000',
  'history.outboundProcessorMaxPollRPS=1000',
  'matching.useNewMatcher=true',
  'matching.enableFairness=true',
  'system.forceSearchAttributesCacheRefreshOnRead=true',
  'system.enableActivityEagerExecution=true',
];

/**
 * With a write-ahead log, a commit is one durable write to the end of one file. SQLite's default journal is created,
 * written and deleted for each commit, which doubles the time to start a workflow.
 */
const pragmas = ['journal_mode=wal', 'synchronous=full'] as const;

/**
 * The path of a usable `temporal`: the one on PATH, else the one in the cache, else one downloaded from the releases of
 * the Temporal project. If none of them is there, `temporal` is built from source with Go.
 */
export async function findTemporal(report: Report): Promise<string> {
  const installed = await onPath('temporal');
  if (installed !== undefined) {
    const found = /version (\d+)\.(\d+)/.exec(await run(installed, ['--version']).catch(() => ''));
    if (found?.[1] === '1' && Number(found[2]) >= 5) return installed;
    report(`temporal on PATH is not 1.5 or newer; it is not used`);
  }
  const folder = await cached({ name: 'temporal', version, report }, async (temporary) => {
    if (!(await fromRelease(temporary, report))) await fromSource(temporary, report);
    const printed = await run(join(temporary, 'temporal'), ['--version']);
    if (!printed.includes(version))
      throw new EngineError(`The temporal that was obtained is not ${version}: ${printed.trim()}`);
  });
  return join(folder, 'temporal');
}

async function fromRelease(temporary: string, report: Report): Promise<boolean> {
  const archive = archives[platform];
  if (archive === undefined) return false;
  const file = join(temporary, 'archive.tar.gz');
  const name = `temporal_cli_${version}_${archive.name}.tar.gz`;
  try {
    await download(`https://github.com/temporalio/cli/releases/download/v${version}/${name}`, file);
  } catch {
    return false;
  }
  report(`downloaded Temporal ${version}`);
  await verify(file, archive.sha256);
  await run('tar', ['-xzf', file, '-C', temporary, 'temporal']);
  await rm(file);
  return true;
}

async function fromSource(temporary: string, report: Report): Promise<void> {
  report(`building Temporal ${version} with Go; once per machine, about three minutes and 3 GB of temporary space`);
  await buildWithGo(
    {
      name: 'Temporal',
      targets: [`${goModule}@v${version}`],
      packages: goPackages,
      linker: `-X github.com/temporalio/cli/temporalcli.Version=${version}`,
    },
    temporary,
    report,
  ).catch((error: unknown) => {
    throw new EngineError(
      `Temporal is not installed, its release could not be downloaded, and it could not be built: ${(error as Error).message} ` +
        `Install Go 1.26 or newer, or the Temporal CLI ${version}, or set TEMPORAL_ADDRESS to a running server.`,
    );
  });
}

/** A running embedded Temporal server with the namespace `default`. */
export type Temporal = Server & {
  /** `host:port` of the gRPC frontend. */
  address: string;
  /** The URL of the web UI; undefined when none was requested. */
  uiAddress: string | undefined;
};

/**
 * Temporal chooses ports for its services, closes them and opens them again. In between, a connection of another
 * program may take one of these ports. A new start chooses other ports.
 */
const portTaken = 'Its port is taken by another program.';
const maxAttempts = 3;

/**
 * Whether Temporal stopped because a port was taken. The whole message is compared, because the error about a Temporal
 * that runs but is not ready in time may also contain the words of `portTaken`.
 */
export const lostPort = (error: unknown): error is EngineError =>
  error instanceof EngineError && error.message === `Temporal stopped while starting. ${portTaken}`;

/**
 * Starts the development server and resolves when the namespace `default` answers. State is in memory without
 * `dataDir`, otherwise in `<dataDir>/temporal.db`. Without `uiPort` there is no web UI. @throws EngineError
 */
export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (!lostPort(error) || attempt === maxAttempts) throw error;
      options.report(`${error.message} Temporal is started again.`);
    }
  }
}

type TemporalOptions = {
  dataDir?: string;
  port?: number;
  uiPort?: number;
  report: Report;
  logPath?: string;
  /** Additional dynamic configuration, each as `name=value`. */
  settings?: readonly string[];
};

async function startOnce(options: TemporalOptions): Promise<Temporal> {
  const command = await findTemporal(options.report);
  const port = options.port ?? (await freePort());
  if (!(await isFree(port))) throw new EngineError(`Port ${port}, chosen for Temporal, is taken by another program.`);
  const temporary = options.dataDir === undefined ? await mkdtemp(join(tmpdir(), 'support-temporal-')) : undefined;
  const folder = options.dataDir ?? temporary ?? '';
  await makeFolder(folder);
  const server = await startServer({
    command,
    args: [
      'server',
      'start-dev',
      '--ip=127.0.0.1',
      `--port=${port}`,
      '--log-level=error',
      ...pragmas.map((pragma) => `--sqlite-pragma=${pragma}`),
      ...(options.uiPort === undefined ? ['--headless'] : ['--ui-ip=127.0.0.1', `--ui-port=${options.uiPort}`]),
      ...(options.dataDir === undefined ? [] : [`--db-filename=${join(folder, 'temporal.db')}`]),
      ...[...dynamicConfig, ...(options.settings ?? [])].flatMap((setting) => ['--dynamic-config-value', setting]),
      ...attributes.flatMap(({ name, type }) => ['--search-attribute', `${name}=${cliType(type)}`]),
    ],
    logPath: options.logPath ?? join(folder, 'temporal.log'),
    explain,
    folder: temporary,
    graceMs: 15_000,
    ready: (child) => becomeReady(child, port),
  });
  const uiAddress = options.uiPort === undefined ? undefined : `http://127.0.0.1:${options.uiPort}`;
  return { address: `127.0.0.1:${port}`, uiAddress, ...server };
}

async function becomeReady(child: Guarded, port: number): Promise<void> {
  const began = Date.now();
  const until = (state: () => Promise<boolean>): Promise<void> => untilReady('Temporal', child, 60_000, state, began);
  await until(() => accepts(port));
  const connection = Connection.lazy({ address: `127.0.0.1:${port}` });
  try {
    await until(async () => {
      try {
        const known = await connection.withDeadline(Date.now() + 2000, () =>
          connection.operatorService.listSearchAttributes({ namespace: 'default' }),
        );
        return attributes.every(({ name }) => name in known.customAttributes);
      } catch {
        return false;
      }
    });
  } finally {
    await connection.close();
  }
}

function explain(lines: string): string {
  if (/no space left|disk is full/i.test(lines)) return 'The disk is full. Free some space and try again.';
  if (/address already in use/i.test(lines)) return portTaken;
  return lastWords(lines);
}
