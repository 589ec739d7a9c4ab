/**
 * Erases a customer with all data. The erasure is repeated later, because concurrent work may have written data
 * meanwhile.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { ErasureActivities } from '../../activities/chat/erasure.ts';

export type ErasureRef = { orgId: string; customerId: string };

const activities = proxyActivities<ErasureActivities>({
  ...throughOutages,
  // Removing thousands of messages takes seconds.
  startToCloseTimeout: '10 minutes',
});

/** The wait before the repetition, longer than any answer (10 minutes) and any request admitted before the erasure. */
const untilQuiet = '15 minutes';

export async function eraseCustomer(ref: ErasureRef): Promise<void> {
  await activities.eraseCustomer(ref);
  await sleep(untilQuiet, { summary: 'requests that began before the erasure' });
  await activities.verifyErasure(ref);
}
