/** Sorts what a round of a crawl has read: what is stored, what stays as it is, and what another page says already. */
import type { PageContent } from '../../clients/site/pages.ts';
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
  /** Canonical addresses within the site. */
  links: string[];
  content: PageContent;
  etag?: string | undefined;
  lastModified?: string | undefined;
};

/** What a round has read: pages with text, and what became of the other addresses. */
export type RoundRead = { fresh: readonly FreshPage[]; settled: readonly Settled[] };
/** An address that has a text; `read` is missing when its site said that it is unchanged. */
export type Seen = { url: string; hash: string; standing?: Page | undefined; read?: FreshPage };
/** A page to store. `former`: one that says the same, or that has moved here; a new page gets its tags. */
export type PageToStore = FreshPage & { standing?: Page | undefined; former?: Page | undefined };
/** `folded`: addresses whose text another page has. */
export type Sorted = {
  same: (Seen & { standing: Page })[];
  changed: PageToStore[];
  added: PageToStore[];
  folded: (Settled & { to: string })[];
};

/** What stands already comes first, so that it is what stays of two pages with one text. */
const order = ['same', 'changed', 'added'] as const;

function kindOf({ standing, hash }: Seen): (typeof order)[number] {
  if (standing?.live_generation === undefined) return 'added';
  return standing.content_sha256 === hash ? 'same' : 'changed';
}

/** The addresses of a round that have a text, those that are unchanged included. */
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
 * Which of what a round read is to be stored. A text that two pages have is kept once, but only what this crawl itself has
 * settled counts: of a page that it has not come to yet, nobody knows whether it still says so.
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
      // A text that is found at another place of the site keeps the tags that it had.
      sorted[kind].push({ ...read!, standing, former: others.find((page) => inScope(scope, page.url)) });
    }
  }
  return sorted;
}

/** Whether the address leads to another one that takes its place. */
export function leadsOn(settled: Settled): settled is Settled & { to: string } {
  return settled.to !== undefined && (settled.why === 'moved' || settled.why === 'canonical');
}

/**
 * New pages with the tags of those that this crawl found moved there, or naming them: a text that moves may change on the
 * way. Of several a tagged one counts, so that what was kept from some is not shown to all.
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
