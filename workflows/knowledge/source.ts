/**
 * Applies a change of a source (document or page): writes its tags (segments and authority) to the index, or removes
 * its traces.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import { throughOutages } from '../base/options.ts';
import type { SourceActivities } from '../../activities/knowledge/source.ts';

export type SourceRef = { orgId: string; sourceId: string };

const activities = proxyActivities<SourceActivities>({
  ...throughOutages,
  // Commands to the index and to MongoDB take seconds.
  startToCloseTimeout: '3 minutes',
});

/** Writes a source's segments and authority to the index. */
export async function retagSource(ref: SourceRef): Promise<void> {
  await activities.retagSource(ref);
}

/** The wait before stored replies are removed, longer than any request whose reply could mention a document. */
const untilQuiet = '5 minutes';

/**
 * Removes what a deleted source left in the index and in storage. For a document, also removes stored replies to
 * requests that mention it.
 */
export async function eraseSource(ref: SourceRef): Promise<void> {
  await activities.eraseSource(ref);
  if (!ref.sourceId.startsWith('doc_')) return;
  await sleep(untilQuiet, { summary: 'requests that began before the removal' });
  await activities.eraseCopies({ ids: [ref.sourceId] });
}
