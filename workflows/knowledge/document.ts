/**
 * Turns a document into a source: reads it, embeds it if it is small, and indexes it. If indexing fails, a second
 * activity retries only the indexing, so that an outage of the index does not make the file be read again.
 */
import { isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { show } from '../base/board.ts';
import { throughOutages } from '../base/options.ts';
import { queueBeside, queues } from '../../models/rules/base/work.ts';
import type { DocumentActivities, ReadOutcome } from '../../activities/knowledge/document.ts';

export type DocumentRef = { orgId: string; docId: string; generation: number };

export type DocumentOutcome = 'indexed' | 'failed' | 'gone';

const reading = {
  ...throughOutages,
  // The reader process is killed after 30 s; the other steps are short database work.
  startToCloseTimeout: '3 minutes',
} as const;
/** The timeout can be far longer than indexing takes, because missing heartbeats show the death of the worker. */
const indexing = { ...throughOutages, startToCloseTimeout: '1 hour' } as const;
const { readDocument } = proxyActivities<DocumentActivities>(reading);
const { indexDocument } = proxyActivities<DocumentActivities>(indexing);
/**
 * A person waits for this embedding, so it has priority over the background work of the queue. The activity may find no
 * worker at once, or may not end in time. Then the document is found only by its words until it is embedded in the
 * background.
 */
const embedding = {
  heartbeatTimeout: throughOutages.heartbeatTimeout,
  scheduleToStartTimeout: '1 second',
  startToCloseTimeout: '10 seconds',
  retry: { maximumAttempts: 1 },
  priority: { priorityKey: 1 },
} as const;

/**
 * `crowded`: true when other documents of the organization were waiting at the time this document was stored. Then
 * workers of the queue `backlog` process it.
 */
type DocumentStart = DocumentRef & { crowded?: true };

/**
 * Returns `indexed`, `failed` with a reason on the record, or `gone` when the document was deleted or processed again.
 */
export async function processDocument({ crowded, ...ref }: DocumentStart): Promise<DocumentOutcome> {
  const read = crowded ? 'crowded' : await readDocument(ref);
  const outcome = read === 'crowded' ? await readInBacklog(ref) : read;
  if (outcome === 'embed') return embedOrIndex(ref);
  if (outcome === 'read') return crowded ? indexInBacklog(ref) : indexDocument(ref);
  if (typeof outcome === 'string') return outcome;
  // Only failures are shown, because a change of search attributes is an extra Temporal action.
  show({
    status: 'failed',
    failed: outcome.failed,
    can: ['The file is at fault. Its owner is told the reason, and uploads another one.'],
  });
  return 'failed';
}

async function embedOrIndex(ref: DocumentRef): Promise<DocumentOutcome> {
  const taskQueue = queueBeside(workflowInfo().taskQueue, queues.documents, queues.embedding);
  const { embedDocument } = proxyActivities<DocumentActivities>({ ...embedding, taskQueue });
  try {
    return await embedDocument(ref);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return indexDocument(ref);
  }
}

const backlog = (): string => queueBeside(workflowInfo().taskQueue, queues.documents, queues.backlog);

/** Reads a document on the queue `backlog`, whose workers never return `crowded`. */
async function readInBacklog(ref: DocumentRef): Promise<Exclude<ReadOutcome, 'crowded'>> {
  const taskQueue = backlog();
  const outcome = await proxyActivities<DocumentActivities>({ ...reading, taskQueue }).readDocument(ref);
  if (outcome === 'crowded') throw new Error(`${taskQueue} is not a backlog.`);
  return outcome;
}

const indexInBacklog = async (ref: DocumentRef): Promise<DocumentOutcome> =>
  proxyActivities<DocumentActivities>({ ...indexing, taskQueue: backlog() }).indexDocument(ref);
