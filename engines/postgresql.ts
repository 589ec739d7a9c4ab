/** Finds PostgreSQL, or fetches Debian's packages of it. The Temporal of `npm run cluster` stores its data in it. */
import { chown } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EngineError, exists, makeFolder, onPath, run } from './cache.ts';
import type { Report } from './cache.ts';
import { fromDebian, type Program } from './debian.ts';

/** The PostgreSQL release of Debian 12. The libraries are those that a fresh Debian lacks. */
const release = 15;
const debian = {
  name: 'postgres',
  version: `${release}-debian`,
  packages: [`postgresql-${release}`, 'libpq5', 'libicu72', 'libxml2', 'libldap-2.5-0', 'libsasl2-2'],
  command: `usr/lib/postgresql/${release}/bin/postgres`,
};

/** PostgreSQL refuses to run as root. When this process is root, PostgreSQL runs as this user, `nobody` of Debian. */
const nobody = 65_534;
const asRoot = (): boolean => process.getuid?.() === 0;
/** The cache folder when this process is root, because `nobody` cannot read root's own cache. */
const openCache = '/var/cache/support-platform/engines';

/** @throws EngineError that says what to install */
export async function findPostgresql(report: Report): Promise<Program> {
  for (const command of [await onPath('postgres'), `/${debian.command}`])
    if (command !== undefined && (await exists(command))) return { command, env: {} };
  return fromDebian(asRoot() ? { ...debian, root: openCache } : debian, report);
}

/** The command line that runs `command` with `args` as a user that PostgreSQL accepts. */
export const unprivileged = (command: string, args: readonly string[]): { command: string; args: string[] } =>
  asRoot()
    ? { command: 'setpriv', args: [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', command, ...args] }
    : { command, args: [...args] };

/**
 * Creates PostgreSQL's data folder, with the user `temporal`, who needs no password on this machine. Does nothing if
 * the folder already contains data.
 */
export async function createDatabase(program: Program, folder: string): Promise<void> {
  if (await exists(join(folder, 'PG_VERSION'))) return;
  await makeFolder(folder);
  if (asRoot()) await chown(folder, nobody, nobody);
  const beside = join(dirname(program.command), 'initdb');
  const initdb = (await exists(beside)) ? beside : join(dirname(program.command), debian.command, '..', 'initdb');
  const args = ['-D', folder, '-U', 'temporal', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-instructions'];
  const { command, args: all } = unprivileged(initdb, args);
  await run(command, all, { env: program.env, cwd: '/' }).catch((error: Error) => {
    throw new EngineError(`PostgreSQL's folder ${folder} could not be made: ${error.message}`);
  });
}
