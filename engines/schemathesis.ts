/** Obtains schemathesis (Python), which fuzzes the API from its OpenAPI document. Tests only. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cacheRoot, cached, exists, onPath, run } from './cache.ts';
import type { Report } from './cache.ts';

const version = '4.32.5';

/**
 * The path of `st`. A virtual environment contains absolute paths, so it is made in its final place; a small marker
 * folder, which appears last, says that it is complete.
 */
export async function findSchemathesis(report: Report): Promise<string> {
  const environment = join(cacheRoot(), `schemathesis-${version}-environment`);
  const st = join(environment, 'bin', 'st');
  const marker = await cached({ name: 'schemathesis', version, report }, () => install(environment, report));
  if (await exists(st)) return st;
  await rm(marker, { recursive: true, force: true });
  throw new EngineError(`${environment} is incomplete; it is forgotten now, so try again.`);
}

async function install(environment: string, report: Report): Promise<void> {
  const python = await onPath('python3');
  if (python === undefined)
    throw new EngineError('Fuzzing the API needs Python: install Python 3.11 or newer and try again.');
  report(`obtaining schemathesis ${version}`);
  await rm(environment, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', environment]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', `schemathesis==${version}`];
    await run(join(environment, 'bin', 'python'), pip, {
      heartbeat: { text: '  still installing schemathesis', report },
    });
    await run(join(environment, 'bin', 'st'), ['--version']);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(
      `schemathesis could not be installed (${(error as Error).message}). Install Python 3.11 or newer with its venv module.`,
    );
  }
}
