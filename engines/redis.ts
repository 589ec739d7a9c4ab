/**
 * Finds a Redis server, or fetches Debian's package of it without installing it, and runs it on 127.0.0.1. Redis is
 * optional (`REDIS_URL`): `npm start` does not start one.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from './cache.ts';
import type { Report } from './cache.ts';
import { startServer, untilReady, type Server } from './child.ts';
import { fromDebian, type Program } from './debian.ts';
import { accepts, freePort } from './ports.ts';

/**
 * Debian has one program for the server and its tools. The name under which the program is started decides what it
 * does, so it gets the name `redis-server`. The packages include the libraries that a fresh Debian lacks.
 */
const debian = {
  name: 'redis-server',
  version: '7-debian',
  packages: ['redis-tools', 'libjemalloc2', 'liblzf1', 'liblua5.1-0', 'lua-cjson', 'lua-bitop', 'libatomic1'],
  command: 'usr/bin/redis-check-rdb',
};

/**
 * `redis-server` or `valkey-server` on PATH, else the Redis of Debian's package. @throws EngineError that says what to
 * install
 */
export async function findRedis(report: Report): Promise<Program> {
  for (const name of ['redis-server', 'valkey-server']) {
    const command = await onPath(name);
    if (command !== undefined) return { command, env: {} };
  }
  return fromDebian(debian, report);
}

export type RedisServer = Server & { url: string; port: number };

/** Starts a Redis server that stores nothing on disk. */
export async function startRedis({ port, report }: { port?: number; report: Report }): Promise<RedisServer> {
  const { command, env } = await findRedis(report);
  const chosen = port ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'support-redis-'));
  const server = await startServer({
    command,
    args: ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    env,
    logPath: join(folder, 'redis.log'),
    folder,
    graceMs: 5_000,
    ready: (child) => untilReady('Redis', child, 15_000, () => accepts(chosen)),
  });
  return { url: `redis://127.0.0.1:${chosen}`, port: chosen, ...server };
}
