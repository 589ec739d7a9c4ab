/** Revokes the credential of an ended connection at its service, with retries through a long outage of the service. */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { ReleaseActivities } from '../../activities/integrations/release.ts';
import { releaseTriedForMs, type ReleaseRef } from '../../models/rules/integrations/work.ts';

const { giveBack } = proxyActivities<ReleaseActivities>({
  ...throughOutages,
  // The activity makes two calls of at most 15 s each.
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: releaseTriedForMs,
  // No person waits for the revocation, so retries may be an hour apart.
  retry: { ...throughOutages.retry, maximumInterval: '1 hour' },
});

export async function releaseCredential(ref: ReleaseRef): Promise<void> {
  await giveBack(ref);
}
