/** The addresses that a crawl has found, from which it goes on after any crash. What became of each is noted by outcomes.ts. */
import { createHash } from 'node:crypto';
import { collectionOf, defined, defineModel } from '../base/define.ts';
import { explain, type CrawlReason } from '../rules/crawl/crawlreason.ts';
import { crawlCost, type Found } from '../rules/crawl/frontier.ts';
import { pageKey } from '../rules/crawl/url.ts';

export type CrawlOutcome = 'indexed' | 'unchanged' | 'skipped' | 'failed';

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
  /** The address that it names as the canonical one holds no page, so it is read itself. */
  own?: boolean;
  /** Left out without a request, when it was found. */
  unasked?: boolean;
  /** Still waiting when the crawl ended. */
  left?: boolean;
  found_at: Date;
};

export const FrontierModel = defineModel<Frontier>(
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
    unasked: Boolean,
    left: Boolean,
    found_at: { type: Date, required: true },
  },
  [
    { fields: { crawl_id: 1, done: 1, cost: 1, _id: 1 } },
    // What a crawl that never ended left behind.
    { fields: { found_at: 1 }, expireAfterSeconds: 30 * 86_400 },
  ],
);

export const frontierId = (crawlId: string, url: string): string =>
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
  settled: Partial<Frontier> = {},
): Promise<number> {
  const end = limit <= 0 ? 0 : Math.min(found.length, Math.max(pieceOfFound, limit * 4));
  let added = 0;
  for (let at = 0; at < end && added < limit; at += pieceOfFound) {
    added += await addPiece(crawlId, found.slice(at, Math.min(end, at + pieceOfFound)), now, limit - added, settled);
  }
  return added;
}

async function addPiece(
  crawlId: string,
  found: readonly Found[],
  now: Date,
  limit: number,
  settled: Partial<Frontier>,
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
        update: {
          $setOnInsert: { crawl_id: crawlId, ...one, cost: crawlCost(one), done: false, ...settled, found_at: now },
        },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  return added.length;
}

/** Notes addresses that are left out without a request, `limit` at most. Those that were found already stay as they are. */
export async function noteUnasked(
  crawlId: string,
  found: readonly Found[],
  why: CrawlReason,
  now: Date,
  limit: number,
): Promise<number> {
  const settled = { done: true, outcome: 'skipped', why, reason: explain(why), unasked: true } as const;
  return addToFrontier(crawlId, found, now, limit, settled);
}

/** Lets addresses be asked for that were left out for their ending, for something other than a link leads there; returns how many. */
export async function askAfterAll(crawlId: string, urls: readonly string[]): Promise<number> {
  if (urls.length === 0) return 0;
  const { modifiedCount } = await collectionOf(FrontierModel).updateMany(
    { _id: { $in: urls.map((url) => frontierId(crawlId, url)) }, unasked: true, why: 'file' },
    { $set: { done: false }, $unset: { outcome: 1, why: 1, reason: 1, unasked: 1 } },
  );
  return modifiedCount;
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

/** The addresses that were asked for. */
export async function listVisited(crawlId: string): Promise<string[]> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true, unasked: { $ne: true } }, { projection: { url: 1 } })
    .toArray();
  return all.map(({ url }) => url);
}

export async function dropFrontier(crawlId: string): Promise<void> {
  await FrontierModel.deleteMany({ crawl_id: crawlId });
}
