/** Whether an organization has room for one more record, and what is said when it has none. Pure. */
import { Problem } from '../base/errors.ts';
import type { Environment, Mode } from '../access/keys.ts';

export const features = ['documents', 'knowledge_pages'] as const;
export type Feature = (typeof features)[number];
export type Quotas = Record<Environment, Record<Feature, number>>;

/** Which quota holds: test mode has the sandbox's, even in an organization that is live. */
export function quotaEnvironment(mode: Mode, environment: Environment): Environment {
  return mode === 'live' ? environment : 'sandbox';
}

/** `slot(nth)`: the free slot before which `nth` others are free; `nth` is below `count`. */
export type FreeSlots = { count: number; slot(nth: number): number };

/**
 * The slots of an allowance that a new record may take. Every record holds a slot, a number from 0 that no other record of
 * its organization and mode has, so that storing it is one write which the database refuses when the slot is taken.
 * `taken`: the slot of each record that exists; undefined for one that was stored before there were slots. There are as
 * many free slots as `limit` exceeds the records, also after the limit was lowered below slots that are held. They
 * are not listed: a limit may be in the millions.
 */
export function freeSlots(limit: number, taken: readonly (number | undefined)[]): FreeSlots {
  const held = taken.filter((slot) => slot !== undefined).sort((a, b) => a - b);
  // Slots below `end` are free. Each record that holds none of them leaves room for one less.
  let end = limit - (taken.length - held.length);
  while (held.length > 0 && held.at(-1)! >= end) {
    held.pop();
    end -= 1;
  }
  return {
    count: Math.max(0, end - held.length),
    // The slot that has `nth` free slots before it: it moves up by one for each held slot before it.
    slot: (nth) => held.reduce((slot, next) => (next <= slot ? slot + 1 : slot), nth),
  };
}

/**
 * Throws when `used` reaches the quota: `SANDBOX_LIMIT` in the sandbox, `BETA_LIMIT_REACHED` with `feature` in
 * production. `used` counts what exists now, so deleting makes room again.
 */
export function checkQuota(quotas: Quotas, environment: Environment, feature: Feature, used: number): void {
  const limit = quotas[environment][feature];
  if (used < limit) return;
  const noun = feature === 'documents' ? 'documents' : 'pages';
  if (environment === 'sandbox') {
    throw new Problem('SANDBOX_LIMIT', {
      message: `The sandbox allowance of ${limit} ${noun} is used up; delete some, or work in live mode, for which the organization has to be live.`,
    });
  }
  throw new Problem('BETA_LIMIT_REACHED', {
    message: `The plan's limit of ${limit} ${noun} is reached; delete some to make room.`,
    extra: { feature },
  });
}
