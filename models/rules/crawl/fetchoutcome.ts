/** What became of the addresses of a crawl, where each leads, and which pages of earlier crawls have to be removed. Pure. */
import { reasonRow, type CrawlReason } from './crawlreason.ts';
import { pageKey, parametersOf, segmentsOf } from './url.ts';

/** What became of one address of a crawl; without an outcome it waits. `to`: where it leads, or the page indexed instead. */
export type FetchOutcome = {
  outcome?: 'indexed' | 'unchanged' | 'skipped' | 'failed';
  why?: CrawlReason | undefined;
  to?: string | undefined;
};
/** By `pageKey`. */
export type FetchOutcomes = ReadonlyMap<string, FetchOutcome>;

/**
 * What an address leads to, over redirects and canonical addresses: a `page` of this crawl, `gone` when the site says that it
 * no longer exists, `open` when it was not requested yet, else `none` (it failed, was refused, or the redirects form a loop).
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

/** Gives the former addresses of a page, over any number of moves, nearest first. Addresses are keys (`pageKey`). */
export function formerAddresses(moves: readonly { url: string; to: string }[]): (key: string) => string[] {
  const leading = Map.groupBy(moves, ({ to }) => pageKey(to));
  return (key) => {
    const met = new Set([key]);
    for (const at of met) for (const { url } of leading.get(at) ?? []) met.add(pageKey(url));
    return [...met].slice(1);
  };
}

/** Pages (keys) that another page of this crawl has replaced; what was indexed from them is to be removed. */
export function replacedPages(outcomes: FetchOutcomes): string[] {
  return [...outcomes].flatMap(([key, { why }]) => {
    const end = why === 'moved' || why === 'canonical' ? targetOf(key, outcomes) : 'none';
    return end === 'page' || (end === 'gone' && why === 'moved') ? [key] : [];
  });
}

/** Pages (keys) whose canonical address turned out to hold no page, so that they are indexed themselves. */
export function unresolvedCanonicals(outcomes: FetchOutcomes): string[] {
  // Where two pages name each other as canonical, the first one is indexed, and it is the canonical page of the second.
  const left = new Map(outcomes);
  for (const [key, { why }] of outcomes) {
    if (why === 'canonical' && ['none', 'gone'].includes(targetOf(key, left))) left.set(key, {});
  }
  return [...outcomes].flatMap(([key, { outcome }]) => (left.get(key)?.outcome === outcome ? [] : [key]));
}

/**
 * Pages (keys) of the live set that a replacing crawl has met without being able to index them, although the site did not
 * remove them. Pages that the crawl did not reach do not count, because it may have come to its limit. Duplicates do not
 * count either, because their text is indexed; but when there are more duplicates than pages read, the site probably answers
 * every address with the same page, and they do.
 */
export function missingPages(outcomes: FetchOutcomes, standing: { has(key: string): boolean }): string[] {
  const all = [...outcomes];
  const read = all.filter(([, { outcome }]) => outcome === 'indexed' || outcome === 'unchanged').length;
  const copies = all.filter(([key, { why }]) => why === 'duplicate' && standing.has(key)).length;
  return all.flatMap(([key, { outcome, why }]) => {
    if (!standing.has(key)) return [];
    if (outcome === 'failed') return [key];
    if (why === 'duplicate') return copies > read ? [key] : [];
    if (outcome !== 'skipped' || why === undefined || why === 'trap') return [];
    const row = reasonRow(why);
    const safe = row.standing === 'elsewhere' ? targetOf(key, outcomes) !== 'none' : row.standing === 'taken';
    return safe ? [] : [key];
  });
}

/**
 * Whether a page is left out because it names another one as canonical. It is not when a page at another path names the front
 * page: that is a common mistake of templates. Where the front page is meant, the texts are equal and the page is a duplicate.
 */
export function defersTo(url: string, canonical: string, start: string): boolean {
  if (pageKey(canonical) === pageKey(url)) return false;
  const path = segmentsOf(canonical).join('/');
  const front = pageKey(canonical) === pageKey(start) || (path === '' && parametersOf(canonical).length === 0);
  return !front || path === segmentsOf(url).join('/');
}

/**
 * Whether a set that was built to replace another is complete. `lost`: live pages that could not be indexed anew; there must
 * be none, because an outage of the site must not remove them. Of other addresses, as many as a fifth of the pages read may
 * have failed, and one in any case, because many sites have some pages that are always broken.
 */
export function isWholeSet({ read, failed, lost }: { read: number; failed: number; lost: number }): boolean {
  return read > 0 && lost === 0 && failed <= Math.max(1, Math.floor(read / 5));
}
