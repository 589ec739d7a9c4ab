/** The story of a member who left: their grants and tasks end at once, and are looked at again when all is quiet. */
import { expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { memberDeparted } from '../../../workflows/access/departure.ts';

const { tell, now } = stories();

it('a member who left loses grants and tasks at once, and what a request under way still gave five minutes later', async () => {
  const begun = await now();
  const at: number[] = [];
  const { calls } = await tell(memberDeparted, [{ orgId: 'org_1', userId: 'usr_1' }], {
    endGrants: async () => undefined,
    giveUpTasks: async () => void at.push(await now()),
  });
  expect(calls).toEqual(['endGrants', 'giveUpTasks', 'endGrants', 'giveUpTasks']);
  expect(at.map((when) => Math.round((when - begun) / 60_000))).toEqual([0, 5]);
});
