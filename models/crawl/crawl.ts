/** Crawls: their options, progress and results. The addresses that a crawl has found are stored by frontier.ts. */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, finderOf, updaterOf, type RecordOf } from '../base/define.ts';
import { boolean, date, embedded, flag, list, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { countSet } from './pageset.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { authorities } from '../rules/knowledge/authority.ts';
import { crawlEndings, type CrawlOrder } from '../rules/crawl/crawl.ts';
import { crawlProblem, type CrawlProblem } from '../rules/crawl/problems.ts';
import { Problem } from '../rules/base/errors.ts';
import { modes, type Environment, type Mode } from '../rules/access/keys.ts';
import { checkQuota, quotaEnvironment, type Quotas } from '../rules/knowledge/quota.ts';

export type Ending = (typeof crawlEndings)[number];

/** The maximum number of stored problems with robots.txt and sitemaps. */
const maxSiteProblems = 20;

export const CrawlModel = defineModel(
  'Crawl',
  'crawls',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    url: string,
    status: oneOf(['crawling', ...crawlEndings]),
    /**
     * True while the crawl runs, and absent when it has ended, so that a unique index allows one running crawl for each
     * organization and mode.
     */
    running: flag,
    max_pages: number,
    /** The segments of the pages that the crawl reads; absent: known pages keep their segments. */
    segments: optional(list(string)),
    authority: optional(oneOf(authorities)),
    replace: boolean,
    pages_found: number,
    pages_processed: number,
    pages_unchanged: number,
    pages_skipped: number,
    pages_failed: number,
    /** Addresses that were not indexed, each with the reason. For each reason, only the first addresses are stored. */
    problems: list(crawlProblem),
    /** The number of left-out addresses for each reason code. */
    problem_counts: list(embedded({ code: string, count: number })),
    /** Problems with the site's robots.txt and sitemaps; also appended to `problems`. */
    site_problems: optional(list(crawlProblem)),
    /** Why the crawl ended with this status; while it runs, why it currently sends no requests. */
    error: optional(string),
    /**
     * How often the crawl has claimed pages (`claimPages`). A claim is counted after it is written. Counting fails once
     * the crawl has ended; the claim is then undone.
     */
    claims: optional(number),
    /** Who started the crawl: the id of a user or a key, or the schedule. */
    started_by: string,
    /** The id of the workflow run in which a schedule began this crawl; each run begins at most one crawl. */
    firing: optional(string),
    /**
     * The ids of the requests that cancel this crawl (`commandIds`), so that a repeated request cancels no other crawl.
     */
    cancelled_by: optional(list(string)),
    started_at: date,
    completed_at: optional(date),
    pending: pendingField,
  },
  [
    {
      fields: { org_id: 1, mode: 1, running: 1 },
      unique: true,
      partialFilterExpression: { running: true },
    },
    { fields: { org_id: 1, mode: 1, _id: -1 } },
    { fields: { org_id: 1, cancelled_by: 1 }, partialFilterExpression: { cancelled_by: { $exists: true } } },
    { fields: { org_id: 1, firing: 1 }, unique: true, partialFilterExpression: { firing: { $exists: true } } },
    pendingIndex,
  ],
);
export type Crawl = RecordOf<typeof CrawlModel>;
export type CrawlRef = Pick<Crawl, '_id' | 'org_id'>;

/**
 * Checks that the quota has room for new pages.
 * @throws Problem SANDBOX_LIMIT, BETA_LIMIT_REACHED
 */
export async function checkCrawlRoom(
  quotas: Quotas,
  environment: Environment,
  orgId: string,
  mode: Mode,
  { replace }: CrawlOrder,
): Promise<void> {
  // A replacing crawl builds a new set of pages, so the old set does not count.
  const used = replace ? 0 : await countSet(orgId, mode, true);
  checkQuota(quotas, quotaEnvironment(mode, environment), 'knowledge_pages', used);
}

