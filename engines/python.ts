/** Installs Python packages, each in its own virtual environment, or only downloads their wheels. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cacheRoot, cached, exists, onPath, orSay, run } from './cache.ts';
import type { Report } from './cache.ts';

export type PythonPackage = {
  name: string;
  version: string;
  /** The package's optional extras, as in `name[extra]`. */
  extras?: readonly string[];
  /** Additional packages, with pinned versions. */
  beside?: readonly string[];
  /** Dependencies that have no wheel and are built from their source. */
  fromSource?: readonly string[];
  /** A program of the environment, and the arguments with which it is run to verify the install. */
  program: string;
  check: readonly string[];
  /** The start of the error message when Python is missing, such as `Fuzzing the API`. */
  purpose: string;
};

/**
 * The path of the package's program. A virtual environment contains absolute paths, so it is created in its final
 * place. A marker folder, created last, shows that it is complete.
 */
export async function findPython(wanted: PythonPackage, report: Report): Promise<string> {
  const { name, version } = wanted;
  const environment = join(cacheRoot(), `${name}-${version}-environment`);
  const program = join(environment, 'bin', wanted.program);
  const marker = await cached({ name, version, report }, () =>
    install(wanted, environment, report).catch(
      orSay((why) => `${name} could not be installed (${why}). Install Python 3.11 or newer with its venv module.`),
    ),
  );
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
  await run(python, ['-m', 'venv', environment]);
  const wanted = `${name}${extras.length > 0 ? `[${extras.join(',')}]` : ''}==${version}`;
  const sources = ['--only-binary=:all:', ...fromSource.map((one) => `--no-binary=${one}`)];
  const pip = ['-m', 'pip', 'install', '--quiet', ...sources, wanted, ...beside];
  await run(join(environment, 'bin', 'python'), pip, { heartbeat: { text: `  still installing ${name}`, report } });
  await run(join(environment, 'bin', program), check);
}

/**
 * Downloads the wheel of `wanted`, such as `name==1.0`, without its dependencies. `platform`: a platform other than
 * this machine's.
 */
export async function pipDownload(
  wanted: string,
  folder: string,
  { platform, ...options }: { platform?: string | undefined; heartbeat: { text: string; report: Report } },
): Promise<void> {
  const only = ['--only-binary=:all:', '--no-deps', ...(platform === undefined ? [] : ['--platform', platform])];
  await run('python3', ['-m', 'pip', 'download', '--quiet', ...only, '--dest', folder, wanted], options);
}
