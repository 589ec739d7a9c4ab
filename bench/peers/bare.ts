/** The peer of the `delivery` benchmark, in the form that workers bundle: a workflow that runs one activity. */
import { proxyActivities } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

export async function bare(): Promise<void> {
  await nothing();
}
