/** Crawl schedules as callers see them, and the workflow that follows a change of one. */
import type { Start } from '../../workflows/start.ts';
import { newId } from '../../models/base/ids.ts';
import type { Recrawl } from '../../models/crawl/recrawl.ts';
import { nextFiring } from '../../models/rules/crawl/recrawl.ts';
import { queues } from '../../models/rules/base/work.ts';
import { arrangeRecrawl, arrangeRecrawlWorkflowId } from '../../workflows/crawl/recrawl.ts';

export const arranging = (orgId: string, scheduleId: string): Start<Parameters<typeof arrangeRecrawl>> => ({
  workflow: arrangeRecrawl,
  // The workflow does what the record says when it runs.
  id: arrangeRecrawlWorkflowId(scheduleId, newId('request')),
  queue: queues.crawl,
  args: [{ orgId, scheduleId }],
});

export function viewSchedule(record: Recrawl, now: Date) {
  const { _id, created_at, anchor_at, every_hours, last_crawl_id, last_skipped, ...rest } = record;
  return {
    ...rest,
    schedule_id: _id,
    every_hours,
    created_at: created_at.toISOString(),
    next_crawl_at: nextFiring(anchor_at, every_hours, now).toISOString(),
    last_crawl_id: last_crawl_id ?? null,
    ...(last_skipped ? { last_skipped: { ...last_skipped, at: last_skipped.at.toISOString() } } : {}),
  };
}
