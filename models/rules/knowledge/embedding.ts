/**
 * The delay between the start of a crawl and the embedding of its pages, in ms. It keeps embedding from slowing a short
 * crawl. A longer crawl mostly waits for the site, so its pages may be embedded while it runs.
 */
const crawlFirstMs = 2 * 60_000;

/** The pages of a running crawl are not embedded before this time. */
export const pagesEmbedAfter = (crawlStartedAt: Date): Date => new Date(crawlStartedAt.getTime() + crawlFirstMs);
