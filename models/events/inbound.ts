/**
 * What arrived from other services, verified: one record for each delivery, stored with the intent to process it. A repeat
 * is recognised by its keys. A record is claimed and settled by compare-and-set, so that an attempt that was believed dead
 * settles nothing.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel } from '../base/define.ts';
import type { Eraser, Erased } from '../chat/erasure.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import {
  inboundProviders,
  inboundStatuses,
  type InboundProvider,
  type InboundStatus,
} from '../rules/events/inbound.ts';

export type Inbound = {
  _id: string;
  provider: InboundProvider;
  /**
   * What a repeat shares with it, each with the sender's name in front: the provider's id of the delivery, a hash of what
   * was signed.
   */
  keys: string[];
  /** Empty when it belongs to no organization that is connected; then nobody is shown it. */
  org_id: string;
  mode: Mode;
  /** Those of one lane are processed in the order in which they arrived: an issue, a thread. */
  lane: string;
  /** What it is, in the provider's words: `Issue.update`, `app_mention`. */
  type: string;
  /** As text, whatever is in it: JSON may nest deeper than MongoDB stores. Empty once it is processed or ignored. */
  body: string;
  status: InboundStatus;
  /** Why it was ignored, or the last failure. */
  reason?: string;
  /** What it changed, as one sentence. */
  outcome?: string;
  attempts: number;
  /** The attempt that may settle it. */
  attempt?: string;
  /** Set after a failure: when it is tried again. */
  next_at?: Date;
  /** Once it is known: whose data it holds. */
  customer_id?: string;
  received_at: Date;
  settled_at?: Date;
  expires_at: Date;
  pending?: Intent[];
};

export const InboundModel = defineModel<Inbound>(
  'Inbound',
  'inbound',
  {
    _id: { type: String, required: true },
    provider: { type: String, enum: inboundProviders, required: true },
    keys: { type: [String], required: true },
    org_id: { type: String },
    mode: { type: String, enum: modes, required: true },
    lane: { type: String, required: true },
    type: { type: String, required: true },
    body: { type: String },
    status: { type: String, enum: inboundStatuses, required: true },
    reason: String,
    outcome: String,
    attempts: { type: Number, required: true },
    attempt: String,
    next_at: Date,
    customer_id: String,
    received_at: { type: Date, required: true },
    settled_at: Date,
    expires_at: { type: Date, required: true },
    pending: pendingField,
  },
  [
    { fields: { provider: 1, keys: 1 }, unique: true },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, status: 1, _id: 1 }, partialFilterExpression: { status: 'stored' } },
    { fields: { org_id: 1, customer_id: 1 }, partialFilterExpression: { customer_id: { $exists: true } } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);

/** Stores what arrived; false when it was there before. */
export async function storeInbound(inbound: Inbound): Promise<boolean> {
  try {
    await collectionOf(InboundModel).insertOne(inbound);
    return true;
  } catch (error) {
    if (isDuplicate(error)) return false;
    throw error;
  }
}

/** Notes that the workflow was told of these. */
export async function settleArrivals(ids: readonly string[]): Promise<void> {
  await collectionOf(InboundModel).updateMany({ _id: { $in: [...ids] } }, { $unset: { pending: '' } });
}

/** What is still to be processed and waits for no time, the oldest first; lanes whose first record waits are left out. */
export async function listStored(orgId: string, now: Date, limit: number): Promise<Inbound[]> {
  const waiting = await collectionOf(InboundModel).distinct('lane', {
    org_id: orgId,
    status: 'stored',
    next_at: { $gt: now },
  });
  return collectionOf(InboundModel)
    .find({ org_id: orgId, status: 'stored', lane: { $nin: waiting } })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** When the next of those that failed is tried again; undefined when none waits. */
export async function nextAttemptAt(orgId: string): Promise<Date | undefined> {
  const [next] = await collectionOf(InboundModel)
    .find({ org_id: orgId, status: 'stored', next_at: { $exists: true } }, { projection: { next_at: 1 } })
    .sort({ next_at: 1 })
    .limit(1)
    .toArray();
  return next?.next_at;
}

/** Takes the right to settle from the attempt that had it when the record was read; false when another one has it since. */
export async function claimInbound({ _id, attempt }: Pick<Inbound, '_id' | 'attempt'>, next: string): Promise<boolean> {
  const { modifiedCount } = await collectionOf(InboundModel).updateOne(
    { _id, status: 'stored', attempt: attempt ?? { $exists: false } },
    { $set: { attempt: next }, $inc: { attempts: 1 } },
  );
  return modifiedCount === 1;
}

/** How an attempt ended. `again`: it failed, and is made again then. */
export type Settled =
  | { status: 'processed'; outcome: string }
  | { status: 'ignored' | 'failed'; reason: string }
  | { again: Date; reason: string };

/** Writes down how an attempt ended; false when another attempt has taken the right to. */
export async function settleInbound(id: string, attempt: string, settled: Settled, now: Date): Promise<boolean> {
  const change =
    'again' in settled
      ? { $set: { next_at: settled.again, reason: settled.reason } }
      : {
          // What is done with is not kept: it may hold what people wrote to each other.
          $set: { ...settled, settled_at: now, ...(settled.status === 'failed' ? {} : { body: '' }) },
          $unset: {
            next_at: '' as const,
            pending: '' as const,
            ...('outcome' in settled ? { reason: '' as const } : {}),
          },
        };
  const { matchedCount } = await collectionOf(InboundModel).updateOne({ _id: id, status: 'stored', attempt }, change);
  return matchedCount === 1;
}

/** Notes whose data a record holds, so that it goes when the customer is erased. */
export async function noteCustomer(id: string, customerId: string): Promise<void> {
  await collectionOf(InboundModel).updateOne({ _id: id }, { $set: { customer_id: customerId } });
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
        ...(provider === undefined ? {} : { provider }),
        ...(status === undefined ? {} : { status }),
        ...(before === undefined ? {} : { _id: { $lt: before } }),
      },
      { projection: { body: 0, keys: 0, pending: 0 } },
    )
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}

const ofCustomer = ({ orgId, customerId }: Erased) => ({ org_id: orgId, customer_id: customerId });

/** What arrived about a customer goes with it. */
export const inboundEraser: Eraser = {
  kind: 'inbound',
  count: (erased) => collectionOf(InboundModel).countDocuments(ofCustomer(erased)),
  async remove(erased) {
    await collectionOf(InboundModel).deleteMany(ofCustomer(erased));
  },
};
