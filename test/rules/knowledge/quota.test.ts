import { describe, it, expect } from '@jest/globals';
import {
  checkQuota,
  features,
  freeSlots,
  type FreeSlots,
  quotaEnvironment,
  type Feature,
} from '../../../models/rules/knowledge/quota.ts';
import { environments, type Environment, type Mode } from '../../../models/rules/access/keys.ts';

const quotas = { sandbox: { documents: 2, knowledge_pages: 3 }, production: { documents: 4, knowledge_pages: 5 } };
const cases = environments.flatMap((environment) => features.map((feature) => [environment, feature] as const));

describe('checkQuota', () => {
  it.each(cases)(
    'in the %s environment, the last of the allowed %s may be added and one more is refused',
    (environment, feature) => {
      const limit = quotas[environment][feature];
      expect(() => checkQuota(quotas, environment, feature, 0)).not.toThrow();
      expect(() => checkQuota(quotas, environment, feature, limit - 1)).not.toThrow();
      expect(() => checkQuota(quotas, environment, feature, limit)).toThrow();
      expect(() => checkQuota(quotas, environment, feature, limit + 10)).toThrow();
    },
  );

  it.each<[Environment, Feature, string, Record<string, unknown>]>([
    ['sandbox', 'documents', 'SANDBOX_LIMIT', {}],
    ['sandbox', 'knowledge_pages', 'SANDBOX_LIMIT', {}],
    ['production', 'documents', 'BETA_LIMIT_REACHED', { feature: 'documents' }],
    ['production', 'knowledge_pages', 'BETA_LIMIT_REACHED', { feature: 'knowledge_pages' }],
  ])('in the %s environment, exceeding %s is refused with 403 %s and %j', (environment, feature, code, extra) => {
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
  ])('%s mode of an organization in %s has the quota of %s', (mode, environment, allowance) =>
    expect(quotaEnvironment(mode, environment)).toBe(allowance),
  );
});

describe('freeSlots', () => {
  const listed = ({ count, slot }: FreeSlots) => Array.from({ length: count }, (_, nth) => slot(nth));

  it.each<[number, (number | undefined)[], number[]]>([
    [3, [], [0, 1, 2]],
    [3, [1], [0, 2]],
    [3, [0, 1, 2], []],
    [0, [], []],
    // Old records that have no slot count against the limit, too.
    [3, [undefined], [0, 1]],
    [3, [undefined, undefined, undefined, undefined], []],
    [4, [undefined, 3], [0, 1]],
    // The limit was lowered below the current usage.
    [3, [7, 8], [0]],
    [3, [7, 2], [0]],
    [4, [5, 3, 0], [1]],
    [2, [4, 5, 6], []],
  ])('with a limit of %j and the slots %j taken, the free slots are %j', (limit, taken, free) =>
    expect(listed(freeSlots(limit, taken))).toEqual(free),
  );

  it('free slots are computed lazily, so that the limit may be any number', () => {
    const { count, slot } = freeSlots(Number.MAX_SAFE_INTEGER, [0, 2, 5]);
    expect([count, slot(0), slot(2), slot(count - 1)]).toEqual([
      Number.MAX_SAFE_INTEGER - 3,
      1,
      4,
      Number.MAX_SAFE_INTEGER - 1,
    ]);
  });

  it('the number of free slots is the limit minus the number of records, and never negative', () => {
    for (let limit = 0; limit <= 5; limit += 1)
      for (let held = 0; held < 2 ** 7; held += 1)
        for (const old of [0, 1, 2]) {
          const slots = Array.from({ length: 7 }, (_, slot) => slot).filter((slot) => held & (1 << slot));
          const taken = [...slots, ...Array.from({ length: old }, () => undefined)];
          const free = listed(freeSlots(limit, taken));
          expect(free).toHaveLength(Math.max(0, limit - taken.length));
          expect(new Set(free).size).toBe(free.length);
          expect(free.filter((slot) => slot < 0 || slot >= limit || slots.includes(slot))).toEqual([]);
        }
  });
});
