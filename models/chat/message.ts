/**
 * Messages of conversations, with their senders and how each answer was made. A message is stored once. The id of its
 * answer (`reply_id`) is stored with the message, so that repeated attempts produce one answer.
 */
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, updaterOf, wordIndex, type RecordOf } from '../base/define.ts';
import { boolean, date, flag, mixed, number, oneOf, optional, string, text } from '../rules/base/fields.ts';
import type { Conversation } from './conversation.ts';
import type { NewFrame } from '../live/frame.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import type { Offer } from '../rules/knowledge/offers.ts';
import { messageRoles } from '../rules/chat/conversation.ts';
import { modes } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';
import { defined } from '../rules/base/defined.ts';

export type MessageSource = {
  type: 'document' | 'website';
  id: string;
  name: string;
  title?: string;
  url?: string;
  score: number;
};

/** The data of a message that came by mail. */
export type MailOrigin = {
  subject: string;
  /** The mail's message id. */
  message_id?: string;
  /** The whole text of the mail, including quoted earlier mails; set when this text is longer than `body`. */
  full_text?: string;
  /** The attachments; their content is not stored. */
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
    position: number,
    at: date,
    /** The sender's own id for the message; a second message with the same id from the same sender is a duplicate. */
    client_message_id: optional(string),
    /**
     * Customers' messages only: the product type of the session, and whether the customer is verified. A message that
     * came by mail has the product type of the message before it.
     */
    product_type: optional(string),
    verified: optional(boolean),
    /** Customers' messages only: `waiting` until the message is answered or left to a person. */
    state: optional(oneOf(['waiting', 'answered', 'left'])),
    /** Customers' messages only: the session in which the customer wrote; absent for mails. */
    session_id: optional(string),
    /** Customers' messages only: the number of tool calls that the agent made for the answer. */
    calls: optional(number),
    /** Customers' messages only: the id of the answer. */
    reply_id: optional(string),
    /** Customers' messages only: the attempt that may write the answer, and the number of attempts so far. */
    attempt: optional(string),
    attempts: optional(number),
    /**
     * Customers' messages only: true when the attempt stores an answer only if the agent is certain. The customer sees
     * no part of this answer before it is stored.
     */
    quiet: optional(boolean),
    /** Answers only: the id of the customer's message that is answered. */
    answers: optional(string),
    sources: optional(mixed<MessageSource[]>()),
    has_context: optional(boolean),
    /** How certain an answer with `has_context` is. `low`: the answer only shows passages that may help. */
    confidence: optional(oneOf(['high', 'low'])),
    offers: optional(mixed<Offer[]>()),
    /** Answers only: the explanation, for members, of how the answer was made. */
    record: optional(mixed<Record<string, unknown>>()),
    /** Members' messages only: the sender, and whether the message was shown to the customer. */
    sender_id: optional(string),
    sender_name: optional(string),
    shown: optional(boolean),
    /** The data of the mail, for a customer's message that came by mail. */
    mail: optional(mixed<MailOrigin>()),
    /**
     * Set on a member's reply, and on the agent's answer to a mail. It is unset once a worker has decided whether the
     * message is mailed to the customer.
     */
    unmailed: flag,
    expires_at: optional(date),
    pending: pendingField,
  },
  [
    { fields: { conv_id: 1, position: 1 } },
    {
      // Customers' messages have no `sender_id`, so a customer's `client_message_id` never collides with a member's.
      fields: { org_id: 1, conv_id: 1, sender_id: 1, client_message_id: 1 },
      unique: true,
      partialFilterExpression: { client_message_id: { $exists: true } },
    },
    {
      fields: { org_id: 1, conv_id: 1, answers: 1 },
      unique: true,
      partialFilterExpression: { answers: { $exists: true } },
    },
    { fields: { conv_id: 1, state: 1 }, partialFilterExpression: { state: 'waiting' } },
    { fields: { conv_id: 1, shown: 1 }, partialFilterExpression: { shown: false } },
    { fields: { conv_id: 1, unmailed: 1 }, partialFilterExpression: { unmailed: true } },
    { fields: { expires_at: 1 }, expireAfterSeconds: 0 },
    wordIndex('body'),
    pendingIndex,
  ],
);
export type Message = RecordOf<typeof MessageModel>;
export type MessageRef = Pick<Message, '_id' | 'org_id' | 'conv_id'>;

const update = updaterOf(MessageModel);

/** Stores a message; null when it is a duplicate (the same id, `client_message_id` or answered message). */
export async function insertMessage(message: Omit<Message, 'expires_at'>): Promise<Message | null> {
  const stored: Message = { ...message, ...keptUntil(message.mode, message.at) };
  return (await unlessDuplicate(() => collectionOf(MessageModel).insertOne(stored))) ? stored : null;
}

/**
 * Finds a message by the sender's own id: with `senderId`, the message of this member or API key; without, the
 * customer's message.
 */
export async function findClientMessage(
  { _id: conv_id, org_id }: Pick<Conversation, '_id' | 'org_id'>,
  clientMessageId: string,
  senderId?: string,
): Promise<Message | null> {
  return collectionOf(MessageModel).findOne({
    org_id,
    conv_id,
    sender_id: senderId ?? { $exists: false },
    client_message_id: clientMessageId,
  });
}

