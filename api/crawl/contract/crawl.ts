/** Zod schemas of the requests and replies about crawls and the pages that they index. */
import { z } from 'zod';
import { cursor, id, orNull, pageQuery, timestamp } from '../../base/contract/common.ts';
import { mode } from '../../access/contract/mode.ts';
import { authority, authorityBody, embedded_at, segments, segmentsBody } from '../../knowledge/contract/documents.ts';
import { crawlBounds } from '../../../models/rules/crawl/crawl.ts';
import { operation } from '../../base/contract/operation.ts';

const { maxPages, everyHours } = crawlBounds;

export { authorityBody, pageQuery, segmentsBody };

export const crawlBody = z.strictObject({
  url: z.string().min(1).max(2048).meta({ description: 'Where to begin; its host and path are the scope.' }),
  options: z
    .strictObject({
      max_pages: z
        .number()
        .int()
        .min(maxPages.min)
        .max(maxPages.max)
        .optional()
        .meta({
          description: `The most pages that are read, ${maxPages.min} to ${maxPages.max.toLocaleString('en')}; ${maxPages.default} unless told.`,
        }),
      segments: segments
        .optional()
        .meta({ description: 'For every page of this crawl; else refreshed pages keep theirs.' }),
      authority: authority.optional().meta({ description: 'The priority of its pages among all sources.' }),
      replace: z.boolean().optional().meta({
        description:
          'Build a new set of pages; it takes the place of all crawled pages when it is whole. Pages of before that the site no longer links to, but still has, are part of it.',
      }),
      every_hours: z
        .number()
        .int()
        .min(everyHours.min)
        .max(everyHours.max)
        .optional()
        .meta({
          description: `Crawl it again at this interval, ${everyHours.min} to ${everyHours.max} hours, with these options, until the schedule is removed (\`crawl unschedule\` of the CLI). Not with \`replace\`.`,
        }),
    })
    .optional(),
});

const counts = {
  crawl_id: id.nullable(),
  url: z.string().nullable(),
  source: z.enum(['live', 'last_run']),
  pages_found: z.number().int(),
  pages_processed: z.number().int(),
  pages_unchanged: z.number().int(),
  pages_skipped: z.number().int(),
  pages_failed: z.number().int(),
  pages_to_embed: z.number().int().meta({
    description: 'Stored pages that are found by their words alone as yet; those by meaning follow in the background.',
  }),
  problems: z
    .array(z.object({ url: z.string(), reason: z.string() }))
    .meta({ description: 'What was left out, and why: the first addresses of each reason, at most 200 in all.' }),
  problem_counts: z.array(z.object({ code: z.string(), count: z.number().int() })).meta({
    description:
      'How many addresses were left out for each reason; those that look like files and series without end, which are noted and not fetched, are counted here only.',
  }),
  started_at: timestamp.nullable(),
  completed_at: orNull(timestamp),
  error: z.string().optional(),
};
export const crawlStatus = z
  .object({
    status: z.enum(['idle', 'crawling', 'completed', 'failed', 'cancelled', 'limit_reached']),
    ...counts,
  })
  .meta({ id: 'CrawlStatus' });
const crawlStatusQuery = z.object({
  crawl_id: id.optional().meta({ description: 'This crawl, whatever else runs.' }),
});
export const crawlStatusReply = z.object({ status: crawlStatus, ...counts });
const crawlReply = z.object({ crawl_id: id, status: crawlStatus });

export const crawlSchedule = z
  .object({
    schedule_id: id,
    org_id: id,
    mode,
    url: z.string(),
    every_hours: z.number().int(),
    max_pages: z.number().int(),
    segments: z.array(z.string()).optional(),
    authority: authority.optional(),
    created_at: timestamp,
    next_crawl_at: timestamp,
    last_crawl_id: orNull(id).meta({ description: 'The last crawl that it began; null before the first.' }),
    last_skipped: z
      .object({ at: timestamp, reason: z.string() })
      .optional()
      .meta({ description: 'When no crawl began at its last time, and why.' }),
  })
  .meta({ id: 'CrawlSchedule' });
export const crawlStartReply = crawlReply.extend({
  schedule: crawlSchedule.optional().meta({ description: 'With `every_hours`.' }),
});
const scheduleList = z.object({
  schedules: z.array(crawlSchedule),
  count: z.number().int().meta({ description: 'All of them, not only this page.' }),
  cursor,
});
const scheduleRemovedReply = z.object({ schedule_id: id, deleted: z.literal(true) });

export const page = z
  .object({
    page_id: id,
    id,
    org_id: id,
    mode,
    source_url: z.string(),
    title: z.string(),
    status: z.literal('indexed'),
    segments: z.array(z.string()),
    authority,
    chunk_count: z.number().int(),
    content_sha256: z.string(),
    crawled_at: timestamp,
    embedded_at,
  })
  .meta({ id: 'Page' });
const pageReply = z.object({ page });
const pageList = z.object({
  entries: z.array(page),
  count: z.number().int().meta({ description: 'All of them, not only this page.' }),
  cursor,
});
const pageRemovedReply = z.object({ page_id: id, deleted: z.literal(true) });

export type Page = z.output<typeof page>;

export const startCrawl = operation('startCrawl', 'POST /orgs/{orgId}/crawl', {
  body: crawlBody,
  reply: crawlStartReply,
});
export const getCrawlStatus = operation('getCrawlStatus', 'GET /orgs/{orgId}/crawl/status', {
  query: crawlStatusQuery,
  reply: crawlStatusReply,
});
export const cancelCrawl = operation('cancelCrawl', 'POST /orgs/{orgId}/crawl/cancel', { reply: crawlReply });
export const listPages = operation('listPages', 'GET /orgs/{orgId}/knowledge-base', {
  query: pageQuery,
  reply: pageList,
});
export const setPageSegments = operation('setPageSegments', 'PATCH /orgs/{orgId}/knowledge-base/{pageId}/segments', {
  body: segmentsBody,
  reply: pageReply,
});
export const setPageAuthority = operation('setPageAuthority', 'PATCH /orgs/{orgId}/knowledge-base/{pageId}/authority', {
  body: authorityBody,
  reply: pageReply,
});
export const deletePage = operation('deletePage', 'DELETE /orgs/{orgId}/knowledge-base/{pageId}', {
  reply: pageRemovedReply,
});
export const listCrawlSchedules = operation('listCrawlSchedules', 'GET /orgs/{orgId}/crawl/schedules', {
  query: pageQuery,
  reply: scheduleList,
});
export const deleteCrawlSchedule = operation(
  'deleteCrawlSchedule',
  'DELETE /orgs/{orgId}/crawl/schedules/{scheduleId}',
  { reply: scheduleRemovedReply },
);
