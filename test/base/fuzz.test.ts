/** A short run of the fuzzer as each kind of caller. The long run is in test/soak/. */
import { describe, expect, it } from '@jest/globals';
import { fuzzAs, type Effort, type Who } from '../kit/fuzzing.ts';

describe('the API under a fuzzer', () => {
  it.each<[who: Who, effort: Effort]>([
    ['owner', { phases: 'examples,fuzzing,stateful', examples: 2, stateful: 5 }],
    // An owner and a key send the same bodies and queries, so the key calls only the routes that the owner may not call.
    // The long run sends them with the key, too.
    ['keyAlone', { phases: 'fuzzing', examples: 2 }],
    ['session', { phases: 'examples,coverage,fuzzing', examples: 2 }],
  ])(
    'a fuzzer with the credential “%s” and the settings %j finds no answer that contradicts the OpenAPI document',
    async (who, effort) => {
      expect(await fuzzAs(who, effort, 180_000)).toBe('nothing found');
    },
  );
});
