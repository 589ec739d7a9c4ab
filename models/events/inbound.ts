/**
 * What arrived from other services, verified: one record for each delivery, stored with the intent to process it. A repeat
 * is recognised by its keys. A record is claimed and settled by compare-and-set, so that an attempt that was believed dead
 * settles nothing.
 */
import { mongo } from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, list, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import { grouped } from '../base/grouped.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  inboundProviders,
  inboundStatuses,
  type InboundProvider,
  type InboundStatus,
} from '../rules/events/inbound.ts';
import { defined } from '../rules/base/defined.ts';

export const InboundModel = defineModel(
  'Inbound',
  'inbound',
  {
    _id: string,
    provider: oneOf(inboundProviders),
    /**
     * What a repeat shares with it, each with the sender's name in front: the provider's id of the delivery, a hash of what
     * was signed.
     */
    keys: list(string),
    /** Empty when it belongs to no organization that is connected; then nobody is shown it. */
    org_id: text,
    mode: oneOf(modes),
    /** Those of one lane are processed in the order in which they arrived: an issue, a thread. */
    lane: string,
    /** What it is, in the provider's words: `Issue.update`, `app_mention`. */
    type: string,
    /** As text, whatever is in it: JSON may nest deeper than MongoDB stores. Empty once it is processed or ignored. */
    body: text,
    status: oneOf(inboundStatuses),
    /** Why it was ignored, or the last failure. */
    reason: optional(string),
    /** What it changed, as one sentence. */
    outcome: optional(string),
    /** Those that ended. */
    attempts: number,
    /** The attempt that may settle it. */
    attempt: optional(string),
    /** Set after a failure: when it is tried again. */
    next_at: optional(date),
    /** Once it is known: whose data it holds. */
    about: aboutField,
    received_at: date,
    settled_at: optional(date),
    expires_at: date,
    pending: pendingField,
  },
  [
    { fields: { provider: 1, keys: 1 }, unique: true },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, status: 1, _id: 1 }, partialFilterExpression: { status: 'stored' } },
    { fields: { org_id: 1, next_at: 1 }, partialFilterExpression: { next_at: { $exists: true } } },
    aboutIndex,
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Inbound = RecordOf<typeof InboundModel>;

/**
 * Stores what arrived; false when it was there before. What arrives while a write is under way is written together, and each
 * caller waits for its own record.
 */
export const storeInbound: (inbound: Inbound) => Promise<boolean> = grouped(insertAll, { atOnce: 2, max: 200 });

async function insertAll(records: readonly Inbound[]): Promise<(boolean | Error)[]> {
  try {
    await collectionOf(InboundModel).insertMany([...records], { ordered: false });
    return records.map(() => true);
  } catch (error) {
    // Without a majority nothing counts as stored.
    if (!(error instanceof mongo.MongoBulkWriteError) || error.result.getWriteConcernError()) throw error;
    const refused = new Map([error.writeErrors].flat().map((one) => [one.index, one]));
    return records.map((_, at) => {
      const why = refused.get(at);
      if (!why) return true;
      return isDuplicate(why) ? false : new Error(why.errmsg ?? 'The record was not stored.', { cause: error });
    });
  }
}

/** Notes that the workflow was told of those that it has not settled since. */
export async function settleArrivals(ids: readonly string[]): Promise<void> {
  await collectionOf(InboundModel).updateMany(
    { _id: { $in: [...ids] }, status: 'stored' },
    { $unset: { pending: '' } },
  );
}

/**
 * What is still to be processed and waits for no time, the oldest first; lanes whose first record waits, and those in
 * `without`, are left out.
 */
