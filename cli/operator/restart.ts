/**
 * Starts the workflows of unfinished records again, after MongoDB or Temporal was restored from a backup. The sweeper
 * cannot do this, because it starts workflows from saved intents, and an intent is removed once its workflow was
 * started.
 */
import { ScheduleNotFoundError, ScheduleOverlapPolicy, type Client } from '@temporalio/client';
import type mongoose from 'mongoose';
import type { Deployment } from './deployment.ts';
import { CliError } from '../errors.ts';
import { acrossShards, everyRecord, type Model } from '../../models/base/define.ts';
import { newId } from '../../models/base/ids.ts';
import { intentFor, type Launchable } from '../../models/base/pending.ts';
import { DepartureModel } from '../../models/access/departure.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { ErasureModel } from '../../models/chat/erasure.ts';
import { MessageModel } from '../../models/chat/message.ts';
import { CrawlModel } from '../../models/crawl/crawl.ts';
import { PruningModel } from '../../models/crawl/prune.ts';
import { RecrawlModel } from '../../models/crawl/recrawl.ts';
import { carrierOf, DeliveryModel } from '../../models/events/delivery.ts';
import { InboundModel } from '../../models/events/inbound.ts';
import { ReleaseModel } from '../../models/integrations/release.ts';
import { InterviewModel } from '../../models/interviews/interview.ts';
import { MeetingModel } from '../../models/interviews/meeting.ts';
import { DocumentModel } from '../../models/knowledge/document.ts';
import { LiveCopyModel } from '../../models/knowledge/livecopy.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';
import { ToolCallModel } from '../../models/mcp/call.ts';
import { TaskModel } from '../../models/tasks/task.ts';
import { memberDepartedWork } from '../../models/rules/access/work.ts';
import type { Work } from '../../models/rules/base/work.ts';
import {
  conversationWork,
  eraseCustomerWork,
  mailReplyWork,
  noticesWork,
  ticketEventsWork,
} from '../../models/rules/chat/work.ts';
import { arrangeRecrawlWork, crawlSiteWork, pruneKnowledgeWork } from '../../models/rules/crawl/work.ts';
import { outstanding } from '../../models/rules/events/delivery.ts';
import { announceWork, inboundWork } from '../../models/rules/events/work.ts';
import { releaseCredentialWork } from '../../models/rules/integrations/work.ts';
import { interviewWork, meetingWork } from '../../models/rules/interviews/work.ts';
import { unprocessed } from '../../models/rules/knowledge/document.ts';
import {
  copyTestToLiveWork,
  eraseSourceWork,
  maintainStoresWork,
  processDocumentWork,
} from '../../models/rules/knowledge/work.ts';
import { toolCallWork } from '../../models/rules/mcp/work.ts';
import { eraseTaskWork, taskExecutionWork, taskIssuesWork } from '../../models/rules/tasks/work.ts';
import { startUnsettled } from '../../workflows/start.ts';

type Unfinished = {
  model: Model<Launchable>;
  filter: mongoose.mongo.Filter<Launchable>;
  worksOf(record: Launchable): readonly Work[];
};

/**
 * `filter` selects the records with unfinished work. `worksOf` returns the workflows that do it; it may return too
 * many, because a superfluous workflow ends at once.
 */
const unfinishedOf = <T extends Launchable>(
  model: Model<T>,
  filter: mongoose.mongo.Filter<T>,
  worksOf: (record: T) => readonly Work[],
): Unfinished => ({ model, filter, worksOf }) as unknown as Unfinished;

