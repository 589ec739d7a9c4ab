/**
 * Stores what a round of a crawl read: passages to MongoDB, their rows to the index in one commit, and only then the pages
 * as they are to be seen. Killed anywhere, the pages of before go on answering.
 */
import type { Ai } from '../clients/ai.ts';
import type { IndexTable, Search } from '../clients/search.ts';
import type { PageContent } from '../clients/pages.ts';
import { indexChunks, syncTags } from './source.ts';
import { chunksOf, insertChunks, removeAllChunks, removeChunks } from '../models/chunk.ts';
import type { Crawl, Settled } from '../models/crawl.ts';
import { findOrganization } from '../models/organization.ts';
import {
  claimPages,
  countSet,
  deletePages,
  findPagesByContent,
  findPagesByUrl,
  findTagsVersions,
  publishPages,
  removePageByUrl,
  savePageLinks,
  touchPages,
} from '../models/page.ts';
import { effectiveAuthority } from '../models/rules/authority.ts';
import { explain } from '../models/rules/crawl.ts';
import { Problem } from '../models/rules/errors.ts';
import { checkQuota, type Quotas } from '../models/rules/quota.ts';

export type FreshPage = {
  url: string;
  /** Canonical addresses within the site. */
  links: string[];
  content: PageContent;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

type Deps = { search: Search; ai: Ai; quotas: Quotas; clock: () => Date };
type Stored = {
  settled: Settled[];
  /** Why no further page can be stored; the pages there was no room for are not settled. */
  full?: string;
};

export function createPageStore({ search, ai, quotas, clock }: Deps) {
  /** As many of these new pages as there is room for. A crawl is the only one that adds pages, so nobody races it. */
  async function withRoom(crawl: Crawl, fresh: readonly FreshPage[]): Promise<{ room: FreshPage[]; full?: string }> {
    const environment = (await findOrganization(crawl.org_id))?.environment ?? 'sandbox';
    const used = await countSet(crawl.org_id, crawl.mode, !crawl.replace);
    for (const index of fresh.keys()) {
      try {
        checkQuota(quotas, environment, 'knowledge_pages', used + index);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { room: fresh.slice(0, index), full: error.message };
      }
    }
    return { room: [...fresh] };
  }

  /** Indexes pages and lets them answer. */
  async function publish(crawl: Crawl, fresh: readonly FreshPage[], signal: AbortSignal) {
    const { org_id, mode } = crawl;
    const table: IndexTable = { org_id, mode };
    const set = { org_id, mode, live: !crawl.replace, crawl_id: crawl._id };
    const tags = { segments: crawl.segments ?? [], authority: crawl.authority };
    const claims = await claimPages(
      set,
      fresh.map(({ url }) => ({ url, ...tags })),
      clock(),
    );
    const written = fresh.flatMap(({ url, content }) => {
      const claim = claims.get(url);
      if (!claim) return [];
      const source = {
        org_id,
        mode,
        source_type: 'website' as const,
        source_id: claim._id,
        generation: claim.generation,
      };
      return [{ source, passages: content.passages, page: claim }];
    });
    await savePageLinks(
      fresh.flatMap(({ url, links }) => (claims.has(url) ? [{ _id: claims.get(url)!._id, links }] : [])),
    );
    const chunks = written.flatMap(({ source, passages }) => chunksOf(source, passages));
    await insertChunks(chunks);
    const pages = new Map(written.map(({ page }) => [page._id, page]));
    const tagsOf = (pageId: string) => {
      const page = pages.get(pageId)!;
      return {
        segments: crawl.segments ?? page.segments,
        authority: effectiveAuthority(crawl.authority ?? page.authority, 'website'),
      };
    };
    await indexChunks({ search, ai }, table, chunks, tagsOf, signal);
    await publishPages(
      crawl._id,
      fresh.flatMap(({ url, content, etag, lastModified }) => {
        const claim = claims.get(url);
        if (!claim) return [];
        return [
          {
            _id: claim._id,
            generation: claim.generation,
            title: content.title,
            content_sha256: content.contentHash,
            chunk_count: content.passages.length,
            etag,
            last_modified: lastModified,
            tags: namedTags(crawl),
          },
        ];
      }),
      clock(),
    );
    const versions = await findTagsVersions(org_id, [...pages.keys()]);
    const gone = [...pages.keys()].filter((id) => !versions.has(id));
    if (gone.length > 0) await sweep(table, gone);
    for (const page of pages.values()) {
      // Tags that were changed while the page was being indexed; those of the crawl itself are in the rows already.
      const written = page.tags_version + (namedTags(crawl) ? 1 : 0);
      const now = versions.get(page._id);
      if (now === undefined) continue;
      if (now !== written) await syncTags(search, { orgId: org_id, sourceId: page._id }, written);
      // What answered before, and what a batch that died had begun.
      if (page.generation === 1) continue;
      await search.removeSource(table, page._id, String(page.generation));
      await removeChunks(org_id, page._id, page.generation);
    }
  }

  /** Takes back what was written of pages that were deleted meanwhile: their own removal may have come before it. */
  async function sweep(table: IndexTable, pageIds: readonly string[]): Promise<void> {
    await search.removeSources(table, pageIds);
    await removeAllChunks(table.org_id, pageIds);
    await deletePages(table.org_id, pageIds);
  }

  return {
    /** `unchanged`: addresses whose site said so itself. */
    async save(crawl: Crawl, fresh: FreshPage[], unchanged: readonly string[], signal: AbortSignal): Promise<Stored> {
      const { org_id, mode } = crawl;
      const live = !crawl.replace;
      const urls = [...fresh.map(({ url }) => url), ...unchanged];
      const known = await findPagesByUrl(org_id, mode, live, urls);
      const twins = await findPagesByContent(
        org_id,
        mode,
        live,
        fresh.map(({ content }) => content.contentHash),
      );
      const settled: Settled[] = [];
      const same: { _id: string; etag?: string | undefined; last_modified?: string | undefined }[] = [];
      const changed: FreshPage[] = [];
      const added: FreshPage[] = [];
      const first = new Map<string, string>();
      for (const page of fresh) {
        const { url, content, etag, lastModified } = page;
        const standing = known.get(url);
        const twin = twins.get(content.contentHash)?.url ?? first.get(content.contentHash);
        if (standing?.live_generation !== undefined && standing.content_sha256 === content.contentHash) {
          same.push({ _id: standing._id, etag, last_modified: lastModified });
          settled.push({ url, outcome: 'unchanged' });
        } else if (twin !== undefined && twin !== url) {
          if (standing && live) await removePageByUrl(org_id, mode, url, clock());
          settled.push({ url, outcome: 'skipped', reason: explain('duplicate', twin) });
        } else {
          first.set(content.contentHash, url);
          (standing?.live_generation === undefined ? added : changed).push(page);
        }
      }
      const { room, full } = await withRoom(crawl, added);
      const kept = [...changed, ...room];
      if (kept.length > 0) await publish(crawl, kept, signal);
      const seen = unchanged.flatMap((url) => known.get(url) ?? []).map(({ _id }) => ({ _id }));
      await touchPages(crawl._id, [...same, ...seen], namedTags(crawl), clock());
      if (namedTags(crawl))
        for (const { _id } of [...same, ...seen]) await syncTags(search, { orgId: org_id, sourceId: _id }, -1);
      settled.push(...kept.map(({ url }) => ({ url, outcome: 'indexed' as const })));
      return { settled, ...(full === undefined ? {} : { full }) };
    },
  };
}

/** What the crawl's options say of tags; undefined when pages keep theirs. */
function namedTags({ segments, authority }: Crawl) {
  return segments === undefined && authority === undefined ? undefined : { segments, authority };
}
