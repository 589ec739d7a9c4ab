/**
 * Recurring work as Temporal Schedules: the platform's own schedules, which are created once and which operators may
 * change, and the crawl schedules of sites.
 */
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type Client,
  type ScheduleOptions,
} from '@temporalio/client';
import type { RecrawlSchedules } from '../activities/crawl/recrawl.ts';
import type { Recrawl } from '../models/crawl/recrawl.ts';
import { scheduleInterval } from '../models/rules/crawl/recrawl.ts';
import { introduced } from '../workflows/base/introduced.ts';
import { recrawlScheduleId, recrawlSiteWork } from '../models/rules/crawl/work.ts';
import { maintainStoresWork } from '../models/rules/knowledge/work.ts';

/** Creates the schedules that do not exist yet. Safe to run in every worker at once. */
export async function ensureSchedules(client: Client, taskQueuePrefix: string): Promise<void> {
  const { workflow, id, queue, args } = maintainStoresWork();
  try {
    const schedule = await client.schedule.create({
      scheduleId: `${taskQueuePrefix}${id}`,
      // Each run works for about an hour, so the next one waits until it ends.
      spec: { intervals: [{ every: '1 hour' }] },
      policies: { overlap: ScheduleOverlapPolicy.BUFFER_ONE, catchupWindow: '1 minute' },
      action: {
        type: 'startWorkflow',
        workflowType: workflow,
        workflowId: `${taskQueuePrefix}${id}`,
        taskQueue: `${taskQueuePrefix}${queue}`,
        args,
        ...introduced(workflow, id),
      },
    });
    // `triggerImmediately` is not used, because the overlap policy does not count such a run. The next hour's run would
    // then begin beside it.
    await schedule.trigger(ScheduleOverlapPolicy.SKIP);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
}

export function createRecrawlSchedules({ schedule }: Client, taskQueuePrefix: string): RecrawlSchedules {
  function definition(recrawl: Recrawl) {
    const { workflow, id, queue, args } = recrawlSiteWork(recrawl.org_id, recrawl._id);
    const { everyMs, phaseMs } = scheduleInterval(recrawl.anchor_at, recrawl.every_hours);
    return {
      spec: {
        intervals: [{ every: everyMs, offset: phaseMs }],
        // The caller has already started the crawl that is due at `anchor_at`. Temporal's clock may be behind; without
        // the extra second, the schedule would start that crawl again.
        startAt: new Date(recrawl.anchor_at.getTime() + 1_000),
      },
      // A run of the schedule ends as soon as its crawl has started. A longer run is waiting for an outage to end, and
      // a second run would add nothing. After an outage, Temporal makes up for the runs of the last hour, which is the
      // shortest possible interval.
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1 hour' },
      action: {
        type: 'startWorkflow' as const,
        workflowType: workflow,
        workflowId: id,
        taskQueue: `${taskQueuePrefix}${queue}`,
        args,
        ...introduced(workflow, id, recrawl.org_id, recrawl.mode),
      },
    } satisfies Omit<ScheduleOptions, 'scheduleId'>;
  }

  return {
    async put(recrawl) {
      const scheduleId = recrawlScheduleId(recrawl._id);
      try {
        await schedule.create({ scheduleId, ...definition(recrawl) });
      } catch (error) {
        if (!(error instanceof ScheduleAlreadyRunning)) throw error;
        await schedule.getHandle(scheduleId).update(({ state }) => ({ ...definition(recrawl), state }));
      }
    },
    async remove(scheduleId) {
      try {
        await schedule.getHandle(recrawlScheduleId(scheduleId)).delete();
      } catch (error) {
        if (!(error instanceof ScheduleNotFoundError)) throw error;
      }
    },
  };
}
