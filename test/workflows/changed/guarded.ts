/** The same change as docs/extending.md says: what runs already goes on as it began, and what starts from now on takes the step. */
import { patched, proxyActivities, sleep } from '@temporalio/workflow';

const { eraseCopies, tellOwner } = proxyActivities<Record<'eraseCopies' | 'tellOwner', (ref: object) => Promise<void>>>(
  {
    startToCloseTimeout: '1 minute',
  },
);

export async function eraseTask({ taskId }: { taskId: string }): Promise<void> {
  await eraseCopies({ ids: [taskId] });
  if (patched('owner-told')) await tellOwner({ taskId });
  await sleep('10 minutes');
  await eraseCopies({ ids: [taskId] });
}
