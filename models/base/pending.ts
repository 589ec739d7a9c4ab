/**
 * The intent to start a workflow, stored inside the record that needs the workflow. One write stores record and intent,
 * so neither is lost. workflows/start.ts starts the workflow at once. If that fails or the process dies before,
 * workers/sweeper.ts starts the workflow later.
 */
import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { IndexDefinition, Model } from './define.ts';
import { currentTrace } from './trace.ts';
import type { Work } from '../rules/base/work.ts';
import { date, embedded, list, mixed, number, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { defined } from '../rules/base/defined.ts';

const intent = embedded({
  /**
   * Tells apart the intents of a record that send signals to the same workflow; absent in an intent without a signal.
   */
  key: optional(string),
  /**
   * The signal to send; it also starts the workflow when no run is open. Without a signal, the workflow is started
   * once.
   */
  signal: optional(string),
  workflow: string,
  workflow_id: string,
  queue: string,
  args: list(mixed<unknown>()),
  /** The timeout of the workflow's tasks (workflow task timeout), in ms. */
  task_timeout_ms: optional(number),
  /** The `traceparent` of the request or activity that needs the workflow. */
  trace: optional(string),
  /** When the workflow was requested. */
  since: date,
  /** The time from which a sweeper may lease the intent. Each lease moves this time forward. */
  next_at: date,
  tries: number,
});
export type Intent = ValueOf<typeof intent>;
/** The fields of every record that starts workflows. */
export type Launchable = { _id: string; org_id: string; mode: string; pending?: Intent[] };
/** Starts the workflows of a saved record. It never throws; the sweeper retries failed starts. */
export type Start = <T extends Launchable>(
  model: Model<T>,
  record: Launchable,
  intents: readonly Intent[],
) => Promise<void>;

/**
 * How long the sweeper leaves a new intent alone, in ms. In this time the process that saved the record starts the
 * workflow itself.
 */
const sweepAfterMs = 5_000;
/**
 * How long a sweeper leases an intent, in ms. The sweeper gives the start of the workflow at most 4 s; the last second
 * is for MongoDB writes.
 */
const leaseMs = 5_000;
const maxWaitMs = 5 * 60_000;

/**
 * The intent to start this work. The process that stores the intent starts the workflow at once, so `next_at`, from
 * which the sweeper may start it, is `sweepAfterMs` later.
 */
export function intentFor({ workflow, id, queue, args, signal, taskTimeoutMs }: Work, now: Date): Intent {
  const next_at = new Date(now.getTime() + sweepAfterMs);
  const signals = signal === undefined ? {} : { signal, key: randomUUID() };
  const timeout = taskTimeoutMs === undefined ? {} : { task_timeout_ms: taskTimeoutMs };
  const trace = currentTrace();
  const times = { since: now, next_at, tries: 0 };
  return { workflow, workflow_id: id, queue, args, ...signals, ...timeout, ...defined({ trace }), ...times };
}

/** The field that stores the intents of a record, and the index that finds intents that were not started. */
export const pendingField = optional(list(intent));
export const pendingIndex: IndexDefinition = {
  fields: { 'pending.next_at': 1 },
  partialFilterExpression: { 'pending.next_at': { $exists: true } },
};

/**
 * The filter for one intent of a record. A record has at most one intent without a signal per workflow; each intent
 * with a signal has its own `key`.
 */
const only = ({ workflow_id, key }: Pick<Intent, 'workflow_id' | 'key'>) => ({
  workflow_id,
  key: key ?? { $exists: false },
});

/** Removes an intent whose workflow was started. Other intents of the record stay. */
export async function settleIntent<T extends Launchable>(
  model: Model<T>,
  { _id, org_id }: Pick<Launchable, '_id' | 'org_id'>,
  intent: Pick<Intent, 'workflow_id' | 'key'>,
): Promise<void> {
  await model.collection.updateOne({ _id: _id as never, org_id }, { $pull: { pending: only(intent) } as never });
}

/** An intent that is due, and the fields of its record that a start needs. */
export type Due = { record: Launchable; intent: Intent };

/** The intents that are due, of at most `limit` records; those that have waited longest come first. */
export async function listDueIntents<T extends Launchable>(model: Model<T>, now: Date, limit: number): Promise<Due[]> {
  // The query names the dotted field of the index, because MongoDB would not use the index for `$elemMatch` alone.
  const records = (await model.collection
    .find({ 'pending.next_at': { $lte: now } }, { projection: { org_id: 1, mode: 1, pending: 1 } })
    .sort({ 'pending.next_at': 1 })
    .limit(limit)
    .toArray()) as unknown as Launchable[];
  return records.flatMap((record) =>
    (record.pending ?? []).filter(({ next_at }) => next_at <= now).map((intent) => ({ record, intent })),
  );
}

/**
 * Leases a due intent for 5 s, so that two sweepers never hold the same intent. Within this time the workflow must be
 * started and the intent removed; otherwise the intent is due again. Returns null when another sweeper was faster.
 */
export async function leaseIntent<T extends Launchable>(
  model: Model<T>,
  { record, intent }: Due,
  now: Date,
): Promise<Intent | null> {
  const { next_at, tries } = intent;
  const leased = { next_at: new Date(now.getTime() + leaseMs), tries: tries + 1 };
  const { modifiedCount } = await model.collection.updateOne(
    {
      _id: record._id as never,
      org_id: record.org_id,
      pending: { $elemMatch: { ...only(intent), next_at } },
    },
    { $set: { 'pending.$.next_at': leased.next_at, 'pending.$.tries': leased.tries } },
  );
  return modifiedCount === 1 ? { ...intent, ...leased } : null;
}

/** Delays an intent whose workflow could not be started: 5 s, doubling with each attempt up to 5 min. */
export async function postponeIntent<T extends Launchable>(
  model: Model<T>,
  { record, intent }: Due,
  now: Date,
): Promise<void> {
  const { next_at, tries } = intent;
  const wait = Math.min(sweepAfterMs * 2 ** (tries - 1), maxWaitMs);
  await model.collection.updateOne(
    {
      _id: record._id as never,
      org_id: record.org_id,
      pending: { $elemMatch: { ...only(intent), next_at } },
    },
    { $set: { 'pending.$.next_at': new Date(now.getTime() + wait) } },
  );
}

/**
 * Counts the records, in all collections, with an intent that was saved before `since` and whose workflow has not been
 * started. Only collections with the index of intents are read.
 */
export async function countWaitingIntents(since: Date): Promise<number> {
  const db = mongoose.connection.db!;
  const counts = (await db.listCollections({}, { nameOnly: true }).toArray()).map(async ({ name }) => {
    const collection = db.collection(name);
    const indexes = await collection.indexes().catch(() => []);
    if (!indexes.some(({ key }) => 'pending.next_at' in key)) return 0;
    // Every intent has `next_at`; this condition makes MongoDB use the index.
    return collection.countDocuments({ 'pending.next_at': { $gt: new Date(0) }, 'pending.since': { $lt: since } });
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
