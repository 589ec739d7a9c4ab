/** Commands of `crawl`: the running crawl, and the sites that are crawled at an interval. `start` is in cli/crawl.ts. */
import type { z } from 'zod';
import { command, listing, noun } from '../described.ts';
import { shortTime } from '../output.ts';
import * as contract from '../../api/crawl/contract/crawl.ts';

const path = '/orgs/{orgId}/crawl';
/** Maximum number of left-out pages in the text output; --json has all. */
const shownProblems = 20;

export const crawl = noun({
  name: 'crawl',
  description: 'crawl a site, so that its pages answer questions',
  example: 'sched_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    command({
      name: 'status',
      description: 'show the running crawl, or the last one',
      route: `GET ${path}/status`,
      query: contract.crawlStatusQuery,
      reply: contract.crawlStatusReply,
      lines: ({ status }) => statusLines(status),
    }),
    command({
      name: 'cancel',
      description: 'cancel the running crawl',
      route: `POST ${path}/cancel`,
      reply: contract.crawlReply,
      lines: ({ crawl_id }) => [`Cancelling ${crawl_id}; crawl status shows when it has ended.`],
    }),
    listing({
      name: 'schedules',
      description: 'list the sites that are crawled at an interval',
      route: `GET ${path}/schedules`,
      query: contract.pageQuery,
      reply: contract.scheduleList,
      entries: 'schedules',
      columns: {
        SCHEDULE: (one) => one.schedule_id,
        MODE: (one) => one.mode,
        EVERY: (one) => `${one.every_hours} h`,
        NEXT: (one) => one.next_crawl_at,
        'LAST CRAWL': (one) => one.last_crawl_id,
        ADDRESS: (one) => one.url,
      },
      below: ({ schedule_id, last_skipped: skipped }) =>
        skipped && `  ${schedule_id} started no crawl at ${shortTime(skipped.at)}: ${skipped.reason}`,
      none: 'No site is crawled at an interval. Start with: crawl start <url> --every <hours>',
    }),
    command({
      name: 'unschedule',
      description: 'stop crawling a site at an interval; its pages stay',
      route: `DELETE ${path}/schedules/{scheduleId}`,
      args: { scheduleId: 'its identifier; crawl schedules shows it' },
      reply: contract.scheduleRemovedReply,
      lines: ({ schedule_id }) => [`Removed ${schedule_id}; its pages stay.`],
    }),
  ],
});

export function statusLines(status: z.infer<typeof contract.crawlStatus>): string[] {
  if (status.status === 'idle') return ['Nothing was crawled yet. Start with: crawl start <url>'];
  const problems = status.problems.slice(0, shownProblems).map(({ url, reason }) => `  ${url}: ${reason}`);
  const more = status.problems.length - problems.length;
  const reasons = status.problem_counts.map(({ code, count }) => `${count} ${code}`);
  return [
    `${status.crawl_id ?? ''}  ${status.status}  ${status.url ?? ''}`,
    `${status.pages_found} found, ${status.pages_processed} processed (${status.pages_unchanged} unchanged), ${status.pages_skipped} left out, ${status.pages_failed} failed`,
    ...(status.pages_to_embed === 0
      ? []
      : [`${status.pages_to_embed} found by their words alone as yet, soon by meaning too`]),
    ...(status.error === undefined ? [] : [status.error]),
    ...(reasons.length === 0 ? [] : [`Reasons: ${reasons.join(', ')}`]),
    ...problems,
    ...(more > 0 ? [`  and ${more} more; --json shows them`] : []),
  ];
}
