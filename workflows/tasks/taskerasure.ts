/** Removes what was made of a task that was removed: what its members were told, and the answers to requests about it. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { CopyActivities } from '../../activities/base/copies.ts';

const { eraseCopies } = proxyActivities<CopyActivities>({
  ...throughOutages,
  // Some removals from MongoDB.
  startToCloseTimeout: '2 minutes',
});

/** Longer than a step of an execution may take that was under way (6 minutes), or a request. */
const untilQuiet = '10 minutes';

export async function eraseTask({ taskId }: { taskId: string }): Promise<void> {
  await eraseCopies({ ids: [taskId] });
  await sleep(untilQuiet);
  await eraseCopies({ ids: [taskId] });
}