export async function listStored(
  orgId: string,
  { now, limit, without = [] }: { now: Date; limit: number; without?: readonly string[] },
): Promise<Inbound[]> {
  const waiting = await collectionOf(InboundModel).distinct('lane', { ...retried(orgId), next_at: { $gt: now } });
  return collectionOf(InboundModel)
    .find({ org_id: orgId, status: 'stored', lane: { $nin: [...waiting, ...without] } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** As the index of those that failed and are tried again holds them. */
const retried = (orgId: string) => ({ org_id: orgId, status: 'stored' as const });

/** When the next of those that failed is tried again; undefined when none waits. */
export async function nextAttemptAt(orgId: string): Promise<Date | undefined> {
  const [next] = await collectionOf(InboundModel)
    .find({ ...retried(orgId), next_at: { $exists: true } }, { projection: { next_at: 1 } })
    .sort({ next_at: 1 })
    .limit(1)
    .toArray();
  return next?.next_at;
}

/**
 * Takes the right to settle these from the attempts that had it when they were read, and gives the ids of those that it
 * took; the others have another attempt since.
 */
export async function claimInbound(
  read: readonly Pick<Inbound, '_id' | 'attempt'>[],
  next: string,
): Promise<ReadonlySet<string>> {
  const ids = read.map(({ _id }) => _id);
  const before = Map.groupBy(read, ({ attempt }) => attempt);
  const { modifiedCount } = await collectionOf(InboundModel).bulkWrite(
    [...before].map(([attempt, records]) => ({
      updateMany: {
        filter: {
          _id: { $in: records.map(({ _id }) => _id) },
          status: 'stored',
          attempt: attempt ?? { $exists: false },
        },
        update: { $set: { attempt: next } },
      },
    })),
    { ordered: false },
  );
  return new Set(modifiedCount === ids.length ? ids : await claimedOf(ids, next));
}

/** Those of these that are this attempt's. */
export async function claimedOf(ids: readonly string[], attempt: string): Promise<string[]> {
  return collectionOf(InboundModel).distinct('_id', { _id: { $in: [...ids] }, attempt });
}

/** How an attempt ended. `again`: it failed, and is made again then. */
export type Settled =
  | { status: 'processed'; outcome: string }
  | { status: 'ignored' | 'failed'; reason: string }
  | { again: Date; reason: string };

type Settlement = { id: string; attempt: string; settled: Settled; now: Date };

/**
 * Writes down how an attempt ended; false when another attempt has taken the right to. Those that end while a write is under
 * way are written together.
 */
export const settleInbound: (settlement: Settlement) => Promise<boolean> = grouped(settleAll, { atOnce: 2, max: 200 });

async function settleAll(settlements: readonly Settlement[]): Promise<boolean[]> {
  const { matchedCount } = await collectionOf(InboundModel).bulkWrite(
    settlements.map(({ id, attempt, settled, now }) => ({
      updateOne: { filter: { _id: id, status: 'stored', attempt }, update: changeBy(settled, now) },
    })),
    { ordered: false },
  );
  if (matchedCount === settlements.length) return settlements.map(() => true);
  // Only who has the right to settle a record ends it, so its attempt tells whether this one did.
  const ids = settlements.map(({ id }) => id);
  const now = await collectionOf(InboundModel)
    .find({ _id: { $in: ids } }, { projection: { attempt: 1 } })
    .toArray();
  const holders = new Map(now.map(({ _id, attempt }) => [_id, attempt]));
  return settlements.map(({ id, attempt }) => holders.get(id) === attempt);
}

const changeBy = (settled: Settled, now: Date) =>
  'again' in settled
    ? { $set: { next_at: settled.again, reason: settled.reason }, $inc: { attempts: 1 } }
    : {
        // What is done with is not kept: it may hold what people wrote to each other.
        $set: { ...settled, settled_at: now, ...(settled.status === 'failed' ? {} : { body: '' }) },
        $unset: {
          next_at: '' as const,
          pending: '' as const,
          ...('outcome' in settled ? { reason: '' as const } : {}),
        },
        $inc: { attempts: 1 },
      };

/** Notes whose data a record holds, so that it goes with the customer or the task. */
export async function noteAbout(id: string, about: readonly string[]): Promise<void> {
  await collectionOf(InboundModel).updateOne({ _id: id }, { $addToSet: { about: { $each: [...about] } } });
}

export type InboundFilter = {
  modes: readonly Mode[];
  provider?: InboundProvider | undefined;
  status?: InboundStatus | undefined;
};

/** The newest first; `before` is the last id of the page before. Bodies are not read. */
export async function listInbound(
  orgId: string,
  { modes: seen, provider, status }: InboundFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Omit<Inbound, 'body' | 'keys'>[]> {
  return collectionOf(InboundModel)
    .find(
      {
        org_id: orgId,
        mode: { $in: [...seen] },
        ...defined({ provider, status }),
        ...(before === undefined ? {} : { _id: { $lt: before } }),
      },
      { projection: { body: 0, keys: 0, pending: 0 } },
    )
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}
