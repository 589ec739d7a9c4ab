/** What a crawl asks a site for, and what it gets. Types only. */
import type { PageContent } from './pages.ts';
import type { CrawlReason } from '../../models/rules/crawl/crawlreason.ts';

export type Version = { etag?: string | undefined; lastModified?: string | undefined };

/** A page that was not had; `detail` fills the sentence of the reason. */
export type Refused = { kind: 'refused'; reason: CrawlReason; detail?: string | number };

/** `lacks`: why a page that was rendered may have text that it does not show now. */
export type FetchedPage = { kind: 'page'; content: PageContent; lacks?: string } & Version;

/** Another page: an address of this or another site, in its one spelling. `permanent`: the page has moved for good. */
export type Redirect = { kind: 'redirect'; to: string; permanent?: boolean };

/** This page, or the whole host, may not be asked for so long. `tries`: the requests for the page until now, for the next time. */
export type Delay = { kind: 'later'; of: 'page' | 'host'; waitMs: number; tries: number };

/** What became of one address. */
export type Fetched = FetchedPage | { kind: 'unchanged' } | Redirect | Refused | Delay;

/** What is known of a page: its last version, and how often it was asked for in this crawl without an answer. */
export type Ask = Version & { tries?: number | undefined; signal: AbortSignal };

/** What was not read of a site's robots.txt and sitemaps, and why, for a person. */
export type SiteProblem = { url: string; reason: string };
