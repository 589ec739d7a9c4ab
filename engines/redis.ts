/**
 * Finds a Redis server, or fetches Debian's package of it without installing it, and runs it on 127.0.0.1. Redis is
 * optional (`REDIS_URL`): `npm start` does without it.
 */
import { mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError, cached, makeFolder, onPath, run } from './cache.ts';
import type { Report } from './cache.ts';
import { startGuarded } from './child.ts';
import type { Guarded } from './child.ts';
import { accepts, freePort } from './ports.ts';

/** Debian's stable release has one version of it, with fixes. */
const version = '7-debian';
/** The package with the server's program, and the libraries that a fresh Debian lacks. */
const packages = ['redis-tools', 'libjemalloc2', 'liblzf1', 'liblua5.1-0', 'lua-cjson', 'lua-bitop', 'libatomic1'];

type Program = { command: string; env: NodeJS.ProcessEnv };

/** The program: `redis-server` or `valkey-server` on PATH, else Debian's. @throws EngineError that says what to install */
export async function findRedis(report: Report): Promise<Program> {
  for (const name of ['redis-server', 'valkey-server']) {
    const command = await onPath(name);
    if (command !== undefined) return { command, env: {} };
  }
  const folder = await cached({ name: 'redis', version, report }, (temporary) => fromDebian(temporary, report));
  const libraries = join(folder, 'usr', 'lib');
  const places = (await readdir(libraries)).map((name) => join(libraries, name));
  return { command: join(folder, 'redis-server'), env: { LD_LIBRARY_PATH: places.join(':') } };
}

async function fromDebian(temporary: string, report: Report): Promise<void> {
  if ((await onPath('apt-get')) === undefined)
    throw new EngineError('There is no redis-server. Install Redis 7 or Valkey, and try again.');
  report('obtaining Redis (2 MB)');
  const fetched = join(temporary, 'packages');
  await makeFolder(fetched);
  const fetch = () => run('apt-get', ['download', '-q', ...packages], { cwd: fetched });
  try {
    await fetch().catch(async () => {
      await run('apt-get', ['update', '-q']);
      await fetch();
    });
    for (const file of await readdir(fetched)) await run('dpkg-deb', ['-x', join(fetched, file), temporary]);
  } catch (error) {
    throw new EngineError(`Redis could not be fetched (${(error as Error).message}). Install redis-server.`);
  }
  await rm(fetched, { recursive: true });
  // One program serves under several names.
  await symlink(join('usr', 'bin', 'redis-check-rdb'), join(temporary, 'redis-server'));
}

export type RedisServer = { url: string; port: number; child: Guarded; stop(): Promise<void> };

/** Starts a server that stores nothing. */
export async function startRedis({ port, report }: { port?: number; report: Report }): Promise<RedisServer> {
  const { command, env } = await findRedis(report);
  const chosen = port ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'support-redis-'));
  const child = await startGuarded({
    command,
    args: ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    env,
    logPath: join(folder, 'redis.log'),
    removeAfter: folder,
  });
  const stop = async (): Promise<void> => {
    await child.stop(5_000);
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + 15_000;
  while (!(await accepts(chosen))) {
    if (child.running() && Date.now() < deadline) {
      await sleep(20);
      continue;
    }
    const why = await child.explain();
    await stop();
    throw new EngineError(`Redis did not start. ${why}`);
  }
  return { url: `redis://127.0.0.1:${chosen}`, port: chosen, child, stop };
}
