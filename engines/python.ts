/** Obtains Python packages that tests use, each in a virtual environment of its own. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cacheRoot, cached, exists, onPath, run } from './cache.ts';
import type { Report } from './cache.ts';

export type PythonPackage = {
  name: string;
  version: string;
  /** Its optional parts, as in `name[part]`. */
  extras?: readonly string[];
  /** Further packages beside it, with the versions that fit. */
  beside?: readonly string[];
  /** Those of all that come with it that there is only the source of; it is built here. */
  fromSource?: readonly string[];
  /** The program of the environment that shows that it is complete, and what it is called with for that. */
  program: string;
  check: readonly string[];
  /** Begins the sentence for somebody who has no Python: `Fuzzing the API`. */
  purpose: string;
};

/**
 * The path of the package's program. A virtual environment contains absolute paths, so it is made in its final place; a
 * small marker folder, which appears last, says that it is complete.
 */
export async function findPython(wanted: PythonPackage, report: Report): Promise<string> {
  const { name, version } = wanted;
  const environment = join(cacheRoot(), `${name}-${version}-environment`);
  const program = join(environment, 'bin', wanted.program);
  const marker = await cached({ name, version, report }, () => install(wanted, environment, report));
  if (await exists(program)) return program;
  await rm(marker, { recursive: true, force: true });
  throw new EngineError(`${environment} is incomplete; it is forgotten now, so try again.`);
}

async function install(
  { name, version, extras = [], beside = [], fromSource = [], program, check, purpose }: PythonPackage,
  environment: string,
  report: Report,
): Promise<void> {
  const python = await onPath('python3');
  if (python === undefined)
    throw new EngineError(`${purpose} needs Python: install Python 3.11 or newer and try again.`);
  report(`obtaining ${name} ${version}`);
  await rm(environment, { recursive: true, force: true });
  try {
    await run(python, ['-m', 'venv', environment]);
    const wanted = `${name}${extras.length > 0 ? `[${extras.join(',')}]` : ''}==${version}`;
    const sources = ['--only-binary=:all:', ...fromSource.map((one) => `--no-binary=${one}`)];
    const pip = ['-m', 'pip', 'install', '--quiet', ...sources, wanted, ...beside];
    await run(join(environment, 'bin', 'python'), pip, { heartbeat: { text: `  still installing ${name}`, report } });
    await run(join(environment, 'bin', program), check);
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(
      `${name} could not be installed (${(error as Error).message}). Install Python 3.11 or newer with its venv module.`,
    );
  }
}
