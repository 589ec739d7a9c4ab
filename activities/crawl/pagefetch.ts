/**
 * Fetches and reads a round of pages of a crawl, and adds what they link to to its frontier. Nothing is settled here: killed
 * anywhere, the round is fetched again.
 */
import pLimit from 'p-limit';
import type { FreshPage } from './pagestore.ts';
import { createYielder } from '../../clients/base/yielding.ts';
import type { Site } from '../../clients/site/site.ts';
import type { Crawl } from '../../models/crawl/crawl.ts';
import { addToFrontier, putBack, type Delayed, type Frontier, type Settled } from '../../models/crawl/frontier.ts';
import type { Page } from '../../models/knowledge/page.ts';
import { findPageLinks } from '../../models/knowledge/pagelinks.ts';
import { findPagesByUrl } from '../../models/crawl/pageset.ts';
import { explain, reasonRow, stillAnswers, type CrawlReason } from '../../models/rules/crawl/crawlreason.ts';
import { yieldsTo } from '../../models/rules/crawl/fetchoutcome.ts';
import { countSeries, isTrap, placeOf, type Found, type SeriesCounts } from '../../models/rules/crawl/frontier.ts';
import { canonicalUrl, inScope, isFileUrl, pageKey } from '../../models/rules/crawl/url.ts';

/** Pages under way at once, waiting for their turn at the site or being read. */
const PAGES_AT_ONCE = 12;
/** Characters of text and links after which a round begins no further page: two rounds are in memory, of several crawls. */
const CHARACTERS_A_ROUND = 8_000_000;

/**
 * What a round has read. `settled`: what became of the addresses that gave no page to store; `added`: addresses it found;
 * `waitMs`: for how long the site wants to be left alone, 0 if it does not; a page that is to wait by itself does not count.
 */
export type Round = {
  taken: Frontier[];
  fresh: FreshPage[];
  settled: Settled[];
  unchanged: string[];
  added: number;
  waitMs: number;
};

