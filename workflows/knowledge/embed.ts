/**
 * Embeds the passages of an organization and mode that have no embedding yet; until then they are found lexically only.
 * The passages are in MongoDB, so the history stays short. Without signals for ten seconds the workflow ends, and the
 * next publication starts it again.
 */
import { condition, continueAsNew, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { newsOf } from '../base/news.ts';
import { throughOutages } from '../base/options.ts';
import type { EmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import { wakeSignal } from '../../models/rules/knowledge/work.ts';

export type EmbeddingRef = { orgId: string; mode: 'test' | 'live' };

const { embedSome } = proxyActivities<EmbeddingActivities>({
  ...throughOutages,
  // An activity works for half a minute and then completes its last batch, which may take minutes on a busy machine or
  // with a slow endpoint.
  startToCloseTimeout: '30 minutes',
});

/** The signal that sources were published. */
export const wake = defineSignal(wakeSignal);

/** The workflow ends after this time without a signal; uploads often follow each other within seconds. */
const idle = '10 seconds';

export async function embedPassages(ref: EmbeddingRef): Promise<void> {
  const news = newsOf(wake);
  for (;;) {
    const seen = news();
    const { left } = await embedSome(ref);
    // The next run begins with a batch, which finds what was published meanwhile.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof embedPassages>(ref);
    if (left || news() !== seen) continue;
    if (!(await condition(() => news() !== seen, idle, { summary: 'more passages' }))) return;
  }
}
