/** When pages are embedded. Pure. */

/**
 * How long pages wait for their vectors, ms, from the start of their crawl, so that embedding does not slow the crawl.
 * A longer crawl spends most of its time waiting for the site.
 */
const crawlFirstMs = 2 * 60_000;

/** The time before which the pages of a running crawl are not embedded. */
export const pagesEmbedAfter = (crawlStartedAt: Date): Date => new Date(crawlStartedAt.getTime() + crawlFirstMs);
