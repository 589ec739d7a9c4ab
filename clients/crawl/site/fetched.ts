import type { PageContent } from './pages.ts';
import type { CrawlReason } from '../../../models/rules/crawl/crawlreason.ts';

export type Version = { etag?: string | undefined; lastModified?: string | undefined };

/** A page that could not be fetched or read. `detail` is inserted into the text of the reason. */
export type Refused = { kind: 'refused'; reason: CrawlReason; detail?: string | number };

/** `lacks`: why a rendered page may be missing text that it has at other times. */
export type FetchedPage = { kind: 'page'; content: PageContent; lacks?: string } & Version;

/**
 * A redirect to a different page. `to`: the canonical URL of that page, on this or another site. `permanent`: the page
 * has moved permanently.
 */
export type Redirect = { kind: 'redirect'; to: string; permanent?: boolean };

/**
 * This page or the whole host must not be requested for `waitMs`. `tries`: the number of requests for the page so far,
 * to pass to the next attempt.
 */
export type Delay = { kind: 'later'; of: 'page' | 'host'; waitMs: number; tries: number };

export type Fetched = FetchedPage | { kind: 'unchanged' } | Redirect | Refused | Delay;

/** The known version of a page, and the number of failed requests for the page in this crawl. */
export type Ask = Version & { tries?: number | undefined; signal: AbortSignal };

/** A part of a site's robots.txt or sitemaps that was not read. `reason` is shown to people. */
export type SiteProblem = { url: string; reason: string };
