/** Whether there is room for one more: the allowance an organization has, and what is said when it is used up. Pure. */
import { Problem } from '../base/errors.ts';
import type { Environment, Mode } from '../access/keys.ts';

export const features = ['documents', 'knowledge_pages'] as const;
export type Feature = (typeof features)[number];
export type Quotas = Record<Environment, Record<Feature, number>>;

/** Whose allowance holds: test mode has that of the sandbox, also in an organization that is live. */
export function quotaEnvironment(mode: Mode, environment: Environment): Environment {
  return mode === 'live' ? environment : 'sandbox';
}

/**
 * The slots of an allowance that a new record may take. Every record holds a slot, a number from 0 that no other record of
 * its organization and mode has, so that storing it is one write which the database refuses when the slot is taken.
 * `taken`: the slot of each record that exists; undefined for one that was stored before there were slots. There are as
 * many free slots as `limit` exceeds the records, also after the limit was lowered below slots that are held.
 */
export function freeSlots(limit: number, taken: readonly (number | undefined)[]): number[] {
  // Records outside of the slots below `end` leave so much less room inside.
  let end = limit;
  for (;;) {
    const inside = end;
    const outside = taken.filter((slot) => slot === undefined || slot >= inside).length;
    if (limit - outside >= end) break;
    end = limit - outside;
  }
  const held = new Set(taken);
  return Array.from({ length: Math.max(0, end) }, (_, slot) => slot).filter((slot) => !held.has(slot));
}

/**
 * Throws when `used` fills the allowance: `SANDBOX_LIMIT` in the sandbox, `BETA_LIMIT_REACHED` with `feature` in production.
 * `used` is what exists now, so that deleting gives room back.
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
