/**
 * `npm test`: obtains what the tests need, runs the checks and all tests, and ends with one line
 * `N passed, N failed`. Other arguments are passed to Jest and select the tests that run:
 *   --changed[=COMMIT]  runs the checks, and the tests affected by the changes since that commit (see changed.ts)
 *   --soak              runs the long tests of test/soak/ instead of all others (`npm run soak`)
 * A run without any test counts as failed.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { EngineError } from '../engines/cache.ts';
import { runChecks } from '../engines/check.ts';
import { findChromium } from '../engines/chromium.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import { findHaproxy } from '../engines/haproxy.ts';
import { findMongod } from '../engines/mongod.ts';
import { findPostgresql } from '../engines/postgresql.ts';
import { findRedis } from '../engines/redis.ts';
import { findTemporal } from '../engines/temporal.ts';
import { findTemporalServer } from '../engines/temporalserver.ts';
import { findTestServer } from '../engines/testserver.ts';
import { testTools } from '../engines/testtools.ts';
import { findVersitygw } from '../engines/versitygw.ts';
import { changedFiles, testsFor } from './changed.ts';
import { readSources } from './house/imports.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The time limit of a run of long tests. */
const soakMinutes = 20;
/** The long test that runs alone, after the others: its thirty processes leave them no processor time. */
const aloneInSoak = 'test/soak/cluster';
const soakRuns = [['--testPathIgnorePatterns', aloneInSoak, '/node_modules/'], [aloneInSoak]];

type Tally = { passed: number; failed: number };

/** The part of Jest's JSON report that is counted. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  /** Files that could not be run at all. Their tests are not among the failed ones. */
  numRuntimeErrorTestSuites: number;
  testResults: {
    name: string;
    /** The error of a file that could not be run. */
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What is passed to the tests, in the environment variables that are the keys. */
const passedOn = {
  TEST_TEMPORAL_TESTSERVER: findTestServer,
  TEST_CHROMIUM: findChromium,
  TEST_EMBEDDING: findEmbedding,
  ...testTools,
};

/** The engines are built or downloaded one after the other, because building one uses all cores. */
async function obtainEngines(soak: boolean): Promise<NodeJS.ProcessEnv> {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, find] of Object.entries(passedOn)) env[name] = await find(print);
  for (const find of [findMongod, findTemporal, findRedis, findVersitygw]) await find(print);
  // The test of the whole cluster needs these programs.
  if (soak) await Promise.all([findTemporalServer(print), findPostgresql(print), findHaproxy(print)]);
  return env;
}

/** The name and the shortened error of each failed test, for a reader who sees only the end of a long output. */
function failuresOf({ testResults }: Report): string[] {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter(({ status }) => status === 'failed');
    if (failed.length === 0) return assertionResults.length === 0 && message ? [`${file}: ${inShort(message)}`] : [];
    return failed.map((test) => `${file} › ${test.fullName}: ${inShort(test.failureMessages.join(' '))}`);
  });
}

/** The start of a message on one line, without terminal colours. */
const inShort = (message: string): string => stripVTControlCharacters(message).replaceAll(/\s+/g, ' ').slice(0, 600);

/** Runs Jest until it ends or its time is up, and counts the tests. A run without a report counts as one failure. */
async function runJest(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  minutes?: number,
): Promise<Tally & { code: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'support-jest-'));
  const outputFile = join(folder, 'report.json');
  try {
    const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
    const child = spawn(process.execPath, [jest, '--json', `--outputFile=${outputFile}`, ...args], {
      cwd: root,
      // The report goes to a file. Without this redirection Jest would print it, too.
      stdio: ['inherit', 'ignore', 'inherit'],
      env: {
        ...process.env,
        ...env,
        NODE_OPTIONS:
          `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
      },
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    const timer = minutes === undefined ? undefined : setTimeout(() => child.kill('SIGTERM'), minutes * 60_000);
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) =>
        resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
    });
    clearTimeout(timer);
    const text = await readFile(outputFile, 'utf8').catch(() => undefined);
    if (text === undefined) {
      print('jest left no report: nothing it ran can be counted');
      return { passed: 0, failed: 1, code: code || 1 };
    }
    const report = JSON.parse(text) as Report;
    for (const failure of failuresOf(report)) print(`failed: ${failure}`);
    return { passed: report.numPassedTests, failed: report.numFailedTests + report.numRuntimeErrorTestSuites, code };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * What to run. `checks`: whether to run the checks. `jest`: the arguments of Jest; undefined runs no tests. `soak`: the
 * long tests instead of all others.
 */
type Plan = { checks: boolean; jest: readonly string[] | undefined; soak: boolean };

async function planFrom(args: readonly string[]): Promise<Plan> {
  const isChanged = (arg: string): boolean => /^--changed(=|$)/.test(arg);
  const changed = args.find(isChanged);
  const rest = args.filter((arg) => !isChanged(arg) && arg !== '--soak');
  const soak = args.includes('--soak');
  if (changed === undefined || soak) return { checks: args.length === 0, jest: rest, soak };
  const files = await changedFiles(root, changed.split('=')[1]);
  const tests = testsFor(files, await readSources(root));
  print(`${files.length} files changed: ${tests.length} test files concern them`);
  for (const test of tests) print(`  ${test}`);
  return { checks: true, jest: tests.length === 0 ? undefined : ['--runTestsByPath', ...rest, ...tests], soak };
}

/** Obtains the engines and runs the tests of a plan. A plan of which no test ran counts as a failure. */
async function runTests({ jest, soak }: Plan): Promise<Tally> {
  if (jest === undefined) return { passed: 0, failed: 0 };
  const env = await obtainEngines(soak);
  let [passed, failed, code] = [0, 0, 0];
  for (const args of soak && jest.length === 0 ? soakRuns : [jest]) {
    const ran = soak ? await runJest(args, { ...env, TEST_SOAK: '1' }, soakMinutes) : await runJest(args, env);
    passed += ran.passed;
    failed += ran.failed;
    code ||= ran.code;
  }
  if (passed + failed === 0) print('no test ran');
  // Jest also fails for reasons outside of tests: a set-up that threw, an invalid configuration, a time that was up.
  return { passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed };
}

async function main(args: readonly string[]): Promise<number> {
  const tally: Tally = { passed: 0, failed: 0 };
  try {
    const plan = await planFrom(args);
    // The checks run beside the tests: the checks use one processor for a while, and the tests mostly wait.
    const checking = plan.checks ? runChecks(print) : Promise.resolve([]);
    const [results, tests] = await Promise.all([checking, runTests(plan)]);
    tally.passed = tests.passed + results.filter(({ passed }) => passed).length;
    tally.failed = tests.failed + results.filter(({ passed }) => !passed).length;
    return tally.failed === 0 ? 0 : 1;
  } catch (error) {
    print(error instanceof EngineError ? error.message : String(error instanceof Error ? error.stack : error));
    tally.failed += 1;
    return 1;
  } finally {
    print(`${tally.passed} passed, ${tally.failed} failed`);
  }
}

process.exitCode = await main(process.argv.slice(2));
