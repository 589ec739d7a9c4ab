/**
 * The worker program with the workflow bundle of the test run, so that it starts quickly. With FAULT set, it crashes at
 * that point (see interrupt.ts).
 */
import { readFile } from 'node:fs/promises';
import type { WorkerDeps } from '../../workers/slices/slice.ts';
import { startWorkers } from '../../workers/main.ts';
import { interrupt } from './interrupt.ts';
import { readConfig } from '../../config.ts';
import { ChunkModel } from '../../models/knowledge/chunk.ts';
import { NotificationModel } from '../../models/access/notification.ts';
import { DeliveryModel } from '../../models/events/delivery.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { InterviewModel } from '../../models/interviews/interview.ts';
import { FrameModel } from '../../models/live/frame.ts';
import { InboundModel } from '../../models/events/inbound.ts';
import { MessageModel } from '../../models/chat/message.ts';
import { TaskModel } from '../../models/tasks/task.ts';

/**
 * The faults in the order in which the processing of a document reaches them; but chunks are stored in MongoDB and
 * written to the index at the same time.
 */
export type Fault =
  'before claim' | 'claimed' | 'extracted' | 'chunks stored' | 'before index' | 'in the index' | 'published';
/** The faults in the order in which an answer reaches them. */
export type AnswerFault =
  | 'answer claimed'
  | 'answer begun'
  | 'between chunks'
  | 'answer unstored'
  | 'answer stored'
  | 'answer ended'
  | 'escalated'
  | 'before settling';
/** The faults in the order in which an event of a ticket reaches them. */
export type DeliveryFault = 'deliveries stored' | 'delivery claimed' | 'delivery sent' | 'delivery settled';
/** Faults in an interview. FAULT_OF is the id of the interview. */
export type InterviewFault = 'interview stored' | 'scores stored';
/** The faults in the order in which an inbound event that resolves a ticket reaches them. */
export type InboundFault =
  'event claimed' | 'customer told' | 'ticket resolved' | 'before the event is settled' | 'others settled';
/** Faults in the execution of a task. At `sent to …` the service has answered, and nothing is recorded yet. */
export type ExecutionFault =
  | 'step claimed'
  | 'sent to linear'
  | 'sent to github'
  | 'sent to slack'
  | 'step settled'
  | 'before the execution ends'
  | 'execution ended';
/** The faults in the order in which the notification of a member reaches them. */
export type NoticeFault = 'member notified' | 'notice stored' | 'before the occasion is settled' | 'occasion settled';
type AnyFault = NoticeFault | Fault | AnswerFault | DeliveryFault | InterviewFault | InboundFault | ExecutionFault;
const fault = process.env['FAULT'] as AnyFault | undefined;

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before anything else runs. The throw is only for the compiler.
  throw new Error('killed');
}

function adapt(deps: WorkerDeps): WorkerDeps {
  return {
    ...deps,
    clock: () => (fault === 'before claim' ? die() : deps.clock()),
    files: {
      ...deps.files,
      async chunk(...args) {
        if (fault === 'claimed') die();
        const chunks = await deps.files.chunk(...args);
        return fault === 'extracted' ? die() : chunks;
      },
    },
    search: {
      ...deps.search,
      async add(...args) {
        if (fault === 'before index') die();
        await deps.search.add(...args);
        if (fault === 'in the index') die();
      },
      async removeSource(...args) {
        if (fault === 'published') die();
        await deps.search.removeSource(...args);
      },
    },
  };
}

/** The write that records the success of a step. */
const succeeds = (integration: string): string => `"integration":"${integration}","status":{"$ne":"succeeded"}`;

const points: Partial<Record<AnyFault, () => void>> = {
  'deliveries stored': () => interrupt(DeliveryModel.collection, 'insertMany', '"lane"', 'after'),
  'delivery claimed': () => interrupt(DeliveryModel.collection, 'findOneAndUpdate', '"claim"', 'after'),
  'delivery sent': () => interrupt(DeliveryModel.collection, 'updateOne', '"delivered"', 'before'),
  'delivery settled': () => interrupt(DeliveryModel.collection, 'updateOne', '"delivered"', 'after'),
  'member notified': () => interrupt(NotificationModel.collection, 'bulkWrite', '"conversation_escalated"', 'after'),
  'notice stored': () => interrupt(DeliveryModel.collection, 'insertOne', '"conversation_escalated"', 'after'),
  'before the occasion is settled': () => interrupt(ConversationModel.collection, 'updateOne', '"untold"', 'before'),
  'occasion settled': () => interrupt(ConversationModel.collection, 'updateOne', '"untold"', 'after'),
  'interview stored': () => interrupt(InterviewModel.collection, 'findOneAndUpdate', '"operation":"start"', 'after'),
  'scores stored': () => interrupt(InterviewModel.collection, 'updateOne', '"overall_score"', 'after'),
  'event claimed': () => interrupt(InboundModel.collection, 'bulkWrite', '"$set":{"attempt":', 'after'),
  'customer told': () => interrupt(MessageModel.collection, 'insertOne', '"linear"', 'after'),
  'ticket resolved': () => interrupt(ConversationModel.collection, 'findOneAndUpdate', '"status":"resolved"', 'after'),
  'before the event is settled': () => interrupt(InboundModel.collection, 'bulkWrite', '"processed"', 'before'),
  'others settled': () => interrupt(InboundModel.collection, 'bulkWrite', '"ignored"', 'after'),
  'step claimed': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"steps.$.trying_at"', 'after'),
  'sent to linear': () => interrupt(TaskModel.collection, 'updateOne', succeeds('linear'), 'before'),
  'sent to github': () => interrupt(TaskModel.collection, 'updateOne', succeeds('github'), 'before'),
  'sent to slack': () => interrupt(TaskModel.collection, 'updateOne', succeeds('slack'), 'before'),
  'step settled': () => interrupt(TaskModel.collection, 'updateOne', succeeds('github'), 'after'),
  'before the execution ends': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"executed_at"', 'before'),
  'execution ended': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"executed_at"', 'after'),
  'chunks stored': () => interrupt(ChunkModel.collection, 'insertMany', '"source_id"', 'after'),
  'answer claimed': () => interrupt(MessageModel.collection, 'updateOne', '"attempt":', 'after'),
  'answer begun': () => interrupt(FrameModel.collection, 'insertMany', '"reply_start"', 'after'),
  'between chunks': () => interrupt(FrameModel.collection, 'insertOne', '"reply_chunk"', 'after'),
  'answer unstored': () => interrupt(MessageModel.collection, 'insertOne', '"ai"', 'before'),
  'answer stored': () => interrupt(MessageModel.collection, 'insertOne', '"ai"', 'after'),
  'answer ended': () => interrupt(FrameModel.collection, 'insertOne', '"reply_end"', 'after'),
  escalated: () => interrupt(ConversationModel.collection, 'findOneAndUpdate', '"status":"escalated"', 'after'),
  'before settling': () => interrupt(MessageModel.collection, 'updateOne', '"answered"', 'before'),
};
if (fault !== undefined) points[fault]?.();

const code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
const config = readConfig(process.env);
// On busy cores a process with low priority hardly runs, and tests wait for vectors.
const embedding = { ...config.embedding, niceness: 0 };
const workers = await startWorkers({ ...config, embedding }, adapt, { code });
for (const event of ['SIGTERM', 'disconnect'] as const) {
  process.on(event, () => void workers.close().then(() => process.exit(0)));
}
process.send?.({ type: 'ready' });
