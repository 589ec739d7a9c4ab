/**
 * Rate limits. All processes share the counts, in Redis if it is configured, otherwise in MongoDB. While that store is
 * unreachable, each process counts in its own memory, so a limit then holds per process.
 */
import { LRUCache } from 'lru-cache';
import mongoose from 'mongoose';
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../config.ts';
import { redis } from '../../models/base/redis.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import type { RateName } from '../../models/rules/base/rates.ts';

const counters = { tableName: 'rate_limits', disableIndexesCreation: true };

/** Counts one named rate limit: takes points from a credential, or gives them back. */
export type Rate = {
  /** Rejects with a `RateLimiterRes` when the points are used up. */
  consume(credential: string, points: number): Promise<RateLimiterRes>;
  reward(credential: string): Promise<unknown>;
};

/**
 * Creates the counter of a named rate limit. MongoDB must be connected. `refundable`: points may be given back, so
 * refusals are not cached in this process.
 */
export function createRate(config: Config, name: RateName, { refundable = false } = {}): Rate {
  const { points, seconds } = config.rates[name];
  const options = { keyPrefix: name, points, duration: seconds };
  const local = new RateLimiterMemory(options);
  const both = { ...options, inMemoryBlockOnConsumed: refundable ? 0 : points + 1, insuranceLimiter: local };
  const storeClient = redis();
  const shared =
    storeClient === undefined
      ? new RateLimiterMongo({ ...both, ...counters, storeClient: mongoose.connection })
      : new RateLimiterRedis({
          ...both,
          keyPrefix: `${mongoose.connection.name}:rate:${name}`,
          storeClient,
          rejectIfRedisNotReady: true,
        });
  // While MongoDB is unreachable, this process counts in memory. Counting in MongoDB would only end with a timeout, and
  // the request's own read would then wait for a second timeout.
  const reachable = () =>
    storeClient !== undefined || mongoose.connection.readyState === mongoose.ConnectionStates.connected
      ? shared
      : local;
  return {
    consume: (credential, taken) => reachable().consume(credential, taken),
    reward: (credential) => reachable().reward(credential),
  };
}

/**
 * Creates the indexes of the counters in MongoDB. Until the unique index exists, concurrent requests could be counted
 * in separate records.
 */
export async function prepareRates(): Promise<void> {
  if (redis() !== undefined) return;
  await new RateLimiterMongo({ ...counters, storeClient: mongoose.connection, points: 1, duration: 1 }).createIndexes();
}

export type Limiter = (name: RateName, credential: string) => Promise<Record<string, string>>;

/**
 * Without Redis, a process takes points in blocks of this share of the limit and spends them in memory. One majority
 * write for each request would cost more than answering the request. Other processes cannot use the points of a block,
 * so they may refuse a request too early.
 */
const blockShare = 1 / 50;

type Block = { left: number; remaining: number; until: number };

/** Creates the function that counts one request, and returns the rate limit headers or throws `RATE_LIMITED`. */
export function createLimiter(config: Config): Limiter {
  const rates = new Map<RateName, Rate>();
  const blocks = new LRUCache<string, Promise<Block>>({ max: 50_000 });

  async function take(name: RateName, credential: string): Promise<Block> {
    const rate = rates.get(name) ?? createRate(config, name);
    rates.set(name, rate);
    const size = redis() === undefined ? Math.max(1, Math.floor(config.rates[name].points * blockShare)) : 1;
    const state = await consume(rate, config, name, credential, size);
    return { left: size, remaining: state.remainingPoints, until: performance.now() + state.msBeforeNext };
  }

  return async (name, credential) => {
    const id = `${name}:${credential}`;
    for (;;) {
      const holding = blocks.get(id);
      const block = await holding;
      const now = performance.now();
      if (block && block.left > 0 && now < block.until) {
        block.left -= 1;
        // A block is removed when its points are used up; otherwise every credential that ever called would take
        // memory.
        if (block.left === 0 && blocks.get(id) === holding) blocks.delete(id);
        return rateHeaders(config, name, { remaining: block.remaining + block.left, ms: block.until - now });
      }
      // The first of several concurrent requests takes the next block; the others find its promise in `blocks` and wait
      // for it.
      if (blocks.get(id) !== holding) continue;
      const taking = take(name, credential);
      blocks.set(id, taking);
      taking.catch(() => blocks.delete(id));
    }
  };
}

/** Takes points, or throws `RATE_LIMITED` with `Retry-After`. */
export async function consume(
  rate: Rate,
  config: Config,
  name: RateName,
  credential: string,
  points = 1,
): Promise<RateLimiterRes> {
  try {
    return await rate.consume(credential, points);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    const { points: limit, seconds: window } = config.rates[name];
    throw new Problem('RATE_LIMITED', {
      message: `Too many requests: ${limit} are taken in ${window} s; try again in ${seconds} s.`,
      headers: {
        'Retry-After': String(seconds),
        ...rateHeaders(config, name, { remaining: 0, ms: refused.msBeforeNext }),
      },
    });
  }
}

/** The headers `RateLimit` and `RateLimit-Policy` of the IETF draft (draft-ietf-httpapi-ratelimit-headers). */
function rateHeaders(config: Config, name: RateName, state: { remaining: number; ms: number }): Record<string, string> {
  const { points, seconds } = config.rates[name];
  return {
    'RateLimit-Policy': `"${name}";q=${points};w=${seconds}`,
    RateLimit: `"${name}";r=${Math.max(0, state.remaining)};t=${Math.ceil(state.ms / 1000)}`,
  };
}
