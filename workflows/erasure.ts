/** A customer is removed with all that is held of it, and a while later it is made sure that nothing has come back. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from './options.ts';
import type { ErasureActivities } from '../activities/chat/erasure.ts';

export type ErasureRef = { orgId: string; customerId: string };

export const eraseCustomerWorkflowId = (customerId: string): string => `customer:${customerId}:erase`;

const activities = proxyActivities<ErasureActivities>({
  ...throughOutages,
  // Thousands of messages are removed within seconds.
  startToCloseTimeout: '10 minutes',
});

/** Longer than an answer may be at work (10 minutes) or a request that was let in before. */
const untilQuiet = '15 minutes';

export async function eraseCustomer(ref: ErasureRef): Promise<void> {
  await activities.eraseCustomer(ref);
  await sleep(untilQuiet);
  await activities.verifyErasure(ref);
}
