/** Takes what an organization has in test mode over into live mode. */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { LiveCopyActivities } from '../../activities/knowledge/livecopy.ts';

export type LiveCopyRef = { orgId: string; copyId: string };

const activities = proxyActivities<LiveCopyActivities>({
  ...throughOutages,
  // What the sandbox holds: some files of 25 MiB at most, and pages with a few commits to the index each, of 10 to 100 ms.
  startToCloseTimeout: '30 minutes',
});

export async function copyTestToLive(ref: LiveCopyRef): Promise<void> {
  await activities.copyToLive(ref);
}
