/** Work that recurs, as Temporal Schedules: created once, kept as operators change them. */
import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import { maintainStores } from '../workflows/maintenance.ts';
import { queues } from '../workflows/queues.ts';

/** Makes the schedules that do not exist yet. Safe to run in every worker at once. */
export async function ensureSchedules(client: Client, taskQueuePrefix: string): Promise<void> {
  try {
    await client.schedule.create({
      scheduleId: `${taskQueuePrefix}maintain-stores`,
      // Each run works for about an hour, so the next one waits for its end.
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: '1 minute' },
      state: { triggerImmediately: true },
      action: {
        type: 'startWorkflow',
        workflowType: maintainStores.name,
        workflowId: `${taskQueuePrefix}maintain-stores`,
        taskQueue: `${taskQueuePrefix}${queues.maintenance}`,
        args: [],
      },
    });
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}
