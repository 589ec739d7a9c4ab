/**
 * What a crawl is: its states and bounds, the waits between its requests, and in how many words a page was not indexed.
 * Pure: times and random numbers are arguments. Addresses are in url.ts, the order of pages and traps in frontier.ts.
 */
import { portOf } from './address.ts';
import type { Authority } from './authority.ts';
import { Problem } from './errors.ts';
import { badPorts, type HttpReason } from './http.ts';
import { normalizeSegments } from './segments.ts';
import { canonicalUrl, pageKey, parametersOf, scopeOf, segmentsOf, type Scope, type UrlReason } from './url.ts';

export const crawlStatuses = ['idle', 'crawling', 'completed', 'failed', 'cancelled', 'limit_reached'] as const;
export type CrawlStatus = (typeof crawlStatuses)[number];

/** Bounds of a crawl's options, from the contract of the crawl routes. `everyHours`: at most a month. */
export const crawlBounds = {
  maxPages: { min: 1, max: 1_000, default: 50 },
  everyHours: { min: 1, max: 720 },
} as const;

type ReasonRow = {
  /** `skipped`: the site or our rules decided so. `failed`: it should have worked and may the next time. */
  kind: 'skipped' | 'failed';
  /** Worth another request within the same crawl, after a wait. */
  retry?: true;
  /**
   * What becomes of the page that was indexed from this address before. Absent: it goes on answering, for what the site did
   * may be an outage. `taken`: the site took it away. `emptied`: there is nothing to be read any more, which a replacing
   * crawl does not believe. `elsewhere`: it goes once the page that it leads to stands.
   */
  standing?: 'taken' | 'emptied' | 'elsewhere';
  /** For a person. What stands in braces is replaced by the detail, if there is one. */
  sentence: string;
};

/**
 * Every reason why a page was not indexed. The codes of failed requests are those of the HTTP client's errors, so they
 * need no translation.
 */
