/** Random walks over interviews with the transition table as the model; the long version is in test/soak/. */
import { afterAll, it } from '@jest/globals';
import { interviewing } from '../kit/interviewing.ts';
import { walk } from '../kit/interviewwalk.ts';
import { systemEnv } from '../kit/processes.ts';

const kit = await interviewing(systemEnv('shared'));
afterAll(() => kit.close());

it('after 200 random operations every interview is in the state that the transition table gives', async () => {
  const mine = kit.of(await kit.api.newOrg());
  await Promise.all([1, 2, 3, 4, 5].map((seed) => walk(kit, mine, seed, 40)));
});
