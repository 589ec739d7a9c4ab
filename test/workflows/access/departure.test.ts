import { expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { memberDeparted } from '../../../workflows/access/departure.ts';

const { tell, now } = stories();

it('a departed member loses access grants and tasks at once, and five minutes later those added meanwhile', async () => {
  const begun = await now();
  const at: number[] = [];
  const { calls } = await tell(memberDeparted, [{ orgId: 'org_1', userId: 'usr_1', leftAt: '2030-01-01' }], {
    endGrants: async () => undefined,
    giveUpTasks: async () => void at.push(await now()),
  });
  expect(calls).toEqual(['endGrants', 'giveUpTasks', 'endGrants', 'giveUpTasks']);
  expect(at.map((when) => Math.round((when - begun) / 60_000))).toEqual([0, 5]);
});
