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
  /** When the sweeper may look at it; pushed on by whoever takes it. */
  next_at: Date;
  tries: number;
};
/** What every record that starts workflows has. */
export type Launchable = { _id: string; org_id: string; mode: string; pending?: Intent[] };

/** How long the process that saved the record has to start the workflow before the sweeper does, in ms. */
export const SWEEP_AFTER_MS = 5_000;
const MAX_WAIT_MS = 5 * 60_000;

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

/**
 * Takes one intent that is due and pushes its next time on (5 s, doubling to 5 min), so that two sweepers never hold the
 * same one. Null when nothing is due.
 */
export async function takeDueIntent<T extends Launchable>(
  model: Model<T>,
  now: Date,
): Promise<{ record: Launchable; intent: Intent } | null> {
  const due = { $elemMatch: { next_at: { $lte: now } } };
  const record = (await model.collection.findOne(
    { pending: due },
    { projection: { org_id: 1, mode: 1, pending: 1 } },
  )) as Launchable | null;
  const intent = record?.pending?.find((i) => i.next_at <= now);
  if (!record || !intent) return null;
  const wait = Math.min(SWEEP_AFTER_MS * 2 ** intent.tries, MAX_WAIT_MS);
  const taken = await model.collection.updateOne(
    { _id: record._id as never, pending: { $elemMatch: { workflow_id: intent.workflow_id, next_at: intent.next_at } } },
    { $set: { 'pending.$.next_at': new Date(now.getTime() + wait) }, $inc: { 'pending.$.tries': 1 } },
  );
  // Another sweeper was faster: look again, for something else may be due.
  return taken.modifiedCount === 1 ? { record, intent } : takeDueIntent(model, now);
}
