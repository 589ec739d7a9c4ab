/** Quotas: whether an organization may store one more record, and the error when it may not. Pure. */
import { Problem } from '../base/errors.ts';
import type { Environment, Mode } from '../access/keys.ts';

export const features = ['documents', 'knowledge_pages'] as const;
export type Feature = (typeof features)[number];
export type Quotas = Record<Environment, Record<Feature, number>>;

/** The environment whose quota applies: test mode always has the sandbox quota, even in a live organization. */
export function quotaEnvironment(mode: Mode, environment: Environment): Environment {
  return mode === 'live' ? environment : 'sandbox';
}

/** `slot(nth)` is the free slot that has `nth` free slots before it; `nth` must be below `count`. */
export type FreeSlots = { count: number; slot(nth: number): number };

/**
 * The quota slots that a new record may take.
 *
 * Every record holds a slot: a number from 0 that is unique in its organization and mode. Storing a record with a taken
 * slot fails on the unique index, so that concurrent writes cannot exceed the quota. `taken` has the slot of each
 * existing record; undefined for a record without a slot. The number of free slots is `limit` minus the number of
 * records. The number is right even when `limit` was lowered and some records have slots beyond `limit`. `slot`
 * computes a free slot instead of listing all of them, because a limit may be in the millions.
 */
export function freeSlots(limit: number, taken: readonly (number | undefined)[]): FreeSlots {
  const held = taken.filter((slot) => slot !== undefined).sort((a, b) => a - b);
  // A new record can only take a slot below `end`. A record without such a slot still counts against the limit, so it
  // lowers `end` by one.
  let end = limit - (taken.length - held.length);
  while (held.length > 0 && held.at(-1)! >= end) {
    held.pop();
    end -= 1;
  }
  return {
    count: Math.max(0, end - held.length),
    // Starts at `nth` and skips each held slot at or before the result.
    slot: (nth) => held.reduce((slot, next) => (next <= slot ? slot + 1 : slot), nth),
  };
}

/** An organization counts as near its quota when it has used at least this share of the quota. */
export const nearShare = 0.8;

/**
 * Throws when `used` reaches the quota: `SANDBOX_LIMIT` in the sandbox, `BETA_LIMIT_REACHED` with `feature` in
 * production. `used` is the number of existing records, so deleting makes room again.
 */
export function checkQuota(quotas: Quotas, environment: Environment, feature: Feature, used: number): void {
  const limit = quotas[environment][feature];
  if (used < limit) return;
  const noun = feature === 'documents' ? 'documents' : 'pages';
  if (environment === 'sandbox') {
    throw new Problem('SANDBOX_LIMIT', {
      quota: feature,
      message: `The sandbox allowance of ${limit} ${noun} is used up; delete some, or work in live mode, for which the organization has to be live.`,
    });
  }
  throw new Problem('BETA_LIMIT_REACHED', {
    quota: feature,
    message: `The plan's limit of ${limit} ${noun} is reached; delete some to make room.`,
    extra: { feature },
  });
}
