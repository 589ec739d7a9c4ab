/** Longer random walks over interviews than in test/interviews/walk.test.ts. */
import { afterAll, it } from '@jest/globals';
import { interviewing } from '../kit/interviewing.ts';
import { walk } from '../kit/interviewwalk.ts';
import { systemEnv } from '../kit/processes.ts';

const kit = await interviewing(systemEnv('shared'));
afterAll(() => kit.close());

it('after 1,000 random operations every interview is in the state that the transition table gives', async () => {
  const mine = kit.of(await kit.api.newOrg());
  await Promise.all([11, 12, 13, 14, 15, 16, 17, 18].map((seed) => walk(kit, mine, seed, 125)));
});
