/**
 * The pages of a crawl as it builds them: the set that answers, or the one that is to take its place. A generation of a page
 * is claimed, stored and published; nothing is seen before.
 */
import mongoose from 'mongoose';
import { countChunks, removeAllChunks } from '../knowledge/chunk.ts';
import { collectionOf, defined } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import { deletePages, listSets, PageModel, visible, type Page } from '../knowledge/page.ts';
import { recordRemovals } from '../knowledge/removal.ts';
import type { Authority } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { liveBatch } from '../rules/knowledge/reconcile.ts';
import { pageKey, spellingsOf } from '../rules/crawl/url.ts';

/**
 * The pages of one set by the addresses asked for, in whatever spelling they were stored. Where several were, it is the one
 * of just this address, or one that answers.
 */
export async function findPagesByUrl(
  orgId: string,
  mode: Mode,
  live: boolean,
  urls: readonly string[],
): Promise<Map<string, Page>> {
  const found = await PageModel.find({ org_id: orgId, mode, live, url: { $in: urls.flatMap(spellingsOf) } })
    .sort({ _id: 1 })
    .lean();
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

/** The pages of one set that say one of these things, by what they say. */
export async function findPagesByContent(
  orgId: string,
  mode: Mode,
  live: boolean,
  hashes: readonly string[],
): Promise<Map<string, Page[]>> {
  const published = { org_id: orgId, mode, live, live_generation: { $exists: true } };
  const found = await PageModel.find({ ...published, content_sha256: { $in: hashes } }).lean();
  return Map.groupBy(found, ({ content_sha256 }) => content_sha256);
}

/** How many pages a set has, as quotas count them. */
export async function countSet(orgId: string, mode: Mode, live: boolean): Promise<number> {
  return PageModel.countDocuments({ org_id: orgId, mode, live, live_generation: { $exists: true } });
}

/** `standing`: the id of the page that is there, whose address becomes `url`; one that was deleted meanwhile stays so. */
export type Claim = { url: string; standing: string | undefined } & Pick<Page, 'segments'> & {
    authority: Authority | undefined;
  };

/**
 * Takes a new generation of each page, making those that are not there; nothing of it is seen before it is published. By
 * address; null unless the crawl still runs by `stillRuns`, which is asked once the claim is written: whatever ends the
 * crawl later finds the claim and clears it away. A page that a later crawl has claimed is left to that one.
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
      const tags = { segments, ...(authority === undefined ? {} : { authority }) };
      const $setOnInsert = { _id: newId('page'), ...made, ...tags, ...times };
      return { updateOne: { filter: { ...unclaimed, url }, update: { $inc, $set, $setOnInsert }, upsert: true } };
    }),
  );
  if (!(await stillRuns())) {
    await PageModel.deleteMany({ _id: { $in: Object.values(upsertedIds) }, live_generation: { $exists: false } });
    return null;
  }
  const urls = pages.map(({ url }) => url);
  const claimed = await PageModel.find({ org_id, mode, live, url: { $in: urls }, claimed_by: crawl_id }).lean();
  return new Map(claimed.map((page) => [page.url, page]));
}

/** The tags' versions and the published generations of these pages, by their ids; without those that are gone. */
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
/** What the site said of the version that was read; nothing when it said nothing. */
type Version = { etag: string | undefined; last_modified: string | undefined };
type Tags = { segments?: string[] | undefined; authority?: Authority | undefined };

/** A version that is no longer named must not be asked for again: the site would call another text unchanged by it. */
function unnamed(version: Version) {
  const missing = Object.entries(version).flatMap(([name, value]) => (value === undefined ? [[name, 1]] : []));
  return Object.fromEntries(missing) as Record<string, 1>;
}

const unsetting = (fields: Record<string, 1>) => (Object.keys(fields).length > 0 ? { $unset: fields } : {});

/** Lets generations answer, with what their crawl saw. A page that was deleted meanwhile stays so. */
export async function publishPages(crawlId: string, pages: readonly Publication[], now: Date): Promise<void> {
  if (pages.length === 0) return;
  await collectionOf(PageModel).bulkWrite(
    pages.map(({ _id, generation, tags, version, ...seen }) => ({
      updateOne: {
        filter: { _id, generation },
        update: {
          // The rows of this generation are those that its crawl wrote.
          $unset: { ...unnamed(version), live_attempt: 1 },
          $set: {
            ...defined({ ...seen, ...version, ...tags }),
            crawl_id: crawlId,
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

/** `version`: missing when the page was not read, since its site said that it is unchanged. */
export type Seen = Pick<Page, '_id' | 'url'> & { version?: Version | undefined };

/** Notes that pages were seen as they are, in this spelling, and gives them the tags of their crawl, if it names any. */
export async function touchPages(
  crawlId: string,
  pages: readonly Seen[],
  tags: Tags | undefined,
  now: Date,
): Promise<void> {
  if (pages.length === 0) return;
  await collectionOf(PageModel).bulkWrite(
    pages.map(({ _id, url, version }) => ({
      updateOne: {
        filter: { _id },
        update: {
          ...unsetting(version ? unnamed(version) : {}),
          $set: { ...defined({ url, ...version, ...tags }), crawl_id: crawlId, crawled_at: now },
          ...(tags ? { $inc: { tags_version: 1 } } : {}),
        },
      },
    })),
    { ordered: false },
  );
}

/** Gives a page that is not older than `since` and that nobody has tagged the tags of another one; false when it is not so. */
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

/** Deletes these pages with their chunks and leaves a `Removal` each, for the end of the crawl. Safe to repeat. */
async function removeAll(orgId: string, found: readonly Page[], now: Date): Promise<void> {
  if (found.length === 0) return;
  const ids = found.map(({ _id }) => _id);
  await recordRemovals(found.map((page) => removalOf(page, now)));
  await deletePages(orgId, ids);
  await removeAllChunks(orgId, ids);
}

/** Removes what answers from these addresses, in whatever spelling, but for the pages to keep. Safe to repeat. */
export async function removePagesAt(
  orgId: string,
  mode: Mode,
  urls: readonly string[],
  now: Date,
  keep: readonly string[] = [],
): Promise<void> {
  const there = { org_id: orgId, mode, live: true, url: { $in: urls.flatMap(spellingsOf) }, _id: { $nin: keep } };
  await removeAll(orgId, await PageModel.find(there).lean(), now);
}

/**
 * Makes the set that a replacing crawl has built the one that answers. Safe to repeat: without a new set nothing happens.
 *
 * The one transaction of this product: no question may see both sets, or none. It writes the pages of one organization and
 * mode and nothing that other work needs; chunks and links follow from the removals. A worker that is killed in the middle
 * leaves those pages locked until mongod gives the transaction up (a minute): they answer, and the repeated step waits.
 */
export async function swapSets(orgId: string, mode: Mode, crawlId: string, now: Date): Promise<void> {
  await mongoose.connection.transaction(async (session) => {
    const built = { org_id: orgId, mode, live: false, crawl_id: crawlId, live_generation: { $exists: true } };
    if (!(await PageModel.exists(built).session(session))) return;
    const old = await PageModel.find({ org_id: orgId, mode, live: true }, { org_id: 1, mode: 1 }, { session }).lean();
    await recordRemovals(
      old.map((page) => removalOf(page, now)),
      session,
    );
    await PageModel.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } }, { session });
    await PageModel.updateMany(built, { $set: { live: true } }, { session });
  });
}

/** Drops what no crawl will finish: a set that was not swapped in, and pages that were begun and never published. */
export async function discardBuilt(orgId: string, mode: Mode, now: Date): Promise<void> {
  const unfinished = { $or: [{ live: false }, { live_generation: { $exists: false } }] };
  await removeAll(orgId, await PageModel.find({ org_id: orgId, mode, ...unfinished }).lean(), now);
}

/**
 * Sources whose chunks answer nothing: pages that are gone, and pages (with the generation and the index rows to keep) that
 * have chunks of another one. Chunks are stored before their index rows and removed after them, so no row is left where no chunk is.
 */
export async function listStale(
  orgId: string,
  mode: Mode,
): Promise<{ _id: string; keep?: { generation: number; batch: string } }[]> {
  const [pages, stored] = await Promise.all([listSets(orgId, mode), countChunks(orgId, mode, 'website')]);
  const known = new Map(pages.map((page) => [page._id, page]));
  const stale = stored.filter(({ source_id, generation }) => known.get(source_id)?.live_generation !== generation);
  return [...new Set(stale.map(({ source_id }) => source_id))].map((_id) => {
    const page = known.get(_id);
    const batch = page && liveBatch(page);
    return batch === undefined ? { _id } : { _id, keep: { generation: page!.live_generation!, batch } };
  });
}

/** The addresses of the pages that answer. */
export async function listLiveUrls(orgId: string, mode: Mode): Promise<string[]> {
  const found = await PageModel.find(visible(orgId, [mode]), { url: 1 }).lean();
  return found.map(({ url }) => url);
}
