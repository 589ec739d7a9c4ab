/** Removes a customer with all data that is held, and checks a while later that nothing has come back. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { ErasureActivities } from '../../activities/chat/erasure.ts';

export type ErasureRef = { orgId: string; customerId: string };

const activities = proxyActivities<ErasureActivities>({
  ...throughOutages,
  // Removing thousands of messages takes seconds.
  startToCloseTimeout: '10 minutes',
});

/** Longer than an answer may take (10 minutes), or a request that was admitted before the removal. */
const untilQuiet = '15 minutes';

export async function eraseCustomer(ref: ErasureRef): Promise<void> {
  await activities.eraseCustomer(ref);
  await sleep(untilQuiet);
  await activities.verifyErasure(ref);
}
