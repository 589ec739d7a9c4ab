/**
 * A worker process that is frozen, as on a machine that swaps or sleeps. Its pollers receive tasks and lose them for a
 * minute.
 */
import { beforeAll, describe, it } from '@jest/globals';
import { answering, expectNothingOfSleeper } from '../kit/answering.ts';

const system = answering('frozen');
let orgId: string;
beforeAll(async () => {
  orgId = await system.newOrg();
});

describe('a frozen worker', () => {
  it.each(['between chunks', 'answer unstored'] as const)(
    'when a worker freezes at the step “%s”, another worker answers, and the frozen worker writes nothing more',
    async (fault) => {
      await expectNothingOfSleeper(system, orgId, fault, 'SIGSTOP');
    },
  );
});
