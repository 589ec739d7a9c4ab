/**
 * Publishes pages of a crawl: chunks go to MongoDB, their rows to the index in one commit, and only then the pages
 * become live. If the process dies at any point, the former pages stay live.
 */
import type { PageToStore } from './sortround.ts';
import { indexChunks, syncTags } from '../knowledge/source.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { IndexTable, Search } from '../../clients/knowledge/search/search.ts';
import { countClaim, type Crawl } from '../../models/crawl/crawl.ts';
import { claimPages, findVersions, publishPages } from '../../models/crawl/pageset.ts';
import { chunksOf, insertChunks, removeChunks } from '../../models/knowledge/chunk.ts';
import { wakeEmbedding } from '../../models/knowledge/embedding.ts';
import { deletePages, type Page } from '../../models/knowledge/page.ts';
import { savePageLinks } from '../../models/knowledge/pagelinks.ts';
import { effectiveAuthority } from '../../models/rules/knowledge/authority.ts';
import { pagesEmbedAfter } from '../../models/rules/knowledge/embedding.ts';

type Deps = { search: Search; embedding: Pick<Embedding, 'model'>; clock: () => Date };
/** The claimed pages by URL, without those that were deleted meanwhile. */
type Claims = Map<string, Page>;

/** The tags in the crawl's options; undefined when pages keep their own. */
export function namedTags({ segments, authority }: Crawl) {
  return segments === undefined && authority === undefined ? undefined : { segments, authority };
}

export function createPublish({ search, embedding, clock }: Deps) {
  async function claim(crawl: Crawl, found: readonly PageToStore[]): Promise<Claims> {
    const { _id, org_id, mode } = crawl;
    const claims = await claimPages(
      { org_id, mode, live: !crawl.replace, crawl_id: _id },
      found.map(({ url, standing, former }) => ({
        url,
        standing: standing?._id,
        segments: crawl.segments ?? former?.segments ?? [],
        authority: crawl.authority ?? former?.authority,
      })),
      clock(),
      () => countClaim(org_id, _id),
    );
    if (!claims) throw new Error('The crawl has ended meanwhile.');
    return claims;
  }

  /** Stores the chunks and links of claimed pages, and adds their rows to the index. */
  async function write(crawl: Crawl, found: readonly PageToStore[], claims: Claims): Promise<void> {
    const { org_id, mode } = crawl;
    const fresh = found.filter(({ url }) => claims.has(url));
    await savePageLinks(fresh.map(({ url, links }) => ({ _id: claims.get(url)!._id, links })));
    const chunks = fresh.flatMap(({ url, content }) => {
      const { _id: source_id, generation } = claims.get(url)!;
      return chunksOf({ org_id, mode, source_type: 'website', source_id, generation }, content.chunks);
    });
    await insertChunks(chunks);
    const pages = new Map([...claims.values()].map((page) => [page._id, page]));
    const tagsOf = (pageId: string) => {
      const page = pages.get(pageId)!;
      return {
        segments: crawl.segments ?? page.segments,
        authority: effectiveAuthority(crawl.authority ?? page.authority, 'website'),
      };
    };
    await indexChunks(search, { org_id, mode }, chunks, tagsOf);
  }

  /** Makes the claimed and written pages live. */
  async function show(crawl: Crawl, found: readonly PageToStore[], claims: Claims): Promise<void> {
    const pages = found.flatMap(({ url, content, etag, lastModified }) => {
      const page = claims.get(url);
      if (!page) return [];
      return {
        _id: page._id,
        generation: page.generation,
        title: content.title,
        content_sha256: content.contentHash,
        chunk_count: content.chunks.length,
        version: { etag, last_modified: lastModified },
        tags: namedTags(crawl),
      };
    });
    await publishPages(
      { org_id: crawl.org_id, crawl_id: crawl._id, embed_after: pagesEmbedAfter(crawl.started_at) },
      pages,
      clock(),
    );
  }

  /**
   * Removes what was written for pages that were deleted meanwhile, because their own removal may have run before the
   * write.
   */
  async function removeWritten(table: IndexTable, pageIds: readonly string[]): Promise<void> {
    if (pageIds.length === 0) return;
    await search.removeSources(table, pageIds);
    await removeChunks(table.org_id, pageIds);
    await deletePages(table.org_id, pageIds);
  }

  /**
   * Checks the pages again, because their tags may have changed while they were indexed. Removes the rows and chunks of
   * former generations (earlier versions of a page's chunks).
   */
  async function tidy(crawl: Crawl, pages: readonly Page[]): Promise<void> {
    const { org_id, mode } = crawl;
    const table: IndexTable = { org_id, mode };
    const ids = pages.map(({ _id }) => _id);
    const versions = await findVersions(org_id, ids);
    await removeWritten(
      table,
      ids.filter((id) => !versions.has(id)),
    );
    for (const { _id, generation, tags_version } of pages) {
      const now = versions.get(_id);
      // A deleted page was handled above. Otherwise another attempt has published a later generation, and the end of
      // the crawl removes the chunks and rows of this one.
      if (now?.live_generation !== generation) continue;
      // If the crawl has tags of its own, the rows have them already, and publishing has raised `tags_version` by one.
      const written = tags_version + (namedTags(crawl) ? 1 : 0);
      if (now.tags_version !== written) await syncTags(search, { orgId: org_id, sourceId: _id }, written);
      if (generation === 1) continue;
      // This removes rows of the former generation, and rows of batches whose process died.
      await search.removeSource(table, _id, String(generation));
      // Only older generations are removed, because the chunks of a newer generation may be about to be published.
      await removeChunks(org_id, [_id], { $lt: generation });
    }
  }

  /** Indexes pages and makes them live; returns the pages as they were claimed. */
  return async (crawl: Crawl, found: readonly PageToStore[]): Promise<Page[]> => {
    const claims = await claim(crawl, found);
    await write(crawl, found, claims);
    await show(crawl, found, claims);
    // In the first minutes of a crawl, its pages are not embedded yet. The end of the crawl starts the embedding, also
    // for a batch that died before this line.
    const waits = pagesEmbedAfter(crawl.started_at) > clock();
    if (embedding.model !== undefined && !waits) await wakeEmbedding(crawl, clock());
    // Two URLs may be spellings of the same page, so each page is listed once.
    const pages = [...new Map([...claims.values()].map((page) => [page._id, page])).values()];
    await tidy(crawl, pages);
    return pages;
  };
}