export function newCrawl(
  order: CrawlOrder,
  crawl: Pick<Crawl, '_id' | 'org_id' | 'mode' | 'started_by' | 'started_at' | 'firing' | 'pending'>,
): Crawl {
  return {
    ...crawl,
    ...order,
    status: 'crawling',
    running: true,
    pages_found: 0,
    pages_processed: 0,
    pages_unchanged: 0,
    pages_skipped: 0,
    pages_failed: 0,
    problems: [],
    problem_counts: [],
  };
}

/**
 * Stores a new crawl, then runs `alongside` for further writes. Only one crawl per organization and mode can run, so no
 * other start races with these writes. If the process crashes before the further writes, the crawl runs without them.
 * This is acceptable, because the caller got no reply.
 * @throws Problem CRAWL_RUNNING, and what `alongside` throws; nothing is stored then.
 */
export async function createCrawl<T>(crawl: Crawl, alongside: () => Promise<T>): Promise<T> {
  try {
    await CrawlModel.create(crawl);
  } catch (error) {
    throw isDuplicate(error) ? new Problem('CRAWL_RUNNING') : error;
  }
  try {
    return await alongside();
  } catch (error) {
    await collectionOf(CrawlModel).deleteOne({ _id: crawl._id, org_id: crawl.org_id, status: 'crawling' });
    throw isDuplicate(error) ? new Problem('CRAWL_RUNNING') : error;
  }
}

/** The crawl that this workflow run of a schedule began. */
export async function findCrawlOfFiring(orgId: string, firing: string): Promise<Crawl | null> {
  return collectionOf(CrawlModel).findOne({ firing, org_id: orgId });
}

export const findCrawl = finderOf(CrawlModel);
const update = updaterOf(CrawlModel);

/** The running crawl in one of these modes, or else the last one. */
export async function latestCrawl(orgId: string, among: readonly Mode[]): Promise<Crawl | null> {
  const last = (of: { running?: true }) =>
    collectionOf(CrawlModel).findOne({ org_id: orgId, mode: { $in: among }, ...of }, { sort: { _id: -1 } });
  return (await last({ running: true })) ?? last({});
}

/**
 * The crawl that a request cancels: the running one, or the one that the same request cancelled before, even if it has
 * ended. `commandIds`: the ids of the request, newest first; empty when the request cannot be repeated.
 */
export async function crawlToCancel(orgId: string, mode: Mode, commandIds: readonly string[]): Promise<Crawl | null> {
  const [commandId] = commandIds;
  if (commandId === undefined) return latestCrawl(orgId, [mode]);
  const named = await collectionOf(CrawlModel).findOne({ org_id: orgId, cancelled_by: { $in: commandIds } });
  if (named) return named;
  return collectionOf(CrawlModel).findOneAndUpdate(
    { org_id: orgId, mode, running: true },
    { $addToSet: { cancelled_by: commandId } },
    { returnDocument: 'after' },
  );
}

/** Counts a claim of pages; false when the crawl has ended. */
export const countClaim = (orgId: string, crawlId: string) =>
  update(orgId, crawlId, { $inc: { claims: 1 } }, { status: 'crawling' });

/** Ends a crawl; false when it had already ended. */
export const endCrawl = (orgId: string, crawlId: string, end: { status: Ending; error?: string }, now: Date) =>
  update(
    orgId,
    crawlId,
    { $set: { ...end, completed_at: now }, $unset: { running: 1, ...(end.error === undefined ? { error: 1 } : {}) } },
    { status: 'crawling' },
  );

/** Stores why a running crawl currently sends no requests; undefined clears it. */
export const noteWait = ({ _id, org_id }: CrawlRef, why: string | undefined) =>
  update(org_id, _id, why === undefined ? { $unset: { error: 1 } } : { $set: { error: why } }, { status: 'crawling' });

export const noteSiteProblems = ({ _id, org_id }: CrawlRef, found: readonly CrawlProblem[]) =>
  update(org_id, _id, { $set: { site_problems: found.slice(0, maxSiteProblems) } }, { status: 'crawling' });
