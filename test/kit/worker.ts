/**
 * The worker program with the workflow bundle of the test run, so that it starts quickly. With FAULT set, it crashes at
 * that point (see interrupt.ts).
 */
import { readFile } from 'node:fs/promises';
import { runProgram } from '../../api/http/program.ts';
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

/** The points at which the worker crashes: the ones in `adapt`, while a document is processed, and `points`. */
export type Fault =
  keyof typeof points | 'before claim' | 'claimed' | 'extracted' | 'before index' | 'in the index' | 'published';
const fault = process.env['FAULT'] as Fault | undefined;

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

/** The writes at which the worker crashes, for each kind of work in the order in which the work reaches them. */
const points = {
  // An event of a ticket.
  'deliveries stored': () => interrupt(DeliveryModel.collection, 'insertMany', '"lane"', 'after'),
  'delivery claimed': () => interrupt(DeliveryModel.collection, 'findOneAndUpdate', '"claim"', 'after'),
  'delivery sent': () => interrupt(DeliveryModel.collection, 'updateOne', '"delivered"', 'before'),
  'delivery settled': () => interrupt(DeliveryModel.collection, 'updateOne', '"delivered"', 'after'),
  // The notification of a member.
  'member notified': () => interrupt(NotificationModel.collection, 'bulkWrite', '"conversation_escalated"', 'after'),
  'notice stored': () => interrupt(DeliveryModel.collection, 'insertOne', '"conversation_escalated"', 'after'),
  'before the occasion is settled': () => interrupt(ConversationModel.collection, 'updateOne', '"untold"', 'before'),
  'occasion settled': () => interrupt(ConversationModel.collection, 'updateOne', '"untold"', 'after'),
  // An interview.
  'interview stored': () => interrupt(InterviewModel.collection, 'findOneAndUpdate', '"operation":"start"', 'after'),
  'scores stored': () => interrupt(InterviewModel.collection, 'updateOne', '"overall_score"', 'after'),
  // An inbound event that resolves a ticket.
  'event claimed': () => interrupt(InboundModel.collection, 'bulkWrite', '"$set":{"attempt":', 'after'),
  'customer told': () => interrupt(MessageModel.collection, 'insertOne', '"linear"', 'after'),
  'ticket resolved': () => interrupt(ConversationModel.collection, 'findOneAndUpdate', '"status":"resolved"', 'after'),
  'before the event is settled': () => interrupt(InboundModel.collection, 'bulkWrite', '"processed"', 'before'),
  'others settled': () => interrupt(InboundModel.collection, 'bulkWrite', '"ignored"', 'after'),
  // The execution of a task. At `sent to …` the service has answered, and nothing is recorded yet.
  'step claimed': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"steps.$.trying_at"', 'after'),
  'sent to linear': () => interrupt(TaskModel.collection, 'updateOne', succeeds('linear'), 'before'),
  'sent to github': () => interrupt(TaskModel.collection, 'updateOne', succeeds('github'), 'before'),
  'sent to slack': () => interrupt(TaskModel.collection, 'updateOne', succeeds('slack'), 'before'),
  'step settled': () => interrupt(TaskModel.collection, 'updateOne', succeeds('github'), 'after'),
  'before the execution ends': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"executed_at"', 'before'),
  'execution ended': () => interrupt(TaskModel.collection, 'findOneAndUpdate', '"executed_at"', 'after'),
  // A document. Its chunks are stored and written to the index at the same time.
  'chunks stored': () => interrupt(ChunkModel.collection, 'insertMany', '"source_id"', 'after'),
  // An answer.
  'answer claimed': () => interrupt(MessageModel.collection, 'updateOne', '"attempt":', 'after'),
  'answer begun': () => interrupt(FrameModel.collection, 'insertMany', '"reply_start"', 'after'),
  'between chunks': () => interrupt(FrameModel.collection, 'insertOne', '"reply_chunk"', 'after'),
  'answer unstored': () => interrupt(MessageModel.collection, 'insertOne', '"ai"', 'before'),
  'answer stored': () => interrupt(MessageModel.collection, 'insertOne', '"ai"', 'after'),
  'answer ended': () => interrupt(FrameModel.collection, 'insertOne', '"reply_end"', 'after'),
  escalated: () => interrupt(ConversationModel.collection, 'findOneAndUpdate', '"status":"escalated"', 'after'),
  'before settling': () => interrupt(MessageModel.collection, 'updateOne', '"answered"', 'before'),
} satisfies Record<string, () => void>;
if (fault !== undefined && fault in points) points[fault as keyof typeof points]();

const code = await readFile(process.env['TEST_WORKFLOW_BUNDLE']!, 'utf8');
const config = readConfig(process.env);
// On busy cores a process with low priority hardly runs, and tests wait for vectors.
const embedding = { ...config.embedding, niceness: 0 };
await runProgram(() => startWorkers({ ...config, embedding }, adapt, { code }));
