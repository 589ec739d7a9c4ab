/**
 * Fetches programs from Debian's packages without installing them. No root is needed, and the machine stays as it was.
 */
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, cached, cacheRoot, makeFolder, onPath, run } from './cache.ts';
import type { Report } from './cache.ts';

/** A program, and the environment in which it finds its libraries. */
export type Program = { command: string; env: Record<string, string> };

/**
 * `packages`: the Debian packages that contain the program, at the path `command`, and its libraries. The program is
 * run under the name `name`. `root`: a cache folder other than the default one.
 */
type Wanted = { name: string; version: string; packages: readonly string[]; command: string; root?: string };

/** The program from Debian's packages, cached. @throws EngineError that says what to install */
export async function fromDebian(
  { name, version, packages, command, root = cacheRoot() }: Wanted,
  report: Report,
): Promise<Program> {
  const folder = await cached({ name, version, report, root }, async (temporary) => {
    const sentence = `There is no ${name}. Install it, and try again.`;
    if ((await onPath('apt-get')) === undefined) throw new EngineError(sentence);
    report(`obtaining ${name} from Debian's packages`);
    await unpack(packages, temporary).catch((error: Error) => {
      throw new EngineError(`${sentence} Debian's packages could not be fetched: ${error.message}`);
    });
    await symlink(command, join(temporary, name));
  });
  const libraries = join(folder, 'usr', 'lib');
  const places = (await readdir(libraries)).map((place) => join(libraries, place));
  return { command: join(folder, name), env: { LD_LIBRARY_PATH: places.join(':') } };
}

async function unpack(packages: readonly string[], folder: string): Promise<void> {
  const fetched = join(folder, 'packages');
  await makeFolder(fetched);
  const fetch = () => run('apt-get', ['download', '-q', ...packages], { cwd: fetched });
  await fetch().catch(async () => {
    await run('apt-get', ['update', '-q']);
    await fetch();
  });
  for (const file of await readdir(fetched)) await run('dpkg-deb', ['-x', join(fetched, file), folder]);
  await rm(fetched, { recursive: true });
}
