/** Crawls and their frontier: which addresses were found, and what became of each. A crawl goes on from here after any crash. */
import { createHash } from 'node:crypto';
import mongoose, { type ClientSession } from 'mongoose';
import { collectionOf, defineModel, embedded } from './define.ts';
import { isDuplicate } from './connect.ts';
import { countSet } from './page.ts';
import { pendingField, pendingIndex, type Intent } from './pending.ts';
import { authorities, type Authority } from './rules/authority.ts';
import { crawlStatuses, type CrawlOrder, type CrawlStatus } from './rules/crawl.ts';
import { Problem } from './rules/errors.ts';
import { crawlCost, type Found } from './rules/frontier.ts';
import { modes, type Environment, type Mode } from './rules/keys.ts';
import { checkQuota, type Quotas } from './rules/quota.ts';
import { pageKey } from './rules/url.ts';

/** How a crawl ends. */
export type Ending = Exclude<CrawlStatus, 'idle' | 'crawling'>;
export type CrawlOutcome = 'indexed' | 'unchanged' | 'skipped' | 'failed';
type CrawlProblem = { url: string; reason: string };

export type Crawl = {
  _id: string;
  org_id: string;
  mode: Mode;
  url: string;
  status: 'crawling' | Ending;
  /** Absent on a crawl that is over, so that one index admits a single running one an organization and mode. */
  running?: true;
  max_pages: number;
  /** Absent: refreshed pages keep theirs. */
  segments?: string[];
  authority?: Authority;
  replace: boolean;
  pages_found: number;
  pages_processed: number;
  pages_unchanged: number;
  pages_skipped: number;
  pages_failed: number;
  /** The first of them: what was not indexed, and why. */
  problems: CrawlProblem[];
  error?: string;
  /** A user, a key, or the schedule. */
  started_by: string;
  /** The run of the workflow that a schedule began it with; one crawl each. */
  firing?: string;
  started_at: Date;
  completed_at?: Date;
  pending?: Intent[];
};

/** Kept on the record; beyond that a site's owner looks at the site. */
export const maxProblems = 200;

export const CrawlModel = defineModel<Crawl>(
  'Crawl',
  'crawls',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    url: { type: String, required: true },
    status: { type: String, enum: crawlStatuses, required: true },
    running: Boolean,
    max_pages: { type: Number, required: true },
    segments: { type: [String], default: undefined },
    authority: { type: String, enum: authorities },
    replace: { type: Boolean, required: true },
    pages_found: { type: Number, required: true },
    pages_processed: { type: Number, required: true },
    pages_unchanged: { type: Number, required: true },
    pages_skipped: { type: Number, required: true },
    pages_failed: { type: Number, required: true },
    problems: {
      type: [
        embedded<CrawlProblem>({ url: { type: String, required: true }, reason: { type: String, required: true } }),
      ],
      required: true,
    },
    error: String,
    started_by: { type: String, required: true },
    firing: String,
    started_at: { type: Date, required: true },
    completed_at: Date,
    pending: pendingField,
  },
  [
    {
      fields: { org_id: 1, mode: 1, running: 1 },
      unique: true,
      partialFilterExpression: { running: true },
    },
    { fields: { org_id: 1, mode: 1, _id: -1 } },
    { fields: { firing: 1 }, unique: true, partialFilterExpression: { firing: { $exists: true } } },
    pendingIndex,
  ],
);

/**
 * Whether there is room for what a crawl may find.
 * @throws Problem SANDBOX_LIMIT, BETA_LIMIT_REACHED
 */
export async function checkCrawlRoom(
  quotas: Quotas,
  environment: Environment,
  orgId: string,
  mode: Mode,
  { replace }: CrawlOrder,
): Promise<void> {
  // A set that is built to take the place of the old one is counted by itself.
  checkQuota(quotas, environment, 'knowledge_pages', replace ? 0 : await countSet(orgId, mode, true));
}

/** A crawl that has found nothing yet. */
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
  };
}

