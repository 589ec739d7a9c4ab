/**
 * Turns a document into a source: reads it and indexes it. A second activity indexes what was read when that failed, so
 * that an outage of the index does not make the file be read again.
 */
import {
  patched,
  proxyActivities,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { searchAttributes } from './attributes.ts';
import { throughOutages } from './options.ts';
import { queueBeside, queues } from './queues.ts';
import type { DocumentActivities, ReadOutcome } from '../activities/knowledge/document.ts';

export type DocumentRef = { orgId: string; docId: string; generation: number };
/** `generation`: increases each time the document is processed again. */
export const documentWorkflowId = (docId: string, generation: number): string =>
  generation === 1 ? `document:${docId}` : `document:${docId}:${generation}`;

export type DocumentOutcome = 'indexed' | 'failed' | 'gone';

const reading = {
  ...throughOutages,
  // Reading is killed after 30 s by its own limit; the rest is database work.
  startToCloseTimeout: '3 minutes',
} as const;
const { readDocument } = proxyActivities<DocumentActivities>(reading);

/** Heartbeats show when the worker is dead; the bound is from a time when this waited for an embedding model. */
const { indexDocument } = proxyActivities<DocumentActivities>({
  ...throughOutages,
  startToCloseTimeout: '1 hour',
});

/**
 * Returns `indexed`, `failed` with a reason on the record, or `gone` when the document was deleted or processed again.
 */
export async function processDocument(ref: DocumentRef): Promise<DocumentOutcome> {
  const read = await readDocument(ref);
  const outcome = read === 'crowded' ? await readInBacklog(ref) : read;
  if (outcome === 'read') return indexDocument(ref);
  // An older worker returns no reason.
  if (typeof outcome === 'string') return outcome;
  if (patched('failed-document-shown')) showFailure(outcome.failed);
  return 'failed';
}

/** Where no document is refused because of others. */
async function readInBacklog(ref: DocumentRef): Promise<Exclude<ReadOutcome, 'crowded'>> {
  const taskQueue = queueBeside(workflowInfo().taskQueue, queues.documents, queues.backlog);
  const outcome = await proxyActivities<DocumentActivities>({ ...reading, taskQueue }).readDocument(ref);
  if (outcome === 'crowded') throw new Error(`${taskQueue} is not a backlog.`);
  return outcome;
}

/**
 * What operators see in the Temporal UI. Only for failed documents, because a change of search attributes is an action of
 * its own.
 */
function showFailure(reason: string): void {
  setCurrentDetails(`failed: ${reason}`);
  upsertSearchAttributes([{ key: searchAttributes.status, value: 'failed' }]);
}
