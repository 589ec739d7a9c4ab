/** Removes the orphans (see `Orphan` in models/crawl/prune.ts) that a prune request found in the knowledge base. */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { PruningActivities } from '../../activities/crawl/prune.ts';

export type PruningRef = { orgId: string; pruningId: string };

const activities = proxyActivities<PruningActivities>({
  ...throughOutages,
  // Up to a thousand sources need a few commits to the index each, of 10 to 100 ms.
  startToCloseTimeout: '30 minutes',
});

export async function pruneKnowledge(ref: PruningRef): Promise<void> {
  await activities.pruneKnowledge(ref);
}