/**
 * Stores a new crawl and, in the same transaction, what `alongside` writes. One crawl of an organization and mode runs at
 * a time, so whatever is written alongside is never raced by another beginning.
 * @throws Problem CRAWL_RUNNING, and what `alongside` throws; nothing is stored then.
 */
export async function createCrawl<T>(crawl: Crawl, alongside: (session: ClientSession) => Promise<T>): Promise<T> {
  try {
    return await mongoose.connection.transaction(async (session) => {
      await CrawlModel.create([crawl], { session });
      return alongside(session);
    });
  } catch (error) {
    throw isDuplicate(error) ? new Problem('CRAWL_RUNNING') : error;
  }
}

/** The crawl that a firing of a schedule has begun. */
export async function findCrawlOfFiring(orgId: string, firing: string): Promise<Crawl | null> {
  return CrawlModel.findOne({ firing, org_id: orgId }).lean();
}

export async function findCrawl(orgId: string, crawlId: string): Promise<Crawl | null> {
  return CrawlModel.findOne({ _id: crawlId, org_id: orgId }).lean();
}

/** The running crawl of these modes, else the last one. */
export async function latestCrawl(orgId: string, among: readonly Mode[]): Promise<Crawl | null> {
  return CrawlModel.findOne({ org_id: orgId, mode: { $in: among } })
    .sort({ _id: -1 })
    .lean();
}

/** Ends a crawl once; false when it had ended. */
export async function endCrawl(
  orgId: string,
  crawlId: string,
  end: { status: Ending; error?: string },
  now: Date,
): Promise<boolean> {
  const { modifiedCount } = await CrawlModel.updateOne(
    { _id: crawlId, org_id: orgId, status: 'crawling' },
    { $set: { ...end, completed_at: now }, $unset: { running: 1 } },
  );
  return modifiedCount === 1;
}

/** An address of a running crawl. Done ones stay until the crawl ends, so that none is fetched twice. */
export type Frontier = {
  /** `<crawl>:<hash of the address>`: found again, it is the same entry. */
  _id: string;
  crawl_id: string;
  url: string;
  /** Links from the start. */
  depth: number;
  /** Listed in a sitemap. */
  sitemap?: boolean;
  /** Lower is fetched earlier. */
  cost: number;
  done: boolean;
  outcome?: CrawlOutcome;
  /** Why it was not indexed, for people. */
  reason?: string;
  /** Still waiting when the crawl ended. */
  left?: boolean;
  found_at: Date;
};

const FrontierModel = defineModel<Frontier>(
  'Frontier',
  'crawl_frontier',
  {
    _id: { type: String, required: true },
    crawl_id: { type: String, required: true },
    url: { type: String, required: true },
    depth: { type: Number, required: true },
    sitemap: Boolean,
    cost: { type: Number, required: true },
    done: { type: Boolean, required: true },
    outcome: String,
    reason: String,
    left: Boolean,
    found_at: { type: Date, required: true },
  },
  [
    { fields: { crawl_id: 1, done: 1, cost: 1, _id: 1 } },
    // What a crawl that never ended left behind.
    { fields: { found_at: 1 }, expireAfterSeconds: 30 * 86_400 },
  ],
);

const frontierId = (crawlId: string, url: string): string =>
  `${crawlId}:${createHash('sha256').update(pageKey(url)).digest('base64url').slice(0, 22)}`;

