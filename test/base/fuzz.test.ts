/** The API against a fuzzer, as each kind of caller: a short pass. The long one is in test/soak/. */
import { describe, expect, it } from '@jest/globals';
import { fuzzAs, type Effort, type Who } from '../kit/fuzzing.ts';

describe('the API answers a fuzzer as its OpenAPI document describes it', () => {
  it.each<[who: Who, effort: Effort]>([
    ['owner', { phases: 'examples,fuzzing,stateful', examples: 2, stateful: 5 }],
    // Bodies and queries are the same for an owner and a key; only the caller differs.
    ['key', { phases: 'fuzzing', examples: 2 }],
    ['session', { phases: 'examples,coverage,fuzzing', examples: 2 }],
  ])('as %s: %j', async (who, effort) => {
    expect(await fuzzAs(who, effort, 180_000)).toBe('nothing found');
  });
});
