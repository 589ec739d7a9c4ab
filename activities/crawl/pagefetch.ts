/**
 * Fetches and reads a round of pages of a crawl, and adds their links to the frontier. No outcome of a URL is stored
 * here: if the process dies at any point, the round is fetched again.
 */
import pLimit from 'p-limit';
import type { FreshPage } from './pagestore.ts';
import { noLinks, sortLinks, visit, type Visit, type Visiting } from './visit.ts';
import { createYielder } from '../../clients/base/yielding.ts';
import type { Site } from '../../clients/crawl/site/site.ts';
import { addToFrontier, reopenFiles, noteUnasked, putBack, type Frontier } from '../../models/crawl/frontier.ts';
import type { Settled } from '../../models/crawl/outcomes.ts';
import type { Page } from '../../models/knowledge/page.ts';
import { findPageLinks } from '../../models/knowledge/pagelinks.ts';
import { findPagesByUrl } from '../../models/crawl/pageset.ts';
import { explain } from '../../models/rules/crawl/crawlreason.ts';
import { countSeries, isTrap, placeOf, type Found } from '../../models/rules/crawl/frontier.ts';
import { inScope, isFileUrl, pageKey } from '../../models/rules/crawl/url.ts';

/** The maximum number of pages in flight: waiting for the site, or being read. */
const pagesAtOnce = 12;
/**
 * A round starts no further page after this many characters of text and links. The limit is needed because the process
 * holds two rounds of each of several crawls in memory.
 */
const charactersARound = 8_000_000;

/**
 * The result of a round. `taken`: the URLs that the round began to process, including those it postponed. `settled`:
 * the outcomes of URLs that yielded no page to store. `added`: the number of URLs that were added to the frontier.
 * `unasked`: the number of found URLs that are skipped without a request. `waitMs`: how long the site asks the crawler
 * to pause all requests, in ms, or 0; a pause for one page only is not included.
 */
export type Round = {
  taken: Frontier[];
  fresh: FreshPage[];
  settled: Settled[];
  unchanged: string[];
  added: number;
  unasked: number;
  waitMs: number;
};

/**
 * `room`: how many URLs a round may add to the frontier. `unasked`: how many URLs it may record as skipped. `until`: no
 * page is fetched after this time (ms).
 */
type Bounds = { room: number; unasked: number; until: number };

