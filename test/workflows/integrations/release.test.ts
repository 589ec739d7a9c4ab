/** Tests the workflow that revokes a token: it retries through an outage of days, but not for ever. */
import { expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import { releaseTriedForMs } from '../../../models/rules/integrations/work.ts';
import { releaseCredential } from '../../../workflows/integrations/release.ts';

const { tell, now } = stories();
const ref = { orgId: 'org_1', releaseId: 'rel_1' };
const dayMs = 86_400_000;

it('a token is revoked once its service answers, even after an outage of two days', async () => {
  const begun = await now();
  let takenMs = 0;
  await tell(releaseCredential, [ref], {
    giveBack: async () => {
      takenMs = (await now()) - begun;
      if (takenMs < 2 * dayMs) throw new Error('Slack could not be reached.');
    },
  });
  // At most an hour later, because that is the longest pause between retries.
  expect(Math.floor(takenMs / dayMs)).toBe(2);
  expect(takenMs).toBeLessThan(2 * dayMs + 3_700_000);
});

it('the revocation of a token is given up when its service has not answered for seven days', async () => {
  const begun = await now();
  let lastMs = 0;
  const giveBack = async () => {
    lastMs = (await now()) - begun;
    throw new Error('Slack could not be reached.');
  };
  await expect(tell(releaseCredential, [ref], { giveBack })).rejects.toThrow();
  expect(lastMs).toBeGreaterThan(releaseTriedForMs - 3_700_000);
  expect(lastMs).toBeLessThanOrEqual(releaseTriedForMs);
});
