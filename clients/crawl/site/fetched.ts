/** What a crawl requests from a site, and the results. Types only. */
import type { PageContent } from './pages.ts';
import type { CrawlReason } from '../../../models/rules/crawl/crawlreason.ts';

export type Version = { etag?: string | undefined; lastModified?: string | undefined };

/** A page that could not be fetched or read; `detail` completes the sentence of the reason. */
export type Refused = { kind: 'refused'; reason: CrawlReason; detail?: string | number };

/** `lacks`: why a rendered page may have text that it does not show now. */
export type FetchedPage = { kind: 'page'; content: PageContent; lacks?: string } & Version;

/**
 * Another page: an address of this or another site, in canonical spelling. `permanent`: the page has moved permanently.
 */
export type Redirect = { kind: 'redirect'; to: string; permanent?: boolean };

/**
 * This page, or the whole host, may not be requested for `waitMs`. `tries`: the number of requests for the page so far,
 * for the next attempt.
 */
export type Delay = { kind: 'later'; of: 'page' | 'host'; waitMs: number; tries: number };

/** The result for one address. */
export type Fetched = FetchedPage | { kind: 'unchanged' } | Redirect | Refused | Delay;

/** What is known of a page: its last version, and how often this crawl requested it without an answer. */
export type Ask = Version & { tries?: number | undefined; signal: AbortSignal };

/** A part of a site's robots.txt or sitemaps that was not read, and why, for a person. */
export type SiteProblem = { url: string; reason: string };
