import { describe, expect, it } from '@jest/globals';
import { fuzzAs, type Effort, type Who } from '../kit/fuzzing.ts';

const endsMs = 300_000;

describe('the API under a fuzzer', () => {
  it.each<[who: Who, effort: Effort]>([
    ['owner', { phases: 'examples,coverage', examples: 1 }],
    ['owner', { phases: 'fuzzing,stateful', examples: 20, stateful: 50 }],
    ['key', { phases: 'fuzzing', examples: 20 }],
    ['session', { phases: 'examples,coverage,fuzzing,stateful', examples: 40, stateful: 25 }],
  ])(
    'a fuzzer with the credential “%s” and the settings %j finds no answer that contradicts the OpenAPI document',
    async (who, effort) => {
      expect(await fuzzAs(who, effort, endsMs)).toBe('nothing found');
    },
    endsMs,
  );
});
