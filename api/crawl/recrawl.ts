/** Crawl schedules as callers see them. */
import type { Recrawl } from '../../models/crawl/recrawl.ts';
import { nextFiring } from '../../models/rules/crawl/recrawl.ts';

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
