/**
 * The outcomes of a crawl's addresses, where each address leads, and which previously indexed pages are removed. Pure.
 */
import { reasonRow, type CrawlReason } from './crawlreason.ts';
import { pageKey, parametersOf, segmentsOf } from './url.ts';

/**
 * The outcome of one address; `outcome` is absent while the address waits to be fetched. `to`: the target of a
 * redirect, or the page that was indexed instead.
 */
export type FetchOutcome = {
  outcome?: 'indexed' | 'unchanged' | 'skipped' | 'failed';
  why?: CrawlReason | undefined;
  to?: string | undefined;
};
/** The outcomes of addresses; the keys are made by `pageKey`. */
export type FetchOutcomes = ReadonlyMap<string, FetchOutcome>;

/**
 * Where an address finally leads, over redirects and canonical links. `page`: to a page of this crawl. `gone`: the page
 * no longer exists or has no text. `open`: an address on the way was not requested yet. `none`: to an error, a refusal
 * or a redirect loop.
 */
export function targetOf(key: string, outcomes: FetchOutcomes): 'page' | 'gone' | 'open' | 'none' {
  const met = new Set<string>();
  for (let at = key; !met.has(at);) {
    met.add(at);
    const found = outcomes.get(at);
    if (found === undefined) return 'none';
    const { outcome, why, to } = found;
    if (outcome === undefined) return 'open';
    if (outcome === 'indexed' || outcome === 'unchanged' || why === 'duplicate') return 'page';
    if (to === undefined || (why !== 'moved' && why !== 'canonical' && why !== 'redirect')) {
      const standing = why === undefined ? undefined : reasonRow(why).standing;
      return standing === 'taken' || standing === 'emptied' ? 'gone' : 'none';
    }
    at = pageKey(to);
  }
  return 'none';
}

/**
 * Returns a function that lists the former addresses of a page, over any number of moves, nearest first. Addresses are
 * keys (`pageKey`).
 */
export function formerAddresses(moves: readonly { url: string; to: string }[]): (key: string) => string[] {
  const leading = Map.groupBy(moves, ({ to }) => pageKey(to));
  return (key) => {
    const met = new Set([key]);
    for (const at of met) for (const { url } of leading.get(at) ?? []) met.add(pageKey(url));
    return [...met].slice(1);
  };
}

/**
 * The keys of addresses whose previously indexed page is removed: the address leads to another page, or has moved to a
 * page that is gone.
 */
export function replacedPages(outcomes: FetchOutcomes): string[] {
  return [...outcomes].flatMap(([key, { why }]) => {
    const end = why === 'moved' || why === 'canonical' ? targetOf(key, outcomes) : 'none';
    return end === 'page' || (end === 'gone' && why === 'moved') ? [key] : [];
  });
}

/** The keys of pages whose canonical link leads to no page, so that the pages are indexed themselves. */
export function unresolvedCanonicals(outcomes: FetchOutcomes): string[] {
  // When two pages name each other as canonical, the first page is indexed and counts as the canonical page of the
  // second.
  const left = new Map(outcomes);
  for (const [key, { why }] of outcomes) {
    if (why === 'canonical' && ['none', 'gone'].includes(targetOf(key, left))) left.set(key, {});
  }
  return [...outcomes].flatMap(([key, { outcome }]) => (left.get(key)?.outcome === outcome ? [] : [key]));
}

type Standing = { has(key: string): boolean };

/**
 * The keys of live pages that are duplicates and may be removed, because their text is indexed at another address. When
 * there are more duplicates than pages read, there are none, because the site probably answers every address with the
 * same page.
 */
export function duplicatePages(outcomes: FetchOutcomes, standing: Standing): string[] {
  const all = [...outcomes];
  const read = all.filter(([, { outcome }]) => outcome === 'indexed' || outcome === 'unchanged').length;
  const copies = all.flatMap(([key, { why }]) => (why === 'duplicate' && standing.has(key) ? [key] : []));
  return copies.length > read ? [] : copies;
}

/**
 * The keys of live pages that a replacing crawl met but could not index, although the site did not remove them.
 *
 * Pages that the crawl did not reach are left out, because the crawl may have come to its limit. Duplicates that may be
 * removed (`duplicatePages`) are left out, because their text is indexed.
 */
export function missingPages(outcomes: FetchOutcomes, standing: Standing): string[] {
  const removable = new Set(duplicatePages(outcomes, standing));
  return [...outcomes].flatMap(([key, { outcome, why }]) => {
    if (!standing.has(key)) return [];
    if (outcome === 'failed') return [key];
    if (why === 'duplicate') return removable.has(key) ? [] : [key];
    if (outcome !== 'skipped' || why === undefined || why === 'trap') return [];
    const row = reasonRow(why);
    const safe = row.standing === 'elsewhere' ? targetOf(key, outcomes) !== 'none' : row.standing === 'taken';
    return safe ? [] : [key];
  });
}

/**
 * Whether a page is left out because it names another page as canonical. A page at another path that names the front
 * page is still indexed, because naming the front page on every page is a common mistake in templates. If the front
 * page was really meant, the texts are equal and the page is a duplicate.
 */
export function defersTo(url: string, canonical: string, start: string): boolean {
  if (pageKey(canonical) === pageKey(url)) return false;
  const path = segmentsOf(canonical).join('/');
  const front = pageKey(canonical) === pageKey(start) || (path === '' && parametersOf(canonical).length === 0);
  return !front || path === segmentsOf(url).join('/');
}

/**
 * Whether a replacing set of pages is complete enough to go live. `read`: the number of pages read. `lost`: the number
 * of live pages that could not be indexed again. `lost` must be 0, because an outage of the site must not remove pages.
 * `failed`: the number of failed addresses. `failed` may be 1 or up to a fifth of `read`, because many sites have some
 * broken pages.
 */
export function isWholeSet({ read, failed, lost }: { read: number; failed: number; lost: number }): boolean {
  return read > 0 && lost === 0 && failed <= Math.max(1, Math.floor(read / 5));
}
