/**
 * Verified webhooks and mails from other services: one record per webhook or mail. The record also stores the intent to
 * start the workflow that processes it. Repeats are recognized by their keys. Attempts claim a record and store their
 * result by compare-and-set, so that an attempt that has lost its claim cannot store a result.
 */
import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { isDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, newest, olderThan, type RecordOf } from '../base/define.ts';
import { date, list, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import { grouped } from '../base/grouped.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  inboundParts,
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
     * Idempotency keys, such as the provider's delivery id and a hash of the signed content. Each key starts with the
     * sender's name. A webhook or mail that shares a key with a stored record is a repeat.
     */
    keys: list(string),
    /** The organization's id; empty when no connected organization owns the record, which is then shown to nobody. */
    org_id: text,
    mode: oneOf(modes),
    /**
     * What the record is about, such as an issue or a thread. Records of one lane are processed in the order of their
     * arrival.
     */
    lane: string,
    /**
     * The part that the lane is in: `partOf(lane)`. An organization's lanes are spread over `inboundParts`, so that
     * several workers can process a burst of records.
     */
    part: number,
    /** The event type in the provider's terms, such as `Issue.update` or `app_mention`. */
    type: string,
    /**
     * The payload as text, because JSON may be nested deeper than MongoDB allows. The text is cleared once the record
     * is processed or ignored.
     */
    body: text,
    status: oneOf(inboundStatuses),
    /** Why the record was ignored, or the error of the last failed attempt. */
    reason: optional(string),
    /** What processing the record changed, as one sentence. */
    outcome: optional(string),
    /** The number of finished attempts. */
    attempts: number,
    /** The id of the attempt that holds the claim; only this attempt may store a result. */
    attempt: optional(string),
    /** When the next attempt is due, after a failed one. */
    next_at: optional(date),
    /** The ids of the customers and tasks whose data the record contains, once they are known. */
    about: aboutField,
    received_at: date,
    settled_at: optional(date),
    expires_at: date,
    pending: pendingField,
  },
  [
    { fields: { provider: 1, keys: 1 }, unique: true },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, part: 1, status: 1, _id: 1 }, partialFilterExpression: { status: 'stored' } },
    { fields: { org_id: 1, part: 1, next_at: 1 }, partialFilterExpression: { next_at: { $exists: true } } },
    aboutIndex,
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Inbound = RecordOf<typeof InboundModel>;

export const partOf = (lane: string): number => createHash('sha256').update(lane).digest()[0]! % inboundParts.length;

/** Selects an organization's records; with `part`, only the records of this part. */
export type InboundOf = { orgId: string; part?: number };

/**
 * Stores a record; false when a record with the same idempotency key exists. Records that arrive during a write are
 * batched into the next write. Each caller waits for the result of its own record.
 */
export const storeInbound: (inbound: Inbound) => Promise<boolean> = grouped(insertAll, { atOnce: 2, max: 200 });

async function insertAll(records: readonly Inbound[]): Promise<(boolean | Error)[]> {
  try {
    await collectionOf(InboundModel).insertMany([...records], { ordered: false });
    return records.map(() => true);
  } catch (error) {
    // Without acknowledgement by a majority of the replica set, no record counts as stored.
    if (!(error instanceof mongo.MongoBulkWriteError) || error.result.getWriteConcernError()) throw error;
    const refused = new Map([error.writeErrors].flat().map((one) => [one.index, one]));
    return records.map((_, at) => {
      const why = refused.get(at);
      if (!why) return true;
      return isDuplicate(why) ? false : new Error(why.errmsg ?? 'The record was not stored.', { cause: error });
    });
  }
}

/**
 * Clears the intents (`pending`) of records that are not processed yet. The intents are not needed any more, because
 * the workflow has already been signalled about these records.
 */
export async function settleArrivals(ids: readonly string[]): Promise<void> {
  await collectionOf(InboundModel).updateMany(
    { _id: { $in: [...ids] }, status: 'stored' },
    { $unset: { pending: '' } },
  );
}

/**
 * The records that are due for processing, oldest first. Excluded are the lanes in `without` and lanes that are blocked
 * by a failed record whose retry is not due yet.
 */
export async function listStored(
  of: InboundOf,
  { now, limit, without = [] }: { now: Date; limit: number; without?: readonly string[] },
): Promise<Inbound[]> {
  const waiting = await collectionOf(InboundModel).distinct('lane', { ...storedOf(of), next_at: { $gt: now } });
  return collectionOf(InboundModel)
    .find({ ...storedOf(of), lane: { $nin: [...waiting, ...without] } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/**
 * The filter always names `part` and `status`, because the indexes need them: `part` precedes the sorted field, and one
 * index contains only `stored` records.
 */
const storedOf = ({ orgId, part }: InboundOf) => ({
  org_id: orgId,
  part: part ?? { $in: [...inboundParts] },
  status: 'stored' as const,
});

/** The time of the next retry of a failed record; undefined when no retry is scheduled. */
export async function nextAttemptAt(of: InboundOf): Promise<Date | undefined> {
  const [next] = await collectionOf(InboundModel)
    .find({ ...storedOf(of), next_at: { $exists: true } }, { projection: { next_at: 1 } })
    .sort({ next_at: 1 })
    .limit(1)
    .toArray();
  return next?.next_at;
}

/**
 * Claims records for the attempt `next`, by compare-and-set on the attempt that held each record when it was read.
 * Returns the ids of the claimed records. The other records were claimed by another attempt meanwhile.
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

/** The ids of the given records that the attempt holds. */
export async function claimedOf(ids: readonly string[], attempt: string): Promise<string[]> {
  return collectionOf(InboundModel).distinct('_id', { _id: { $in: [...ids] }, attempt });
}

/** The result of an attempt. `again`: the attempt failed, and the retry is due at that time. */
export type Settled =
  | { status: 'processed'; outcome: string }
  | { status: 'ignored' | 'failed'; reason: string }
  | { again: Date; reason: string };

type Settlement = { id: string; attempt: string; settled: Settled; now: Date };

/**
 * Stores the result of an attempt; false when another attempt has claimed the record. Results that arrive during a
 * write are batched into the next write.
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
  // Only the holder of the claim can store a result, so `attempt` shows whether this result was stored.
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
        // The body of a processed or ignored record is cleared, because it may contain private messages. A failed
        // record keeps its body.
        $set: { ...settled, settled_at: now, ...(settled.status === 'failed' ? {} : { body: '' }) },
        $unset: {
          next_at: '' as const,
          pending: '' as const,
          ...('outcome' in settled ? { reason: '' as const } : {}),
        },
        $inc: { attempts: 1 },
      };

/** Stores the ids of the customers and tasks whose data a record contains, so that the record is erased with them. */
export async function noteAbout(id: string, about: readonly string[]): Promise<void> {
  await collectionOf(InboundModel).updateOne({ _id: id }, { $addToSet: { about: { $each: [...about] } } });
}

export type InboundFilter = {
  modes: readonly Mode[];
  provider?: InboundProvider | undefined;
  status?: InboundStatus | undefined;
};

/** Lists records, newest first, without their bodies. `before`: the last id of the previous page. */
export async function listInbound(
  orgId: string,
  { modes: seen, provider, status }: InboundFilter,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<Omit<Inbound, 'body' | 'keys'>[]> {
  const which = { org_id: orgId, mode: { $in: [...seen] }, ...defined({ provider, status }), ...olderThan(before) };
  return newest(collectionOf(InboundModel).find(which, { projection: { body: 0, keys: 0, pending: 0 } }), limit);
}
