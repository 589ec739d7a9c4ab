/**
 * `npm test`: obtains what the tests need, runs the checks and all tests, and ends with one line
 * `N passed, N failed`. Arguments go to jest, and then only the tests they select run. It must not pass when
 * nothing ran.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EngineError } from '../engines/cache.ts';
import { runChecks } from '../engines/check.ts';
import { findChromium } from '../engines/chromium.ts';
import { findMongod } from '../engines/mongod.ts';
import { findSchemathesis } from '../engines/schemathesis.ts';
import { findTemporal } from '../engines/temporal.ts';
import { findTestServer } from '../engines/testserver.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

type Tally = { passed: number; failed: number };

/** The part of jest's JSON report that is counted. */
type Report = {
  numPassedTests: number;
  numFailedTests: number;
  /** Files that could not be run at all; their tests are not among the failed ones. */
  numRuntimeErrorTestSuites: number;
};

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** One after another: two of them use every core they find. */
async function obtainEngines(): Promise<NodeJS.ProcessEnv> {
  await findMongod(print);
  const testServer = await findTestServer(print);
  const schemathesis = await findSchemathesis(print);
  const chromium = await findChromium(print);
  await findTemporal(print);
  return { TEST_TEMPORAL_TESTSERVER: testServer, TEST_SCHEMATHESIS: schemathesis, TEST_CHROMIUM: chromium };
}

/** Runs jest to its end and counts. A run that left no report counts as one failure. */
async function runJest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Tally & { code: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'support-jest-'));
  const outputFile = join(folder, 'report.json');
  try {
    const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
    const child = spawn(process.execPath, [jest, '--json', `--outputFile=${outputFile}`, ...args], {
      cwd: root,
      // The report goes to the file; without this redirection jest would print it, too.
      stdio: ['inherit', 'ignore', 'inherit'],
      env: {
        ...process.env,
        ...env,
        NODE_OPTIONS:
          `${process.env['NODE_OPTIONS'] ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`.trim(),
      },
    });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    const code = await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status, signal) =>
        resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
    });
    const text = await readFile(outputFile, 'utf8').catch(() => undefined);
    if (text === undefined) {
      print('jest left no report: nothing it ran can be counted');
      return { passed: 0, failed: 1, code: code || 1 };
    }
    const report = JSON.parse(text) as Report;
    return { passed: report.numPassedTests, failed: report.numFailedTests + report.numRuntimeErrorTestSuites, code };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(args: readonly string[]): Promise<number> {
  const tally: Tally = { passed: 0, failed: 0 };
  try {
    if (args.length === 0) {
      for (const { passed } of await runChecks(print)) tally[passed ? 'passed' : 'failed'] += 1;
    }
    const env = await obtainEngines();
    const tests = await runJest(args, env);
    tally.passed += tests.passed;
    tally.failed += tests.failed;
    if (tests.passed + tests.failed === 0) {
      print('no test ran');
      return 1;
    }
    // jest also fails for reasons that are no test's: a set-up that threw, a broken configuration.
    if (tests.code !== 0 && tests.failed === 0) tally.failed += 1;
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
