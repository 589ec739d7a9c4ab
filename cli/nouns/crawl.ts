/** Commands of `crawl`: the running crawl, and the sites that are crawled at an interval. */
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { command, listing, noun, steps } from '../described.ts';
import { CliError } from '../errors.ts';
import type { Given } from '../fields.ts';
import { createBar, shortTime } from '../output.ts';
import type { Session } from '../session.ts';
import * as contract from '../../api/crawl/contract/crawl.ts';

/** The interval of polling a watched crawl's status, in ms. */
const pollMs = 1_000;
/** Maximum number of left-out pages in the text output; --json has up to 200. */
const shownProblems = 20;

export const crawl = noun({
  name: 'crawl',
  description: 'crawl a site, so that its pages answer questions',
  example: 'sched_01M7YGT1Y2M8Q0Z6V3C4K5R7XA',
  commands: [
    steps({
      name: 'start',
      description: 'crawl a site: the page at this address and the pages below it',
      examples: ['start https://www.example.com/help/ --watch', 'start https://www.example.com/ --every 24'],
      does: contract.startCrawl,
      args: { url: 'the address to start at' },
      fields: {
        of: contract.crawlBody.shape.options.unwrap().extend({
          watch: z.boolean().optional().meta({ description: 'show the progress and wait for the end' }),
        }),
        body: () => undefined,
      },
      names: { every_hours: 'every' },
      runs: start,
    }),
    command({
      name: 'status',
      description: 'show the running crawl, or the last one',
      does: contract.getCrawlStatus,
      lines: ({ status }) => statusLines(status),
    }),
    command({
      name: 'cancel',
      description: 'cancel the running crawl',
      does: contract.cancelCrawl,
      lines: ({ crawl_id }) => [`Cancelling ${crawl_id}; crawl status shows when it has ended.`],
    }),
    listing({
      name: 'schedules',
      description: 'list the sites that are crawled at an interval',
      does: contract.listCrawlSchedules,
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
      does: contract.deleteCrawlSchedule,
      args: { scheduleId: 'its identifier; crawl schedules shows it' },
      lines: ({ schedule_id }) => [`Removed ${schedule_id}; its pages stay.`],
    }),
  ],
});

async function start(session: Session, { url, watch, ...options }: Given): Promise<void> {
  const client = await session.client();
  const at = `/orgs/${await session.orgId()}/crawl`;
  const query = { mode: session.mode };
  const started = await client.request('POST', at, contract.crawlStartReply, { query, body: { url, options } });
  if (!watch) {
    session.output.result(started, () => [
      `Started ${started.crawl_id}; see crawl status.`,
      ...scheduleLines(started.schedule),
    ]);
    return;
  }
  const format = '[{bar}] {value} of at most {total} pages  {found} found  {left} left out';
  const bar = createBar(session.output, format, Number(options['max_pages'] ?? 50), { found: 0, left: 0 });
  let { status } = started;
  // The status is requested by the crawl's id, because a schedule may start another crawl right after this crawl has
  // ended.
  const watched = { ...query, crawl_id: started.crawl_id };
  try {
    while (status.status === 'crawling') {
      const left = status.pages_skipped + status.pages_failed;
      bar.update(status.pages_processed, { found: status.pages_found, left });
      await wait(pollMs);
      ({ status } = await client.request('GET', `${at}/status`, contract.crawlStatusReply, { query: watched }));
    }
  } finally {
    bar.stop();
  }
  session.output.result({ ...started, status }, () => [...statusLines(status), ...scheduleLines(started.schedule)]);
  if (status.status !== 'completed')
    throw new CliError(`The crawl ended ${status.status}: ${status.error ?? 'see above'}`, { code: 'CRAWL_ENDED' });
}

const scheduleLines = (schedule?: z.infer<typeof contract.crawlSchedule>): string[] =>
  schedule
    ? [`${schedule.schedule_id}: again every ${schedule.every_hours} h, next ${shortTime(schedule.next_crawl_at)}`]
    : [];

function statusLines(status: z.infer<typeof contract.crawlStatus>): string[] {
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
