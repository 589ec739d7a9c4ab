/**
 * Erasure of a customer's data: the request, its progress, and how many records were found. First,
 * models/chat/customer.ts removes the customer's identifying fields; then the functions here delete all records.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { countCopies, eraseCopies } from '../base/copies.ts';
import { ConversationModel } from './conversation.ts';
import { beginErasing, CustomerModel } from './customer.ts';
import { collectionOf, defineModel, finderOf, updaterOf, type RecordOf } from '../base/define.ts';
import { date, list, mixed, oneOf, optional, string } from '../rules/base/fields.ts';
import { FrameModel } from '../live/frame.ts';
import { staffStream, tellStaff } from '../live/staff.ts';
import { countGapsOf, forgetGaps } from '../knowledge/gap.ts';
import { MessageModel } from './message.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { PresenceModel } from '../live/presence.ts';
import { modes } from '../rules/access/keys.ts';
import { SessionModel } from '../access/session.ts';

/**
 * `erased`: no data is left. `verified`: all work that was running at the time of the erasure has ended, and there is
 * still no data.
 */
const erasureStatuses = ['erasing', 'erased', 'verified'] as const;
export type ErasureStatus = (typeof erasureStatuses)[number];

/** How many records of each kind were found; copies are counted by collection. */
export type Counts = {
  conversations: number;
  messages: number;
  frames: number;
  sessions: number;
  gaps: number;
  [kind: string]: number;
};

export const ErasureModel = defineModel(
  'Erasure',
  'erasures',
  {
    /** The customer's id. */
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    status: oneOf(erasureStatuses),
    /**
     * The conversations whose messages and frames must be deleted, even after the conversations themselves are deleted.
     * The list is emptied when the erasure is `verified`.
     */
    conv_ids: list(string),
    found: mixed<Counts>(),
    /** The user id of the member who requested the erasure. */
    requested_by: string,
    requested_at: date,
    erased_at: optional(date),
    verified_at: optional(date),
    pending: pendingField,
  },
  [pendingIndex, { fields: { org_id: 1, verified_at: 1 } }],
);
export type Erasure = RecordOf<typeof ErasureModel>;

const update = updaterOf(ErasureModel);

/** Stores a requested erasure; false when it was requested before. */
export async function createErasure(erasure: Erasure): Promise<boolean> {
  return (await unlessDuplicate(() => collectionOf(ErasureModel).insertOne(erasure))) !== undefined;
}

export const findErasure = finderOf(ErasureModel);

/**
 * A value that changes with each step of an erasure in the organization. Undefined when no erasure can have deleted
 * conversations since this time. An unfinished erasure can, because it deletes conversations until it is `erased`, and
 * again before it is `verified`. However many erasures there are, the value is small: the number of unfinished ones by
 * status, and the time of the last verified one.
 */
export async function erasuresSince(orgId: string, since: Date): Promise<string | undefined> {
  const unfinished = await collectionOf(ErasureModel)
    .aggregate<{ _id: ErasureStatus; count: number }>([
      { $match: { org_id: orgId, verified_at: { $exists: false } } },
      { $group: { _id: '$status', count: { $sum: 1 } } },
      { $sort: { _id: 1 } },
    ])
    .toArray();
  // This read comes second, so that an erasure that is verified between the two reads is not missed.
  const last = await collectionOf(ErasureModel).findOne(
    { org_id: orgId },
    { sort: { verified_at: -1 }, projection: { verified_at: 1 } },
  );
  const verifiedAt = last?.verified_at;
  if (unfinished.length === 0 && (!verifiedAt || verifiedAt < since)) return undefined;
  return [...unfinished.map(({ _id, count }) => `${_id} ${count}`), verifiedAt?.toISOString()].join(', ');
}

/**
 * Removes the customer's identifying fields and sessions. Within a second, this closes the customer's sockets and
 * refuses further messages. Idempotent.
 */
export async function shutOut(orgId: string, customerId: string, now: Date): Promise<void> {
  await beginErasing(orgId, customerId, now);
  const sessions = await collectionOf(SessionModel).countDocuments({ org_id: orgId, customer_id: customerId });
  await noteFound(orgId, customerId, { sessions });
  await collectionOf(SessionModel).deleteMany({ org_id: orgId, customer_id: customerId });
}

