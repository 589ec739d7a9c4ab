/** What follows a change of a source (document or page): its tags reach the index, or its traces are removed. */
import { proxyActivities } from '@temporalio/workflow';
import type { SourceActivities } from '../activities/knowledge/source.ts';

export type SourceRef = { orgId: string; sourceId: string };

/** What a source is, as in the workflow ids that operators see. */
export type SourceNoun = 'document' | 'page';
/** `change`: each change of tags is a piece of work of its own. */
export const retagWorkflowId = (noun: SourceNoun, sourceId: string, change: string): string =>
  `${noun}:${sourceId}:tags:${change}`;
export const eraseSourceWorkflowId = (noun: SourceNoun, sourceId: string): string => `${noun}:${sourceId}:erase`;

const activities = proxyActivities<SourceActivities>({
  startToCloseTimeout: '3 minutes',
  // Activities beat every second once they take longer than that, so a dead worker is noticed in seconds.
  heartbeatTimeout: '8 seconds',
  // An outage has no fixed length.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Brings a source's segments and authority into the index. */
export async function retagSource(ref: SourceRef): Promise<void> {
  await activities.retagSource(ref);
}

/** Removes what a deleted source left in the index and in storage. */
export async function eraseSource(ref: SourceRef): Promise<void> {
  await activities.eraseSource(ref);
}
