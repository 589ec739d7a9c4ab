/** Where an allowance ends, and what is said then. */
import { describe, it, expect } from '@jest/globals';
import { checkQuota, features, quotaEnvironment, type Feature } from '../../../models/rules/knowledge/quota.ts';
import { environments, type Environment, type Mode } from '../../../models/rules/access/keys.ts';

const quotas = { sandbox: { documents: 2, knowledge_pages: 3 }, production: { documents: 4, knowledge_pages: 5 } };
const cases = environments.flatMap((environment) => features.map((feature) => [environment, feature] as const));

describe('checkQuota', () => {
  it.each(cases)('%s %s: the last place may be taken, the one after it not', (environment, feature) => {
    const limit = quotas[environment][feature];
    expect(() => checkQuota(quotas, environment, feature, 0)).not.toThrow();
    expect(() => checkQuota(quotas, environment, feature, limit - 1)).not.toThrow();
    expect(() => checkQuota(quotas, environment, feature, limit)).toThrow();
    expect(() => checkQuota(quotas, environment, feature, limit + 10)).toThrow();
  });

  it.each<[Environment, Feature, string, Record<string, unknown>]>([
    ['sandbox', 'documents', 'SANDBOX_LIMIT', {}],
    ['sandbox', 'knowledge_pages', 'SANDBOX_LIMIT', {}],
    ['production', 'documents', 'BETA_LIMIT_REACHED', { feature: 'documents' }],
    ['production', 'knowledge_pages', 'BETA_LIMIT_REACHED', { feature: 'knowledge_pages' }],
  ])('%s %s used up is a 403 %s with %j', (environment, feature, code, extra) => {
    expect(() => checkQuota(quotas, environment, feature, 9)).toThrow(
      expect.objectContaining({ code, status: 403, extra }),
    );
  });
});

describe('quotaEnvironment', () => {
  it.each<[Mode, Environment, Environment]>([
    ['test', 'sandbox', 'sandbox'],
    ['test', 'production', 'sandbox'],
    ['live', 'sandbox', 'sandbox'],
    ['live', 'production', 'production'],
  ])('%s mode of an organization in %s has the allowance of %s', (mode, environment, allowance) =>
    expect(quotaEnvironment(mode, environment)).toBe(allowance),
  );
});
