import type { Recrawl } from '../../models/crawl/recrawl.ts';
import { nextFiring } from '../../models/rules/crawl/recrawl.ts';

export const viewSchedule = (record: Recrawl, now: Date) => ({
  ...record,
  schedule_id: record._id,
  next_crawl_at: nextFiring(record.anchor_at, record.every_hours, now),
});
