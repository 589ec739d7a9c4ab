/** Follows a change of a source (document or page): writes its tags to the index, or removes its traces. */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { SourceActivities } from '../../activities/knowledge/source.ts';

export type SourceRef = { orgId: string; sourceId: string };

/** The kind of a source, as it appears in workflow ids that operators see. */
export type SourceNoun = 'document' | 'page';
/** `change`: each change of tags has a workflow of its own. */
export const retagWorkflowId = (noun: SourceNoun, sourceId: string, change: string): string =>
  `${noun}:${sourceId}:tags:${change}`;
export const eraseSourceWorkflowId = (noun: SourceNoun, sourceId: string): string => `${noun}:${sourceId}:erase`;

const activities = proxyActivities<SourceActivities>({
  ...throughOutages,
  // Commands to the index and to MongoDB take seconds.
  startToCloseTimeout: '3 minutes',
});

/** Writes a source's segments and authority to the index. */
export async function retagSource(ref: SourceRef): Promise<void> {
  await activities.retagSource(ref);
}

/** Longer than a request lives whose answer tells about a document. */
const untilQuiet = '5 minutes';

/** Removes what a deleted source left in the index, in storage, and of a document in answers to requests. */
export async function eraseSource(ref: SourceRef): Promise<void> {
  await activities.eraseSource(ref);
  if (!ref.sourceId.startsWith('doc_')) return;
  await sleep(untilQuiet);
  await activities.eraseCopies({ ids: [ref.sourceId] });
}
