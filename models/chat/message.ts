/**
 * What was said in conversations, by whom, and how each answer came about. A message is stored once; the answer to it has
 * an id before it is written, so that however often it is begun it is one.
 */
import { isDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { boolean, date, flag, mixed, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import type { NewFrame } from '../live/frame.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import type { Offer } from '../rules/knowledge/offers.ts';
import { messageRoles } from '../rules/chat/conversation.ts';
import { modes } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';

export type MessageSource = { type: 'document' | 'website'; id: string; name: string; url?: string; score: number };

/** How a message came by mail. */
export type MailOrigin = {
  subject: string;
  /** The mail's own id. */
  message_id?: string;
  /** The whole text with what it quotes, where that is more than `body`. */
  full_text?: string;
  /** What was attached; it is not kept. */
  attachments: { filename: string; mime_type: string; bytes: number }[];
};

export const MessageModel = defineModel(
  'Message',
  'messages',
  {
    _id: string,
    org_id: string,
    conv_id: string,
    mode: oneOf(modes),
    role: oneOf(messageRoles),
    body: text,
    /** Its place in the history. */
    position: number,
    at: date,
    /** Its sender's own id for it; the same one of the same sender is the same message. */
    client_message_id: optional(string),
    /** Of a customer: the product that the signed session names, and whether it is signed at all. */
    product_type: optional(string),
    verified: optional(boolean),
    /** Of a customer: `waiting` until it is answered or left to a person. */
    state: optional(oneOf(['waiting', 'answered', 'left'])),
    /** Of a customer: the session it came with; mail has none. */
    session_id: optional(string),
    /** Of a customer: how many calls of tools were made for it. */
    calls: optional(number),
    /** Of a customer: the id that the answer has. */
    reply_id: optional(string),
    /** Of a customer: which attempt at an answer may write, and how many there were. */
    attempt: optional(string),
    attempts: optional(number),
    /** Of a customer: the attempt says only what is sure, so nothing has been shown of an answer yet. */
    quiet: optional(boolean),
    /** Of the agent: the message it answers. */
    answers: optional(string),
    sources: optional(mixed<MessageSource[]>()),
    has_context: optional(boolean),
    /** Of the agent, with context. `low`: it offers passages that may help. */
    confidence: optional(oneOf(['high', 'low'])),
    offers: optional(mixed<Offer[]>()),
    /** Of the agent: how the answer came about, for members. */
    record: optional(mixed<Record<string, unknown>>()),
    /** Of a member: shown once. */
    sender_id: optional(string),
    sender_name: optional(string),
    shown: optional(boolean),
    /** Of a customer: it came by mail. */
    mail: optional(mixed<MailOrigin>()),
    /** Of a member, and of the agent who answers a mail: nobody knows yet whether the customer is to be told by mail. */
    unmailed: flag,
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    { fields: { conv_id: 1, position: 1 } },
    {
      // A customer has no `sender_id`, and cannot take an id away from a member.
      fields: { conv_id: 1, sender_id: 1, client_message_id: 1 },
      unique: true,
      partialFilterExpression: { client_message_id: { $exists: true } },
    },
    { fields: { answers: 1 }, unique: true, partialFilterExpression: { answers: { $exists: true } } },
    { fields: { conv_id: 1, state: 1 }, partialFilterExpression: { state: 'waiting' } },
    { fields: { conv_id: 1, shown: 1 }, partialFilterExpression: { shown: false } },
    { fields: { conv_id: 1, unmailed: 1 }, partialFilterExpression: { unmailed: true } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    pendingIndex,
  ],
);
export type Message = RecordOf<typeof MessageModel>;

/** Stores a message; null when it was there before (the same id, `client_message_id` or answered message). */
export async function insertMessage(message: Omit<Message, 'expires_at'>): Promise<Message | null> {
  const stored: Message = { ...message, ...keptUntil(message.mode, message.at) };
  try {
    await collectionOf(MessageModel).insertOne(stored);
    return stored;
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

/** By its sender's id for it: a member's or a key's, the customer's when there is no `senderId`. */
export async function findClientMessage(
  convId: string,
  clientMessageId: string,
  senderId?: string,
): Promise<Message | null> {
  return collectionOf(MessageModel).findOne({
    conv_id: convId,
    sender_id: senderId ?? { $exists: false },
    client_message_id: clientMessageId,
  });
}

/** The last `limit` messages of a conversation in their order, those before position `before` when it is given. */
export async function listMessages(
  orgId: string,
  convId: string,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<Message[]> {
  const found = await collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, ...(before === undefined ? {} : { position: { $lt: before } }) })
    .sort({ position: -1 })
    .limit(limit)
    .toArray();
  return found.toReversed();
}

/** A conversation's messages behind this position, in their order, at most `limit`. */
export async function messagesAfter(
  orgId: string,
  convId: string,
  position: number,
  limit: number,
): Promise<Message[]> {
  return collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, position: { $gt: position } })
    .sort({ position: 1 })
    .limit(limit)
    .toArray();
}

/** Customer messages that were neither answered nor left to a person, the oldest first. */
export async function listWaiting(orgId: string, convId: string): Promise<Message[]> {
  return collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, state: 'waiting' })
    .sort({ position: 1 })
    .toArray();
}

