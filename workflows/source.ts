/** What follows a change of a source (document or page): its tags reach the index, or its traces are removed. */
import { proxyActivities } from '@temporalio/workflow';
import { throughOutages } from './options.ts';
import type { SourceActivities } from '../activities/knowledge/source.ts';

export type SourceRef = { orgId: string; sourceId: string };

/** What a source is, as in the workflow ids that operators see. */
export type SourceNoun = 'document' | 'page';
/** `change`: each change of tags is a piece of work of its own. */
export const retagWorkflowId = (noun: SourceNoun, sourceId: string, change: string): string =>
  `${noun}:${sourceId}:tags:${change}`;
export const eraseSourceWorkflowId = (noun: SourceNoun, sourceId: string): string => `${noun}:${sourceId}:erase`;

const activities = proxyActivities<SourceActivities>({
  ...throughOutages,
  // Commands to the index and to MongoDB, which take seconds.
  startToCloseTimeout: '3 minutes',
});

/** Brings a source's segments and authority into the index. */
export async function retagSource(ref: SourceRef): Promise<void> {
  await activities.retagSource(ref);
}

/** Removes what a deleted source left in the index and in storage. */
export async function eraseSource(ref: SourceRef): Promise<void> {
  await activities.eraseSource(ref);
}