export const crawlReasons = {
  robots: { kind: 'skipped', sentence: "The site's robots.txt does not allow this page to be fetched." },
  noindex: { kind: 'skipped', standing: 'taken', sentence: 'The page asks not to be indexed (noindex).' },
  out_of_scope: {
    kind: 'skipped',
    sentence: 'The page leads to {an address} outside the part of the site that is crawled.',
  },
  not_html: {
    kind: 'skipped',
    standing: 'emptied',
    sentence: 'The address holds {something other than HTML}, not a page.',
  },
  duplicate: { kind: 'skipped', sentence: 'The page is a duplicate of {another page}.' },
  canonical: {
    kind: 'skipped',
    standing: 'elsewhere',
    sentence: 'The page names {another page} as the one to index in its place.',
  },
  redirect: { kind: 'skipped', sentence: 'The address leads on to {another page}.' },
  moved: { kind: 'skipped', standing: 'elsewhere', sentence: 'The address has moved for good to {another page}.' },
  moved_away: {
    kind: 'skipped',
    standing: 'taken',
    sentence: 'The address has moved for good to {an address} outside the part of the site that is crawled.',
  },
  empty: { kind: 'skipped', standing: 'emptied', sentence: 'The page has no text that can be read.' },
  trap: { kind: 'skipped', sentence: 'The address belongs to a seemingly endless series, of which enough was read.' },
  limit: { kind: 'skipped', sentence: 'The crawl came to a limit before this page.' },
  cancelled: { kind: 'skipped', sentence: 'The crawl was cancelled before this page.' },
  bad_url: { kind: 'skipped', sentence: 'The address is not a valid one.' },
  bad_scheme: { kind: 'skipped', sentence: 'The address does not begin with http: or https:.' },
  credentials: { kind: 'skipped', sentence: 'The address contains a user name or a password.' },
  url_too_long: { kind: 'skipped', sentence: 'The address is longer than 2,048 characters.' },
  blocked_address: { kind: 'skipped', sentence: 'The address leads into a private network, which may not be crawled.' },
  not_found: { kind: 'skipped', standing: 'taken', sentence: 'The page does not exist (404).' },
  gone: { kind: 'skipped', standing: 'taken', sentence: 'The page was removed (410).' },
  forbidden: { kind: 'skipped', sentence: 'The site asks for a sign-in or refuses the crawler ({401 or 403}).' },
  withheld: { kind: 'skipped', standing: 'taken', sentence: 'The page may not be shown for legal reasons (451).' },
  refused: { kind: 'skipped', sentence: 'The site refused the request ({4xx}).' },
  too_large: { kind: 'skipped', sentence: 'The page is larger than {the limit}.' },
  too_many_redirects: { kind: 'failed', sentence: 'The page redirects in a circle or too many times.' },
  bad_redirect: { kind: 'failed', sentence: 'The page redirects without saying where to.' },
  rate_limited: { kind: 'failed', retry: true, sentence: 'The site asks for fewer requests (429).' },
  server_error: { kind: 'failed', retry: true, sentence: 'The site answered with an error of its own ({5xx}).' },
  timed_out: { kind: 'failed', retry: true, sentence: 'The site took too long to answer.' },
  dns: { kind: 'failed', retry: true, sentence: "The site's name could not be resolved." },
  connection: { kind: 'failed', retry: true, sentence: 'The connection to the site failed or broke off.' },
  tls: { kind: 'failed', sentence: "The site's certificate or encryption is not valid." },
  protocol: { kind: 'failed', sentence: "The site's answer is not valid HTTP." },
  bad_request: { kind: 'failed', sentence: 'The request for this page could not be sent.' },
  busy: { kind: 'failed', retry: true, sentence: 'Too many sites are being read at the same time.' },
  aborted: { kind: 'failed', retry: true, sentence: 'The request was broken off on our side.' },
  unreadable: { kind: 'failed', sentence: 'The page could not be read: {its HTML is too complex}.' },
  unrendered: {
    kind: 'failed',
    sentence: 'The page has too little text without JavaScript: {it could not be rendered}.',
  },
  robots_unavailable: {
    kind: 'failed',
    retry: true,
    sentence: "The site's robots.txt could not be fetched ({the site failed}), so no page may be.",
  },
  wait_too_long: {
    kind: 'failed',
    sentence: 'The site asks to wait {longer than a crawl waits} before the next request.',
  },
} as const satisfies Record<string, ReasonRow> & Record<UrlReason | HttpReason, ReasonRow>;
export type CrawlReason = keyof typeof crawlReasons;

export function reasonRow(reason: CrawlReason): ReasonRow {
  return crawlReasons[reason];
}

/** The sentence for a person; `detail` (an address, a media type, a size, a status) takes the place of the braces. */
export function explain(reason: CrawlReason, detail?: string | number): string {
  return crawlReasons[reason].sentence.replace(/\{(.+?)\}/, (_, instead: string) => String(detail ?? instead));
}

/** Follows the reason when the page that was indexed before is kept. */
export const stillAnswers = 'What was read there before goes on answering.';

/** The reason in a response's status; undefined for one that holds a page (200, 203) or says it is unchanged (304). */
export function reasonOfStatus(status: number): CrawlReason | undefined {
  if (status === 304 || status === 200 || status === 203) return undefined;
  if (status === 404) return 'not_found';
  if (status === 410) return 'gone';
  if (status === 401 || status === 403 || status === 407) return 'forbidden';
  if (status === 451) return 'withheld';
  if (status === 408) return 'timed_out';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'server_error';
  if (status >= 400) return 'refused';
  return status >= 300 ? 'bad_redirect' : 'empty';
}

/** Media types that are read as a page; none at all is given the benefit of the doubt. */
export function isHtml(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || type === 'text/html' || type === 'application/xhtml+xml';
}

