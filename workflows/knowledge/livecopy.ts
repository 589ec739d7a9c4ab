import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { LiveCopyActivities } from '../../activities/knowledge/livecopy.ts';

export type LiveCopyRef = { orgId: string; copyId: string };

const activities = proxyActivities<LiveCopyActivities>({
  ...throughOutages,
  // Test mode holds a few files of at most 25 MiB. Each of its pages needs a few commits to the index, of 10 to 100 ms.
  startToCloseTimeout: '30 minutes',
});

export async function copyTestToLive(ref: LiveCopyRef): Promise<void> {
  await activities.copyToLive(ref);
}
