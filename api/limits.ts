/** Rate limits: counted in MongoDB, so that all processes share them, with this process's memory when MongoDB does not answer. */
import mongoose from 'mongoose';
import { RateLimiterMemory, RateLimiterMongo, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config.ts';
import { Problem } from '../models/rules/errors.ts';

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
    inMemoryBlockOnConsumed: refundable ? 0 : points + 1,
    insuranceLimiter: new RateLimiterMemory(options),
  });
}

export type Limiter = (name: RateName, credential: string) => Promise<Record<string, string>>;

/** Counts one request; gives the headers that tell the caller where they stand, or throws `RATE_LIMITED`. */
export function createLimiter(config: Config): Limiter {
  const rates = new Map<RateName, RateLimiterMongo>();
  return async (name, credential) => {
    let rate = rates.get(name);
    if (!rate) rates.set(name, (rate = createRate(config, name)));
    return rateHeaders(config, name, await consume(rate, config, name, credential));
  };
}

/** Takes one point, or throws `RATE_LIMITED` with `Retry-After`. */
export async function consume(
  rate: RateLimiterMongo,
  config: Config,
  name: RateName,
  credential: string,
): Promise<RateLimiterRes> {
  try {
    return await rate.consume(credential);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw new Problem('RATE_LIMITED', {
      message: `Too many requests; try again in ${seconds} s.`,
      headers: { 'Retry-After': String(seconds), ...rateHeaders(config, name, refused) },
    });
  }
}

/** `RateLimit` and `RateLimit-Policy` of the IETF draft (draft-ietf-httpapi-ratelimit-headers). */
function rateHeaders(config: Config, name: RateName, state: RateLimiterRes): Record<string, string> {
  const { points, seconds } = config.rates[name];
  return {
    'RateLimit-Policy': `"${name}";q=${points};w=${seconds}`,
    RateLimit: `"${name}";r=${Math.max(0, state.remainingPoints)};t=${Math.ceil(state.msBeforeNext / 1000)}`,
  };
}
