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
