/** The background work that makes vectors of passages: its names, which the records that ask for it and the workflow share. */
import type { Mode } from '../access/keys.ts';

export const embeddingWork = { workflow: 'embedPassages', queue: 'embedding', signal: 'wake' } as const;

/**
 * How long pages wait for their vectors, ms, counted from the beginning of their crawl, so that it is not slowed by them. A
 * crawl that takes longer waits for its site most of the time.
 */
const crawlFirstMs = 2 * 60_000;

/** Until when the pages of a crawl wait for their vectors while it runs. */
export const pagesEmbedAfter = (crawlStartedAt: Date): Date => new Date(crawlStartedAt.getTime() + crawlFirstMs);

/** One workflow an organization and mode, so that no two write vectors of the same passages. */
export const embeddingWorkflowId = (orgId: string, mode: Mode): string => `embed:${orgId}.${mode}`;
