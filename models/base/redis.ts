/**
 * The connection to Redis or Valkey, when `REDIS_URL` is set. Redis passes live frames between processes and counts
 * requests for rate limits. All data that must last is in MongoDB, so the system works without Redis, and while Redis
 * is unreachable.
 */
import { Redis } from 'ioredis';

/** The time limit of a command, in ms: a slower command counts as failed, because a request waits for it. */
const commandMs = 500;
/** The longest pause between two attempts to connect, in ms. */
const longestPauseMs = 1_000;

let connection: Redis | undefined;

/**
 * Connects in the background, and again after each lost connection, until `disconnectRedis`. No caller waits for the
 * connection. `onAway` is called once for each lost connection.
 */
export function connectRedis(url: string | undefined, onAway: (error: Error) => void): void {
  if (url === undefined) return;
  connection = new Redis(url, {
    // A command fails at once while there is no connection, so that its caller continues without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableAutoPipelining: true,
    commandTimeout: commandMs,
    connectTimeout: 5_000,
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(times * 100, longestPauseMs),
  });
  hearLosses(connection, onAway);
}

/**
 * Calls `onAway` for the first error of each outage; an outage ends when the connection is ready again. The listener
 * must exist even if nobody needs `onAway`: without it, ioredis would print every error to the console.
 */
export function hearLosses(redis: Redis, onAway: (error: Error) => void): void {
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) onAway(error);
    away = true;
  });
  redis.on('ready', () => {
    away = false;
  });
}

/** The connection; undefined without `REDIS_URL`. */
export const redis = (): Redis | undefined => connection;

/** The name and version of a Redis server. @throws Error when the server does not answer. */
export async function askRedis(url: string): Promise<string> {
  const asked = new Redis(url, { lazyConnect: true, connectTimeout: 5_000, retryStrategy: () => null });
  let refused: Error | undefined;
  asked.on('error', (error: Error) => (refused = error));
  try {
    await asked.connect();
    const told = await asked.info('server');
    const of = (name: string) => new RegExp(`^${name}:(.+?)\\r?$`, 'm').exec(told)?.[1];
    return `${of('server_name') ?? 'redis'} ${of('valkey_version') ?? of('redis_version')}`;
  } catch (error) {
    throw refused ?? error;
  } finally {
    asked.disconnect();
  }
}

export function disconnectRedis(): void {
  connection?.disconnect();
  connection = undefined;
}
