/**
 * The set of pages that a crawl writes: the live set, or the new set that will replace the live set. A generation is
 * one version of a page's text. The crawl claims, stores and then publishes it. Only published generations are used for
 * answers.
 */
import mongoose from 'mongoose';
import { countChunks, removeChunks } from '../knowledge/chunk.ts';
import { collectionOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { isCopying } from '../knowledge/livecopy.ts';
import { deletePages, listSets, PageModel, visible, type Page } from '../knowledge/page.ts';
import { recordRemovals } from '../knowledge/removal.ts';
import type { Authority } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { liveBatch } from '../rules/knowledge/reconcile.ts';
import { pageKey, spellingsOf } from '../rules/crawl/url.ts';
import { defined } from '../rules/base/defined.ts';

/**
 * The pages of a set at the given addresses, in any spelling (see `pageKey`). When several spellings are stored, the
 * page with exactly this address is returned, or else a published page.
 */
export async function findPagesByUrl(
  orgId: string,
  mode: Mode,
  live: boolean,
  urls: readonly string[],
): Promise<Map<string, Page>> {
  const found = await collectionOf(PageModel)
    .find({ org_id: orgId, mode, live, url: { $in: urls.flatMap(spellingsOf) } })
    .sort({ _id: 1 })
    .toArray();
  const byKey = new Map<string, Page>();
  for (const page of found.toSorted((a, b) => Number(isPublished(a)) - Number(isPublished(b)))) {
    byKey.set(pageKey(page.url), page);
  }
  const byUrl = new Map(found.map((page) => [page.url, page]));
  return new Map(
    urls.flatMap((url) => {
      const page = byUrl.get(url) ?? byKey.get(pageKey(url));
      return page ? [[url, page] as const] : [];
    }),
  );
}

const isPublished = (page: Page): boolean => page.live_generation !== undefined;

/** The published pages of a set with one of these content hashes, by hash. */
export async function findPagesByContent(
  orgId: string,
  mode: Mode,
  live: boolean,
  hashes: readonly string[],
): Promise<Map<string, Page[]>> {
  const published = { org_id: orgId, mode, live, live_generation: { $exists: true } };
  const found = await collectionOf(PageModel)
    .find({ ...published, content_sha256: { $in: hashes } })
    .toArray();
  return Map.groupBy(found, ({ content_sha256 }) => content_sha256);
}

/** The number of published pages of a set, which counts towards the quota. */
export async function countSet(orgId: string, mode: Mode, live: boolean): Promise<number> {
  return collectionOf(PageModel).countDocuments({ org_id: orgId, mode, live, live_generation: { $exists: true } });
}

/**
 * `standing`: the id of the page that already exists at this address, perhaps in another spelling. The page's stored
 * address becomes `url`. If the page is deleted meanwhile, it is not created again.
 */
export type Claim = { url: string; standing: string | undefined } & Pick<Page, 'segments'> & {
    authority: Authority | undefined;
  };

/**
 * Claims a new generation of each page, and creates missing pages. A generation is not used for answers before it is
 * published. Returns the claimed pages by address; pages claimed by a later crawl are missing.
 *
 * `stillRuns` is called after the claim is written. If the crawl has ended by then, the pages that the claim created
 * are deleted and the result is null. If the crawl ends later, pages that were never published are removed at the end
 * of a crawl (`discardBuilt`).
 */
export async function claimPages(
  set: Pick<Page, 'org_id' | 'mode' | 'live' | 'crawl_id'>,
  pages: readonly Claim[],
  now: Date,
  stillRuns: () => Promise<boolean>,
): Promise<Map<string, Page> | null> {
  const { org_id, mode, live, crawl_id } = set;
  const unclaimed = { org_id, mode, live, claimed_by: { $not: { $gt: crawl_id } } };
  const made = { title: '', crawl_id, tags_version: 0, chunk_count: 0, content_sha256: '' };
  const times = { crawled_at: now, created_at: now, updated_at: now };
  const { upsertedIds } = await collectionOf(PageModel).bulkWrite(
    pages.map(({ url, standing, segments, authority }) => {
      const $inc = { generation: 1 };
      const $set = { claimed_by: crawl_id };
      if (standing !== undefined) {
        return { updateOne: { filter: { ...unclaimed, _id: standing }, update: { $inc, $set: { ...$set, url } } } };
      }
      const tags = { segments, ...defined({ authority }) };
      const $setOnInsert = { _id: newId('page'), ...made, ...tags, ...times };
      return { updateOne: { filter: { ...unclaimed, url }, update: { $inc, $set, $setOnInsert }, upsert: true } };
    }),
  );
  if (!(await stillRuns())) {
    await collectionOf(PageModel).deleteMany({
      org_id,
      _id: { $in: Object.values(upsertedIds) },
      live_generation: { $exists: false },
    });
    return null;
  }
  const urls = pages.map(({ url }) => url);
  const claimed = await collectionOf(PageModel)
    .find({ org_id, mode, live, url: { $in: urls }, claimed_by: crawl_id })
    .toArray();
  return new Map(claimed.map((page) => [page.url, page]));
}

/** The tags version and the published generation of these pages, by id; deleted pages are missing. */
export async function findVersions(
  orgId: string,
  pageIds: readonly string[],
): Promise<Map<string, Pick<Page, 'tags_version' | 'live_generation'>>> {
  const found = await collectionOf(PageModel)
    .find({ _id: { $in: [...pageIds] }, org_id: orgId }, { projection: { tags_version: 1, live_generation: 1 } })
    .toArray();
  return new Map(found.map((page) => [page._id, page]));
}

export type Publication = Pick<Page, '_id' | 'generation' | 'title' | 'content_sha256' | 'chunk_count'> & {
  version: Version;
  tags: Tags | undefined;
};
/** The HTTP validators that the site sent with the text, if any. */
type Version = { etag: string | undefined; last_modified: string | undefined };
type Tags = { segments?: string[] | undefined; authority?: Authority | undefined };

/**
 * The validators to unset, because the site did not send them with this text. If an outdated validator were kept, the
 * site could report a changed text as unchanged.
 */
function missingValidators(version: Version) {
  const missing = Object.entries(version).flatMap(([name, value]) => (value === undefined ? [[name, 1]] : []));
  return Object.fromEntries(missing) as Record<string, 1>;
}

const unsetting = (fields: Record<string, 1>) => (Object.keys(fields).length > 0 ? { $unset: fields } : {});

/**
 * Publishes the generations that the crawl read. A page that was deleted meanwhile stays deleted. `embed_after`: the
 * pages are not embedded before this time.
 */
export async function publishPages(
  { org_id, crawl_id, embed_after }: Required<Pick<Page, 'org_id' | 'crawl_id' | 'embed_after'>>,
  pages: readonly Publication[],
  now: Date,
): Promise<void> {
  if (pages.length === 0) return;
  await collectionOf(PageModel).bulkWrite(
    pages.map(({ _id, generation, tags, version, ...seen }) => ({
      updateOne: {
        filter: { _id, org_id, generation },
        update: {
          // `live_attempt` is removed, because the generation alone identifies the index rows that a crawl writes.
          $unset: { ...missingValidators(version), live_attempt: 1, embedded_by: 1, embedded_at: 1 },
          $set: {
            ...defined({ ...seen, ...version, ...tags }),
            crawl_id,
            embed_after,
            live_generation: generation,
            crawled_at: now,
            updated_at: now,
          },
          ...(tags ? { $inc: { tags_version: 1 } } : {}),
        },
      },
    })),
    { ordered: false },
  );
}

/**
 * An unchanged page. `url`: the new spelling of its address; absent when the spelling is the same. `version`: absent
 * when the site answered that the page is unchanged (304).
 */
export type Seen = Pick<Page, '_id'> & { url?: string | undefined; version?: Version | undefined };

/** Stores that pages are unchanged, and sets the crawl's tags, if any. */
export async function touchPages(
  { org_id, crawl_id }: Required<Pick<Page, 'org_id' | 'crawl_id'>>,
  pages: readonly Seen[],
  tags: Tags | undefined,
  now: Date,
): Promise<void> {
  if (pages.length === 0) return;
  // Most of these pages change in the same way, and one command for many of them costs less than one for each.
  const equal = Map.groupBy(pages, ({ url, version }) => JSON.stringify({ url, version }));
  await collectionOf(PageModel).bulkWrite(
    [...equal.values()].map((those) => {
      const { url, version } = those[0]!;
      return {
        updateMany: {
          filter: { _id: { $in: those.map(({ _id }) => _id) }, org_id },
          update: {
            ...unsetting(version ? missingValidators(version) : {}),
            $set: { ...defined({ url, ...version, ...tags }), crawl_id, crawled_at: now },
            ...(tags ? { $inc: { tags_version: 1 } } : {}),
          },
        },
      };
    }),
    { ordered: false },
  );
}

/**
 * Copies the tags (segments and authority) of the second page to the first page. The address of the second page leads
 * to the first page, for example by a redirect. False when the first page has tags or was created before `since`.
 */
export async function inheritTags(
  { _id, org_id }: Page,
  { segments, authority }: Page,
  since: Date,
  now: Date,
): Promise<boolean> {
  const { modifiedCount } = await collectionOf(PageModel).updateOne(
    { _id, org_id, created_at: { $gte: since }, tags_version: 0, segments: [] },
    { $set: { ...defined({ segments, authority }), updated_at: now }, $inc: { tags_version: 1 } },
  );
  return modifiedCount === 1;
}

const removalOf = ({ _id, org_id, mode }: Pick<Page, '_id' | 'org_id' | 'mode'>, now: Date) => ({
  _id,
  org_id,
  mode,
  removed_at: now,
});

/**
 * Deletes pages with their chunks. First stores a `Removal` for each page, by which the end of the crawl finds and
 * deletes the page's remaining data. Idempotent.
 */
async function removeAll(orgId: string, found: readonly Page[], now: Date): Promise<void> {
  if (found.length === 0) return;
  const ids = found.map(({ _id }) => _id);
  await recordRemovals(found.map((page) => removalOf(page, now)));
  await deletePages(orgId, ids);
  await removeChunks(orgId, ids);
}

/** Removes the live pages at these addresses, in every spelling, except those in `keep`. Idempotent. */
export async function removePagesAt(
  orgId: string,
  mode: Mode,
  urls: readonly string[],
  now: Date,
  keep: readonly string[] = [],
): Promise<void> {
  const there = { org_id: orgId, mode, live: true, url: { $in: urls.flatMap(spellingsOf) }, _id: { $nin: keep } };
  await removeAll(orgId, await collectionOf(PageModel).find(there).toArray(), now);
}

/**
 * Replaces the live set of pages by the new set that a replacing crawl has built. Idempotent: without a new set,
 * nothing changes.
 *
 * The swap is a transaction, so that no question sees both sets or neither. The transaction only writes pages of one
 * organization and mode; their chunks and links are deleted later, through the removals. If a worker is killed in the
 * middle, these pages stay locked until mongod aborts the transaction after a minute. Meanwhile they can be read, and a
 * retry waits.
 */
export async function swapSets(orgId: string, mode: Mode, crawlId: string, now: Date): Promise<void> {
  await mongoose.connection.transaction(async (session) => {
    const built = { org_id: orgId, mode, live: false, crawl_id: crawlId, live_generation: { $exists: true } };
    if (!(await collectionOf(PageModel).findOne(built, { projection: { _id: 1 }, session }))) return;
    const old = await collectionOf(PageModel)
      .find({ org_id: orgId, mode, live: true }, { projection: { org_id: 1, mode: 1 }, session })
      .toArray();
    await recordRemovals(
      old.map((page) => removalOf(page, now)),
      session,
    );
    await collectionOf(PageModel).deleteMany({ org_id: orgId, _id: { $in: old.map(({ _id }) => _id) } }, { session });
    await collectionOf(PageModel).updateMany(built, { $set: { live: true } }, { session });
  });
}

/** Lets the pages of a crawl be embedded at once. */
export async function releasePages(orgId: string, mode: Mode, crawlId: string): Promise<void> {
  await collectionOf(PageModel).updateMany(
    { org_id: orgId, mode, crawl_id: crawlId, embed_after: { $exists: true } },
    { $unset: { embed_after: 1 } },
  );
}

/** Removes the pages that no crawl will finish: a set that did not become live, and pages that were never published. */
export async function discardBuilt(orgId: string, mode: Mode, now: Date): Promise<void> {
  const unfinished = { $or: [{ live: false }, { live_generation: { $exists: false } }] };
  const found = await collectionOf(PageModel)
    .find({ org_id: orgId, mode, ...unfinished })
    .toArray();
  await removeAll(orgId, found, now);
}

/**
 * The pages with stale chunks, by id: deleted pages, and pages with chunks of an unpublished generation. While a copy
 * from test mode runs, chunks without a page are not stale, because the copy may be about to create the page. `keep`:
 * the generation and the index batch that must not be deleted.
 *
 * Index rows are not examined: chunks are stored before their rows and deleted after them, so every stale row has a
 * stale chunk.
 */
export async function listStale(
  orgId: string,
  mode: Mode,
): Promise<{ _id: string; keep?: { generation: number; batch: string } }[]> {
  // The order of the reads matters: the chunks, then whether a copy runs, then the pages. If a copy that stored some of
  // these chunks has ended by the second read, it has stored their pages, too, and the third read finds them.
  const stored = await countChunks(orgId, mode, 'website');
  const copying = await isCopying(orgId, mode);
  const known = new Map((await listSets(orgId, mode)).map((page) => [page._id, page]));
  const stale = stored.filter(({ source_id, generation }) => {
    const page = known.get(source_id);
    return page ? page.live_generation !== generation : !copying;
  });
  return [...new Set(stale.map(({ source_id }) => source_id))].map((_id) => {
    const page = known.get(_id);
    const batch = page && liveBatch(page);
    return batch === undefined ? { _id } : { _id, keep: { generation: page!.live_generation!, batch } };
  });
}

export async function listLiveUrls(orgId: string, mode: Mode): Promise<string[]> {
  const found = await collectionOf(PageModel)
    .find(visible(orgId, [mode]), { projection: { url: 1 } })
    .toArray();
  return found.map(({ url }) => url);
}
