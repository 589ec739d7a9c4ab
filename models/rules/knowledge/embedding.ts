/** The background work that makes vectors of passages: its names, which the records that ask for it and the workflow share. */
import type { Mode } from '../access/keys.ts';

export const embeddingWork = { workflow: 'embedPassages', queue: 'embedding', signal: 'wake' } as const;

/** One workflow an organization and mode, so that no two write vectors of the same passages. */
export const embeddingWorkflowId = (orgId: string, mode: Mode): string => `embed:${orgId}.${mode}`;
