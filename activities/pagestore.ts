/**
 * Stores what a round of a crawl read: passages to MongoDB, their rows to the index in one commit, and only then the pages
 * as they are to be seen. Killed anywhere, the pages of before go on answering.
 */
import type { Ai } from '../clients/ai.ts';
import type { IndexTable, Search } from '../clients/search.ts';
import type { PageContent } from '../clients/pages.ts';
import { embedPassages, indexChunks, syncTags } from './source.ts';
import { chunksOf, insertChunks, removeAllChunks, removeChunks } from '../models/chunk.ts';
import { holdCrawl, type Crawl } from '../models/crawl.ts';
import type { Settled } from '../models/frontier.ts';
import { findOrganization } from '../models/organization.ts';
import {
  claimPages,
  countSet,
  findPagesByContent,
  findPagesByUrl,
  findVersions,
  publishPages,
  removePagesAt,
  touchPages,
} from '../models/pageset.ts';
import { deletePages, type Page } from '../models/page.ts';
import { savePageLinks } from '../models/pagelinks.ts';
import { effectiveAuthority } from '../models/rules/authority.ts';
import { crawlStart } from '../models/rules/crawl.ts';
import { explain, reasonRow } from '../models/rules/crawlreason.ts';
import { Problem } from '../models/rules/errors.ts';
import { checkQuota, type Quotas } from '../models/rules/quota.ts';
import { inScope, pageKey } from '../models/rules/url.ts';

