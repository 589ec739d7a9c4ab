/** Rate limits: counted in MongoDB, so that all processes share them, with this process's memory when MongoDB does not answer. */
import { LRUCache } from 'lru-cache';
import mongoose from 'mongoose';
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../../config.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export type RateName = keyof Config['rates'];

/**
 * A limiter of one named rate. Call it after MongoDB is connected. `refundable`: points may be given back, so a refusal is
 * not remembered in this process.
 */
export function createRate(config: Config, name: RateName, { refundable = false } = {}) {
  const { points, seconds } = config.rates[name];
  const options = { keyPrefix: name, points, duration: seconds };
  return new RateLimiterMongo({
    ...options,
    storeClient: mongoose.connection,
    tableName: 'rate_limits',
    disableIndexesCreation: true,
    inMemoryBlockOnConsumed: refundable ? 0 : points + 1,
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

/** Makes the counters' indexes; before the unique one stands, requests that race could count apart. */
export async function prepareRates(config: Config): Promise<void> {
  await createRate(config, 'writes').createIndexes();
}

export type Limiter = (name: RateName, credential: string) => Promise<Record<string, string>>;

/**
 * A process takes points in blocks of this share of the rate and spends them by itself, since a majority write a request
 * cost more than answering it. A limit is thereby exact to this share for each process.
 */
const BLOCK_SHARE = 1 / 50;

type Block = { left: number; remaining: number; until: number };

/** Counts one request; gives the headers that tell the caller where they stand, or throws `RATE_LIMITED`. */
export function createLimiter(config: Config): Limiter {
  const rates = new Map<RateName, RateLimiterMongo>();
  const blocks = new LRUCache<string, Promise<Block>>({ max: 50_000 });

  async function take(name: RateName, credential: string): Promise<Block> {
    const rate = rates.get(name) ?? createRate(config, name);
    rates.set(name, rate);
    const size = Math.max(1, Math.floor(config.rates[name].points * BLOCK_SHARE));
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
        // Spent, it would only be remembered: of small rates, for every credential that came once.
        if (block.left === 0 && blocks.get(id) === holding) blocks.delete(id);
        return rateHeaders(config, name, { remaining: block.remaining + block.left, ms: block.until - now });
      }
      // Whoever comes first takes the next block; the others wait for it.
      if (blocks.get(id) !== holding) continue;
      const taking = take(name, credential);
      blocks.set(id, taking);
      taking.catch(() => blocks.delete(id));
    }
  };
}

/** Takes points, or throws `RATE_LIMITED` with `Retry-After`. */
export async function consume(
  rate: RateLimiterMongo,
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
    throw new Problem('RATE_LIMITED', {
      message: `Too many requests; try again in ${seconds} s.`,
      headers: {
        'Retry-After': String(seconds),
        ...rateHeaders(config, name, { remaining: 0, ms: refused.msBeforeNext }),
      },
    });
  }
}

/** `RateLimit` and `RateLimit-Policy` of the IETF draft (draft-ietf-httpapi-ratelimit-headers). */
function rateHeaders(config: Config, name: RateName, state: { remaining: number; ms: number }): Record<string, string> {
  const { points, seconds } = config.rates[name];
  return {
    'RateLimit-Policy': `"${name}";q=${points};w=${seconds}`,
    RateLimit: `"${name}";r=${Math.max(0, state.remaining)};t=${Math.ceil(state.ms / 1000)}`,
  };
}
