/** The background work that embeds passages: its names, shared by the records that request it and the workflow. */
import type { Mode } from '../access/keys.ts';

export const embeddingWork = { workflow: 'embedPassages', queue: 'embedding', signal: 'wake' } as const;

/**
 * How long pages wait for their vectors, ms, from the start of their crawl, so that embedding does not slow the crawl.
 * A longer crawl spends most of its time waiting for the site.
 */
const crawlFirstMs = 2 * 60_000;

/** The time before which the pages of a running crawl are not embedded. */
export const pagesEmbedAfter = (crawlStartedAt: Date): Date => new Date(crawlStartedAt.getTime() + crawlFirstMs);

/** One workflow per organization and mode, so that two never write vectors of the same passages. */
export const embeddingWorkflowId = (orgId: string, mode: Mode): string => `embed:${orgId}.${mode}`;
