/** The commands `crawl`, `pages` and `prune`: crawl a site and manage its pages. */
import { setTimeout as wait } from 'node:timers/promises';
import progress from 'cli-progress';
import { Argument, InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { z } from 'zod';
import { identifier, list } from './arguments.ts';
import { allPages } from './client.ts';
import { CliError } from './errors.ts';
import { shortTime, table, type Output } from './output.ts';
import type { Act, Session } from './session.ts';
import {
  crawlReply,
  crawlStartReply,
  crawlStatusReply,
  pageList,
  pageRemovedReply,
  pageReply,
  scheduleList,
  scheduleRemovedReply,
} from '../api/crawl/contract/crawl.ts';
import { pruneReply } from '../api/crawl/contract/prune.ts';
import type { crawlSchedule, crawlStatus, page } from '../api/crawl/contract/crawl.ts';
import type { authority } from '../api/knowledge/contract/documents.ts';

type Status = z.infer<typeof crawlStatus>;
type Page = z.infer<typeof page>;
type Schedule = z.infer<typeof crawlSchedule>;
type Authority = z.infer<typeof authority>;
const authorities = ['primary', 'normal', 'background'] as const satisfies readonly Authority[];

/** The interval of polling a watched crawl's status, in ms. */
const pollMs = 1_000;
/** Maximum number of left-out pages in the text output; --json has all. */
const shownProblems = 20;

type StartOptions = {
  maxPages?: number;
  every?: number;
  segments?: string[];
  authority?: Authority;
  replace?: true;
  watch?: true;
};

export function addCrawlCommands(program: Command, act: Act): void {
  const crawl = program.command('crawl').description('crawl a site, so that its pages answer questions');
  crawl
    .command('start')
    .description('crawl a site: the page at this address and the pages below it')
    .argument('<url>', 'the address to start at')
    .option('--max-pages <n>', 'read at most this many pages, 1 to 1,000; default 50', wholeNumber)
    .option('--segments <a,b>', 'tags for all its pages; without it pages that are known keep theirs', list)
    .addOption(new Option('--authority <authority>', 'priority of its pages among all sources').choices(authorities))
    .option('--replace', 'replace all crawled pages by those of this crawl once it has completed')
    .option('--every <hours>', 'crawl it again at this interval, 1 to 720 hours, until crawl unschedule', wholeNumber)
    .option('--watch', 'show the progress and wait for the end')
    .action(act(start));
  crawl.command('status').description('show the running crawl, or the last one').action(act(show));
  crawl.command('cancel').description('cancel the running crawl').action(act(cancel));
  crawl.command('schedules').description('list the sites that are crawled at an interval').action(act(listSchedules));
  crawl
    .command('unschedule')
    .description('stop crawling a site at an interval; its pages stay')
    .argument('<schedule>', 'its identifier; crawl schedules shows it', identifier)
    .action(act(unschedule));

  const pages = program.command('pages').description('list, tag and delete crawled pages');
  pages.command('list').description('list all pages, newest first').action(act(listAll));
  pages
    .command('tag')
    .description('replace the segments of a page')
    .argument('<page>', 'its identifier; pages list shows it', identifier)
    .argument('<segments>', 'separated by commas; "" removes all, so that it answers everybody')
    .action(
      act((session, pageId: string, segments: string) =>
        change(session, pageId, 'segments', { segments: list(segments) }, (p) => `${p.page_id} is for: ${forWhom(p)}`),
      ),
    );
  pages
    .command('authority')
    .description('set the priority of a page among all sources')
    .argument('<page>', 'its identifier; pages list shows it', identifier)
    .addArgument(new Argument('<authority>').choices(authorities))
    .action(
      act((session, pageId: string, authority: Authority) =>
        change(session, pageId, 'authority', { authority }, (p) => `${p.page_id} is ${p.authority}`),
      ),
    );
  pages
    .command('rm')
    .description('delete a page; it stops answering before the command ends')
    .argument('<page>', 'its identifier; pages list shows it', identifier)
    .action(act(remove));
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

const forWhom = ({ segments }: Page): string => (segments.length === 0 ? 'everybody' : segments.join(', '));
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
  const bar = createBar(session.output, maxPages ?? 50);
  let { status } = started;
  // The status is requested by the crawl's id, because a schedule may start another crawl right after this one has
  // ended.
  const watched = { ...query, crawl_id: started.crawl_id };
  try {
    while (status.status === 'crawling') {
      bar.update(status);
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

async function show(session: Session): Promise<void> {
  const client = await session.client();
  const path = await at(session, '/crawl/status');
  const reply = await client.request('GET', path, crawlStatusReply, { query: { mode: session.mode } });
  session.output.result(reply, () => statusLines(reply.status));
}

async function cancel(session: Session): Promise<void> {
  const client = await session.client();
  const path = await at(session, '/crawl/cancel');
  const reply = await client.request('POST', path, crawlReply, { query: { mode: session.mode }, body: {} });
  session.output.result(reply, () => [`Cancelling ${reply.crawl_id}; crawl status shows when it has ended.`]);
}

function scheduleLines(schedule: Schedule | undefined): string[] {
  return schedule
    ? [`${schedule.schedule_id}: again every ${schedule.every_hours} h, next ${shortTime(schedule.next_crawl_at)}`]
    : [];
}

async function listSchedules(session: Session): Promise<void> {
  const client = await session.client();
  const path = await at(session, '/crawl/schedules');
  const schedules = await allPages(async (query) => {
    const reply = await client.request('GET', path, scheduleList, { query: { ...query, mode: session.mode } });
    return { entries: reply.schedules, cursor: reply.cursor };
  });
  session.output.result({ schedules, count: schedules.length }, () =>
    schedules.length === 0
      ? ['No site is crawled at an interval. Start with: crawl start <url> --every <hours>']
      : scheduleTable(schedules),
  );
}

function scheduleTable(schedules: readonly Schedule[]): string[] {
  const rows = schedules.map((s) => [
    s.schedule_id,
    s.mode,
    `${s.every_hours} h`,
    shortTime(s.next_crawl_at),
    s.last_crawl_id ?? '-',
    s.url,
  ]);
  const skipped = schedules.flatMap(({ schedule_id, last_skipped }) =>
    last_skipped ? [`  ${schedule_id} started no crawl at ${shortTime(last_skipped.at)}: ${last_skipped.reason}`] : [],
  );
  return [...table(['SCHEDULE', 'MODE', 'EVERY', 'NEXT', 'LAST CRAWL', 'ADDRESS'], rows), ...skipped];
}

async function unschedule(session: Session, scheduleId: string): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/crawl/schedules/${scheduleId}`);
  const removed = await client.request('DELETE', path, scheduleRemovedReply, { query: { mode: session.mode } });
  session.output.result(removed, () => [`Removed ${removed.schedule_id}; its pages stay.`]);
}

function statusLines(status: Status): string[] {
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

async function listAll(session: Session): Promise<void> {
  const client = await session.client();
  const path = await at(session, '/knowledge-base');
  const pages = await allPages((query) =>
    client.request('GET', path, pageList, { query: { ...query, mode: session.mode } }),
  );
  const seen = pages.length === 0 ? await session.modeSeen('list') : undefined;
  session.output.result({ entries: pages, count: pages.length }, () =>
    pages.length === 0 ? ['There are no pages yet. Start with: crawl start <url>'] : pageTable(pages),
  );
  if (seen !== undefined) session.output.note(seen);
}

function pageTable(pages: readonly Page[]): string[] {
  const rows = pages.map((p) => [
    p.page_id,
    p.mode,
    p.authority,
    String(p.chunk_count),
    shortTime(p.crawled_at),
    p.segments.join(',') || '-',
    p.source_url,
  ]);
  return table(['PAGE', 'MODE', 'AUTHORITY', 'PASSAGES', 'CRAWLED', 'SEGMENTS', 'ADDRESS'], rows);
}

async function change(
  session: Session,
  pageId: string,
  field: 'segments' | 'authority',
  body: unknown,
  line: (page: Page) => string,
): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/knowledge-base/${pageId}/${field}`);
  const reply = await client.request('PATCH', path, pageReply, { query: { mode: session.mode }, body });
  session.output.result(reply, () => [line(reply.page)]);
}

async function remove(session: Session, pageId: string): Promise<void> {
  const client = await session.client();
  const path = await at(session, `/knowledge-base/${pageId}`);
  const removed = await client.request('DELETE', path, pageRemovedReply, { query: { mode: session.mode } });
  session.output.result(removed, () => [`Deleted ${removed.page_id}`]);
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

type Bar = { update(status: Status): void; stop(): void };

/** A progress bar for a person at a terminal; otherwise nothing is drawn. */
function createBar(output: Output, maxPages: number): Bar {
  if (!output.live) return { update: () => undefined, stop: () => undefined };
  const bar = new progress.SingleBar({
    stream: output.stderr,
    format: '[{bar}] {value} of at most {total} pages  {found} found  {left} left out',
    barsize: 20,
    barCompleteChar: '#',
    barIncompleteChar: '-',
    clearOnComplete: true,
    linewrap: true,
    // The library's handler would swallow the first Ctrl-C, and no hidden cursor needs to be restored.
    gracefulExit: false,
  });
  bar.start(maxPages, 0, { found: 0, left: 0 });
  return {
    update: (status) =>
      bar.update(status.pages_processed, {
        found: status.pages_found,
        left: status.pages_skipped + status.pages_failed,
      }),
    stop: () => bar.stop(),
  };
}
