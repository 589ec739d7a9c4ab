/**
 * The workflow that the `delivery` benchmark compares deliveries with. It runs one activity. Workers bundle this file.
 */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

export async function bare(): Promise<void> {
  await nothing();
}
