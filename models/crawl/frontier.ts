/** The addresses that a crawl has found, so that it can continue after a crash. outcomes.ts notes what became of each. */
import { createHash } from 'node:crypto';
import { collectionOf, defined, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { crawlReasonNames, explain, type CrawlReason } from '../rules/crawl/crawlreason.ts';
import { crawlCost, type Found } from '../rules/crawl/frontier.ts';
import { pageKey } from '../rules/crawl/url.ts';

const crawlOutcomes = ['indexed', 'unchanged', 'skipped', 'failed'] as const;
export type CrawlOutcome = (typeof crawlOutcomes)[number];

/** An address of a running crawl. It stays when it is done, until the crawl ends, so that none is fetched twice. */
export const FrontierModel = defineModel(
  'Frontier',
  'crawl_frontier',
  {
    /** `<crawl>:<hash of the address>`: an address that is found again is the same entry. */
    _id: string,
    crawl_id: string,
    url: string,
    /** Links from the start. */
    depth: number,
    /** Listed in a sitemap. */
    sitemap: optional(boolean),
    /** Lower is fetched earlier. */
    cost: number,
    /** Requests that the site answered by asking the crawler to retry later. */
    tries: optional(number),
    /** The site asked not to be sent a request for this address before this time. */
    not_before: optional(date),
    done: boolean,
    outcome: optional(oneOf(crawlOutcomes)),
    /** Why it was not indexed. */
    why: optional(oneOf(crawlReasonNames)),
    /** The same, as a sentence for people. */
    reason: optional(string),
    /** The page that this address leads to, or that is indexed instead of it. */
    to: optional(string),
    /** Its canonical address turned out to hold no page, so the page at this address is indexed. */
    own: optional(boolean),
    /** Left out when it was found; no request was sent for it. */
    unasked: optional(boolean),
    /** Still waiting when the crawl ended. */
    left: optional(boolean),
    found_at: date,
  },
  [
    { fields: { crawl_id: 1, done: 1, cost: 1, _id: 1 } },
    // Removes the entries of a crawl that never ended.
    { fields: { found_at: 1 }, expireAfterSeconds: 30 * 86_400 },
  ],
);
export type Frontier = RecordOf<typeof FrontierModel>;

export const frontierId = (crawlId: string, url: string): string =>
  `${crawlId}:${createHash('sha256').update(pageKey(url)).digest('base64url').slice(0, 22)}`;

/** How many addresses are looked up in one query; hashing them takes a few milliseconds. */
const lookupBatchSize = 1_000;

/**
 * Adds the addresses that are new, at most the first `limit` of them; returns how many were added. Of a long list only the
 * beginning is looked at: four times the limit, or one batch if that is more.
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
  // The pages of a site link to the same pages again and again. One query for those that are known costs far less than an
  // upsert for each link.
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

/** Notes at most `limit` addresses that are left out without a request. Addresses that were found before stay as they are. */
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
 * Reopens addresses that were left out because they end like files: a redirect, a canonical address or a page that answers
 * now shows that a page is there. Returns how many.
 */
export async function reopenFiles(crawlId: string, urls: readonly string[]): Promise<number> {
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

/** The next addresses to fetch, lowest cost first, without those in `taken` and those that may not be fetched yet. */
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

/** The earliest time at which one of the waiting addresses may be fetched; undefined when none waits. */
export async function nextDue(crawlId: string): Promise<Date | undefined> {
  const waiting = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: false }, { projection: { not_before: 1 } })
    .sort({ not_before: 1 })
    .limit(1)
    .toArray();
  return waiting[0] && (waiting[0].not_before ?? new Date(0));
}

/** An address that the site asked to retry later, and how often it was tried. */
export type Delayed = Pick<Frontier, '_id' | 'not_before'> & { tries: number };

/** Puts addresses back into the queue, to be tried again later. */
export async function putBack(later: readonly Delayed[]): Promise<void> {
  if (later.length === 0) return;
  await collectionOf(FrontierModel).bulkWrite(
    later.map(({ _id, ...change }) => ({
      updateOne: { filter: { _id, done: false }, update: { $set: defined(change) } },
    })),
    { ordered: false },
  );
}

/** The addresses that were requested. */
export async function listVisited(crawlId: string): Promise<string[]> {
  const all = await collectionOf(FrontierModel)
    .find({ crawl_id: crawlId, done: true, unasked: { $ne: true } }, { projection: { url: 1 } })
    .toArray();
  return all.map(({ url }) => url);
}

export async function dropFrontier(crawlId: string): Promise<void> {
  await collectionOf(FrontierModel).deleteMany({ crawl_id: crawlId });
}
