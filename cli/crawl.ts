/** The commands `crawl start` and `prune`: crawl a site, and remove stored data that belongs to no page. */
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { z } from 'zod';
import { list } from './arguments.ts';
import { CliError } from './errors.ts';
import { statusLines } from './nouns/crawl.ts';
import { createBar, shortTime } from './output.ts';
import type { Act, Session } from './session.ts';
import { crawlStartReply, crawlStatusReply } from '../api/crawl/contract/crawl.ts';
import { pruneReply } from '../api/crawl/contract/prune.ts';
import type { crawlSchedule } from '../api/crawl/contract/crawl.ts';
import { authority } from '../api/knowledge/contract/documents.ts';

type Schedule = z.infer<typeof crawlSchedule>;
type Authority = z.infer<typeof authority>;

/** The interval of polling a watched crawl's status, in ms. */
const pollMs = 1_000;

type StartOptions = {
  maxPages?: number;
  every?: number;
  segments?: string[];
  authority?: Authority;
  replace?: true;
  watch?: true;
};

export function addCrawlCommands(program: Command, act: Act): void {
  program
    .command('crawl')
    .command('start')
    .description('crawl a site: the page at this address and the pages below it')
    .argument('<url>', 'the address to start at')
    .option('--max-pages <n>', 'read at most this many pages, 1 to 1,000; default 50', wholeNumber)
    .option('--segments <a,b>', 'tags for all its pages; without it pages that are known keep theirs', list)
    .addOption(
      new Option('--authority <authority>', 'priority of its pages among all sources').choices(authority.options),
    )
    .option('--replace', 'replace all crawled pages by those of this crawl once it has completed')
    .option('--every <hours>', 'crawl it again at this interval, 1 to 720 hours, until crawl unschedule', wholeNumber)
    .option('--watch', 'show the progress and wait for the end')
    .action(act(start));
  program
    .command('prune')
    .description('find stored parts of crawled pages that no longer exist')
    .option('--apply', 'also remove them')
    .action(act(prune));
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number)) throw new InvalidArgumentError('It must be a whole number.');
  return number;
}

const at = async (session: Session, path: string): Promise<string> => `/orgs/${await session.orgId()}${path}`;

async function start(session: Session, url: string, given: StartOptions): Promise<void> {
  const client = await session.client();
  const { maxPages, every, watch, ...rest } = given;
  const options = {
    ...rest,
    ...(maxPages === undefined ? {} : { max_pages: maxPages }),
    ...(every === undefined ? {} : { every_hours: every }),
  };
  const query = { mode: session.mode };
  const started = await client.request('POST', await at(session, '/crawl'), crawlStartReply, {
    query,
    body: { url, options },
  });
  if (!watch) {
    session.output.result(started, () => [
      `Started ${started.crawl_id}; see crawl status.`,
      ...scheduleLines(started.schedule),
    ]);
    return;
  }
  const format = '[{bar}] {value} of at most {total} pages  {found} found  {left} left out';
  const bar = createBar(session.output, format, maxPages ?? 50, { found: 0, left: 0 });
  let { status } = started;
  // The status is requested by the crawl's id, because a schedule may start another crawl right after this crawl has
  // ended.
  const watched = { ...query, crawl_id: started.crawl_id };
  try {
    while (status.status === 'crawling') {
      const left = status.pages_skipped + status.pages_failed;
      bar.update(status.pages_processed, { found: status.pages_found, left });
      await wait(pollMs);
      ({ status } = await client.request('GET', await at(session, '/crawl/status'), crawlStatusReply, {
        query: watched,
      }));
    }
  } finally {
    bar.stop();
  }
  session.output.result({ ...started, status }, () => [...statusLines(status), ...scheduleLines(started.schedule)]);
  if (status.status !== 'completed')
    throw new CliError(`The crawl ended ${status.status}: ${status.error ?? 'see above'}`, { code: 'CRAWL_ENDED' });
}

function scheduleLines(schedule: Schedule | undefined): string[] {
  return schedule
    ? [`${schedule.schedule_id}: again every ${schedule.every_hours} h, next ${shortTime(schedule.next_crawl_at)}`]
    : [];
}

async function prune(session: Session, { apply }: { apply?: true }): Promise<void> {
  const client = await session.client();
  const path = await at(session, '/knowledge-base/prune');
  const body = apply ? { apply } : {};
  const reply = await client.request('POST', path, pruneReply, { query: { mode: session.mode }, body });
  session.output.result(reply, () => [
    ...reply.orphaned.map((one) => `${one.source_id}  ${one.chunks} passages  ${one.url ?? ''}`.trimEnd()),
    `${reply.live} pages are whole; ${reply.orphaned.length} left-overs ${apply ? 'being removed' : 'found'}`,
  ]);
}
