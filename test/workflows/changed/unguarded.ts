/**
 * `eraseTask` (workflows/tasks/taskerasure.ts) with an added step and no guard, which is forbidden: running executions
 * have not taken that step.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';

const { eraseCopies, tellOwner } = proxyActivities<Record<'eraseCopies' | 'tellOwner', (ref: object) => Promise<void>>>(
  {
    startToCloseTimeout: '1 minute',
  },
);

export async function eraseTask({ taskId }: { taskId: string }): Promise<void> {
  await eraseCopies({ ids: [taskId] });
  await tellOwner({ taskId });
  await sleep('10 minutes');
  await eraseCopies({ ids: [taskId] });
}
