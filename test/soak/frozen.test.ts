/** A worker process that stands still, as on a machine that swaps or sleeps: its pollers swallow work for a minute. */
import { beforeAll, describe, it } from '@jest/globals';
import { answering, expectNothingOfSleeper } from '../kit/answering.ts';

const system = answering('frozen');
let orgId: string;
beforeAll(async () => {
  orgId = await system.newOrg();
});

describe('a worker that stands still while it answers', () => {
  it.each(['between chunks', 'answer unstored'] as const)(
    '(%s) leaves it to another one, and writes nothing more when it goes on',
    async (fault) => {
      await expectNothingOfSleeper(system, orgId, fault, 'SIGSTOP');
    },
  );
});