/** The last `limit` messages of a conversation, in order; with `before`, only those before this position. */
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

/**
 * `waiting`: customer messages that are neither answered nor left to a person, oldest first. `unshown`: members'
 * replies that were not shown to the customer yet, in order.
 */
export async function listOutstanding(
  orgId: string,
  convId: string,
): Promise<{ waiting: Message[]; unshown: Message[] }> {
  const inside = { org_id: orgId, conv_id: convId };
  const found = await collectionOf(MessageModel)
    .find({
      ...inside,
      $or: [
        { ...inside, state: 'waiting' },
        { ...inside, shown: false },
      ],
    })
    .toArray();
  const outstanding = found.toSorted((a, b) => a.position - b.position);
  return {
    waiting: outstanding.filter(({ state }) => state === 'waiting'),
    unshown: outstanding.filter(({ shown }) => shown === false),
  };
}

export async function findAnswer({ _id, org_id, conv_id }: MessageRef): Promise<Message | null> {
  return collectionOf(MessageModel).findOne({ org_id, conv_id, answers: _id });
}

/**
 * Gives `attempt` the right to answer a message, in place of the attempt that held the right when `message` was read.
 * False when another attempt has taken the right since, or when the message needs no answer any more. So an attempt
 * that hung for a while cannot take the right back.
 */
export const claimAnswer = (
  { _id, org_id, attempt: before }: Pick<Message, '_id' | 'org_id' | 'attempt'>,
  attempt: string,
  quiet = false,
) =>
  update(
    org_id,
    _id,
    { $set: { attempt, quiet }, $inc: { attempts: 1 } },
    { state: 'waiting', attempt: before ?? { $exists: false } },
  );

/**
 * Whether the customer was told that an answer is coming, or the answer is already stored. In both cases the answer
 * must be finished, even when a member has taken over.
 */
export async function isAnswerBegun(message: Message): Promise<boolean> {
  if (message.attempt === undefined) return false;
  return message.quiet !== true || (await findAnswer(message)) !== null;
}

/**
 * Stores the number of tool calls for a message, so that a later attempt at the answer knows the calls that were made
 * before.
 */
export const noteCalls = (orgId: string, messageId: string, calls: number) =>
  update(orgId, messageId, { $max: { calls } });

/** Whether this attempt still has the right to answer. */
export async function holdsAnswer(orgId: string, messageId: string, attempt: string): Promise<boolean> {
  const found = await collectionOf(MessageModel).findOne(
    { _id: messageId, org_id: orgId, state: 'waiting', attempt },
    { projection: { _id: 1 } },
  );
  return found !== null;
}

/**
 * Stores that the message no longer waits for an answer. With `attempt`, only if this attempt has the right to answer.
 */
export const settleMessage = (orgId: string, messageId: string, state: 'answered' | 'left', attempt?: string) =>
  update(orgId, messageId, { $set: { state } }, { state: 'waiting', ...defined({ attempt }) });

export const markShown = (orgId: string, messageId: string) => update(orgId, messageId, { $set: { shown: true } });

/** The messages with `unmailed`, in order: whether they are mailed to the customer is not decided yet. */
export async function listUnmailed(orgId: string, convId: string): Promise<Message[]> {
  return collectionOf(MessageModel)
    .find({ org_id: orgId, conv_id: convId, unmailed: true })
    .sort({ position: 1 })
    .toArray();
}

/**
 * Stores that no further mail is due for these messages: a stored mail contains them, the customer saw them in the
 * chat, or the customer can get no mail.
 */
export async function settleMailed(orgId: string, messageIds: readonly string[]): Promise<void> {
  await collectionOf(MessageModel).updateMany(
    { _id: { $in: [...messageIds] }, org_id: orgId },
    { $unset: { unmailed: '' } },
  );
}

/** When the customer last wrote in the chat, not by mail. */
export async function lastWrittenInChat(orgId: string, convId: string): Promise<Date | undefined> {
  const last = await collectionOf(MessageModel).findOne(
    { org_id: orgId, conv_id: convId, role: 'customer', mail: { $exists: false } },
    { sort: { position: -1 }, projection: { at: 1 } },
  );
  return last?.at;
}

/** The product type of the customer's last message; undefined when that message has none. */
export async function lastProductType({
  _id: conv_id,
  org_id,
}: Pick<Conversation, '_id' | 'org_id'>): Promise<string | undefined> {
  const last = await collectionOf(MessageModel).findOne(
    { org_id, conv_id, role: 'customer' },
    { sort: { position: -1 }, projection: { product_type: 1 } },
  );
  return last?.product_type;
}

/**
 * The frame that acknowledges a customer's message. Both the API and a worker may append this frame; its `key` keeps
 * the frame from being stored twice.
 */
export function ackFrame({ _id, client_message_id, body, at }: Message): NewFrame & { key: string } {
  const said = { message_id: _id, body, timestamp: at.toISOString() };
  return {
    type: 'ack',
    body: { ...defined({ client_message_id }), ...said },
    key: `ack:${_id}`,
  };
}