/** Adds the addresses that are new, the first ones of them when there are more than `limit`; returns how many those were. */
export async function addToFrontier(
  crawlId: string,
  found: readonly Found[],
  now: Date,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  // Pages of one site link to the same pages over and over: asking which are known costs far less than an upsert each.
  const byId = new Map<string, Found>();
  for (const one of found) {
    const id = frontierId(crawlId, one.url);
    if (!byId.has(id)) byId.set(id, one);
  }
  const known = await collectionOf(FrontierModel)
    .find({ _id: { $in: [...byId.keys()] } }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of known) byId.delete(_id);
  const added = [...byId].slice(0, limit);
  if (added.length === 0) return 0;
  await collectionOf(FrontierModel).bulkWrite(
    added.map(([id, one]) => ({
      updateOne: {
        filter: { _id: id },
        update: { $setOnInsert: { crawl_id: crawlId, ...one, cost: crawlCost(one), done: false, found_at: now } },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  return added.length;
}

export async function isInFrontier(crawlId: string, url: string): Promise<boolean> {
  return (await collectionOf(FrontierModel).findOne({ _id: frontierId(crawlId, url) })) !== null;
}

/** The next addresses to fetch, best first, without those that are `taken` already. */
export async function nextOfFrontier(
  crawlId: string,
  limit: number,
  taken: readonly Frontier[] = [],
): Promise<Frontier[]> {
  if (limit <= 0) return [];
  return collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: false, _id: { $nin: taken.map(({ _id }) => _id) } })
    .sort({ cost: 1, _id: 1 })
    .limit(limit)
    .toArray();
}

/** The addresses that were fetched. */
export async function listVisited(crawlId: string): Promise<string[]> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true }, { projection: { url: 1 } })
    .toArray();
  return all.map(({ url }) => url);
}

/** The addresses that should have worked and did not. */
export async function listFailed(crawlId: string): Promise<string[]> {
  const failed = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, outcome: 'failed' }, { projection: { url: 1 } })
    .toArray();
  return failed.map(({ url }) => url);
}

export type Settled = { url: string; outcome: CrawlOutcome; reason?: string | undefined };

/** Notes what became of addresses, and counts the crawl's state anew: counters that are counted cannot drift in a crash. */
export async function settleFrontier(crawlId: string, settled: readonly Settled[]): Promise<Tally> {
  if (settled.length > 0) {
    await collectionOf(FrontierModel).bulkWrite(
      settled.map(({ url, outcome, reason }) => ({
        updateOne: {
          filter: { _id: frontierId(crawlId, url), done: false },
          update: { $set: { done: true, outcome, ...(reason === undefined ? {} : { reason }) } },
        },
      })),
      { ordered: false },
    );
  }
  const [tally, problems] = await Promise.all([
    tallyOf(crawlId),
    collectionOf(FrontierModel)
      .find({ crawl_id: crawlId, done: true, reason: { $exists: true } }, { projection: { _id: 0, url: 1, reason: 1 } })
      // Pages that went wrong before pages that were not come to.
      .sort({ left: 1 })
      .limit(maxProblems)
      .toArray(),
  ]);
  await CrawlModel.updateOne(
    { _id: crawlId, status: 'crawling' },
    {
      $set: {
        pages_found: tally.found,
        pages_processed: tally.indexed + tally.unchanged,
        pages_unchanged: tally.unchanged,
        pages_skipped: tally.skipped,
        pages_failed: tally.failed,
        problems,
      },
    },
  );
  return tally;
}

/** Settles what still waits when a crawl ends. */
export async function settleWaiting(crawlId: string, reason: string): Promise<void> {
  const { modifiedCount } = await collectionOf(FrontierModel).updateMany(
    { crawl_id: crawlId, done: false },
    { $set: { done: true, outcome: 'skipped', reason, left: true } },
  );
  if (modifiedCount > 0) await settleFrontier(crawlId, []);
}

/** Addresses of a crawl by what became of them. */
export type Tally = { found: number; waiting: number } & Record<CrawlOutcome, number>;

async function tallyOf(crawlId: string): Promise<Tally> {
  const groups = await collectionOf(FrontierModel)
    .aggregate<{ _id: CrawlOutcome | null; count: number }>([
      { $match: { crawl_id: crawlId } },
      { $group: { _id: '$outcome', count: { $sum: 1 } } },
    ])
    .toArray();
  const of = (outcome: CrawlOutcome | null) => groups.find(({ _id }) => _id === outcome)?.count ?? 0;
  return {
    found: groups.reduce((sum, { count }) => sum + count, 0),
    waiting: of(null),
    indexed: of('indexed'),
    unchanged: of('unchanged'),
    skipped: of('skipped'),
    failed: of('failed'),
  };
}

export async function dropFrontier(crawlId: string): Promise<void> {
  await FrontierModel.deleteMany({ crawl_id: crawlId });
}