export type FreshPage = {
  url: string;
  /** Canonical addresses within the site. */
  links: string[];
  content: PageContent;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/** What a round has read: pages with text, and what became of the other addresses. */
export type RoundRead = { fresh: readonly FreshPage[]; settled: readonly Settled[] };
/** An address that has a text; `read` is missing when its site said that it is unchanged. */
type Seen = { url: string; hash: string; standing?: Page | undefined; read?: FreshPage };
/** A page to store. `heir`: one that says the same, whose tags a new page gets. */
type Read = FreshPage & { standing?: Page | undefined; heir?: Page | undefined };
type Sorted = {
  same: (Seen & { standing: Page })[];
  changed: Read[];
  added: Read[];
  folded: (Settled & { to: string })[];
};

type Deps = { search: Search; ai: Ai; quotas: Quotas; clock: () => Date };
type Stored = {
  /** What became of each address of the round. */
  settled: Settled[];
  /** Why no further page can be stored; the pages there was no room for are not settled. */
  full?: string;
};

export function createPageStore({ search, ai, quotas, clock }: Deps) {
  /** As many of these new pages as there is room for. A crawl is the only one that adds pages, so nobody races it. */
  async function withRoom(crawl: Crawl, fresh: readonly Read[]): Promise<{ room: Read[]; full?: string }> {
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

  /** Indexes pages and lets them answer; returns them as they were claimed, without those that were deleted meanwhile. */
  async function publish(crawl: Crawl, found: readonly Read[], signal: AbortSignal): Promise<Page[]> {
    const { org_id, mode } = crawl;
    const table: IndexTable = { org_id, mode };
    // Before anything is claimed or stored: while the model does not answer, a try leaves nothing behind.
    const passages = found.flatMap(({ content }) => content.passages);
    const vectors = await embedPassages(ai, passages, signal);
    const claims = await claimPages(
      { org_id, mode, live: !crawl.replace, crawl_id: crawl._id },
      found.map(({ url, standing, heir }) => ({
        url,
        standing: standing?._id,
        segments: crawl.segments ?? heir?.segments ?? [],
        authority: crawl.authority ?? heir?.authority,
      })),
      clock(),
      (session) => holdCrawl(org_id, crawl._id, session),
    );
    if (!claims) throw new Error('The crawl has ended meanwhile.');
    const fresh = found.filter(({ url }) => claims.has(url));
    const pages = new Map([...claims.values()].map((page) => [page._id, page]));
    await savePageLinks(fresh.map(({ url, links }) => ({ _id: claims.get(url)!._id, links })));
    const chunks = fresh.flatMap(({ url, content }) => {
      const { _id: source_id, generation } = claims.get(url)!;
      return chunksOf({ org_id, mode, source_type: 'website', source_id, generation }, content.passages);
    });
    await insertChunks(chunks);
    const tagsOf = (pageId: string) => {
      const page = pages.get(pageId)!;
      return {
        segments: crawl.segments ?? page.segments,
        authority: effectiveAuthority(crawl.authority ?? page.authority, 'website'),
      };
    };
    const claimed = found.flatMap(({ url, content }) => content.passages.map(() => claims.has(url)));
    await indexChunks(
      search,
      table,
      chunks,
      vectors?.filter((_, at) => claimed[at]),
      tagsOf,
    );
    await publishPages(
      crawl._id,
      fresh.map(({ url, content, etag, lastModified }) => {
        const { _id, generation } = claims.get(url)!;
        return {
          _id,
          generation,
          title: content.title,
          content_sha256: content.contentHash,
          chunk_count: content.passages.length,
          etag,
          last_modified: lastModified,
          tags: namedTags(crawl),
        };
      }),
      clock(),
    );
    const versions = await findVersions(org_id, [...pages.keys()]);
    const gone = [...pages.keys()].filter((id) => !versions.has(id));
    if (gone.length > 0) await sweep(table, gone);
    for (const page of pages.values()) {
      // Tags that were changed while the page was being indexed; those of the crawl itself are in the rows already.
      const written = page.tags_version + (namedTags(crawl) ? 1 : 0);
      const now = versions.get(page._id);
      if (now === undefined) continue;
      // Somebody else took a later generation meanwhile; what is left of this one is swept at the crawl's end.
      if (now.live_generation !== page.generation) continue;
      if (now.tags_version !== written) await syncTags(search, { orgId: org_id, sourceId: page._id }, written);
      // What answered before, and what a batch that died had begun.
      if (page.generation === 1) continue;
      await search.removeSource(table, page._id, String(page.generation));
      await removeChunks(org_id, page._id, page.generation);
    }
    return [...pages.values()];
  }

  /**
   * Which of what a round read is to be stored. A text that two pages have is kept once, but only what this crawl itself has
   * settled counts: of a page that it has not come to yet, nobody knows whether it still says so.
   */
  async function sort(crawl: Crawl, { fresh, settled }: RoundRead, known: ReadonlyMap<string, Page>): Promise<Sorted> {
    const unchanged = settled.filter(({ outcome }) => outcome === 'unchanged');
    const reads: Seen[] = [
      ...unchanged.flatMap(({ url }) => {
        const standing = known.get(url);
        return standing ? [{ url, hash: standing.content_sha256, standing }] : [];
      }),
      ...fresh.map((read) => ({ url: read.url, hash: read.content.contentHash, standing: known.get(read.url), read })),
    ];
    const round = new Set([...fresh, ...settled].map(({ url }) => pageKey(url)));
    const hashes = reads.map(({ hash }) => hash);
    const saying = await findPagesByContent(crawl.org_id, crawl.mode, !crawl.replace, hashes);
    const { scope } = crawlStart(crawl.url);
    const first = new Map<string, string>();
    const sorted: Sorted = { same: [], changed: [], added: [], folded: [] };
    // What stands already comes first, so that it is what stays.
    const order = Object.keys(sorted);
    for (const seen of reads.toSorted((a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)))) {
      const { url, hash, standing, read } = seen;
      const kind = kindOf(seen);
      const others = saying.get(hash) ?? [];
      const settledNow = (page: Page) => page.crawl_id === crawl._id && !round.has(pageKey(page.url));
      const twin = first.get(hash) ?? others.find(settledNow)?.url;
      if (twin === undefined) first.set(hash, url);
      if (twin !== undefined) {
        sorted.folded.push({ url, outcome: 'skipped', why: 'duplicate', to: twin, reason: explain('duplicate', twin) });
      } else if (kind === 'same') {
        sorted.same.push({ ...seen, standing: standing! });
      } else {
        // A text that is found at another place of the site keeps the tags that it had.
        sorted[kind].push({ ...read!, standing, heir: others.find((page) => inScope(scope, page.url)) });
      }
    }
    return sorted;
  }

  /** Takes back what was written of pages that were deleted meanwhile: their own removal may have come before it. */
  async function sweep(table: IndexTable, pageIds: readonly string[]): Promise<void> {
    await search.removeSources(table, pageIds);
    await removeAllChunks(table.org_id, pageIds);
    await deletePages(table.org_id, pageIds);
  }

  return {
    /** Throws while nothing can be stored because the embedding model does not answer. */
    async ready(signal: AbortSignal): Promise<void> {
      await embedPassages(ai, [{ heading: '', text: 'Ready?' }], signal);
    },

    async save(crawl: Crawl, round: RoundRead, signal: AbortSignal): Promise<Stored> {
      const { org_id, mode } = crawl;
      const urls = [...round.fresh, ...round.settled].map(({ url }) => url);
      const known = await findPagesByUrl(org_id, mode, !crawl.replace, urls);
      const { same, changed, added, folded } = await sort(crawl, round, known);
      const { room, full } = await withRoom(crawl, added);
      const kept = [...changed, ...room];
      const published = kept.length > 0 ? await publish(crawl, kept, signal) : [];
      const seen = same.map(({ url, standing, read }) => ({
        _id: standing._id,
        url,
        etag: read?.etag,
        last_modified: read?.lastModified,
      }));
      await touchPages(crawl._id, seen, namedTags(crawl), clock());
      if (namedTags(crawl)) for (const { _id } of seen) await syncTags(search, { orgId: org_id, sourceId: _id }, -1);
      const out = new Set(added.slice(room.length).map(({ url }) => url));
      const stored: Settled[] = [
        ...folded.filter(({ to }) => !out.has(to)),
        ...same.map(({ url }) => ({ url, outcome: 'unchanged' as const })),
        ...kept.map(({ url }) => ({ url, outcome: 'indexed' as const })),
      ];
      const done = new Set(stored.map(({ url }) => url));
      const settled = [...stored, ...round.settled.filter(({ url }) => !done.has(url))];
      // A replacing crawl leaves the standing set alone until it is whole. Other spellings of the same pages go, too.
      const stand = [...seen, ...published];
      const gone = [...settled.filter(isGone), ...stand].map(({ url }) => url);
      const keep = stand.map(({ _id }) => _id);
      if (!crawl.replace) await removePagesAt(org_id, mode, gone, clock(), keep);
      return { settled, ...(full === undefined ? {} : { full }) };
    },
  };
}

function kindOf({ standing, hash }: Seen): 'same' | 'changed' | 'added' {
  if (standing?.live_generation === undefined) return 'added';
  return standing.content_sha256 === hash ? 'same' : 'changed';
}

/** Whether what was indexed from the address before is to go at once. */
function isGone({ why }: Settled): boolean {
  const standing = why === undefined ? undefined : reasonRow(why).standing;
  return why === 'duplicate' || standing === 'taken' || standing === 'emptied';
}

/** What the crawl's options say of tags; undefined when pages keep theirs. */
function namedTags({ segments, authority }: Crawl) {
  return segments === undefined && authority === undefined ? undefined : { segments, authority };
}