/** Workflows are started in this order, so that the work that people wait for comes first. */
export const unfinished: readonly Unfinished[] = [
  unfinishedOf(
    MessageModel,
    { $or: [{ state: 'waiting' }, { shown: false }, { unmailed: true }] },
    ({ org_id, conv_id, unmailed }) => [
      conversationWork(org_id, conv_id),
      ...(unmailed ? [mailReplyWork(org_id, conv_id)] : []),
    ],
  ),
  unfinishedOf(
    ConversationModel,
    {
      $or: [
        { $expr: { $lt: ['$shown_version', '$status_version'] } },
        // A conversation without `events_planned` never had an event to send.
        { events_planned: { $exists: true }, $expr: { $lt: ['$events_planned', { $size: '$events' }] } },
        { 'untold.0': { $exists: true } },
        { 'snoozed.until': { $exists: true } },
      ],
    },
    ({ _id, org_id, ticket }) => [
      conversationWork(org_id, _id),
      noticesWork(org_id, { convId: _id }),
      ...(ticket ? [ticketEventsWork(org_id, _id, ticket.ticket_id)] : []),
    ],
  ),
  unfinishedOf(ErasureModel, { status: { $ne: 'verified' } }, ({ _id, org_id }) => [eraseCustomerWork(org_id, _id)]),
  unfinishedOf(ToolCallModel, { state: { $ne: 'ended' } }, ({ _id, org_id }) => [
    toolCallWork(org_id, _id),
    noticesWork(org_id, { callId: _id }),
  ]),
  unfinishedOf(InboundModel, { status: 'stored', org_id: { $ne: '' } }, ({ org_id }) => [inboundWork(org_id)]),
  unfinishedOf(DeliveryModel, { status: { $in: [...outstanding] } }, (delivery) => [carrierOf(delivery)]),
  unfinishedOf(ReleaseModel, {}, ({ _id, org_id }) => [releaseCredentialWork(org_id, _id)]),
  unfinishedOf(
    InterviewModel,
    { $or: [{ status: { $nin: ['completed', 'cancelled'] } }, { removing: true }] },
    ({ _id, org_id, removing }) => [interviewWork(org_id, _id, removing ? 'remove' : undefined)],
  ),
  unfinishedOf(MeetingModel, {}, (meeting) => [meetingWork(meeting, { removed: meeting.removing === true })]),
  unfinishedOf(
    TaskModel,
    {
      $or: [
        { execution_status: 'running' },
        { 'unannounced.0': { $exists: true } },
        // All tasks with issues are included. This does no harm, because their workflow sends only differences to an
        // issue.
        { 'external_links.0': { $exists: true } },
        { removed_at: { $exists: true } },
      ],
    },
    ({ _id, org_id, execution_status, execution_id, removed_at }) => [
      ...(execution_status === 'running' && execution_id !== undefined
        ? [taskExecutionWork(org_id, _id, execution_id)]
        : []),
      ...(removed_at
        ? [eraseTaskWork(_id)]
        : [announceWork({ orgId: org_id, taskId: _id }), taskIssuesWork(org_id, _id)]),
    ],
  ),
  unfinishedOf(DepartureModel, {}, ({ _id, org_id, user_id, keep_keys_for, left_at }) => [
    memberDepartedWork(org_id, _id, { userId: user_id, keepKeysFor: keep_keys_for, leftAt: left_at }),
  ]),
  unfinishedOf(DocumentModel, { status: { $in: [...unprocessed] } }, ({ _id, org_id, generation }) => [
    processDocumentWork(org_id, _id, generation),
  ]),
  unfinishedOf(RemovalModel, {}, ({ _id, org_id }) => [
    eraseSourceWork(_id.startsWith('doc_') ? 'document' : 'page', org_id, _id),
  ]),
  unfinishedOf(LiveCopyModel, { running: true }, ({ _id, org_id }) => [copyTestToLiveWork(org_id, _id)]),
  unfinishedOf(PruningModel, {}, ({ _id, org_id }) => [pruneKnowledgeWork(org_id, _id)]),
  unfinishedOf(CrawlModel, { running: true }, ({ _id, org_id }) => [crawlSiteWork(org_id, _id)]),
  unfinishedOf(RecrawlModel, {}, ({ _id, org_id }) => [arrangeRecrawlWork(org_id, _id, newId('request'))]),
];

/** How long a start may take, in ms. Temporal is slow while many workflows are started. */
const deadlineMs = 10_000;
/** The number of starts that run in parallel. */
const lanes = 20;

/**
 * Starts the workflows of all unfinished records, and returns the number of these records by collection. Also makes the
 * search index agree with MongoDB. Repeating it does no harm. @throws CliError NOT_FOUND when no worker has started at
 * this Temporal yet
 */
export async function restart({ temporal, config }: Deployment, now: Date): Promise<Record<string, number>> {
  await maintainAnew(temporal, `${config.taskQueuePrefix}${maintainStoresWork().id}`);
  const counts: Record<string, number> = {};
  for (const { model, filter, worksOf } of unfinished) {
    const begun = new Set<string>();
    const waiting: { record: Launchable; work: Work }[] = [];
    const begin = (some: typeof waiting) =>
      Promise.all(
        some.map(({ record, work }) =>
          startUnsettled({ temporal, config }, record, intentFor(work, now), deadlineMs, { again: true }),
        ),
      );
    // This loop reads whole collections, which is acceptable because this command runs only once, after a restore.
    for await (const record of acrossShards(model).find(filter, everyRecord)) {
      counts[model.collection.name] = (counts[model.collection.name] ?? 0) + 1;
      const fresh = worksOf(record).filter(({ id }) => !begun.has(id));
      for (const work of fresh) {
        begun.add(work.id);
        waiting.push({ record, work });
      }
      while (waiting.length >= lanes) await begin(waiting.splice(0, lanes));
    }
    await begin(waiting);
  }
  return counts;
}

/**
 * Starts a new maintenance run, which begins with the repair of the index, and cancels an open run. Without this, the
 * repair could begin up to an hour later.
 */
async function maintainAnew(temporal: Client, scheduleId: string): Promise<void> {
  await temporal.schedule
    .getHandle(scheduleId)
    .trigger(ScheduleOverlapPolicy.CANCEL_OTHER)
    .catch((cause: unknown) => {
      if (!(cause instanceof ScheduleNotFoundError)) throw cause;
      const message = 'No worker of the fleet maintenance has started at this Temporal. Start the workers first.';
      throw new CliError(message, { code: 'NOT_FOUND', cause });
    });
}
