/**
 * Crawled web pages as knowledge sources. A replacing crawl builds a new set of pages. Meanwhile `live` is true for the
 * set that answers questions, and false for the new set.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, newest, olderThan, readerInMode, type RecordOf } from '../base/define.ts';
import { boolean, date, list, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import { dropPageLinks } from './pagelinks.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { authorities } from '../rules/knowledge/authority.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export const PageModel = defineModel(
  'Page',
  'pages',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** The canonical address; unique within a set. */
    url: string,
    title: text,
    /** Whether the page belongs to the live set; false while its set is being built. */
    live: boolean,
    /** The crawl that read the page last. */
    crawl_id: string,
    /** The crawl that claimed the newest generation; an earlier crawl, with a lower id, cannot claim the page. */
    claimed_by: optional(string),
    segments: list(string),
    /** The page's priority tier; when absent, the default tier of websites applies (`defaultAuthority`). */
    authority: optional(oneOf(authorities)),
    tags_version: number,
    generation: number,
    /** The generation whose chunks answer questions; absent until the first one is indexed. */
    live_generation: optional(number),
    /** Counts the attempts to write index rows again; each attempt writes a batch of its own (`batchOf`). */
    attempt: optional(number),
    /** The attempt that wrote the live index rows; absent when the crawl or the copy from test mode wrote them. */
    live_attempt: optional(number),
    chunk_count: number,
    content_sha256: string,
    /** HTTP validators that the site sent; they are sent back at the next fetch. */
    etag: optional(string),
    last_modified: optional(string),
    crawled_at: date,
    created_at: date,
    updated_at: date,
    /** The model that made the vectors of the live generation; absent while some passages have no vector. */
    embedded_by: optional(string),
    embedded_at: optional(date),
    /** The page is not embedded before this time while its crawl runs; the end of the crawl unsets it. */
    embed_after: optional(date),
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, mode: 1, live: 1, url: 1 }, unique: true },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, mode: 1, live: 1, content_sha256: 1 } },
    { fields: { embedded_by: 1, org_id: 1, mode: 1 } },
    pendingIndex,
  ],
);
export type Page = RecordOf<typeof PageModel>;

/** Matches the published pages of the live set, which the API shows and changes. */
export const visible = (orgId: string, among: readonly Mode[]) => ({
  org_id: orgId,
  mode: { $in: among },
  live: true,
  live_generation: { $exists: true },
});

const readSources = readerInMode(PageModel, 'url title live segments authority live_generation embedded_by');

/** The given pages that belong to the live set of the organization and mode, with the fields that an answer needs. */
export async function findPageSources(orgId: string, mode: Mode, pageIds: readonly string[]) {
  return (await readSources(orgId, mode, pageIds)).filter(({ live }) => live);
}

/** The visible pages, newest first; `before` is the `_id` of the last entry of the previous page. */
export async function listPages(
  orgId: string,
  among: readonly Mode[],
  limit: number,
  before?: string,
): Promise<Page[]> {
  return newest(collectionOf(PageModel).find({ ...visible(orgId, among), ...olderThan(before) }), limit);
}

export async function countPages(orgId: string, among: readonly Mode[]): Promise<number> {
  return collectionOf(PageModel).countDocuments(visible(orgId, among));
}

/** All published live pages of an organization and mode, oldest first. */
export async function listVisiblePages(orgId: string, mode: Mode): Promise<Page[]> {
  return collectionOf(PageModel)
    .find(visible(orgId, [mode]))
    .sort({ _id: 1 })
    .toArray();
}

/** The published page of the live set with this id or address; null when there is none. */
export async function findVisiblePage(
  orgId: string,
  mode: Mode,
  wanted: { _id: string } | { url: string },
): Promise<Page | null> {
  return collectionOf(PageModel).findOne({ ...visible(orgId, [mode]), ...wanted });
}

/** Stores a new page; false when its set already has a page with this address. */
export async function createPage(page: Page): Promise<boolean> {
  return (await unlessDuplicate(() => PageModel.create(page))) !== undefined;
}

/** A page as it was read earlier, for optimistic locking. */
export type SeenPage = Pick<
  Page,
  '_id' | 'url' | 'live' | 'crawl_id' | 'generation' | 'live_generation' | 'live_attempt'
>;

/** All pages of an organization and mode, published or not, with the fields of `SeenPage`. */
export async function listSets(orgId: string, mode: Mode): Promise<SeenPage[]> {
  const projection = { url: 1, live: 1, crawl_id: 1, generation: 1, live_generation: 1, live_attempt: 1 };
  return collectionOf(PageModel).find({ org_id: orgId, mode }, { projection }).toArray();
}

export async function findPageIds(orgId: string, pageIds: readonly string[]): Promise<Set<string>> {
  const found = await collectionOf(PageModel)
    .find({ org_id: orgId, _id: { $in: pageIds } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** Matches the page only if no crawl has read it, or claimed a generation, since this `SeenPage` was read. */
const asSeen = (orgId: string, { _id, live, crawl_id, generation, live_generation }: SeenPage) => ({
  _id,
  org_id: orgId,
  live,
  crawl_id,
  generation,
  live_generation: live_generation ?? { $exists: false },
});

/**
 * Claims a new generation, so that no earlier generation can be published any more; false when the page has changed
 * since it was read.
 */
export async function supersede(orgId: string, page: SeenPage): Promise<boolean> {
  const { modifiedCount } = await collectionOf(PageModel).updateOne(asSeen(orgId, page), { $inc: { generation: 1 } });
  return modifiedCount === 1;
}

/** Deletes a page; false when it has changed since it was read. */
export async function removePageAsSeen(orgId: string, page: SeenPage): Promise<boolean> {
  const { deletedCount } = await collectionOf(PageModel).deleteOne(asSeen(orgId, page));
  if (deletedCount === 1) await dropPageLinks([page._id]);
  return deletedCount === 1;
}

/** Deletes pages with their links; returns how many pages existed. */
export async function deletePages(orgId: string, pageIds: readonly string[]): Promise<number> {
  const { deletedCount } = await collectionOf(PageModel).deleteMany({ org_id: orgId, _id: { $in: pageIds } });
  await dropPageLinks(pageIds);
  return deletedCount;
}
