/** `npm run check`: types, lint, format and import directions, in parallel. It changes no file. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importViolations } from '../test/house/imports.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Where a tool caches its results, so that its next run checks only changed files. */
const cache = (name: string): string => join(root, 'node_modules', '.cache', name);

/** The result of one check. `output` is shown when the check failed. */
export type CheckResult = { name: string; passed: boolean; output: string; seconds: number };

/**
 * The options of `tsc`. One checker thread is enough: several threads, the default, compute the same types repeatedly
 * and take twice the processor time and memory.
 */
const types = ['--noEmit', '--pretty', 'false', '--incremental', '--checkers', '1'];
const prettierCache = ['--cache', '--cache-strategy', 'content', '--cache-location', cache('prettier-check')];

const checks: readonly { name: string; run: () => Promise<{ passed: boolean; output: string }> }[] = [
  { name: 'types', run: () => tool('tsc', [...types, '--tsBuildInfoFile', cache('types.tsbuildinfo')]) },
  // Browser code is checked separately: it has the DOM's types and not Node's, all other code has Node's and not the
  // DOM's.
  { name: 'web', run: () => tool('tsc', [...types, '--tsBuildInfoFile', cache('web.tsbuildinfo'), '-p', 'web']) },
  { name: 'lint', run: () => tool('oxlint', ['--type-aware', '--deny-warnings', '.']) },
  { name: 'format', run: () => tool('prettier', ['--check', '--log-level', 'warn', ...prettierCache, '.']) },
  {
    name: 'imports',
    run: async () => {
      const found = await importViolations(root);
      return { passed: found.length === 0, output: found.join('\n') };
    },
  },
];

/** Runs a tool from node_modules in the project's root. */
async function tool(name: string, args: readonly string[]): Promise<{ passed: boolean; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ passed: boolean; output: string }>();
  // Some tools are scripts that use the first `node` on PATH, so the folder of this Node comes first.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const child = spawn(join(root, 'node_modules', '.bin', name), args, {
    cwd: root,
    env: { ...process.env, PATH: path, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  child.once('error', (error) => resolve({ passed: false, output: error.message }));
  child.once('close', (code) => resolve({ passed: code === 0, output: Buffer.concat(output).toString().trim() }));
  return promise;
}

/** Runs the checks in parallel and prints each result when it is known. A check that throws counts as failed. */
export async function runChecks(print: (line: string) => void): Promise<CheckResult[]> {
  return Promise.all(
    checks.map(async ({ name, run }) => {
      const started = performance.now();
      const { passed, output } = await run().catch((error: unknown) => ({ passed: false, output: String(error) }));
      const seconds = (performance.now() - started) / 1000;
      print(`${passed ? 'ok    ' : 'FAILED'} ${name.padEnd(8)} ${seconds.toFixed(1)} s`);
      if (!passed) print(output.replaceAll(/^/gm, '    '));
      return { name, passed, output, seconds };
    }),
  );
}

if (import.meta.main) {
  const results = await runChecks((line) => console.log(line));
  const failed = results.filter(({ passed }) => !passed).map(({ name }) => name);
  console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
