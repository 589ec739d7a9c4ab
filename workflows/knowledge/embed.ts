/**
 * Makes the vectors that passages of an organization and mode lack, so that they are found by meaning; until then they are
 * found by their words. What lacks vectors is in MongoDB, so the history stays short. When no signal comes for a while the
 * workflow ends, and the next publication starts it again.
 */
import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { EmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import { wakeSignal } from '../../models/rules/knowledge/work.ts';

export type EmbeddingRef = { orgId: string; mode: 'test' | 'live' };

const { embedSome } = proxyActivities<EmbeddingActivities>({
  ...throughOutages,
  // It works for half a minute and then ends its last batch, which on a busy machine, or by a slow endpoint, takes minutes.
  startToCloseTimeout: '30 minutes',
});

/** Sources were published. */
export const wake = defineSignal(wakeSignal);

/** Uploads often follow each other within seconds. */
const idle = '10 seconds';

export async function embedPassages(ref: EmbeddingRef): Promise<void> {
  let news = 0;
  setHandler(wake, () => void (news += 1));
  for (;;) {
    const seen = news;
    const { left } = await embedSome(ref);
    // What was published meanwhile is found by the first batch of the next run.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof embedPassages>(ref);
    if (left || news !== seen) continue;
    if (!(await condition(() => news !== seen, idle))) return;
  }
}
