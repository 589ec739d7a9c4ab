/**
 * Removes the orphans that a prune request found: chunks and index rows of missing, half-deleted or abandoned pages,
 * and of outdated versions of live pages.
 */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { PruningActivities } from '../../activities/crawl/prune.ts';

export type PruningRef = { orgId: string; pruningId: string };

const activities = proxyActivities<PruningActivities>({
  ...throughOutages,
  // Each of up to a thousand sources needs a few commits to the index, of 10 to 100 ms.
  startToCloseTimeout: '30 minutes',
});

export async function pruneKnowledge(ref: PruningRef): Promise<void> {
  await activities.pruneKnowledge(ref);
}
