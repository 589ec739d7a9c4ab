/**
 * The changed workflow as docs/extending.md prescribes: running executions continue as before, and new ones take the
 * added step.
 */
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
