/** Crawls and their frontier: which addresses were found, and what became of each. A crawl goes on from here after any crash. */
import { createHash } from 'node:crypto';
import mongoose, { type ClientSession } from 'mongoose';
import { collectionOf, defined, defineModel, embedded } from './define.ts';
import { isDuplicate } from './connect.ts';
import { countSet } from './page.ts';
import { pendingField, pendingIndex, type Intent } from './pending.ts';
import { authorities, type Authority } from './rules/authority.ts';
import {
  crawlStatuses,
  unheard,
  type CrawlOrder,
  type CrawlReason,
  type CrawlStatus,
  type Fate,
} from './rules/crawl.ts';
import { Problem } from './rules/errors.ts';
import { crawlCost, type Found } from './rules/frontier.ts';
import { modes, type Environment, type Mode } from './rules/keys.ts';
import { checkQuota, type Quotas } from './rules/quota.ts';
import { pageKey } from './rules/url.ts';

/** How a crawl ends. */
export type Ending = Exclude<CrawlStatus, 'idle' | 'crawling'>;
export type CrawlOutcome = 'indexed' | 'unchanged' | 'skipped' | 'failed';
type CrawlProblem = { url: string; reason: string };
const problemList = [
  embedded<CrawlProblem>({ url: { type: String, required: true }, reason: { type: String, required: true } }),
];

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
  /** What of the site's robots.txt and sitemaps could not be had or obeyed; the last ones of `problems`. */
  site_problems?: CrawlProblem[];
  /** Why it ended so; while it runs, why nothing is asked of the site at the moment. */
  error?: string;
  /** Counted with each claim of pages, so that claiming and ending exclude each other. */
  claims?: number;
  /** A user, a key, or the schedule. */
  started_by: string;
  /** The run of the workflow that a schedule began it with; one crawl each. */
  firing?: string;
  started_at: Date;
  completed_at?: Date;
  pending?: Intent[];
};

/** Kept on the record; beyond that a site's owner looks at the site. */
const maxProblems = 200;
/** Of those of robots.txt and sitemaps. */
const maxSiteProblems = 20;

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
    problems: { type: problemList, required: true },
    site_problems: { type: problemList, default: undefined },
    error: String,
    claims: Number,
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
  const last = (of: { running?: true }) =>
    CrawlModel.findOne({ org_id: orgId, mode: { $in: among }, ...of })
      .sort({ _id: -1 })
      .lean<Crawl>();
  return (await last({ running: true })) ?? last({});
}

/** Whether the crawl still runs; it cannot end before the transaction has. */
export async function holdCrawl(orgId: string, crawlId: string, session: ClientSession): Promise<boolean> {
  const { modifiedCount } = await CrawlModel.updateOne(
    { _id: crawlId, org_id: orgId, status: 'crawling' },
    { $inc: { claims: 1 } },
    { session },
  );
  return modifiedCount === 1;
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
    { $set: { ...end, completed_at: now }, $unset: { running: 1, ...(end.error === undefined ? { error: 1 } : {}) } },
  );
  return modifiedCount === 1;
}

/** Says why a running crawl asks nothing of its site at the moment; undefined: it does again. */
export async function noteWait(crawlId: string, why: string | undefined): Promise<void> {
  const change = why === undefined ? { $unset: { error: 1 } } : { $set: { error: why } };
  await CrawlModel.updateOne({ _id: crawlId, status: 'crawling' }, change);
}

/** What could not be had of robots.txt and sitemaps. */
export async function noteSiteProblems(crawlId: string, found: readonly CrawlProblem[]): Promise<void> {
  const site_problems = found.slice(0, maxSiteProblems);
  await CrawlModel.updateOne({ _id: crawlId, status: 'crawling' }, { $set: { site_problems } });
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
  /** Requests that the site answered with the wish to come back later. */
  tries?: number;
  done: boolean;
  outcome?: CrawlOutcome;
  /** Why it was not indexed. */
  why?: CrawlReason;
  /** The same for people. */
  reason?: string;
  /** The page that it leads to, or that stands in its place. */
  to?: string;
  /** Another page that it names as the one to index was none, so it is read for its own sake. */
  own?: boolean;
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
    tries: Number,
    done: { type: Boolean, required: true },
    outcome: String,
    why: String,
    reason: String,
    to: String,
    own: Boolean,
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

/** Remembers how often addresses were asked for that the site wants to be asked for later. */
export async function noteTries(later: readonly { _id: string; tries: number }[]): Promise<void> {
  if (later.length === 0) return;
  await collectionOf(FrontierModel).bulkWrite(
    later.map(({ _id, tries }) => ({ updateOne: { filter: { _id, done: false }, update: { $set: { tries } } } })),
    { ordered: false },
  );
}

/** The addresses that were fetched. */
export async function listVisited(crawlId: string): Promise<string[]> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true }, { projection: { url: 1 } })
    .toArray();
  return all.map(({ url }) => url);
}

/** What became of every address, by `pageKey`; what was left when the crawl ended was not come to. */
export async function listFates(crawlId: string): Promise<Map<string, Fate>> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId }, { projection: { url: 1, outcome: 1, why: 1, to: 1, left: 1 } })
    .toArray();
  return new Map(all.map(({ url, left, ...fate }) => [pageKey(url), left ? {} : fate]));
}

/** Puts pages back that gave way to another one which turned out to be none; returns how many. */
export async function reopenUnheard(crawlId: string): Promise<number> {
  if (!(await collectionOf(FrontierModel).findOne({ crawl_id: crawlId, done: true, why: 'canonical' }))) return 0;
  const keys = unheard(await listFates(crawlId));
  await collectionOf(FrontierModel).updateMany(
    { _id: { $in: keys.map((key) => frontierId(crawlId, key)) } },
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

/** Notes what became of addresses, and counts the crawl's state anew: counters that are counted cannot drift in a crash. */
export async function settleFrontier(crawlId: string, settled: readonly Settled[]): Promise<Tally> {
  if (settled.length > 0) {
    await collectionOf(FrontierModel).bulkWrite(
      settled.map(({ url, ...fate }) => ({
        updateOne: {
          filter: { _id: frontierId(crawlId, url), done: false },
          update: { $set: { done: true, ...defined(fate) } },
        },
      })),
      { ordered: false },
    );
  }
  const [tally, crawl, problems] = await Promise.all([
    tallyOf(crawlId),
    CrawlModel.findById(crawlId, { site_problems: 1 }).lean(),
    collectionOf(FrontierModel)
      .find({ crawl_id: crawlId, done: true, reason: { $exists: true } }, { projection: { _id: 0, url: 1, reason: 1 } })
      // Pages that went wrong before pages that were not come to.
      .sort({ left: 1 })
      .limit(maxProblems)
      .toArray(),
  ]);
  const ofSite = crawl?.site_problems ?? [];
  await CrawlModel.updateOne(
    { _id: crawlId, status: 'crawling' },
    {
      $set: {
        pages_found: tally.found,
        pages_processed: tally.indexed + tally.unchanged,
        pages_unchanged: tally.unchanged,
        pages_skipped: tally.skipped,
        pages_failed: tally.failed,
        problems: [...problems.slice(0, maxProblems - ofSite.length), ...ofSite],
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
