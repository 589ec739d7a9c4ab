/**
 * The intent to start a workflow, stored inside the record it is for: one write makes both, so neither is ever lost.
 * api/durable.ts starts it at once; workers/sweeper.ts starts what was left behind.
 */
import type { Model } from 'mongoose';
import { embedded, Mixed, type Field, type IndexDefinition } from './define.ts';

export type Intent = {
  /** Of one that signals, which others with the same workflow id may stand beside. */
  key?: string;
  /** The signal that is sent, starting the workflow when none is open; a workflow is started once without. */
  signal?: string;
  workflow: string;
  workflow_id: string;
  queue: string;
  args: unknown[];
  /** When the sweeper may take it. Each sweeper that does moves this on. */
  next_at: Date;
  tries: number;
};
/** What every record that starts workflows has. */
export type Launchable = { _id: string; org_id: string; mode: string; pending?: Intent[] };

/** How long the process that saved the record has to start the workflow before the sweeper does, in ms. */
export const sweepAfterMs = 5_000;
/** A start takes a second at most, and settling it as long as MongoDB takes. */
const leaseMs = 5_000;
const maxWaitMs = 5 * 60_000;

/** The field of a record that starts workflows, and the index that finds those left behind. */
export const pendingField: Field = {
  type: [
    embedded<Intent>({
      key: String,
      signal: String,
      workflow: { type: String, required: true },
      workflow_id: { type: String, required: true },
      queue: { type: String, required: true },
      args: { type: [Mixed], required: true },
      next_at: { type: Date, required: true },
      tries: { type: Number, required: true },
    }),
  ],
  default: undefined,
};
export const pendingIndex: IndexDefinition = {
  fields: { 'pending.next_at': 1 },
  partialFilterExpression: { 'pending.next_at': { $exists: true } },
};

/** A workflow has one intent in a record, unless it is signalled: then each signal has its own. */
export const isSameIntent = (a: Intent, b: Intent): boolean => a.workflow_id === b.workflow_id && a.key === b.key;

/** Removes a started intent; others on the same record stay. */
export async function settleIntent<T extends Launchable>(
  model: Model<T>,
  id: string,
  { workflow_id, key }: Pick<Intent, 'workflow_id' | 'key'>,
): Promise<void> {
  const settled = { workflow_id, ...(key === undefined ? {} : { key }) };
  await model.collection.updateOne({ _id: id as never }, { $pull: { pending: settled } as never });
}

/** An intent that is due, and its record with what a start needs of it. */
export type Due = { record: Launchable; intent: Intent };

/** The intents that are due, those that have waited longest first; of at most `limit` records. */
export async function listDueIntents<T extends Launchable>(model: Model<T>, now: Date, limit: number): Promise<Due[]> {
  const due = { $elemMatch: { next_at: { $lte: now } } };
  const records = (await model.collection
    .find({ pending: due }, { projection: { org_id: 1, mode: 1, pending: 1 } })
    .sort({ 'pending.next_at': 1 })
    .limit(limit)
    .toArray()) as unknown as Launchable[];
  return records.flatMap((record) =>
    (record.pending ?? []).filter(({ next_at }) => next_at <= now).map((intent) => ({ record, intent })),
  );
}

/**
 * Takes a due intent for 5 s, in which it is to be started and settled, so that two sweepers never hold the same one; null
 * when another sweeper was faster. What is not settled by then is due again.
 */
export async function leaseIntent<T extends Launchable>(
  model: Model<T>,
  { record, intent }: Due,
  now: Date,
): Promise<Intent | null> {
  const { workflow_id, key, next_at, tries } = intent;
  const leased = { next_at: new Date(now.getTime() + leaseMs), tries: tries + 1 };
  const { modifiedCount } = await model.collection.updateOne(
    {
      _id: record._id as never,
      pending: { $elemMatch: { workflow_id, next_at, ...(key === undefined ? {} : { key }) } },
    },
    { $set: { 'pending.$.next_at': leased.next_at, 'pending.$.tries': leased.tries } },
  );
  return modifiedCount === 1 ? { ...intent, ...leased } : null;
}

/** Has an intent that cannot be started wait: 5 s, doubling with each try up to 5 min. */
export async function postponeIntent<T extends Launchable>(
  model: Model<T>,
  { record, intent }: Due,
  now: Date,
): Promise<void> {
  const { workflow_id, key, next_at, tries } = intent;
  const wait = Math.min(sweepAfterMs * 2 ** (tries - 1), maxWaitMs);
  await model.collection.updateOne(
    {
      _id: record._id as never,
      pending: { $elemMatch: { workflow_id, next_at, ...(key === undefined ? {} : { key }) } },
    },
    { $set: { 'pending.$.next_at': new Date(now.getTime() + wait) } },
  );
}
