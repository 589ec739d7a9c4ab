/** Pages that a crawl made knowledge of. Which set answers (the old one, or the one a replacing crawl has built) is theirs. */
import { removeChunks } from './chunk.ts';
import { collectionOf, defined, defineModel, readerOf, type RecordOf } from '../base/define.ts';
import { boolean, date, list, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { dropPageLinks } from './pagelinks.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { recordRemoval, type Removal } from './removal.ts';
import { authorities, type Authority } from '../rules/knowledge/authority.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

export const PageModel = defineModel(
  'Page',
  'pages',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    /** Canonical; one page an address, in each set. */
    url: string,
    title: text,
    /** Whether it may answer; false while the set it belongs to is being built. */
    live: boolean,
    /** The crawl that saw it last. */
    crawl_id: string,
    /** The crawl that took its last generation; ids of crawls grow with time. */
    claimed_by: optional(string),
    segments: list(string),
    /** Absent: the default of pages. */
    authority: optional(oneOf(authorities)),
    tags_version: number,
    generation: number,
    /** The generation whose chunks answer questions; absent until the first was indexed. */
    live_generation: optional(number),
    /** Counts the attempts at putting its rows back into the index, each of which writes its own: see `batchOf`. */
    attempt: optional(number),
    /** The attempt that copies it from test mode, until that is published. */
    claimed: optional(number),
    /** The attempt whose rows answer; absent when they are those that its crawl wrote. */
    live_attempt: optional(number),
    chunk_count: number,
    content_sha256: string,
    /** What the site said of its version, sent back when it is fetched again. */
    etag: optional(string),
    last_modified: optional(string),
    crawled_at: date,
    created_at: date,
    updated_at: date,
    /** The model that made the vectors of all passages of the live generation; absent: some lack theirs. */
    embedded_by: optional(string),
    embedded_at: optional(date),
    /** It waits for its vectors until then, while its crawl runs; the crawl's end removes this. */
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

/** What the API shows and changes: published pages of the live set. */
export const visible = (orgId: string, among: readonly Mode[]) => ({
  org_id: orgId,
  mode: { $in: among },
  live: true,
  live_generation: { $exists: true },
});

const readSource = readerOf(PageModel, [
  '_id',
  'org_id',
  'mode',
  'url',
  'title',
  'live',
  'segments',
  'authority',
  'live_generation',
]);

/** Those of these pages that are of this organization and mode and may answer, as far as an answer needs them. */
export async function findPageSources(orgId: string, mode: Mode, pageIds: readonly string[]) {
  const found = await Promise.all(pageIds.map((id) => readSource(id)));
  return found.flatMap((page) => (page?.org_id === orgId && page.mode === mode && page.live ? [page] : []));
}

/** Newest first; `before` is the `_id` of the last entry of the page before. */
export async function listPages(
  orgId: string,
  among: readonly Mode[],
  limit: number,
  before?: string,
): Promise<Page[]> {
  return collectionOf(PageModel)
    .find({ ...visible(orgId, among), ...(before ? { _id: { $lt: before } } : {}) })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

export async function countPages(orgId: string, among: readonly Mode[]): Promise<number> {
  return collectionOf(PageModel).countDocuments(visible(orgId, among));
}

/** All that answer in an organization and mode, the oldest first. */
export async function listVisiblePages(orgId: string, mode: Mode): Promise<Page[]> {
  return collectionOf(PageModel)
    .find(visible(orgId, [mode]))
    .sort({ _id: 1 })
    .toArray();
}

/**
 * Begins to copy a page into live mode, as an attempt of its own whose index rows have a name of their own; null when live mode
 * has a page of its address already, or a crawl is about to publish one. An attempt that died left the same page.
 */
export async function beginPageCopy(page: Page, now: Date): Promise<(Page & { attempt: number }) | null> {
  const { org_id, url, title, crawl_id, segments, authority, content_sha256, etag, last_modified, crawled_at } = page;
  const place = { org_id, mode: 'live' as const, live: true, url };
  const fresh = defined({ title, crawl_id, segments, authority, content_sha256, etag, last_modified, crawled_at });
  const numbers = { tags_version: 0, generation: 1, chunk_count: 0, created_at: now, updated_at: now };
  await collectionOf(PageModel).updateOne(
    place,
    { $setOnInsert: { ...fresh, ...numbers, _id: newId('page') } },
    { upsert: true },
  );
  const copy = await collectionOf(PageModel).findOneAndUpdate(
    { ...place, crawl_id, ...unpublishedCopy },
    // The index is told by `claimed` that rows of this name are about to answer.
    [{ $set: { attempt: { $add: [{ $ifNull: ['$attempt', 0] }, 1] } } }, { $set: { claimed: '$attempt' } }],
    { returnDocument: 'after' },
  );
  return copy && { ...copy, attempt: copy.attempt! };
}
/** A crawl that takes it counts its generation on. */
const unpublishedCopy = { generation: 1, live_generation: { $exists: false } };

/** Lets a copy answer; false when another attempt or a crawl has overtaken this one, or the page was deleted. */
export async function publishPageCopy(
  { _id, org_id, attempt }: Page & { attempt: number },
  chunkCount: number,
  now: Date,
): Promise<boolean> {
  const { modifiedCount } = await collectionOf(PageModel).updateOne(
    { _id, org_id, attempt, ...unpublishedCopy },
    {
      $set: { live_generation: 1, live_attempt: attempt, chunk_count: chunkCount, updated_at: now },
      $unset: { claimed: 1 },
    },
  );
  return modifiedCount === 1;
}

/** Changes segments or authority; null when there is no such page. */
export async function tagPage(
  orgId: string,
  among: readonly Mode[],
  pageId: string,
  tags: { segments?: string[]; authority?: Authority },
  now: Date,
  intent: Intent,
): Promise<Page | null> {
  return collectionOf(PageModel).findOneAndUpdate(
    { ...visible(orgId, among), _id: pageId },
    { $set: { ...tags, updated_at: now }, $inc: { tags_version: 1 }, $push: { pending: intent } },
    { returnDocument: 'after' },
  );
}

/**
 * Deletes a page with its chunks, and leaves a `Removal` for the rest; null when it is already gone. The removal is stored
 * first: a process that dies after that write leaves the deletion to the workflow that the removal starts.
 */
export async function removePage(
  orgId: string,
  among: readonly Mode[],
  pageId: string,
  now: Date,
  intent: Intent,
): Promise<Removal | null> {
  const found = await collectionOf(PageModel).findOne(
    { ...visible(orgId, among), _id: pageId },
    { projection: { mode: 1 } },
  );
  if (!found) return null;
  const removal: Removal = { _id: pageId, org_id: orgId, mode: found.mode, removed_at: now, pending: [intent] };
  const decided = await recordRemoval(removal);
  const deleted = await deletePages(orgId, [pageId]);
  await removeChunks(orgId, pageId);
  // When both had been done before, another request deleted the page at the same time.
  return decided || deleted > 0 ? removal : null;
}

/** A page as it was when it was looked at. */
export type SeenPage = Pick<
  Page,
  '_id' | 'url' | 'live' | 'crawl_id' | 'generation' | 'live_generation' | 'live_attempt'
>;

/** All pages of an organization and mode, published or not, as far as reconciling needs them. */
export async function listSets(orgId: string, mode: Mode): Promise<SeenPage[]> {
  const projection = { url: 1, live: 1, crawl_id: 1, generation: 1, live_generation: 1, live_attempt: 1 };
  return collectionOf(PageModel).find({ org_id: orgId, mode }, { projection }).toArray();
}

/** Those of these pages that exist. */
export async function findPageIds(orgId: string, pageIds: readonly string[]): Promise<Set<string>> {
  const found = await collectionOf(PageModel)
    .find({ org_id: orgId, _id: { $in: pageIds } }, { projection: { _id: 1 } })
    .toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** No crawl has seen it since, and none has begun a generation of it. */
const asSeen = (orgId: string, { _id, live, crawl_id, generation, live_generation }: SeenPage) => ({
  _id,
  org_id: orgId,
  live,
  crawl_id,
  generation,
  live_generation: live_generation ?? { $exists: false },
});

/** Takes a generation, so that none which was begun before can be published any more; false when the page is not as seen. */
export async function supersede(orgId: string, page: SeenPage): Promise<boolean> {
  const { modifiedCount } = await collectionOf(PageModel).updateOne(asSeen(orgId, page), { $inc: { generation: 1 } });
  return modifiedCount === 1;
}

/** Deletes a page that is still as it was seen; false when it is not. */
export async function removePageAsSeen(orgId: string, page: SeenPage): Promise<boolean> {
  const { deletedCount } = await collectionOf(PageModel).deleteOne(asSeen(orgId, page));
  if (deletedCount === 1) await dropPageLinks([page._id]);
  return deletedCount === 1;
}

/** Deletes pages with their links; returns how many there were. */
export async function deletePages(orgId: string, pageIds: readonly string[]): Promise<number> {
  const { deletedCount } = await collectionOf(PageModel).deleteMany({ org_id: orgId, _id: { $in: pageIds } });
  await dropPageLinks(pageIds);
  return deletedCount;
}
