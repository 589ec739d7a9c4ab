/**
 * Stores the pages that one round of a crawl has read, up to the organization's page quota. Returns the outcome of each
 * URL. Each step is idempotent.
 */
import { createPublish, namedTags } from './publish.ts';
import { leadsOn, sortRound, withFormer, type PageToStore, type RoundRead, type Sorted } from './sortround.ts';
import { syncTags } from '../knowledge/source.ts';
import { count } from '../../clients/base/meter.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import type { Search } from '../../clients/knowledge/search/search.ts';
import { findOrganization } from '../../models/access/organization.ts';
import type { Crawl } from '../../models/crawl/crawl.ts';
import type { Settled } from '../../models/crawl/outcomes.ts';
import { countSet, findPagesByUrl, inheritTags, removePagesAt, touchPages } from '../../models/crawl/pageset.ts';
import type { Page } from '../../models/knowledge/page.ts';
import { savePageLinks } from '../../models/knowledge/pagelinks.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { reasonRow } from '../../models/rules/crawl/crawlreason.ts';
import { checkQuota, quotaEnvironment, type Quotas } from '../../models/rules/knowledge/quota.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type { FreshPage, RoundRead } from './sortround.ts';

export type PageStore = ReturnType<typeof createPageStore>;
type Deps = { search: Search; embedding: Pick<Embedding, 'model'>; quotas: Quotas; clock: () => Date };
type Stored = {
  /** The outcome of each URL of the round. */
  settled: Settled[];
  /** Why no further page can be stored. Pages that are not stored for this reason get no outcome. */
  full?: string;
};

export function createPageStore({ search, embedding, quotas, clock }: Deps) {
  const publish = createPublish({ search, embedding, clock });

  /** The environment whose quota applies to a crawl's pages, and how many pages count against it. */
  async function usedBy({ org_id, mode, replace }: Crawl) {
    const organization = await findOrganization(org_id);
    const environment = quotaEnvironment(mode, organization?.environment ?? 'sandbox');
    return { environment, used: await countSet(org_id, mode, !replace) };
  }

  /**
   * Returns as many of the new pages as the quota has room for. Only one crawl at a time adds pages, so no other crawl
   * takes the room meanwhile.
   */
  async function withRoom(
    crawl: Crawl,
    fresh: readonly PageToStore[],
  ): Promise<{ room: PageToStore[]; full?: string }> {
    const { environment, used } = await usedBy(crawl);
    for (const index of fresh.keys()) {
      try {
        checkQuota(quotas, environment, 'knowledge_pages', used + index);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        count('quota_refusals_total', { quota: 'knowledge_pages' });
        return { room: fresh.slice(0, index), full: error.message };
      }
    }
    return { room: [...fresh] };
  }

  /** Records that pages are unchanged, and gives them the crawl's tags, if it has any. */
  async function touch(crawl: Crawl, same: Sorted['same']) {
    const seen = same.map(({ url, standing, read }) => ({
      _id: standing._id,
      url: url === standing.url ? undefined : url,
      version: read && { etag: read.etag, last_modified: read.lastModified },
    }));
    // The text of a page may be unchanged while its links are not. The links are needed when the site next replies 304
    // (not modified).
    await savePageLinks(
      same.flatMap(({ standing, read }) =>
        read?.etag || read?.lastModified ? [{ _id: standing._id, links: read.links }] : [],
      ),
    );
    const tags = namedTags(crawl);
    await touchPages({ org_id: crawl.org_id, crawl_id: crawl._id }, seen, tags, clock());
    if (tags) for (const { _id } of seen) await syncTags(search, { orgId: crawl.org_id, sourceId: _id }, -1);
    return same.map(({ url, standing }) => ({ _id: standing._id, url }));
  }

  /**
   * A round may show that a former page has moved to a page that an earlier round of this crawl stored. The stored page
   * then gets the tags of the former page.
   */
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

  /** Stores the pages of a round. If the process dies in between, the round is fetched and stored again. */
  async function save(crawl: Crawl, round: RoundRead): Promise<Stored> {
    const { org_id, mode } = crawl;
    const urls = [...round.fresh, ...round.settled].map(({ url }) => url);
    const known = await findPagesByUrl(org_id, mode, !crawl.replace, urls);
    const sorted = await sortRound(crawl, round, known);
    const { room, full } = await withRoom(crawl, await withFormer(crawl, round, sorted.added));
    const kept = [...sorted.changed, ...room];
    const published = kept.length > 0 ? await publish(crawl, kept) : [];
    const seen = await touch(crawl, sorted.same);
    await tagLate(crawl, round, known);
    const settled = settledBy(round, sorted, room);
    if (!crawl.replace) {
      // Pages that are gone, and pages under other spellings of the stored URLs, are removed. A crawl with `replace`
      // leaves the live pages alone until its own set of pages is complete.
      const stand = [...seen, ...published];
      const gone = [...settled.filter(isGone), ...stand].map(({ url }) => url);
      await removePagesAt(
        org_id,
        mode,
        gone,
        clock(),
        stand.map(({ _id }) => _id),
      );
    }
    return { settled, ...defined({ full }) };
  }

  return {
    save,

    /** The number of further pages that a crawl may store. */
    async spare(crawl: Crawl): Promise<number> {
      const { environment, used } = await usedBy(crawl);
      return Math.max(0, quotas[environment].knowledge_pages - used);
    },
  };
}

/** The outcomes of a round's URLs. `room`: the new pages for which there was space; the others were not stored. */
function settledBy(
  round: RoundRead,
  { same, changed, added, folded }: Sorted,
  room: readonly PageToStore[],
): Settled[] {
  const out = new Set(added.slice(room.length).map(({ url }) => url));
  const stored: Settled[] = [
    ...folded.filter(({ to }) => !out.has(to)),
    ...same.map(({ url }) => ({ url, outcome: 'unchanged' as const })),
    ...[...changed, ...room].map(({ url }) => ({ url, outcome: 'indexed' as const })),
  ];
  const done = new Set(stored.map(({ url }) => url));
  return [...stored, ...round.settled.filter(({ url }) => !done.has(url))];
}

/**
 * Whether the page that was indexed from this URL must be removed at once. Duplicates stay until the end of the crawl,
 * because only then it is known whether the site answers every address with the same page.
 */
function isGone({ why }: Settled): boolean {
  const standing = why === undefined ? undefined : reasonRow(why).standing;
  return standing === 'taken' || standing === 'emptied';
}
