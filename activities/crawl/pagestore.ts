/**
 * Stores what a round of a crawl read: passages to MongoDB, their rows to the index in one commit, and only then the pages
 * as they are to be seen. Killed anywhere, the pages of before go on answering.
 */
import type { Ai } from '../../clients/ai/ai.ts';
import type { IndexTable, Search } from '../../clients/search/search.ts';
import type { PageContent } from '../../clients/site/pages.ts';
import { embedPassages, indexChunks, syncTags } from '../knowledge/source.ts';
import { chunksOf, insertChunks, removeAllChunks, removeChunks } from '../../models/knowledge/chunk.ts';
import { countClaim, type Crawl } from '../../models/crawl/crawl.ts';
import { listMoves, type Settled } from '../../models/crawl/outcomes.ts';
import { findOrganization } from '../../models/access/organization.ts';
import {
  claimPages,
  countSet,
  findPagesByContent,
  findPagesByUrl,
  findVersions,
  inheritTags,
  publishPages,
  removePagesAt,
  touchPages,
} from '../../models/crawl/pageset.ts';
import { deletePages, type Page } from '../../models/knowledge/page.ts';
import { savePageLinks } from '../../models/knowledge/pagelinks.ts';
import { effectiveAuthority } from '../../models/rules/knowledge/authority.ts';
import { crawlStart } from '../../models/rules/crawl/crawl.ts';
import { explain, reasonRow } from '../../models/rules/crawl/crawlreason.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { formerAddresses } from '../../models/rules/crawl/fetchoutcome.ts';
import { checkQuota, quotaEnvironment, type Quotas } from '../../models/rules/knowledge/quota.ts';
import { inScope, pageKey } from '../../models/rules/crawl/url.ts';

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
/** A page to store. `former`: one that says the same, or that has moved here; a new page gets its tags. */
type Read = FreshPage & { standing?: Page | undefined; former?: Page | undefined };
type Sorted = {
  same: (Seen & { standing: Page })[];
  changed: Read[];
  added: Read[];
  folded: (Settled & { to: string })[];
};

export type PageStore = ReturnType<typeof createPageStore>;
type Deps = { search: Search; ai: Ai; quotas: Quotas; clock: () => Date };
type Stored = {
  /** What became of each address of the round. */
  settled: Settled[];
  /** Why no further page can be stored; the pages there was no room for are not settled. */
  full?: string;
};

export function createPageStore({ search, ai, quotas, clock }: Deps) {
  /** Whose allowance holds for the pages of a crawl, and how many there are. */
  async function usedBy({ org_id, mode, replace }: Crawl) {
    const organization = await findOrganization(org_id);
    const environment = quotaEnvironment(mode, organization?.environment ?? 'sandbox');
    return { environment, used: await countSet(org_id, mode, !replace) };
  }

  /** As many of these new pages as there is room for. A crawl is the only one that adds pages, so nobody races it. */
  async function withRoom(crawl: Crawl, fresh: readonly Read[]): Promise<{ room: Read[]; full?: string }> {
    const { environment, used } = await usedBy(crawl);
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
      found.map(({ url, standing, former }) => ({
        url,
        standing: standing?._id,
        segments: crawl.segments ?? former?.segments ?? [],
        authority: crawl.authority ?? former?.authority,
      })),
      clock(),
      () => countClaim(org_id, crawl._id),
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
          version: { etag, last_modified: lastModified },
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
        sorted[kind].push({ ...read!, standing, former: others.find((page) => inScope(scope, page.url)) });
      }
    }
    return sorted;
  }

  /**
   * New pages with the tags of those that this crawl found moved there, or naming them: a text that moves may change on the
   * way. Of several a tagged one counts, so that what was kept from some is not shown to all.
   */
  async function withFormer(crawl: Crawl, { settled }: RoundRead, added: readonly Read[]): Promise<Read[]> {
    if (added.length === 0) return [];
    const moves = [...(await listMoves(crawl._id)), ...settled.filter(leadsOn)];
    const formers = formerAddresses(moves);
    const urlsOf = ({ url }: Read) => formers(pageKey(url)).map((key) => `https://${key}`);
    const pages = await findPagesByUrl(crawl.org_id, crawl.mode, !crawl.replace, added.flatMap(urlsOf));
    return added.map((page) => {
      const there = urlsOf(page).flatMap((url) => pages.get(url) ?? []);
      return { ...page, former: page.former ?? there.find(({ segments }) => segments.length > 0) ?? there[0] };
    });
  }

  /** Gives new pages the tags of those that turn out only now to have moved there. */
  async function tagLate(crawl: Crawl, { settled }: RoundRead, known: ReadonlyMap<string, Page>): Promise<void> {
    if (namedTags(crawl)) return;
    const moved = settled.filter(leadsOn).flatMap(({ url, to }) => {
      const former = known.get(url);
      return former && former.segments.length > 0 ? [{ former, to }] : [];
    });
    const { org_id, mode } = crawl;
    const targets = moved.map(({ to }) => to);
    const pages = targets.length === 0 ? undefined : await findPagesByUrl(org_id, mode, !crawl.replace, targets);
    for (const { former, to } of moved) {
      const page = pages?.get(to);
      if (page && (await inheritTags(page, former, crawl.started_at, clock()))) {
        await syncTags(search, { orgId: org_id, sourceId: page._id }, -1);
      }
    }
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

    /** How many further pages a crawl may store. */
    async spare(crawl: Crawl): Promise<number> {
      const { environment, used } = await usedBy(crawl);
      return Math.max(0, quotas[environment].knowledge_pages - used);
    },

    async save(crawl: Crawl, round: RoundRead, signal: AbortSignal): Promise<Stored> {
      const { org_id, mode } = crawl;
      const urls = [...round.fresh, ...round.settled].map(({ url }) => url);
      const known = await findPagesByUrl(org_id, mode, !crawl.replace, urls);
      const { same, changed, added, folded } = await sort(crawl, round, known);
      const { room, full } = await withRoom(crawl, await withFormer(crawl, round, added));
      const kept = [...changed, ...room];
      const published = kept.length > 0 ? await publish(crawl, kept, signal) : [];
      const seen = same.map(({ url, standing, read }) => ({
        _id: standing._id,
        url,
        version: read && { etag: read.etag, last_modified: read.lastModified },
      }));
      await touchPages(crawl._id, seen, namedTags(crawl), clock());
      if (namedTags(crawl)) for (const { _id } of seen) await syncTags(search, { orgId: org_id, sourceId: _id }, -1);
      await tagLate(crawl, round, known);
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

/** Whether the address leads to another one that takes its place. */
function leadsOn(settled: Settled): settled is Settled & { to: string } {
  return settled.to !== undefined && (settled.why === 'moved' || settled.why === 'canonical');
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