/** Members' replies that were not shown yet, in their order. */
export async function listUnshown(orgId: string, convId: string): Promise<Message[]> {
  return collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, shown: false })
    .sort({ position: 1 })
    .toArray();
}

/** The stored answer to a customer's message. */
export async function findAnswer(orgId: string, messageId: string): Promise<Message | null> {
  return collectionOf(MessageModel).findOne({ answers: messageId, org_id: orgId });
}

/**
 * Takes the right to answer a message from the attempt that had it when `message` was read. False when another attempt has
 * taken it since, or the message needs no answer any more: so an attempt that was suspended and wakes up takes nothing.
 */
export async function claimAnswer(
  message: Pick<Message, '_id' | 'org_id' | 'attempt'>,
  attempt: string,
  quiet = false,
): Promise<boolean> {
  const { matchedCount } = await collectionOf(MessageModel).updateOne(
    {
      _id: message._id,
      org_id: message.org_id,
      state: 'waiting',
      attempt: message.attempt ?? { $exists: false },
    },
    { $set: { attempt, quiet }, $inc: { attempts: 1 } },
  );
  return matchedCount === 1;
}

/** Whether an answer to it has been announced or stored, so that the customer is owed it, whoever has taken over. */
export async function isAnswerBegun(message: Message): Promise<boolean> {
  if (message.attempt === undefined) return false;
  return message.quiet !== true || (await findAnswer(message.org_id, message._id)) !== null;
}

/** Notes how many calls of tools were made for a message; the first one holds its answer up. */
export async function noteCalls(orgId: string, messageId: string, calls: number): Promise<void> {
  await collectionOf(MessageModel).updateOne({ _id: messageId, org_id: orgId }, { $max: { calls } });
}

/** Whether this attempt still has the right to answer. */
export async function holdsAnswer(orgId: string, messageId: string, attempt: string): Promise<boolean> {
  const found = await collectionOf(MessageModel).findOne(
    { _id: messageId, org_id: orgId, state: 'waiting', attempt },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/** `attempt`: only if this one has the right to answer. */
export async function settleMessage(
  orgId: string,
  messageId: string,
  state: 'answered' | 'left',
  attempt?: string,
): Promise<void> {
  await collectionOf(MessageModel).updateOne(
    { _id: messageId, org_id: orgId, state: 'waiting', ...(attempt === undefined ? {} : { attempt }) },
    { $set: { state } },
  );
}

export async function markShown(orgId: string, messageId: string): Promise<void> {
  await collectionOf(MessageModel).updateOne({ _id: messageId, org_id: orgId }, { $set: { shown: true } });
}

/** What may have to be told by mail, in its order. */
export async function listUnmailed(orgId: string, convId: string): Promise<Message[]> {
  return collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, unmailed: true })
    .sort({ position: 1 })
    .toArray();
}

/** Notes that these were told, by mail or otherwise. */
export async function settleMailed(orgId: string, messageIds: readonly string[]): Promise<void> {
  await collectionOf(MessageModel).updateMany(
    { _id: { $in: [...messageIds] }, org_id: orgId },
    { $unset: { unmailed: '' } },
  );
}

/** When the customer last wrote in the chat itself. */
export async function lastWrittenInChat(orgId: string, convId: string): Promise<Date | undefined> {
  const last = await collectionOf(MessageModel).findOne(
    { org_id: orgId, conv_id: convId, role: 'customer', mail: { $exists: false } },
    { sort: { position: -1 }, projection: { at: 1 } },
  );
  return last?.at;
}

/** The frame that acknowledges a customer's message. API and worker append it; its key keeps it from standing twice. */
export function ackFrame({ _id, client_message_id, body, at }: Message): NewFrame & { key: string } {
  const said = { message_id: _id, body, timestamp: at.toISOString() };
  return {
    type: 'ack',
    body: { ...(client_message_id === undefined ? {} : { client_message_id }), ...said },
    key: `ack:${_id}`,
  };
}
