/**
 * Tasks of organizations. `changeTask` stores a change, its history entry, its events and the intents to start
 * follow-up workflows in one write. A removed task leaves a tombstone: a record without a status, which `findTask` does
 * not find and which contains no text that people wrote. The tombstone expires after a day. The tombstone of an
 * extracted task stays until a day after its meeting is deleted, so that the task is not extracted again.
 */
import { isDeepStrictEqual } from 'node:util';
import { eraseCopies } from '../base/copies.ts';
import { collectionOf, defineModel, newest, olderThan, readTogether, type RecordOf } from '../base/define.ts';
import { date, list, mixed, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { intentFor, pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { listLinksOf, type Link } from '../events/link.ts';
import { modes } from '../rules/access/keys.ts';
import { changedFields, taskEvents, type TaskEventType } from '../rules/tasks/events.ts';
import type { Step } from '../rules/tasks/execution.ts';
import {
  executionStatuses,
  outdatesReview,
  reviewStatuses,
  taskBounds,
  taskDetails,
  taskStatuses,
  type TaskDetails,
  type TaskSource,
  type TaskStatus,
} from '../rules/tasks/task.ts';
import { eraseTaskWork, workOfMove } from '../rules/tasks/work.ts';
import { defined } from '../rules/base/defined.ts';

/** An object in another service that was created from the task. */
export type ExternalLink = { provider: string; id: string; url: string };

/** The origin of a change: the source, the member, the time and the reason. */
export type Cause = {
  source: TaskSource;
  /** The user id of the member who makes the change; absent when no member does. */
  actor?: string;
  now: Date;
  /** The reason, as a sentence for members. */
  note?: string;
};

/** An entry in a task's history. */
type TaskChanged = Omit<Cause, 'now'> & {
  at: Date;
  changed: string[];
};

/** An event of a task, stored in the task until members are notified of the event (`announceTask`). */
export type TaskEvent = Omit<Cause, 'now'> & {
  event_id: string;
  type: TaskEventType;
  at: Date;
  /** The assignee after the change. */
  assigned_to?: string;
};

/** How long the tombstone of a removed task is kept, in ms: running workflows may still read it. */
export const removedKeptMs = 86_400_000;

export const TaskModel = defineModel(
  'Task',
  'tasks',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    created_by: string,
    created_at: date,
    updated_at: date,
    completed_at: optional(date),
    /** The verbatim quotation, for a task that was extracted from a transcript. */
    source_quote: optional(string),
    /** The day of a due date with an hour that was said in a meeting, in the meeting's time zone. */
    due_day: optional(string),
    /** The idempotency key of an extracted task, unique within its organization. */
    source_key: optional(string),
    review_status: oneOf(reviewStatuses),
    execution_status: oneOf(executionStatuses),
    /** The id of the running or latest execution. */
    execution_id: optional(string),
    executed_at: optional(date),
    steps: optional(list(mixed<Step>())),
    external_links: list(mixed<ExternalLink>()),
    /** For optimistic locking: each write that may race with `changeTask` increments this number. */
    rev: number,
    /** The latest changes, oldest first. */
    history: list(mixed<TaskChanged>()),
    /** Events of which members are not notified yet, oldest first. */
    unannounced: list(mixed<TaskEvent>()),
    removed_at: optional(date),
    /**
     * When the tombstone of a removed task expires. For an extracted task, this time is set only when its meeting is
     * deleted.
     */
    expires_at: optional(date),
    pending: pendingField,
    ...taskDetails,
  },
  [
    { fields: { org_id: 1, status: 1, _id: -1 } },
    { fields: { org_id: 1, assigned_to: 1, status: 1, _id: -1 } },
    { fields: { org_id: 1, session_id: 1, status: 1, _id: -1 } },
    {
      fields: { org_id: 1, source_key: 1 },
      unique: true,
      partialFilterExpression: { source_key: { $exists: true } },
    },
    { fields: { session_id: 1 }, partialFilterExpression: { session_id: { $exists: true } } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Task = RecordOf<typeof TaskModel>;

const standing = (orgId: string, taskId: string) => ({ _id: taskId, org_id: orgId, status: { $exists: true } });

/**
 * A changed task, the events of the change, and the intents to start follow-up workflows. The caller starts these
 * workflows at once (`startSaved`). The sweeper starts the workflows that the caller did not start.
 */
export type Changed = { task: Task; events: TaskEvent[]; intents: Intent[] };

export type NewTask = Omit<TaskDetails, 'status'> &
  Pick<Task, 'org_id' | 'mode' | 'created_by' | 'source_quote' | 'source_key' | 'due_day'>;

/** Stores a new task. Throws a duplicate key error when the task was extracted before. */
export async function createTask(given: NewTask, cause: Cause): Promise<Changed> {
  const { now } = cause;
  const facts = {
    ...given,
    _id: newId('task'),
    status: 'pending' as const,
    created_at: now,
    updated_at: now,
    review_status: 'not_reviewed' as const,
    execution_status: 'not_started' as const,
    external_links: [],
    rev: 1,
    history: [changeOf([], cause)],
  };
  const events = eventsOf(taskEvents(undefined, facts), facts, cause);
  const intents = intentsFor(facts, events, [], now);
  const task = defined({
    ...facts,
    unannounced: events,
    ...(intents.length > 0 ? { pending: intents } : {}),
  }) as unknown as Task;
  await collectionOf(TaskModel).insertOne(task);
  return { task, events, intents };
}

export async function findTask(orgId: string, taskId: string): Promise<Task | null> {
  return collectionOf(TaskModel).findOne(standing(orgId, taskId));
}

/** A task with its links to other services, read as one snapshot. */
export async function findTaskWithLinks(orgId: string, taskId: string): Promise<{ task: Task; links: Link[] } | null> {
  return readTogether(async (options) => {
    const task = await collectionOf(TaskModel).findOne(standing(orgId, taskId), options);
    return task && { task, links: await listLinksOf(orgId, taskId, options) };
  });
}

export type TaskFilter = {
  status?: TaskStatus | undefined;
  assignedTo?: string | undefined;
  sessionId?: string | undefined;
};

const matching = (orgIds: readonly string[], { status, assignedTo, sessionId }: TaskFilter) => ({
  org_id: { $in: [...orgIds] },
  ...defined({ assigned_to: assignedTo, session_id: sessionId }),
  // Without a status in the filter, all statuses are listed: MongoDB then merges the sorted index ranges of the
  // statuses and need not sort. A condition on the status also excludes removed tasks, which have no status.
  status: { $in: status === undefined ? [...taskStatuses] : [status] },
});

/** Lists the tasks of the organizations, newest first. `after`: the last id of the previous page. */
export async function listTasks(
  orgIds: readonly string[],
  filter: TaskFilter,
  limit: number,
  after: string | undefined,
): Promise<Task[]> {
  const which = { ...matching(orgIds, filter), ...olderThan(after) };
  const projection = { history: 0, unannounced: 0, pending: 0 };
  return newest(collectionOf(TaskModel).find(which, { projection }), limit);
}

/**
 * The number of tasks that match the filter. Each status is counted separately, because MongoDB counts the index
 * entries of one exact value without reading them. This takes a third of the time.
 */
export async function countTasks(orgId: string, filter: TaskFilter): Promise<number> {
  const counts = await Promise.all(
    (filter.status === undefined ? taskStatuses : [filter.status]).map(async (status) => {
      const query = { ...matching([orgId], filter), org_id: orgId, status };
      const { n } = await TaskModel.db.db!.command({ count: TaskModel.collection.collectionName, query });
      return n as number;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

export async function countLinked(orgIds: readonly string[], sessionId: string): Promise<number> {
  return collectionOf(TaskModel).countDocuments(matching(orgIds, { sessionId }));
}

/** The changeable fields; null removes a field. */
export type TaskChange = {
  [F in keyof TaskDetails | 'review_status' | 'execution_status' | 'execution_id' | 'executed_at' | 'steps']?:
    Task[F] | null | undefined;
};

/**
 * Changes a task by optimistic locking. `change` gets the current task and returns the new values, or undefined for no
 * change. When `change` throws, nothing is stored. After a concurrent change, `change` is called again with the new
 * state. Returns null when there is no such task.
 */
export async function changeTask(
  orgId: string,
  taskId: string,
  cause: Cause,
  change: (standing: Task) => TaskChange | undefined,
): Promise<Changed | null> {
  for (;;) {
    const before = await findTask(orgId, taskId);
    if (!before) return null;
    const fields = differing(before, change(before) ?? {});
    if (Object.keys(fields).length === 0) return { task: before, events: [], intents: [] };
    const { set, unset, after } = completed(before, fields, cause.now);
    const changed = changedFields(before, after);
    const events = eventsOf(taskEvents(before, after), after, cause);
    const begun =
      after.execution_status === 'running' &&
      (before.execution_status !== 'running' || before.execution_id !== after.execution_id);
    const intents = intentsFor(after, events, changed, cause.now, begun);
    const history = changed.length > 0 ? [changeOf(changed, cause)] : [];
    const task = await collectionOf(TaskModel).findOneAndUpdate(
      { ...standing(orgId, taskId), rev: before.rev },
      {
        $set: { ...set, updated_at: cause.now },
        ...(unset.length > 0 ? { $unset: Object.fromEntries(unset.map((field) => [field, ''])) } : {}),
        $inc: { rev: 1 },
        $push: {
          ...(history.length > 0 ? { history: { $each: history, $slice: -taskBounds.history } } : {}),
          ...(events.length > 0 ? { unannounced: { $each: events } } : {}),
          ...(intents.length > 0 ? { pending: { $each: intents } } : {}),
        },
      },
      { returnDocument: 'after' },
    );
    if (task) return { task, events, intents };
  }
}

/**
 * Removes a task's content, and the copies of it in notifications, deliveries and idempotent replies. Returns null when
 * there is no such task.
 */
export async function removeTask(orgId: string, taskId: string, cause: Cause): Promise<Changed | null> {
  const { now } = cause;
  const found = await findTask(orgId, taskId);
  if (!found) return null;
  const intents = [intentFor(eraseTaskWork(taskId), now)];
  const task = await collectionOf(TaskModel).findOneAndUpdate(
    standing(orgId, taskId),
    {
      $set: {
        removed_at: now,
        ...(found.source_key === undefined ? { expires_at: new Date(now.getTime() + removedKeptMs) } : {}),
        title: '',
        history: [],
        unannounced: [],
        external_links: [],
      },
      $unset: {
        status: '',
        description: '',
        assigned_to: '',
        assignee_email: '',
        source_quote: '',
        task_type: '',
        due_date: '',
        due_day: '',
        steps: '',
      },
      $inc: { rev: 1 },
      $push: { pending: { $each: intents } },
    },
    { returnDocument: 'after' },
  );
  if (!task) return null;
  await eraseCopies([taskId]);
  return { task, events: [], intents };
}

/** Removes from the task the events of which members have been notified. */
export async function settleEvents(orgId: string, taskId: string, eventIds: readonly string[]): Promise<void> {
  await collectionOf(TaskModel).updateOne(
    { _id: taskId, org_id: orgId },
    { $pull: { unannounced: { event_id: { $in: [...eventIds] } } } },
  );
}

/** The fields whose values change. Undefined means unchanged; null means removed. */
function differing(before: Task, asked: TaskChange): TaskChange {
  return Object.fromEntries(
    Object.entries(asked).filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(before[field as keyof Task] ?? null, value),
    ),
  );
}

/**
 * The task after a change, including derived fields: the time of completion, the removal of an outdated `due_day`, and
 * the reset of an outdated review.
 */
function completed(before: Task, asked: TaskChange, now: Date) {
  const fields: Record<string, unknown> = { ...asked };
  if (asked.status && asked.status !== before.status) {
    fields['completed_at'] = asked.status === 'completed' ? now : null;
  }
  if (asked.due_date !== undefined) fields['due_day'] = null;
  if (asked.review_status === undefined && outdatesReview(Object.keys(asked))) fields['review_status'] = 'not_reviewed';
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  const unset = Object.keys(fields).filter((field) => fields[field] === null);
  const after: Task = { ...before, ...set };
  for (const field of unset) delete (after as Record<string, unknown>)[field];
  return { set, unset, after };
}

const by = ({ source, actor, note }: Cause) => ({
  source,
  ...defined({ actor, note }),
});

const changeOf = (changed: string[], cause: Cause): TaskChanged => ({ at: cause.now, ...by(cause), changed });

const eventsOf = (
  types: readonly TaskEventType[],
  { assigned_to }: Pick<Task, 'assigned_to'>,
  cause: Cause,
): TaskEvent[] =>
  types.map((type) => ({
    event_id: newId('event'),
    type,
    at: cause.now,
    ...by(cause),
    ...defined({ assigned_to }),
  }));

const intentsFor = (
  { _id, org_id, execution_id, external_links }: Pick<Task, '_id' | 'org_id' | 'execution_id' | 'external_links'>,
  events: readonly TaskEvent[],
  changed: readonly string[],
  now: Date,
  begun = false,
): Intent[] =>
  workOfMove({
    orgId: org_id,
    taskId: _id,
    events: events.map(({ type }) => type),
    changed,
    linked: external_links.length > 0,
    ...(begun && execution_id !== undefined ? { execution: execution_id } : {}),
  }).map((work) => intentFor(work, now));
