/** Visits one URL of a crawl: fetches it, and returns the pages to fetch next, the files, and the page to store. */
import type { FreshPage } from './pagestore.ts';
import type { FetchedPage } from '../../clients/crawl/site/fetched.ts';
import type { PageContent } from '../../clients/crawl/site/pages.ts';
import type { Site } from '../../clients/crawl/site/site.ts';
import type { Crawl } from '../../models/crawl/crawl.ts';
import type { Delayed, Frontier } from '../../models/crawl/frontier.ts';
import type { Settled } from '../../models/crawl/outcomes.ts';
import type { Page } from '../../models/knowledge/page.ts';
import { explain, reasonRow, stillAnswers, type CrawlReason } from '../../models/rules/crawl/crawlreason.ts';
import { defersTo } from '../../models/rules/crawl/fetchoutcome.ts';
import type { Found, SeriesCounts } from '../../models/rules/crawl/frontier.ts';
import { canonicalUrl, inScope, isFileUrl } from '../../models/rules/crawl/url.ts';

/** What the visits of a batch share. `counts`: the number of visited URLs of each series. */
export type Visiting = { crawl: Crawl; site: Site; counts: SeriesCounts; signal: AbortSignal };

/**
 * The result for one URL. `next`: pages to fetch; `files`: links that look like files; `target`: the target of a
 * redirect.
 */
export type Visit = {
  next: Found[];
  files: Found[];
  target?: string;
  fresh?: FreshPage;
  settled?: Settled;
  /** For `waitMs` ms, this URL must not be requested; with `host`, no URL of the host. */
  later?: { entry: Delayed; host: boolean; waitMs: number };
};

/** Sorts links into pages and files; keeps their order. */
export function sortLinks(urls: readonly string[], depth: number): { next: Found[]; files: Found[] } {
  const sorted: { next: Found[]; files: Found[] } = { next: [], files: [] };
  for (const url of urls) (isFileUrl(url) ? sorted.files : sorted.next).push({ url, depth });
  return sorted;
}

/**
 * The canonical URLs of a page's links that stay on its host: `within` the scope of the crawl, or `outside` it.
 */
function linksOnHost({ scope }: Site, { links }: PageContent): { within: string[]; outside: string[] } {
  const host = { ...scope, prefix: '/' };
  const sorted: { within: string[]; outside: string[] } = { within: [], outside: [] };
  for (const link of links) {
    const { url } = link.nofollow ? {} : canonicalUrl(link.url);
    if (url === undefined || !inScope(host, url)) continue;
    (inScope(scope, url) ? sorted.within : sorted.outside).push(url);
  }
  return sorted;
}

/** The URL that a page names as canonical instead of itself; undefined when the page itself is to be indexed. */
function canonicalOf(crawl: Crawl, site: Site, entry: Frontier, { canonical }: PageContent): string | undefined {
  const named = canonical === undefined ? undefined : canonicalUrl(canonical).url;
  if (named === undefined || entry.own || !defersTo(entry.url, named, crawl.url)) return undefined;
  return inScope(site.scope, named) ? named : undefined;
}

/** The result for a URL without a page to store. `found`: the links of its page. */
function leftOut(
  { crawl, entry, known }: { crawl: Crawl; entry: Frontier; known: Page | undefined },
  found: Pick<Visit, 'next' | 'files'>,
  reason: CrawlReason,
  detail?: string | number,
  to?: string,
): Visit {
  const { kind, standing } = reasonRow(reason);
  const stays = standing === undefined && known?.live_generation !== undefined && !crawl.replace;
  const sentence = `${explain(reason, detail)}${stays ? ` ${stillAnswers}` : ''}`;
  const settled = { url: entry.url, outcome: kind, why: reason, reason: sentence, to };
  if (to === undefined) return { ...found, settled };
  return { ...found, next: [...found.next, { url: to, depth: entry.depth }], target: to, settled };
}

export const noLinks = { next: [], files: [] };

/** The result for a page that was read: the page to store, or the reason why there is none. */
function readVisit(
  of: { crawl: Crawl; site: Site; entry: Frontier; known: Page | undefined },
  fetched: FetchedPage,
): Visit {
  const { crawl, site, entry } = of;
  const { content } = fetched;
  const { within, outside } = linksOnHost(site, content);
  const found = sortLinks(within, entry.depth + 1);
  if (content.noindex) return leftOut(of, found, 'noindex');
  const canonical = canonicalOf(crawl, site, entry, content);
  if (canonical !== undefined) return leftOut(of, found, 'canonical', canonical, canonical);
  if (content.chunks.length === 0) {
    return fetched.lacks ? leftOut(of, found, 'unrendered', fetched.lacks) : leftOut(of, found, 'empty');
  }
  const { next, files } = found;
  // The links are in `found` already; dropping them here saves memory, because two rounds are in memory.
  const page = { ...fetched, content: { ...content, links: [] } };
  // The links outside the crawl's scope are stored too: a later crawl with a wider scope needs them if the page is
  // unchanged then. They come last, because only the first links of a page are stored.
  const links = [...[...next, ...files].map(({ url }) => url), ...outside];
  return { ...found, fresh: { url: entry.url, links, ...page } };
}

export async function visit(
  { crawl, site, signal }: Visiting,
  entry: Frontier,
  known: Page | undefined,
  now: () => Date,
): Promise<Visit> {
  const of = { crawl, site, entry, known };
  const version = known?.live_generation === undefined ? {} : { etag: known.etag, lastModified: known.last_modified };
  const fetched = await site.fetch(entry.url, { ...version, tries: entry.tries, signal });
  if (fetched.kind === 'later') {
    const { tries, waitMs } = fetched;
    const host = fetched.of === 'host';
    const due = host ? {} : { not_before: new Date(now().getTime() + waitMs) };
    return { ...noLinks, later: { entry: { _id: entry._id, crawl_id: entry.crawl_id, tries, ...due }, host, waitMs } };
  }
  if (fetched.kind === 'unchanged') return { ...noLinks, settled: { url: entry.url, outcome: 'unchanged' } };
  if (fetched.kind === 'refused') return leftOut(of, noLinks, fetched.reason, fetched.detail);
  if (fetched.kind === 'page') return readVisit(of, fetched);
  const { to, permanent } = fetched;
  if (!inScope(site.scope, to)) return leftOut(of, noLinks, permanent ? 'moved_away' : 'out_of_scope', to);
  return leftOut(of, noLinks, permanent ? 'moved' : 'redirect', to, to);
}
