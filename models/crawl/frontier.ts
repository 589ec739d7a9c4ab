/**
 * The addresses that a crawl has found, stored so that the crawl can continue after a crash. outcomes.ts stores their
 * outcomes.
 */
import { createHash } from 'node:crypto';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { crawlReasonNames, explain, type CrawlReason } from '../rules/crawl/crawlreason.ts';
import { crawlCost, type Found } from '../rules/crawl/frontier.ts';
import { pageKey } from '../rules/crawl/url.ts';
import { defined } from '../rules/base/defined.ts';
import { keptSeconds } from '../rules/base/retention.ts';

const crawlOutcomes = ['indexed', 'unchanged', 'skipped', 'failed'] as const;
export type CrawlOutcome = (typeof crawlOutcomes)[number];

/** An address of a running crawl. Fetched addresses are kept until the crawl ends, so that none is fetched twice. */
export const FrontierModel = defineModel(
  'Frontier',
  'crawl_frontier',
  {
    /** `<crawl>:<hash of the address>`, so that an address found again is the same entry. */
    _id: string,
    crawl_id: string,
    url: string,
    /** The number of links from the start page to this address. */
    depth: number,
    /** Whether a sitemap lists the address. */
    sitemap: optional(boolean),
    /** The address with the lowest cost is fetched first. */
    cost: number,
    /** How often the site answered that the crawler should retry later. */
    tries: optional(number),
    /** No request is sent before this time, because the site asked for it. */
    not_before: optional(date),
    done: boolean,
    outcome: optional(oneOf(crawlOutcomes)),
    /** Why the page was not indexed. */
    why: optional(oneOf(crawlReasonNames)),
    /** The reason (`why`) as a sentence. */
    reason: optional(string),
    /** The address to which this address redirects, or which is indexed instead. */
    to: optional(string),
    /** True when the page's canonical address has no page, so that the page is indexed at this address. */
    own: optional(boolean),
    /** True when the address was left out without a request. */
    unasked: optional(boolean),
    /** True when the address was not fetched before the crawl ended. */
    left: optional(boolean),
    found_at: date,
  },
  [
    { fields: { crawl_id: 1, done: 1, cost: 1, _id: 1 } },
    // Removes the entries of crawls that never ended.
    { fields: { found_at: 1 }, expireAfterSeconds: keptSeconds('crawl_frontier') },
  ],
);
export type Frontier = RecordOf<typeof FrontierModel>;

export const frontierId = (crawlId: string, url: string): string =>
  `${crawlId}:${createHash('sha256').update(pageKey(url)).digest('base64url').slice(0, 22)}`;

/** How many addresses are looked up in one query. Hashing this number of addresses takes a few milliseconds. */
const lookupBatchSize = 1_000;

/**
 * Adds new addresses, at most `limit`; returns how many were added. Only the beginning of a long list is examined: four
 * times the limit, but at least one batch.
 */
export async function addToFrontier(
  crawlId: string,
  found: readonly Found[],
  now: Date,
  limit = Number.POSITIVE_INFINITY,
  settled: Partial<Frontier> = {},
): Promise<number> {
  const end = limit <= 0 ? 0 : Math.min(found.length, Math.max(lookupBatchSize, limit * 4));
  let added = 0;
  for (let at = 0; at < end && added < limit; at += lookupBatchSize) {
    added += await addBatch(crawlId, found.slice(at, Math.min(end, at + lookupBatchSize)), now, limit - added, settled);
  }
  return added;
}

async function addBatch(
  crawlId: string,
  found: readonly Found[],
  now: Date,
  limit: number,
  settled: Partial<Frontier>,
): Promise<number> {
  // Pages of a site repeat the same links, so one query for the known ones costs far less than an upsert for each link.
  const byId = new Map<string, Found>();
  for (const one of found) {
    const id = frontierId(crawlId, one.url);
    if (!byId.has(id)) byId.set(id, one);
  }
  const known = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, _id: { $in: [...byId.keys()] } }, { projection: { _id: 1 } })
    .toArray();
  for (const { _id } of known) byId.delete(_id);
  const added = [...byId].slice(0, limit);
  if (added.length === 0) return 0;
  await collectionOf(FrontierModel).bulkWrite(
    added.map(([id, one]) => ({
      updateOne: {
        filter: { crawl_id: crawlId, _id: id },
        update: {
          $setOnInsert: { ...one, cost: crawlCost(one), done: false, ...settled, found_at: now },
        },
        upsert: true,
      },
    })),
    { ordered: false },
  );
  return added.length;
}

/** Stores at most `limit` addresses that the crawl will not request. Known addresses stay unchanged. */
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

/**
 * Reopens addresses that were left out because of a file extension. The crawl calls this when a redirect, a canonical
 * link or a response shows that there is a page at the address. Returns how many were reopened.
 */
export async function reopenFiles(crawlId: string, urls: readonly string[]): Promise<number> {
  if (urls.length === 0) return 0;
  const { modifiedCount } = await collectionOf(FrontierModel).updateMany(
    { crawl_id: crawlId, _id: { $in: urls.map((url) => frontierId(crawlId, url)) }, unasked: true, why: 'file' },
    { $set: { done: false }, $unset: { outcome: 1, why: 1, reason: 1, unasked: 1 } },
  );
  return modifiedCount;
}

export async function isInFrontier(crawlId: string, url: string): Promise<boolean> {
  return (await collectionOf(FrontierModel).findOne({ crawl_id: crawlId, _id: frontierId(crawlId, url) })) !== null;
}

/**
 * The next addresses to fetch, lowest cost first. Addresses in `taken`, and addresses that must wait (`not_before`),
 * are left out.
 */
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

/** The earliest time at which an address in the queue may be fetched; undefined when the queue is empty. */
export async function nextDue(crawlId: string): Promise<Date | undefined> {
  const waiting = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: false }, { projection: { not_before: 1 } })
    .sort({ not_before: 1 })
    .limit(1)
    .toArray();
  return waiting[0] && (waiting[0].not_before ?? new Date(0));
}

/** An address that must be retried later, and the number of its tries. */
export type Delayed = Pick<Frontier, '_id' | 'crawl_id' | 'not_before'> & { tries: number };

/** Puts addresses back into the queue for a later retry. */
export async function putBack(later: readonly Delayed[]): Promise<void> {
  if (later.length === 0) return;
  await collectionOf(FrontierModel).bulkWrite(
    later.map(({ _id, crawl_id, ...change }) => ({
      updateOne: { filter: { crawl_id, _id, done: false }, update: { $set: defined(change) } },
    })),
    { ordered: false },
  );
}

/** The addresses to which a request was sent. */
export async function listVisited(crawlId: string): Promise<string[]> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true, unasked: { $ne: true } }, { projection: { url: 1 } })
    .toArray();
  return all.map(({ url }) => url);
}

export async function dropFrontier(crawlId: string): Promise<void> {
  await collectionOf(FrontierModel).deleteMany({ crawl_id: crawlId });
}