/**
 * Deletes all existing data. Returns false when data is left at the end because another process was writing; then the
 * caller must call this function again. Idempotent, also after an interruption: the ids of the conversations are stored
 * before the conversations are deleted.
 *
 * Conversations are deleted first, so that nothing new begins in them. Unanswered questions (gaps) are deleted after
 * the messages: a gap is only counted while the message with the question exists, so no gap can be added later.
 */
export async function removeEverything({ _id: customerId, org_id: orgId }: Erasure, now: Date): Promise<boolean> {
  const convIds = await noteConversations(orgId, customerId);
  await collectionOf(ConversationModel).deleteMany({ org_id: orgId, customer_id: customerId });
  await collectionOf(MessageModel).deleteMany({ org_id: orgId, conv_id: { $in: convIds } });
  // Open pages of members receive this frame at once, although its stored copy is deleted right afterwards.
  for (const conv_id of convIds) await tellStaff(orgId, { type: 'changed', body: { conv_id } }, now);
  const streams = convIds.flatMap((id) => [id, staffStream(orgId, id)]);
  await collectionOf(FrameModel).deleteMany({ org_id: orgId, stream: { $in: streams } });
  await collectionOf(SessionModel).deleteMany({ org_id: orgId, customer_id: customerId });
  await forgetGaps(orgId, customerId);
  await eraseCopies([customerId, ...convIds]);
  await collectionOf(PresenceModel).deleteMany({ _id: { $in: convIds }, org_id: orgId });
  await collectionOf(CustomerModel).deleteOne({ _id: customerId, org_id: orgId });
  const remaining = await noteConversations(orgId, customerId);
  const left = await count(orgId, customerId, remaining);
  const customer = await collectionOf(CustomerModel).countDocuments({ _id: customerId, org_id: orgId });
  return customer + Object.values(left).reduce((sum, n) => sum + n, 0) === 0;
}

/**
 * Stores in the erasure record the ids of the customer's conversations, and the number of the customer's records of
 * each kind. Returns all conversation ids in the erasure record, also those of conversations that are already deleted.
 */
async function noteConversations(orgId: string, customerId: string): Promise<string[]> {
  const standing = await collectionOf(ConversationModel)
    .find({ org_id: orgId, customer_id: customerId }, { projection: { _id: 1 } })
    .toArray();
  const noted = await collectionOf(ErasureModel).findOneAndUpdate(
    { _id: customerId, org_id: orgId },
    { $addToSet: { conv_ids: { $each: standing.map(({ _id }) => _id) } } },
    { returnDocument: 'after', projection: { conv_ids: 1 } },
  );
  const convIds = noted?.conv_ids ?? [];
  await noteFound(orgId, customerId, await count(orgId, customerId, convIds));
  return convIds;
}

/** Keeps the maximum of each count, because a repeated run finds fewer records. */
const noteFound = (orgId: string, customerId: string, counts: Partial<Counts>) =>
  update(orgId, customerId, {
    $max: Object.fromEntries(Object.entries(counts).map(([kind, n]) => [`found.${kind}`, n])),
  });

async function count(orgId: string, customerId: string, convIds: readonly string[]): Promise<Counts> {
  const own = { org_id: orgId, customer_id: customerId };
  const inside = { org_id: orgId, conv_id: { $in: convIds } };
  const [conversations, messages, frames, sessions, gaps, copied] = await Promise.all([
    collectionOf(ConversationModel).countDocuments(own),
    collectionOf(MessageModel).countDocuments(inside),
    collectionOf(FrameModel).countDocuments({ org_id: orgId, stream: { $in: convIds } }),
    collectionOf(SessionModel).countDocuments(own),
    countGapsOf(orgId, customerId),
    countCopies([customerId, ...convIds]),
  ]);
  return { conversations, messages, frames, sessions, gaps, ...copied };
}

/** Stores that no data was left. With `verified`, also removes the ids of the conversations. */
export async function settleErasure(
  orgId: string,
  customerId: string,
  status: Exclude<ErasureStatus, 'erasing'>,
  now: Date,
): Promise<void> {
  const end = status === 'verified' ? { verified_at: now, conv_ids: [] } : {};
  const erased = { $ifNull: ['$erased_at', now] };
  const settled = [{ $set: { status, erased_at: erased, ...end } }];
  await update(orgId, customerId, settled, { status: { $ne: 'verified' } });
}