/** The longest pause between two requests that a site's crawl-delay gets, in seconds; 50 pages then take 25 minutes. */
export const maxCrawlDelaySeconds = 30;
/** The longest that one `Retry-After` is waited for, in seconds; a site that asks for more is left alone. */
const maxRetryAfterSeconds = 600;
const backOffBaseMs = 1_000;
const backOffCapMs = 60_000;

/** The pause between two requests from robots.txt's crawl-delay (seconds), in ms, and whether the site asked for more. */
export function crawlDelay(seconds: number | undefined): { delayMs: number; capped: boolean } {
  const asked = seconds === undefined || !(seconds > 0) ? 0 : seconds;
  return { delayMs: Math.ceil(Math.min(asked, maxCrawlDelaySeconds) * 1_000), capped: asked > maxCrawlDelaySeconds };
}

/** The three forms of a date in HTTP (RFC 9110, 5.6.7), which is always in GMT. */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * A `Retry-After` header, seconds or a date, as a wait in ms from `now` (ms since 1970). `capped` says that the site asked
 * for more than is waited: to come back earlier than it asked would be impolite, so the crawl of that site ends there.
 * Undefined when the header is missing or makes no sense.
 */
export function retryAfter(header: string | undefined, now: number): { waitMs: number; capped: boolean } | undefined {
  const value = header?.trim() ?? '';
  const capMs = maxRetryAfterSeconds * 1_000;
  let waitMs: number;
  if (/^\d+$/.test(value)) waitMs = Number(value) * 1_000;
  else if (httpDates.some((form) => form.test(value))) {
    waitMs = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`) - now;
  } else return undefined;
  if (Number.isNaN(waitMs)) return undefined;
  return { waitMs: Math.min(Math.max(waitMs, 0), capMs), capped: waitMs > capMs };
}

/**
 * The wait before request `attempt` (1 = the first repetition) to a host that failed, in ms: doubling from a second to a
 * minute, spread by `random` (0 up to 1) over its upper half, so that several crawls do not come back together.
 */
export function backOffMs(attempt: number, random: number): number {
  const full = Math.min(backOffBaseMs * 2 ** Math.max(0, attempt - 1), backOffCapMs);
  return Math.round(full / 2 + (full / 2) * random);
}

/** What became of one address of a crawl; without an outcome it waits. `to`: where it leads, or what stands in its place. */
export type Fate = {
  outcome?: 'indexed' | 'unchanged' | 'skipped' | 'failed';
  why?: CrawlReason | undefined;
  to?: string | undefined;
};
/** By `pageKey`. */
export type Fates = ReadonlyMap<string, Fate>;

/**
 * What is found at the end of the way that an address leads: a page of this crawl, the site's word that there is none any
 * more, something that is not known yet, or neither (it failed, was refused, or goes in a circle).
 */
export function endOf(key: string, fates: Fates): 'page' | 'gone' | 'open' | 'none' {
  const met = new Set<string>();
  for (let at = key; !met.has(at);) {
    met.add(at);
    const fate = fates.get(at);
    if (fate === undefined) return 'none';
    const { outcome, why, to } = fate;
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

/** Pages (keys) whose place another page of this crawl has taken, so that what was indexed from them may go. */
export function outlived(fates: Fates): string[] {
  return [...fates].flatMap(([key, { why }]) => {
    const end = why === 'moved' || why === 'canonical' ? endOf(key, fates) : 'none';
    return end === 'page' || (end === 'gone' && why === 'moved') ? [key] : [];
  });
}

/** Pages (keys) that named another one which turned out to be none: they are to be read for their own sake. */
export function unheard(fates: Fates): string[] {
  // Of two that name each other one is read, and the other has its page then.
  const left = new Map(fates);
  for (const [key, { why }] of fates) {
    if (why === 'canonical' && ['none', 'gone'].includes(endOf(key, left))) left.set(key, {});
  }
  return [...fates].flatMap(([key, { outcome }]) => (left.get(key)?.outcome === outcome ? [] : [key]));
}

/**
 * Pages (keys) of the standing set that a replacing crawl met and has nothing for, though the site did not take them away.
 * What it never came to is not among them: it has a limit.
 */
export function lostOf(fates: Fates, standing: { has(key: string): boolean }): string[] {
  return [...fates].flatMap(([key, { outcome, why }]) => {
    if (!standing.has(key)) return [];
    if (outcome === 'failed') return [key];
    if (outcome !== 'skipped' || why === undefined || why === 'trap' || why === 'duplicate') return [];
    const row = reasonRow(why);
    const safe = row.standing === 'elsewhere' ? endOf(key, fates) !== 'none' : row.standing === 'taken';
    return safe ? [] : [key];
  });
}

/**
 * Whether a page is left out because it names another one. The front page, named by a page of another path, is what a
 * template says that is the same on all pages; where it is meant, the texts are the same and the page is a duplicate.
 */
export function yieldsTo(url: string, canonical: string, start: string): boolean {
  if (pageKey(canonical) === pageKey(url)) return false;
  const path = segmentsOf(canonical).join('/');
  const front = pageKey(canonical) === pageKey(start) || (path === '' && parametersOf(canonical).length === 0);
  return !front || path === segmentsOf(url).join('/');
}

/**
 * Whether a set that was built to replace another is whole. `lost`: pages that answer now and were not indexed anew, which
 * an outage must not take away. Of others at most a fifth of what was read may have failed, and one in any case: pages that
 * are broken for good are on many sites.
 */
export function isWholeSet({ read, failed, lost }: { read: number; failed: number; lost: number }): boolean {
  return read > 0 && lost === 0 && failed <= Math.max(1, Math.floor(read / 5));
}

/**
 * The start of a crawl, in its one spelling, and the part of the site it may read.
 * @throws Problem VALIDATION with a detail on `url`.
 */
export function crawlStart(url: string): { url: string; scope: Scope } {
  const canonical = canonicalUrl(url);
  const refuse = (message: string) => new Problem('VALIDATION', { details: [{ path: ['body', 'url'], message }] });
  if (canonical.url === undefined) throw refuse(explain(canonical.reason));
  const port = portOf(new URL(canonical.url));
  if (badPorts.has(port)) throw refuse(`must not use port ${port}, which belongs to another protocol than the web's`);
  return { url: canonical.url, scope: scopeOf(canonical.url) };
}

/** What a crawl is asked to do, in its stored form. Without segments or authority, refreshed pages keep theirs. */
export type CrawlOrder = {
  url: string;
  max_pages: number;
  segments?: string[];
  authority?: Authority;
  replace: boolean;
};
type GivenOrder = {
  url: string;
  options?:
    | {
        max_pages?: number | undefined;
        segments?: string[] | undefined;
        authority?: Authority | undefined;
        replace?: boolean | undefined;
        every_hours?: number | undefined;
      }
    | undefined;
};

/**
 * What a caller asks for, its address and tags in their one spelling, and how often it is to be done again (hours).
 * @throws Problem VALIDATION with a detail on what cannot be done.
 */
export function crawlOrder({ url, options = {} }: GivenOrder): { order: CrawlOrder; everyHours: number | undefined } {
  const { max_pages = crawlBounds.maxPages.default, segments, authority, replace = false, every_hours } = options;
  if (replace && every_hours !== undefined) {
    // It would remove the pages of all other sites, again and again.
    const message =
      'cannot be repeated: it takes the place of the pages of all sites; crawl once with it, then with a schedule';
    throw new Problem('VALIDATION', { details: [{ path: ['body', 'options', 'replace'], message }] });
  }
  const order = {
    url: crawlStart(url).url,
    max_pages,
    ...(segments ? { segments: normalizeSegments(segments, ['body', 'options', 'segments']) } : {}),
    ...(authority ? { authority } : {}),
    replace,
  };
  return { order, everyHours: every_hours };
}
