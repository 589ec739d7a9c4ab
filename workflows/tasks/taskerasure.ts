/** Erases the copies of a removed task: notifications about the task, and stored responses to requests about it. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { CopyActivities } from '../../activities/base/copies.ts';

const { eraseCopies } = proxyActivities<CopyActivities>({
  ...throughOutages,
  // The activity deletes from a few collections of MongoDB.
  startToCloseTimeout: '2 minutes',
});

/**
 * The wait before the erasure is repeated. It is longer than any request or step of an execution (up to 6 minutes) that
 * was in flight when the task was removed.
 */
const untilQuiet = '10 minutes';

export async function eraseTask({ taskId }: { taskId: string }): Promise<void> {
  await eraseCopies({ ids: [taskId] });
  await sleep(untilQuiet, { summary: 'requests that began before the removal' });
  await eraseCopies({ ids: [taskId] });
}
