/**
 * The outcomes of a crawl's addresses. The crawl's numbers and problems are recomputed from these records each time.
 */
import { CrawlModel, type CrawlRef } from './crawl.ts';
import { frontierId, FrontierModel, type CrawlOutcome } from './frontier.ts';
import { collectionOf } from '../base/define.ts';
import { explain, type CrawlReason } from '../rules/crawl/crawlreason.ts';
import { unresolvedCanonicals, type FetchOutcome } from '../rules/crawl/fetchoutcome.ts';
import {
  countProblems,
  maxProblems,
  selectProblems,
  type CrawlProblem,
  type ProblemGroup,
} from '../rules/crawl/problems.ts';
import { pageKey } from '../rules/crawl/url.ts';
import { defined } from '../rules/base/defined.ts';

/** The outcome of every address, by `pageKey`; empty for an address that was not fetched before the crawl ended. */
export async function listOutcomes(crawlId: string): Promise<Map<string, FetchOutcome>> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId }, { projection: { url: 1, outcome: 1, why: 1, to: 1, left: 1 } })
    .toArray();
  return new Map(all.map(({ url, left, ...outcome }) => [pageKey(url), left ? {} : outcome]));
}

/** The addresses that have moved permanently, or whose page names another address as canonical. */
export async function listMoves(crawlId: string): Promise<{ url: string; to: string }[]> {
  const why = { $in: ['moved', 'canonical'] satisfies CrawlReason[] };
  const found = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true, why }, { projection: { url: 1, to: 1 } })
    .toArray();
  return found.flatMap(({ url, to }) => (to === undefined ? [] : [{ url, to }]));
}

/**
 * Finds the pages that name a canonical address at which there is no page. Puts these pages back into the queue, so
 * that they are indexed at their own addresses. Returns their number.
 */
export async function reopenUnresolvedCanonicals(crawlId: string): Promise<number> {
  if (!(await collectionOf(FrontierModel).findOne({ crawl_id: crawlId, done: true, why: 'canonical' }))) return 0;
  const keys = unresolvedCanonicals(await listOutcomes(crawlId));
  await collectionOf(FrontierModel).updateMany(
    { crawl_id: crawlId, _id: { $in: keys.map((key) => frontierId(crawlId, key)) } },
    { $set: { done: false, own: true }, $unset: { outcome: 1, why: 1, reason: 1, to: 1 } },
  );
  return keys.length;
}

export type Settled = {
  url: string;
  outcome: CrawlOutcome;
  why?: CrawlReason | undefined;
  reason?: string | undefined;
  to?: string | undefined;
};

/** Stores outcomes and recomputes the crawl's numbers, so that the numbers are right even after a crash. */
export async function settleFrontier({ _id: crawlId, org_id }: CrawlRef, settled: readonly Settled[]): Promise<Tally> {
  if (settled.length > 0) {
    // Most of these addresses have the same outcome, and one command for many of them costs less than one for each.
    const equal = Map.groupBy(settled, (one) => JSON.stringify({ ...one, url: undefined }));
    await collectionOf(FrontierModel).bulkWrite(
      [...equal.values()].map((those) => {
        const outcome = { ...those[0]!, url: undefined };
        const _id = { $in: those.map(({ url }) => frontierId(crawlId, url)) };
        return {
          updateMany: {
            filter: { crawl_id: crawlId, _id, done: false },
            update: { $set: { done: true, ...defined(outcome) } },
          },
        };
      }),
      { ordered: false },
    );
  }
  const [tally, crawl, groups] = await Promise.all([
    tallyOf(crawlId),
    collectionOf(CrawlModel).findOne({ _id: crawlId, org_id }, { projection: { site_problems: 1 } }),
    problemsOf(crawlId),
  ]);
  const ofSite = crawl?.site_problems ?? [];
  await collectionOf(CrawlModel).updateOne(
    { _id: crawlId, org_id, status: 'crawling' },
    {
      $set: {
        pages_found: tally.found,
        pages_processed: tally.indexed + tally.unchanged,
        pages_unchanged: tally.unchanged,
        pages_skipped: tally.skipped,
        pages_failed: tally.failed,
        problems: [...selectProblems(groups, maxProblems - ofSite.length), ...ofSite],
        problem_counts: countProblems(groups),
      },
    },
  );
  return tally;
}

/** The addresses that were not indexed, grouped by reason: their number, and the addresses with the lowest cost. */
async function problemsOf(crawlId: string): Promise<ProblemGroup[]> {
  const groups = await collectionOf(FrontierModel)
    .aggregate<{ _id: CrawlReason | null; count: number; first: CrawlProblem[] }>([
      { $match: { crawl_id: crawlId, done: true, reason: { $exists: true } } },
      { $sort: { cost: 1, _id: 1 } },
      {
        $group: {
          _id: '$why',
          count: { $sum: 1 },
          first: { $firstN: { n: maxProblems, input: { url: '$url', reason: '$reason' } } },
        },
      },
    ])
    .toArray();
  return groups.map(({ _id, count, first }) => ({ why: _id ?? undefined, count, first }));
}

/** Marks as skipped the addresses that were not fetched before the crawl ended. */
export async function settleWaiting(crawl: CrawlRef, why: CrawlReason): Promise<void> {
  const { modifiedCount } = await collectionOf(FrontierModel).updateMany(
    { crawl_id: crawl._id, done: false },
    { $set: { done: true, outcome: 'skipped', why, reason: explain(why), left: true } },
  );
  if (modifiedCount > 0) await settleFrontier(crawl, []);
}

/**
 * The number of addresses with each outcome. `unasked`: the number of addresses that were left out without a request.
 * No other number includes these addresses.
 */
export type Tally = { found: number; waiting: number; unasked: number } & Record<CrawlOutcome, number>;

async function tallyOf(crawlId: string): Promise<Tally> {
  const groups = await collectionOf(FrontierModel)
    .aggregate<{ _id: CrawlOutcome | null; count: number; unasked: number }>([
      { $match: { crawl_id: crawlId } },
      { $group: { _id: '$outcome', count: { $sum: 1 }, unasked: { $sum: { $cond: ['$unasked', 1, 0] } } } },
    ])
    .toArray();
  const of = (outcome: CrawlOutcome | null): number => {
    const group = groups.find(({ _id }) => _id === outcome);
    return group ? group.count - group.unasked : 0;
  };
  return {
    found: groups.reduce((sum, { count, unasked }) => sum + count - unasked, 0),
    waiting: of(null),
    unasked: groups.reduce((sum, { unasked }) => sum + unasked, 0),
    indexed: of('indexed'),
    unchanged: of('unchanged'),
    skipped: of('skipped'),
    failed: of('failed'),
  };
}
