/** The addresses that a crawl has found, and what became of each. A crawl goes on from here after any crash. */
import { createHash } from 'node:crypto';
import { CrawlModel } from './crawl.ts';
import { collectionOf, defined, defineModel } from '../base/define.ts';
import type { CrawlReason } from '../rules/crawl/crawlreason.ts';
import { unheard, type Fate } from '../rules/crawl/fetchoutcome.ts';
import { crawlCost, type Found } from '../rules/crawl/frontier.ts';
import { pageKey } from '../rules/crawl/url.ts';

export type CrawlOutcome = 'indexed' | 'unchanged' | 'skipped' | 'failed';

/** Kept on the record; beyond that a site's owner looks at the site. */
const maxProblems = 200;

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
  /** The site asked for it not to be fetched before. */
  not_before?: Date;
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
    not_before: Date,
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

/** Addresses looked up at once: their hashes take a few milliseconds. */
const pieceOfFound = 1_000;

/**
 * Adds the addresses that are new, the first ones of them when there are more than `limit`; returns how many those were. Of a
 * long list only the beginning is looked at, some times as many as there is room for.
 */
export async function addToFrontier(
  crawlId: string,
  found: readonly Found[],
  now: Date,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const end = limit <= 0 ? 0 : Math.min(found.length, Math.max(pieceOfFound, limit * 4));
  let added = 0;
  for (let at = 0; at < end && added < limit; at += pieceOfFound) {
    added += await addPiece(crawlId, found.slice(at, Math.min(end, at + pieceOfFound)), now, limit - added);
  }
  return added;
}

async function addPiece(crawlId: string, found: readonly Found[], now: Date, limit: number): Promise<number> {
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

/** The next addresses to fetch, best first, without those that are `taken` already and those whose time has not come. */
export async function nextOfFrontier(
  crawlId: string,
  limit: number,
  now: Date,
  taken: readonly Frontier[] = [],
): Promise<Frontier[]> {
  if (limit <= 0) return [];
  return collectionOf(FrontierModel)
    .find({
      crawl_id: crawlId,
      done: false,
      not_before: { $not: { $gt: now } },
      _id: { $nin: taken.map(({ _id }) => _id) },
    })
    .sort({ cost: 1, _id: 1 })
    .limit(limit)
    .toArray();
}

/** When the first of the addresses that wait may be fetched; undefined when none waits. */
export async function nextDue(crawlId: string): Promise<Date | undefined> {
  const waiting = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: false }, { projection: { not_before: 1 } })
    .sort({ not_before: 1 })
    .limit(1)
    .toArray();
  return waiting[0] && (waiting[0].not_before ?? new Date(0));
}

/** An address that the site wants to be asked for later, and how often it was asked for. */
export type Delayed = Pick<Frontier, '_id' | 'not_before'> & { tries: number };

/** Puts addresses back that are to be asked for later. */
export async function putBack(later: readonly Delayed[]): Promise<void> {
  if (later.length === 0) return;
  await collectionOf(FrontierModel).bulkWrite(
    later.map(({ _id, ...change }) => ({
      updateOne: { filter: { _id, done: false }, update: { $set: defined(change) } },
    })),
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

/** The addresses that this crawl found moved for good, or naming another one as the page to index. */
export async function listMoves(crawlId: string): Promise<{ url: string; to: string }[]> {
  const why = { $in: ['moved', 'canonical'] satisfies CrawlReason[] };
  const found = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true, why }, { projection: { url: 1, to: 1 } })
    .toArray();
  return found.flatMap(({ url, to }) => (to === undefined ? [] : [{ url, to }]));
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
