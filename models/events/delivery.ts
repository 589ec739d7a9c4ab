/**
 * Deliveries: one record per event and destination, with its attempts. One workflow sends all deliveries with the same
 * `line`, in order (workflows/events/ticketevents.ts or workflows/events/sendline.ts). Attempts are claimed, and their
 * results are stored, by compare-and-set, so that an attempt that crashed at any point can be repeated.
 */
import { randomUUID } from 'node:crypto';
import type mongoose from 'mongoose';
import { isDuplicate, unlessDuplicate } from '../base/connect.ts';
import { aboutField, aboutIndex } from '../base/copies.ts';
import { collectionOf, defineModel, finderOf, newest, olderThan, type RecordOf } from '../base/define.ts';
import { date, embedded, list, mixed, number, oneOf, optional, string, type ValueOf } from '../rules/base/fields.ts';
import { newId } from '../base/ids.ts';
import { intentFor, pendingField, pendingIndex, type Due, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';
import { ticketEventsWork } from '../rules/chat/work.ts';
import {
  deliveryKinds,
  deliveryStatuses,
  maxAttempts,
  outstanding,
  type DeliveryKind,
  type DeliveryStatus,
  type OutgoingRequest,
} from '../rules/events/delivery.ts';
import type { Work } from '../rules/base/work.ts';
import { slackLane } from '../rules/events/notification.ts';
import { sendLineWork } from '../rules/events/work.ts';
import { defined } from '../rules/base/defined.ts';
import { expiryOf } from '../rules/base/retention.ts';

/** The objects that a delivery is about. */
export type Subject = { conv_id?: string; ticket_id?: string; seq?: number; customer_id?: string; task_id?: string };

const attempt = embedded({
  at: date,
  status_code: optional(number),
  duration_ms: number,
  error: optional(string),
  /** The beginning of the response's body. */
  response_head: optional(string),
});
export type Attempt = ValueOf<typeof attempt>;

export const DeliveryModel = defineModel(
  'Delivery',
  'deliveries',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    kind: oneOf(deliveryKinds),
    event_id: string,
    event_type: string,
    /** Names the destination: `webhook`, `slack`, `email:<convId>`. An event has at most one delivery per lane. */
    lane: string,
    /** Deliveries of one line are sent one after the other, ordered by `subject.seq`, then by id. */
    line: string,
    /** The original line. `line` differs from it after a settled delivery was redelivered on a line of its own. */
    home: string,
    /** The destination's name for members, without secrets. */
    destination: string,
    subject: mixed<Subject>(),
    about: aboutField,
    /** The stored content from which the sender builds the same request, byte for byte, for every attempt. */
    payload: mixed<unknown>(),
    status: oneOf(deliveryStatuses),
    /** The number of failed attempts since the delivery was created or redelivered. */
    tries: number,
    /**
     * How often the settled delivery was redelivered. The daily limits of mails count each redelivery as another mail.
     */
    redeliveries: optional(number),
    attempts: list(attempt),
    next_attempt_at: optional(date),
    /** The claim of the attempt in flight. It remains when the attempt's process dies. */
    claim: optional(mixed<{ id: string; at: Date }>()),
    request: optional(mixed<OutgoingRequest>()),
    /** Why the delivery was not made, if that is known. */
    error: optional(string),
    /** The object that the receiver created, such as an issue or a message. */
    result: optional(mixed<{ id?: string; url?: string }>()),
    created_at: date,
    delivered_at: optional(date),
    expires_at: date,
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, event_id: 1, lane: 1 }, unique: true },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { org_id: 1, status: 1, _id: -1 } },
    { fields: { line: 1, status: 1 } },
    aboutIndex,
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Delivery = RecordOf<typeof DeliveryModel>;

const deliveries = () => collectionOf(DeliveryModel);
const expiry = (now: Date): Date => expiryOf('deliveries', now);

export type NewDelivery = Pick<
  Delivery,
  'org_id' | 'mode' | 'kind' | 'event_id' | 'event_type' | 'lane' | 'destination' | 'subject' | 'about' | 'payload'
> & {
  /**
   * Deliveries of one line are sent in order. A delivery without a line is sent at once, in parallel with all others.
   */
  line?: string;
};

/**
 * Builds the records of new deliveries; their ids sort in the given order. `claimed` returns true for a delivery whose
 * first attempt the caller makes right after storing the record.
 */
