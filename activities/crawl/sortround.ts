/** Sorts the pages of a round into pages to store, unchanged pages, and pages with the same text as another page. */
import type { PageContent } from '../../clients/crawl/site/pages.ts';
import type { Crawl } from '../../models/crawl/crawl.ts';
import { listMoves, type Settled } from '../../models/crawl/outcomes.ts';
import { findPagesByContent, findPagesByUrl } from '../../models/crawl/pageset.ts';
import type { Page } from '../../models/knowledge/page.ts';
import { crawlStart } from '../../models/rules/crawl/crawl.ts';
import { explain } from '../../models/rules/crawl/crawlreason.ts';
import { formerAddresses } from '../../models/rules/crawl/fetchoutcome.ts';
import { inScope, pageKey } from '../../models/rules/crawl/url.ts';

export type FreshPage = {
  url: string;
  /** The page's links on its own host as canonical URLs, including those outside the scope of the crawl. */
  links: string[];
  content: PageContent;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/** The fetched round: pages with text, and the outcomes of the other URLs. */
export type RoundRead = { fresh: readonly FreshPage[]; settled: readonly Settled[] };
/** A URL whose page has text. `read` is missing when the site reported the page as unchanged. */
export type Seen = { url: string; hash: string; standing?: Page | undefined; read?: FreshPage };
/**
 * A page to store. `former`: a page with the same text, or one that moved to this URL. If the page to store is new, it
 * inherits the tags of `former`.
 */
export type PageToStore = FreshPage & { standing?: Page | undefined; former?: Page | undefined };
/** `folded`: URLs with the same text as another page. */
export type Sorted = {
  same: (Seen & { standing: Page })[];
  changed: PageToStore[];
  added: PageToStore[];
  folded: (Settled & { to: string })[];
};

/** Existing pages come first, so that of two pages with the same text the existing one stays. */
const order = ['same', 'changed', 'added'] as const;

function kindOf({ standing, hash }: Seen): (typeof order)[number] {
  if (standing?.live_generation === undefined) return 'added';
  return standing.content_sha256 === hash ? 'same' : 'changed';
}

/** The URLs of a round whose pages have text, including unchanged pages. */
function textsOf({ fresh, settled }: RoundRead, known: ReadonlyMap<string, Page>): Seen[] {
  const unchanged = settled.filter(({ outcome }) => outcome === 'unchanged');
  return [
    ...unchanged.flatMap(({ url }) => {
      const standing = known.get(url);
      return standing ? [{ url, hash: standing.content_sha256, standing }] : [];
    }),
    ...fresh.map((read) => ({ url: read.url, hash: read.content.contentHash, standing: known.get(read.url), read })),
  ];
}

/**
 * Sorts the pages of a round. If two pages have the same text, the text is stored once. Pages of earlier rounds are
 * compared only if this crawl has stored their outcome, because other pages may have changed.
 */
export async function sortRound(crawl: Crawl, round: RoundRead, known: ReadonlyMap<string, Page>): Promise<Sorted> {
  const texts = textsOf(round, known);
  const keys = new Set([...round.fresh, ...round.settled].map(({ url }) => pageKey(url)));
  const hashes = texts.map(({ hash }) => hash);
  const saying = await findPagesByContent(crawl.org_id, crawl.mode, !crawl.replace, hashes);
  const { scope } = crawlStart(crawl.url);
  const settledBefore = (page: Page) => page.crawl_id === crawl._id && !keys.has(pageKey(page.url));
  const first = new Map<string, string>();
  const sorted: Sorted = { same: [], changed: [], added: [], folded: [] };
  for (const seen of texts.toSorted((a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)))) {
    const { url, hash, standing, read } = seen;
    const kind = kindOf(seen);
    const others = saying.get(hash) ?? [];
    const twin = first.get(hash) ?? others.find(settledBefore)?.url;
    if (twin === undefined) first.set(hash, url);
    if (twin !== undefined) {
      sorted.folded.push({ url, outcome: 'skipped', why: 'duplicate', to: twin, reason: explain('duplicate', twin) });
    } else if (kind === 'same') {
      sorted.same.push({ ...seen, standing: standing! });
    } else {
      // A text that moves to another URL of the site keeps its tags.
      sorted[kind].push({ ...read!, standing, former: others.find((page) => inScope(scope, page.url)) });
    }
  }
  return sorted;
}

/** Whether another URL replaces this one: the page has moved to that URL, or names it as canonical. */
export function leadsOn(settled: Settled): settled is Settled & { to: string } {
  return settled.to !== undefined && (settled.why === 'moved' || settled.why === 'canonical');
}

/**
 * Gives new pages the tags of former pages that moved to them or name them as canonical. The former pages are found by
 * URL, because the text may change with the move. A former page with tags comes before one without, so that a page that
 * is hidden from some customers is not shown to all.
 */
export async function withFormer(
  crawl: Crawl,
  { settled }: RoundRead,
  added: readonly PageToStore[],
): Promise<PageToStore[]> {
  if (added.length === 0) return [];
  const moves = [...(await listMoves(crawl._id)), ...settled.filter(leadsOn)];
  const formersOf = formerAddresses(moves);
  const urlsOf = ({ url }: PageToStore) => formersOf(pageKey(url)).map((key) => `https://${key}`);
  const pages = await findPagesByUrl(crawl.org_id, crawl.mode, !crawl.replace, added.flatMap(urlsOf));
  return added.map((page) => {
    const there = urlsOf(page).flatMap((url) => pages.get(url) ?? []);
    return { ...page, former: page.former ?? there.find(({ segments }) => segments.length > 0) ?? there[0] };
  });
}