export function createPageFetch({ clock }: { clock: () => Date }) {
  /**
   * The links of unchanged pages, as they were when the pages were last read. They are filtered, because the crawl that
   * read the pages may have had another scope.
   */
  async function linksOf(site: Site, entries: Frontier[], unchanged: readonly string[], known: Map<string, Page>) {
    const pages = entries.flatMap(({ url, depth }) => {
      const page = unchanged.includes(url) ? known.get(url) : undefined;
      return page ? [{ _id: page._id, depth }] : [];
    });
    const links = await findPageLinks(pages.map(({ _id }) => _id));
    return pages.map(({ _id, depth }) => {
      const within = (links.get(_id) ?? []).filter((url) => inScope(site.scope, url));
      return sortLinks(within, depth + 1);
    });
  }

  /**
   * Returns the found URLs, each page once and in the order to fetch them. Crawler traps (URLs of a seemingly endless
   * series) are returned separately, at most `maxTraps` of them. A round may find a hundred thousand links, so the
   * loops yield to other work of the process.
   */
  async function inOrder({ crawl, counts }: Visiting, lists: readonly Found[][], maxTraps: number) {
    const yieldTurn = createYielder();
    const nearest = new Map<string, Found>();
    for (const list of lists) {
      for (const one of list) {
        await yieldTurn();
        const key = pageKey(one.url);
        const other = nearest.get(key);
        if (other === undefined || one.depth < other.depth) nearest.set(key, one);
      }
    }
    // Costs are small integers, so grouping by cost is enough and only the costs are sorted.
    const byCost = new Map<number, Found[]>();
    const traps: Found[] = [];
    for (const one of nearest.values()) {
      await yieldTurn();
      const cost = placeOf(one, counts, crawl.max_pages);
      const equal = cost === undefined ? traps : byCost.get(cost);
      if (equal === undefined) byCost.set(cost!, [one]);
      else if (cost !== undefined || traps.length < maxTraps) equal.push(one);
    }
    const pages = [...byCost].toSorted(([a], [b]) => a - b).flatMap(([, equal]) => equal);
    return { pages, traps };
  }

  /**
   * Fetches the URLs of a round, several in parallel. A URL that was not started stays in the frontier and has no
   * result.
   */
  async function visitAll(
    visiting: Visiting,
    entries: Frontier[],
    known: Map<string, Page>,
    until: number,
  ): Promise<(Visit | undefined)[]> {
    const { crawl, counts } = visiting;
    const atOnce = pLimit(pagesAtOnce);
    let characters = 0;
    let left = false;
    const begin = async (entry: Frontier): Promise<Visit | undefined> => {
      // These conditions end a round early. So a slow site, or one with long pages, gives many small rounds.
      if (clock().getTime() > until || characters > charactersARound || left) return undefined;
      if (isTrap(entry, counts, crawl.max_pages)) {
        const settled = { url: entry.url, outcome: 'skipped', why: 'trap', reason: explain('trap') } as const;
        return { ...noLinks, settled };
      }
      countSeries(counts, entry.url);
      const seen = await visit(visiting, entry, known.get(entry.url), clock);
      characters += seen.fresh?.content.textLength ?? 0;
      const links = seen.fresh?.links ?? [...seen.next, ...seen.files].map(({ url }) => url);
      characters += links.reduce((sum, url) => sum + url.length, 0);
      if (seen.later?.host) left = true;
      return seen;
    };
    return Promise.all(entries.map((entry) => atOnce(() => begin(entry))));
  }

  /**
   * Adds to the frontier those found URLs of a round that must be fetched. Records the other found URLs, which are
   * skipped without a request.
   */
  async function addFound(
    visiting: Visiting,
    found: readonly { next: Found[]; files: Found[]; target?: string }[],
    { room, unasked }: Bounds,
  ): Promise<{ added: number; unasked: number }> {
    const { _id: crawlId } = visiting.crawl;
    const lists = found.map(({ next }) => next);
    const { pages, traps } = await inOrder(visiting, lists, unasked);
    await reopenFiles(
      crawlId,
      found.flatMap(({ target }) => (target !== undefined && isFileUrl(target) ? [target] : [])),
    );
    const added = room > 0 ? await addToFrontier(crawlId, pages, clock(), room) : 0;
    const trapped = await noteUnasked(crawlId, traps, 'trap', clock(), unasked);
    const files = found.flatMap((one) => one.files);
    return { added, unasked: trapped + (await noteUnasked(crawlId, files, 'file', clock(), unasked - trapped)) };
  }

  /** Fetches a round of pages and adds their links to the frontier. Stores no outcome. */
  async function fetchRound(visiting: Visiting, entries: Frontier[], bounds: Bounds): Promise<Round> {
    const { crawl, site } = visiting;
    const urls = entries.map(({ url }) => url);
    const known = await findPagesByUrl(crawl.org_id, crawl.mode, !crawl.replace, urls);
    const visited = await visitAll(visiting, entries, known, bounds.until);
    const taken = entries.filter((_, at) => visited[at] !== undefined);
    const visits = visited.filter((one) => one !== undefined);
    const delays = visits.flatMap(({ later }) => later ?? []);
    await putBack(delays.map(({ entry }) => entry));
    const settled = visits.flatMap((one) => one.settled ?? []);
    const unchanged = settled.filter(({ outcome }) => outcome === 'unchanged').map(({ url }) => url);
    const found = [...visits, ...(await linksOf(site, taken, unchanged, known))];
    return {
      taken,
      fresh: visits.flatMap(({ fresh }) => fresh ?? []),
      settled,
      unchanged,
      ...(await addFound(visiting, found, bounds)),
      waitMs: Math.max(0, ...delays.map(({ host, waitMs }) => (host ? waitMs : 0))),
    };
  }

  return { fetchRound };
}