export function deliveryRecords(
  fresh: readonly NewDelivery[],
  now: Date,
  claimed: (delivery: NewDelivery) => boolean = () => false,
): Delivery[] {
  const ids = fresh.map(() => newId('delivery')).toSorted();
  return fresh.map((one, index) => {
    const _id = ids[index]!;
    const line = one.line ?? _id;
    return {
      ...one,
      _id,
      line,
      home: line,
      status: 'pending',
      tries: 0,
      attempts: [],
      next_attempt_at: now,
      ...(claimed(one) ? { claim: { id: randomUUID(), at: now } } : {}),
      created_at: now,
      expires_at: expiry(now),
    };
  });
}

/**
 * The workflow that sends a delivery: `ticketEvents` for the original line of a ticket's delivery, otherwise
 * `sendLine`. `now`: whether the workflow skips the waiting time of a retry.
 */
export function carrierOf(
  { org_id, line, home, subject }: Pick<Delivery, 'org_id' | 'line' | 'home' | 'subject'>,
  { now = false } = {},
): Work {
  const { ticket_id, conv_id } = subject;
  return line === home && ticket_id !== undefined && conv_id !== undefined
    ? ticketEventsWork(org_id, conv_id, ticket_id, { now })
    : sendLineWork(org_id, line, { now });
}

/**
 * Stores a delivery that is in no ticket's line, together with the intent to start the workflow that sends it. The
 * caller starts this workflow (`WorkerDeps.start` or `startSaved`), or else the sweeper starts it. When the event
 * already has a delivery on this lane, `created` is false and `delivery` is the existing one.
 *
 * `intents`: the intents of the delivery whose workflows were not started yet. `session`: a transaction that also makes
 * the change which the delivery is about. In a transaction the event must be a new one, because MongoDB aborts a
 * transaction when an insert fails as a duplicate.
 */
export async function createDelivery(
  fresh: NewDelivery,
  now: Date,
  session?: mongoose.mongo.ClientSession,
): Promise<{ delivery: Delivery; created: boolean; intents: Intent[] }> {
  const record = deliveryRecords([fresh], now)[0]!;
  const delivery = { ...record, pending: [intentFor(sendLineWork(record.org_id, record.line), now)] };
  try {
    await deliveries().insertOne(delivery, defined({ session }));
    return { delivery, created: true, intents: delivery.pending };
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const standing = await deliveries().findOne({ org_id: record.org_id, event_id: fresh.event_id, lane: fresh.lane });
    // The existing delivery was erased meanwhile, together with its customer.
    if (!standing) return { delivery: record, created: false, intents: [] };
    return { delivery: standing, created: false, intents: standing.pending ?? [] };
  }
}

/**
 * Stores a request that the execution of a task does not send, for example because the task is in test mode. Members
 * can read what would have been sent. Idempotent by `event_id` and `lane`.
 */
export async function storeSuppressed(fresh: NewDelivery, request: OutgoingRequest, now: Date): Promise<void> {
  const { next_attempt_at: _, ...record } = deliveryRecords([fresh], now)[0]!;
  await insertDeliveries([{ ...record, status: 'suppressed', request }]);
}

/**
 * Stores the given deliveries, except those whose event already has a delivery on the same lane. The returned predicate
 * tells whether a delivery was stored.
 */
export async function insertDeliveries(records: readonly Delivery[]): Promise<(delivery: Delivery) => boolean> {
  if (records.length === 0) return () => false;
  if (await unlessDuplicate(() => deliveries().insertMany([...records], { ordered: false }))) return () => true;
  const ids = records.map(({ _id }) => _id);
  const orgIds = [...new Set(records.map(({ org_id }) => org_id))];
  const stored = await deliveries()
    .find({ org_id: { $in: orgIds }, _id: { $in: ids } }, { projection: { _id: 1 } })
    .toArray();
  const fresh = new Set(stored.map(({ _id }) => _id));
  return ({ _id }) => fresh.has(_id);
}

const inOrder = { 'subject.seq': 1, _id: 1 } as const;

/** The unsent deliveries of a line, in order, at most `limit`. */
export async function outstandingOf(orgId: string, line: string, limit: number): Promise<Delivery[]> {
  return deliveries()
    .find({ org_id: orgId, line, status: { $in: [...outstanding] } })
    .sort(inOrder)
    .limit(limit)
    .toArray();
}

/** Matches all lines of a ticket, which begin with the ticket's id and a colon. */
const linesOf = (ticketId: string) => ({ $gte: `${ticketId}:`, $lt: `${ticketId};` });

/** The unsent deliveries of all lines of a ticket, in the order of its events. */
export async function outstandingOfTicket(orgId: string, ticketId: string): Promise<Delivery[]> {
  return deliveries()
    .find({ org_id: orgId, line: linesOf(ticketId), status: { $in: [...outstanding] } })
    .sort(inOrder)
    .toArray();
}

