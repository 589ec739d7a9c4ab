/** When pages are embedded. Pure. */

/**
 * How long after the start of a crawl its pages wait to be embedded, in ms, so that embedding does not slow the crawl.
 * A longer crawl spends most of its time waiting for the site, so embedding may run during the rest of the crawl.
 */
const crawlFirstMs = 2 * 60_000;

/** The pages of a running crawl are not embedded before this time. */
export const pagesEmbedAfter = (crawlStartedAt: Date): Date => new Date(crawlStartedAt.getTime() + crawlFirstMs);