export function createPageFetch({ clock }: { clock: () => Date }) {
  /** Fetches and reads one address. What it links to is noted; what it says is returned. */
  async function visit(crawl: Crawl, site: Site, entry: Frontier, known: Page | undefined, signal: AbortSignal) {
    const version = known?.live_generation === undefined ? {} : { etag: known.etag, lastModified: known.last_modified };
    const fetched = await site.fetch(entry.url, { ...version, tries: entry.tries, signal });
    const next: Found[] = [];
    if (fetched.kind === 'later') return { next, later: fetched };
    const skip = (reason: CrawlReason, detail?: string | number, to?: string) => {
      const { kind, standing } = reasonRow(reason);
      const stays = standing === undefined && known?.live_generation !== undefined && !crawl.replace;
      const sentence = `${explain(reason, detail)}${stays ? ` ${stillAnswers}` : ''}`;
      return { next, settled: { url: entry.url, outcome: kind, why: reason, reason: sentence, to } };
    };
    if (fetched.kind === 'unchanged') return { next, settled: { url: entry.url, outcome: 'unchanged' as const } };
    if (fetched.kind === 'refused') return skip(fetched.reason, fetched.detail);
    if (fetched.kind === 'redirect') {
      const { to, permanent } = fetched;
      if (!inScope(site.scope, to)) return skip(permanent ? 'moved_away' : 'out_of_scope', to);
      next.push({ url: to, depth: entry.depth });
      return skip(permanent ? 'moved' : 'redirect', to, to);
    }
    const { content } = fetched;
    for (const link of content.links) {
      const { url } = link.nofollow ? {} : canonicalUrl(link.url);
      if (url !== undefined && inScope(site.scope, url) && !isFileUrl(url)) next.push({ url, depth: entry.depth + 1 });
    }
    if (content.noindex) return skip('noindex');
    const canonical = content.canonical === undefined ? undefined : canonicalUrl(content.canonical).url;
    const another = canonical !== undefined && yieldsTo(entry.url, canonical, crawl.url) && !entry.own;
    if (another && inScope(site.scope, canonical)) {
      next.push({ url: canonical, depth: entry.depth });
      return skip('canonical', canonical, canonical);
    }
    if (content.passages.length === 0) return fetched.lacks ? skip('unrendered', fetched.lacks) : skip('empty');
    // The links stand in `next` already; two rounds of pages are in memory.
    const page = { ...fetched, content: { ...content, links: [] } };
    return { next, fresh: { url: entry.url, links: next.map(({ url }) => url), ...page } };
  }

  /** Where pages that are unchanged link to, as it was when they were read. */
  async function linksOf(
    entries: Frontier[],
    unchanged: readonly string[],
    known: Map<string, Page>,
  ): Promise<Found[]> {
    const pages = entries.flatMap(({ url, depth }) => {
      const page = unchanged.includes(url) ? known.get(url) : undefined;
      return page ? [{ _id: page._id, depth }] : [];
    });
    const links = await findPageLinks(pages.map(({ _id }) => _id));
    return pages.flatMap(({ _id, depth }) => (links.get(_id) ?? []).map((url) => ({ url, depth: depth + 1 })));
  }

  /**
   * What was found, each page once and without traps, in the order it is to be read. A round may bring a hundred thousand
   * links: each is looked at once, with pauses for whatever else the process does.
   */
  async function inOrder(crawl: Crawl, lists: readonly Found[][], counts: SeriesCounts): Promise<Found[]> {
    const pause = createYielder();
    const nearest = new Map<string, Found>();
    for (const list of lists) {
      for (const one of list) {
        await pause();
        const key = pageKey(one.url);
        const other = nearest.get(key);
        if (other === undefined || one.depth < other.depth) nearest.set(key, one);
      }
    }
    // Costs are small numbers, so that nothing has to be sorted but those.
    const byCost = new Map<number, Found[]>();
    for (const one of nearest.values()) {
      await pause();
      const cost = placeOf(one, counts, crawl.max_pages);
      if (cost === undefined) continue;
      const equal = byCost.get(cost);
      if (equal) equal.push(one);
      else byCost.set(cost, [one]);
    }
    return [...byCost].toSorted(([a], [b]) => a - b).flatMap(([, equal]) => equal);
  }

  /** Fetches a round of pages and adds what they link to, `room` addresses at most; no page is begun after `until`. Nothing is settled. */
  async function fetchRound(
    crawl: Crawl,
    site: Site,
    entries: Frontier[],
    { room, until }: { room: number; until: number },
    counts: SeriesCounts,
    signal: AbortSignal,
  ): Promise<Round> {
    const known = await findPagesByUrl(
      crawl.org_id,
      crawl.mode,
      !crawl.replace,
      entries.map(({ url }) => url),
    );
    const atOnce = pLimit(PAGES_AT_ONCE);
    let characters = 0;
    let waitMs = 0;
    const visited = await Promise.all(
      entries.map((entry) =>
        atOnce(async () => {
          // What is not begun stays in the frontier: a slow or a wordy site fills many small rounds, not one large one.
          if (clock().getTime() > until || characters > CHARACTERS_A_ROUND || waitMs > 0) return undefined;
          if (isTrap(entry, counts, crawl.max_pages)) {
            return { next: [], settled: { url: entry.url, outcome: 'skipped' as const, reason: explain('trap') } };
          }
          countSeries(counts, entry.url);
          const seen = await visit(crawl, site, entry, known.get(entry.url), signal);
          if ('fresh' in seen) characters += seen.fresh.content.textLength;
          characters += seen.next.reduce((sum, { url }) => sum + url.length, 0);
          if (!('later' in seen)) return seen;
          const { of, tries, waitMs: wait } = seen.later;
          if (of === 'host') waitMs = Math.max(waitMs, wait);
          const due = of === 'page' ? { not_before: new Date(clock().getTime() + wait) } : {};
          const later: Delayed = { _id: entry._id, tries, ...due };
          return { ...seen, later };
        }),
      ),
    );
    const visits = visited.filter((one) => one !== undefined);
    const fresh: FreshPage[] = visits.flatMap((one) => ('fresh' in one ? [one.fresh] : []));
    const settled: Settled[] = visits.flatMap((one) => ('settled' in one ? [one.settled] : []));
    await putBack(visits.flatMap((one) => ('later' in one ? [one.later] : [])));
    const unchanged = settled.filter(({ outcome }) => outcome === 'unchanged').map(({ url }) => url);
    const lists = [...visits.map(({ next }) => next), await linksOf(entries, unchanged, known)];
    const added = room > 0 ? await addToFrontier(crawl._id, await inOrder(crawl, lists, counts), clock(), room) : 0;
    return { taken: entries, fresh, settled, unchanged, added, waitMs };
  }

  return { fetchRound };
}