/**
 * Makes the next attempts of a workflow's unsent deliveries due now. The caller then signals the workflow
 * (`tryNowSignal`); otherwise the workflow would sleep until the former time.
 */
export async function hastenDeliveries(orgId: string, workflowId: string, now: Date): Promise<void> {
  const [ofTicket, ofLine] = [ticketEventsWork('', '', '').id, sendLineWork('', '').id];
  const line = workflowId.startsWith(ofTicket)
    ? linesOf(workflowId.slice(ofTicket.length))
    : workflowId.slice(ofLine.length);
  await deliveries().updateMany(
    { org_id: orgId, line, status: { $in: [...outstanding] }, next_attempt_at: { $gt: now } },
    { $set: { next_attempt_at: now } },
  );
}

/** The error that is shown for an attempt that began and never ended. */
const interrupted = 'This attempt was interrupted; whether the receiver got it is not known.';

/** Claims the next attempt; null when another attempt has begun or the delivery is no longer outstanding. */
export async function claimDelivery(delivery: Delivery, now: Date): Promise<Delivery | null> {
  const { _id, org_id, claim: before } = delivery;
  const died: Attempt[] = before
    ? [{ at: before.at, duration_ms: Math.max(0, now.getTime() - before.at.getTime()), error: interrupted }]
    : [];
  return deliveries().findOneAndUpdate(
    { _id, org_id, status: { $in: [...outstanding] }, 'claim.id': before?.id ?? { $exists: false } },
    {
      $set: { claim: { id: randomUUID(), at: now } },
      ...(died.length > 0 ? { $push: { attempts: { $each: died, $slice: -maxAttempts } } } : {}),
    },
    { returnDocument: 'after' },
  );
}

/**
 * The new state of a delivery after an attempt, or after the decision to make none. In the second case, `attempt` is
 * absent.
 */
export type Settling = {
  status: DeliveryStatus;
  attempt?: Attempt;
  next_attempt_at?: Date | undefined;
  request?: OutgoingRequest | undefined;
  result?: Delivery['result'];
  /** Why no attempt was made, or the error of the attempt. */
  error?: string;
  /** Intents that are stored together with the result; the caller starts their workflows. */
  intents?: readonly Intent[];
};

/**
 * Stores the result of the claimed attempt; returns whether it was stored. When another attempt has taken the claim
 * meanwhile, only a success is stored, because the receiver then has the delivery.
 */
export async function settleDelivery(delivery: Delivery, settling: Settling, now: Date): Promise<boolean> {
  const { _id, org_id, claim } = delivery;
  const { status, attempt, next_attempt_at, request, result, error = attempt?.error, intents = [] } = settling;
  const failed = status === 'retrying' || status === 'failed';
  const gone = {
    claim: '',
    ...(next_attempt_at === undefined ? { next_attempt_at: '' } : {}),
    ...(error === undefined ? { error: '' } : {}),
  };
  const change: mongoose.mongo.UpdateFilter<Delivery> = {
    $set: defined({
      status,
      next_attempt_at,
      request,
      result,
      error,
      delivered_at: status === 'delivered' ? now : undefined,
    }) as Partial<Delivery>,
    $unset: gone as never,
    ...(attempt || intents.length > 0
      ? {
          $push: {
            ...(attempt ? { attempts: { $each: [attempt], $slice: -maxAttempts } } : {}),
            ...(intents.length > 0 ? { pending: { $each: [...intents] } } : {}),
          },
        }
      : {}),
    ...(failed && attempt ? { $inc: { tries: 1 } } : {}),
  };
  const own = { _id, org_id, ...(claim ? { 'claim.id': claim.id } : {}) };
  const { matchedCount } = await deliveries().updateOne({ ...own, status: { $in: [...outstanding] } }, change);
  if (matchedCount === 1 || status !== 'delivered') return matchedCount === 1;
  const late = await deliveries().updateOne({ _id, org_id, status: { $in: [...outstanding] } }, change);
  return late.matchedCount === 1;
}

/**
 * Redelivers at once. An unsent delivery gets its next attempt now. Any other delivery restarts on a line of its own,
 * in parallel with others. Returns the changed delivery; the caller starts the workflow of its last `pending` intent.
 * Null when the delivery does not exist.
 */
