/** The peer of the `delivery` benchmark, as workers bundle it: a workflow that runs one activity. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

export async function bare(): Promise<void> {
  await nothing();
}
