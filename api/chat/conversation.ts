/**
 * A customer's actions in a conversation, over the socket or REST: find, send, read, end. The conversation's workflow
 * writes the answers; no function in this file waits for an answer.
 */
import type { SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { takeTestConversation } from '../../models/chat/allowance.ts';
import { actOn } from '../../models/chat/act.ts';
import {
  ConversationModel,
  findConversation,
  listConversations,
  type Conversation,
} from '../../models/chat/conversation.ts';
import { findStanding, provideConversation } from '../../models/chat/current.ts';
import { countMissed, uncountMessage } from '../../models/chat/unread.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import { ackFrame, findClientMessage, type Message } from '../../models/chat/message.ts';
import { startStored, storeMessage, type ConversationRef, type Said } from '../../models/chat/saying.ts';
import { tellStaff } from '../../models/live/staff.ts';
import { noSuch, Problem } from '../../models/rules/base/errors.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The customer's conversation with this id. @throws Problem NOT_FOUND, also when the conversation is another customer's
 * or of the other mode.
 */
export async function ownConversation(customer: SessionPrincipal, convId: string): Promise<Conversation> {
  const found = await findConversation(customer.orgId, convId);
  if (found?.customer_id !== customer.customerId || found.mode !== customer.mode) {
    throw noSuch('conversation');
  }
  return found;
}

/**
 * The conversation with this id. Without an id: the current conversation, which is created if there is none. @throws
 * Problem NOT_FOUND.
 */
export async function chosenConversation(
  customer: SessionPrincipal,
  convId: string | undefined,
  now: Date,
): Promise<Conversation> {
  const { orgId, mode, customerId } = customer;
  return convId === undefined ? provideConversation(orgId, mode, customerId, now) : ownConversation(customer, convId);
}

/** The open conversation, else the most recent one; null when the customer has none. */
export async function currentConversation({ orgId, mode, customerId }: SessionPrincipal): Promise<Conversation | null> {
  const standing = await findStanding(orgId, mode, customerId);
  return standing ?? (await listConversations(orgId, mode, customerId, { limit: 1 }))[0] ?? null;
}

/** `ackSeq`: the sequence number of the message's `ack` in the frame log. */
export type Accepted = { messageId: string; duplicate: boolean; ack: Record<string, unknown>; ackSeq: number };

/**
 * Stores a customer's message, acknowledges it in the frame log and wakes the conversation's workflow. A message with a
 * known `clientMessageId` is a duplicate: it is only acknowledged again. `lastSeq`: a guess of the log's last sequence
 * number.
 * @throws Problem NOT_FOUND when the conversation was removed, SANDBOX_LIMIT when no further conversation may be
 * started.
 */
export async function acceptMessage(
  ctx: Context,
  customer: SessionPrincipal,
  conversation: ConversationRef,
  said: Said,
  lastSeq?: number,
): Promise<Accepted> {
  const { _id: convId, org_id: orgId } = conversation;
  const { clientMessageId } = said;
  const acknowledge = async (message: Message, duplicate: boolean): Promise<Accepted> => {
    const frame = ackFrame(message);
    const writer = conversationWriter(conversation, ctx.clock, lastSeq === undefined ? {} : { after: lastSeq });
    const ackSeq = await writer.append(frame);
    return { messageId: message._id, duplicate, ack: frame.body ?? {}, ackSeq };
  };
  const standing = clientMessageId === undefined ? null : await findClientMessage(conversation, clientMessageId);
  if (standing) return acknowledge(standing, true);
  const spokenAs = { ...customer, session: { id: customer.sessionId, context: customer.context } };
  const begin = () => checkTestConversations(ctx, conversation);
  const stored = await storeMessage(conversation, said, spokenAs, ctx.clock(), begin);
  const { message, acted } = stored;
  const start = () => startStored(stored, (model, record, intents) => startSaved(ctx, model, record, intents));
  if (!message) {
    // The same message arrived over another connection meanwhile, so it was counted twice as unread. One of the two
    // counts is taken back.
    await uncountMessage(orgId, convId, acted.reads);
    await start();
    return acknowledge((await findClientMessage(conversation, clientMessageId!))!, true);
  }
  const [accepted] = await Promise.all([acknowledge(message, false), start(), countMissed(orgId, convId, acted.reads)]);
  return accepted;
}

/**
 * Accepts a message as `acceptMessage` does, in the conversation with this id or the current one.
 * @throws Problem NOT_FOUND when there is no conversation with this id, SANDBOX_LIMIT.
 */
export async function say(
  ctx: Context,
  customer: SessionPrincipal,
  convId: string | undefined,
  said: Said,
): Promise<Accepted & { convId: string }> {
  for (;;) {
    const conversation = await chosenConversation(customer, convId, ctx.clock());
    try {
      return { ...(await acceptMessage(ctx, customer, conversation, said)), convId: conversation._id };
    } catch (error) {
      // `NOT_FOUND` without an id means that the current conversation was removed meanwhile. The next round of the loop
      // chooses or creates another one.
      const replaced = convId === undefined && error instanceof Problem && error.code === 'NOT_FOUND';
      if (!replaced) throw error;
    }
  }
}

/** @throws Problem SANDBOX_LIMIT when a test organization has used up its conversations of the month. */
async function checkTestConversations(
  { config, clock }: Context,
  { _id, org_id, mode }: ConversationRef,
): Promise<void> {
  const limit = config.testConversationsPerMonth;
  if (mode === 'live' || (await takeTestConversation(org_id, _id, limit, clock()))) return;
  const message = `The ${limit} conversations that test mode has in a month are used up; use live mode, or wait for the next month.`;
  throw new Problem('SANDBOX_LIMIT', { message, quota: 'test_conversations' });
}

/** The customer ends the conversation; `csat`: their rating from 1 to 5, if given. @throws Problem NOT_FOUND. */
export async function endConversation(
  ctx: Context,
  { _id: convId, org_id: orgId }: ConversationRef,
  csat: number | undefined,
): Promise<void> {
  const now = ctx.clock();
  const ended = await actOn(orgId, convId, 'end', { now, attend: true, ...defined({ csat }) });
  // The workflow shows only a new status, so a rating of a conversation that was already resolved is told here.
  await tellStaff(orgId, { type: 'changed', body: { conv_id: convId } }, now);
  await startSaved(ctx, ConversationModel, ended, ended.pending ?? []);
}