export async function redeliver(orgId: string, deliveryId: string, now: Date): Promise<Delivery | null> {
  for (;;) {
    const standing = await findDelivery(orgId, deliveryId);
    if (!standing) return null;
    const waits = outstanding.includes(standing.status);
    const line = waits ? standing.line : deliveryId;
    const work = carrierOf({ ...standing, line }, { now: waits });
    const anew = { status: 'pending', tries: 0, line, expires_at: expiry(now) } as const;
    const done = await deliveries().findOneAndUpdate(
      { _id: deliveryId, org_id: orgId, status: standing.status },
      {
        $set: { next_attempt_at: now, ...(waits ? {} : anew) },
        ...(waits ? {} : { $unset: { delivered_at: '' }, $inc: { redeliveries: 1 } }),
        $push: { pending: intentFor(work, now) },
      },
      { returnDocument: 'after' },
    );
    if (done) return done;
  }
}

/**
 * Matches the deliveries that one destination receives. Of the kind `notification`, these are only the deliveries to
 * the Slack webhook; the other notifications are mails to single people (`hasOwnReceiver`).
 */
const destinationFilter = (kind: DeliveryKind) => (kind === 'notification' ? { kind, lane: slackLane } : { kind });

/**
 * Deliveries that were reset together (`ids`) and that one workflow sends. `intent`: the stored request to start this
 * workflow; each of the deliveries has it in `pending`. `record`: the first of the deliveries.
 */
export type Recovered = Due & { ids: string[] };
/** The maximum number of deliveries that one query reads and one write resets. */
const recoveredAtOnce = 5_000;

/**
 * Resets all failed deliveries that were created since `since`, so that they are sent again in their tickets' order.
 * Returns their number, and the workflows that the caller starts. `disabled`: the kinds of the disabled destinations,
 * whose deliveries are not reset.
 */
export async function recoverDeliveries(
  orgId: string,
  { mode, disabled, since }: { mode: Mode; disabled: readonly DeliveryKind[]; since: Date },
  now: Date,
): Promise<{ count: number; recovered: Recovered[] }> {
  const recovered = new Map<string, Recovered>();
  const which = {
    org_id: orgId,
    mode,
    status: 'failed' as const,
    created_at: { $gte: since },
    ...(disabled.length > 0 ? { $nor: disabled.map(destinationFilter) } : {}),
  };
  const anew = { status: 'pending', tries: 0, next_attempt_at: now, expires_at: expiry(now) } as const;
  let [count, last] = [0, ''];
  for (;;) {
    const failed = await deliveries()
      .find({ ...which, _id: { $gt: last } }, { projection: { home: 1, subject: 1 } })
      .sort({ _id: 1 })
      .limit(recoveredAtOnce)
      .toArray();
    if (failed.length === 0) return { count, recovered: [...recovered.values()] };
    const writes = failed.map(({ _id, home, subject }) => {
      const work = carrierOf({ org_id: orgId, line: home, home, subject }, { now: true });
      const record = { _id, org_id: orgId, mode };
      const group: Recovered = recovered.get(work.id) ?? { record, intent: intentFor(work, now), ids: [] };
      recovered.set(work.id, group);
      group.ids.push(_id);
      const update = { $set: { ...anew, line: home, pending: [group.intent] } };
      return { updateOne: { filter: { _id, org_id: orgId, status: which.status }, update } };
    });
    count += (await deliveries().bulkWrite(writes, { ordered: false })).modifiedCount;
    last = failed.at(-1)!._id;
  }
}

/** Removes the intents of recovered deliveries whose workflow was started. */
export async function settleRecovered({ record, intent, ids }: Recovered): Promise<void> {
  const { workflow_id, since } = intent;
  await deliveries().updateMany(
    { org_id: record.org_id, _id: { $in: ids } },
    { $pull: { pending: { workflow_id, since } } },
  );
}

export const findDelivery = finderOf(DeliveryModel);

export type DeliveryFilter = {
  modes: readonly Mode[];
  status?: DeliveryStatus | undefined;
  kind?: DeliveryKind | undefined;
  eventType?: string | undefined;
};

/** Lists deliveries, newest first. `after`: the last id of the previous page. */
export async function listDeliveries(
  orgId: string,
  { modes: seen, status, kind, eventType }: DeliveryFilter,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<Delivery[]> {
  const chosen = defined({ status, kind, event_type: eventType });
  const which = { org_id: orgId, mode: { $in: [...seen] }, ...chosen, ...olderThan(after) };
  return newest(deliveries().find(which), limit);
}

/** The statuses of the deliveries of the given events, with their destinations. */
export async function statusesOf(
  orgId: string,
  eventIds: readonly string[],
): Promise<Pick<Delivery, 'status' | 'destination'>[]> {
  return deliveries()
    .find({ org_id: orgId, event_id: { $in: [...eventIds] } }, { projection: { status: 1, destination: 1 } })
    .toArray();
}
