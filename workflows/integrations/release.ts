/** Gives the credential of a connection that is over back to its service, however long that service is away. */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { ReleaseActivities } from '../../activities/integrations/release.ts';
import { releaseTriedForMs, type ReleaseRef } from '../../models/rules/integrations/work.ts';

const { giveBack } = proxyActivities<ReleaseActivities>({
  ...throughOutages,
  // Two calls of 15 s at most.
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: releaseTriedForMs,
  // Nobody waits for it.
  retry: { ...throughOutages.retry, maximumInterval: '1 hour' },
});

export async function releaseCredential(ref: ReleaseRef): Promise<void> {
  await giveBack(ref);
}
