/**
 * Crawls: states, limits of options, validation of crawl requests, and delays between HTTP requests. Pure: times and
 * random numbers are arguments. See url.ts for addresses, frontier.ts for the order of pages and traps, and
 * fetchoutcome.ts for outcomes.
 */
import { portOf } from '../base/address.ts';
import type { Authority } from '../knowledge/authority.ts';
import { explain } from './crawlreason.ts';
import { invalid } from '../base/errors.ts';
import { badPorts } from '../base/http.ts';
import { normalizeSegments } from '../knowledge/segments.ts';
import { canonicalUrl, scopeOf, type Scope } from './url.ts';

export const crawlEndings = ['completed', 'failed', 'cancelled', 'limit_reached'] as const;
const crawlStatuses = ['idle', 'crawling', ...crawlEndings] as const;
export type CrawlStatus = (typeof crawlStatuses)[number];

/** Limits of a crawl's options. `everyHours`: the interval of scheduled crawls, at most a month (30 days). */
export const crawlBounds = {
  maxPages: { min: 1, max: 1_000, default: 50 },
  everyHours: { min: 1, max: 720 },
} as const;

/** The longest crawl-delay that is obeyed, in seconds. With this delay, a crawl of 50 pages takes 25 minutes. */
export const maxCrawlDelaySeconds = 30;
/**
 * The longest `Retry-After` that a crawl obeys, in seconds. A site that asks for a longer wait gets no further
 * requests.
 */
const maxRetryAfterSeconds = 600;
const backOffBaseMs = 1_000;
const backOffCapMs = 60_000;

/**
 * The delay between two requests in ms, from the crawl-delay of robots.txt in seconds. `capped`: the site asked for a
 * longer delay.
 */
export function crawlDelay(seconds: number | undefined): { delayMs: number; capped: boolean } {
  const asked = seconds === undefined || !(seconds > 0) ? 0 : seconds;
  return { delayMs: Math.ceil(Math.min(asked, maxCrawlDelaySeconds) * 1_000), capped: asked > maxCrawlDelaySeconds };
}

/** The three date formats of HTTP (RFC 9110, 5.6.7), always in GMT. */
const httpDates = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * Parses a `Retry-After` header (seconds or a date) into a wait in ms from `now` (ms since 1970). `capped`: the site
 * asked for a longer wait than a crawl makes. The crawl of the site then ends, because an earlier request would ignore
 * the site's wish. Undefined when the header is missing or malformed.
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
 * The backoff before retry `attempt` (1 = the first retry) of a failing host, in ms. It doubles from a second up to a
 * minute. The result lies between half of the backoff (`random` 0) and the whole backoff (`random` 1), so that several
 * crawls do not retry at the same moment.
 */
export function backOffMs(attempt: number, random: number): number {
  const full = Math.min(backOffBaseMs * 2 ** Math.max(0, attempt - 1), backOffCapMs);
  return Math.round(full / 2 + (full / 2) * random);
}

/**
 * The canonical start address of a crawl, and the part of the site that the crawl may read.
 * @throws Problem VALIDATION with a detail on `url`.
 */
export function crawlStart(url: string): { url: string; scope: Scope } {
  const canonical = canonicalUrl(url);
  const refuse = (message: string) => invalid(['body', 'url'], message);
  if (canonical.url === undefined) throw refuse(explain(canonical.reason));
  const port = portOf(new URL(canonical.url));
  if (badPorts.has(port)) throw refuse(`must not use port ${port}, which belongs to another protocol than the web's`);
  return { url: canonical.url, scope: scopeOf(canonical.url) };
}

/**
 * A crawl's options as stored. When `segments` or `authority` is absent, pages that are already indexed keep their
 * stored value.
 */
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
 * Validates and normalizes a crawl request. `everyHours`: the interval of the schedule; undefined for a single crawl.
 * @throws Problem VALIDATION with a detail on the option that is refused.
 */
export function crawlOrder({ url, options = {} }: GivenOrder): { order: CrawlOrder; everyHours: number | undefined } {
  const { max_pages = crawlBounds.maxPages.default, segments, authority, replace = false, every_hours } = options;
  if (replace && every_hours !== undefined) {
    // A crawl with `replace` removes the pages of all other sites, so a schedule would remove them again and again.
    throw invalid(
      ['body', 'options', 'replace'],
      'cannot be repeated: it takes the place of the pages of all sites; crawl once with it, then with a schedule',
    );
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
