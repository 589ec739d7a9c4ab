/**
 * Runs once per test run: MongoDB and Temporal in memory, one API, and all worker fleets as processes. Tests are
 * separated by organization. A test that needs its own system passes another name to `systemEnv`.
 */
import { startProcess, systemEnv, type Running } from './processes.ts';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMongod, type Mongod } from '../../engines/mongod.ts';
import { freePort } from '../../engines/ports.ts';
import { startTemporal, type Temporal } from '../../engines/temporal.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';
import { buildReaders } from '../../workers/readers.ts';
import { buildPrograms } from './programs.ts';

/** The values that setup passes to teardown. Jest runs both in one process. */
export type TestRun = { mongod: Mongod; temporal: Temporal; processes: Running[]; folder: string };

/**
 * The globalSetup of Jest. It sets TEST_MONGODB_URI, TEST_TEMPORAL_ADDRESS and TEST_API_URL, which the workers of Jest
 * inherit. What tests build and store is in one folder, which the teardown removes.
 */
export default async function setup(): Promise<void> {
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  const folder = await mkdtemp(join(tmpdir(), 'support-test-'));
  const built = join(folder, 'built');
  process.env['TEST_BUILT'] = built;
  process.env['TEST_PORTS'] = join(folder, 'ports');
  process.env['TEST_FOLDERS'] = join(folder, 'folders');
  await Promise.all([mkdir(process.env['TEST_PORTS']), mkdir(process.env['TEST_FOLDERS'])]);
  const [mongod, temporal, programs] = await Promise.all([
    // By default MongoDB removes expired records once a minute, which is too slow for a test.
    startMongod({ report, expirySeconds: 5, indexedOnly: true }),
    startTemporal({ report }),
    buildPrograms(),
    bundleWorkflows(built),
    buildReaders(built),
  ]);
  const bundle = (await readdir(built)).find((name) => name.startsWith('workflows-'));
  process.env['TEST_WORKFLOW_BUNDLE'] = join(built, bundle!);
  process.env['TEST_PROGRAMS'] = programs;
  // The platform reads majority-committed data. A test with a weaker read concern would see a write before the API
  // does.
  process.env['TEST_MONGODB_URI'] = `${mongod.uri}&readConcernLevel=majority`;
  process.env['TEST_TEMPORAL_ADDRESS'] = temporal.address;
  const env = systemEnv('shared');
  const metricsPort = String(await freePort());
  process.env['TEST_WORKER_METRICS'] = `http://127.0.0.1:${metricsPort}/metrics`;
  const processes = await Promise.all([
    startProcess('api/server.ts', env),
    startProcess('workers/main.ts', { ...env, WORKER_METRICS_PORT: metricsPort }),
  ]);
  process.env['TEST_API_URL'] = processes[0].url;
  process.env['TEST_DATA_DIR'] = env.DATA_DIR;
  (globalThis as { testRun?: TestRun }).testRun = { mongod, temporal, processes, folder };
}
