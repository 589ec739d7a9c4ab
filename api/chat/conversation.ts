/**
 * What a customer does in a conversation, whether over the socket or over REST: find it, say something, read it, end it. The
 * answers are the conversation's workflow's; nothing here waits for one.
 */
import type { SessionPrincipal } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { startSaved } from '../../workflows/start.ts';
import { takeTestConversation } from '../../models/chat/allowance.ts';
import { actOn, eventIntents } from '../../models/chat/act.ts';
import {
  ConversationModel,
  findConversation,
  listConversations,
  type Conversation,
} from '../../models/chat/conversation.ts';
import { findStanding, provideConversation } from '../../models/chat/current.ts';
import { countMissed, uncountMessage } from '../../models/chat/unread.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import { ackFrame, findClientMessage, MessageModel, type Message } from '../../models/chat/message.ts';
import { storeMessage, type ConversationRef, type Said } from '../../models/chat/saying.ts';
import { intentFor, settleIntent } from '../../models/base/pending.ts';
import { conversationWork } from '../../models/rules/chat/work.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** The customer's conversation of this id. @throws Problem NOT_FOUND, also when it is another's or of the other mode. */
export async function ownConversation(customer: SessionPrincipal, convId: string): Promise<Conversation> {
  const found = await findConversation(customer.orgId, convId);
  if (found?.customer_id !== customer.customerId || found.mode !== customer.mode) {
    throw new Problem('NOT_FOUND', { message: 'There is no such conversation.' });
  }
  return found;
}

/** The one of this id, or the current one, begun now when there is none. @throws Problem NOT_FOUND. */
export async function chosenConversation(
  customer: SessionPrincipal,
  convId: string | undefined,
  now: Date,
): Promise<Conversation> {
  const { orgId, mode, customerId } = customer;
  return convId === undefined ? provideConversation(orgId, mode, customerId, now) : ownConversation(customer, convId);
}

/** The conversation that is going on, else the last one; null when there is none. */
export async function currentConversation({ orgId, mode, customerId }: SessionPrincipal): Promise<Conversation | null> {
  const standing = await findStanding(orgId, mode, customerId);
  return standing ?? (await listConversations(orgId, mode, customerId, { limit: 1 }))[0] ?? null;
}

/** `ackSeq`: the number that the message's `ack` has in the frame log. */
export type Accepted = { messageId: string; duplicate: boolean; ack: Record<string, unknown>; ackSeq: number };

/**
 * Stores what a customer says, then acknowledges it in the frame log and has it attended to. A message whose
 * `clientMessageId` is known is the one that was stored before. `lastSeq`: the number believed to be the log's last one.
 * @throws Problem NOT_FOUND when the conversation has been removed, SANDBOX_LIMIT when no further one may be begun.
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
  const standing = clientMessageId === undefined ? null : await findClientMessage(convId, clientMessageId);
  if (standing) return acknowledge(standing, true);
  const spokenAs = { ...customer, session: { id: customer.sessionId, context: customer.context } };
  const begin = () => checkTestConversations(ctx, conversation);
  const { message, acted, intent, left } = await storeMessage(conversation, said, spokenAs, ctx.clock(), begin);
  if (!message) {
    // The same message came over another connection meanwhile, so this one was counted in vain.
    await uncountMessage(orgId, convId, acted.reads);
    await startSaved(ctx, ConversationModel, acted, [...left, ...eventIntents(acted)]);
    return acknowledge((await findClientMessage(convId, clientMessageId!))!, true);
  }
  const start = async () => {
    await Promise.all([
      startSaved(ctx, MessageModel, message, [intent]),
      startSaved(ctx, ConversationModel, acted, eventIntents(acted)),
    ]);
    // The message carries the intent now. One that stays in the conversation is sent once more, which shows nothing twice.
    if (left.length > 0) await settleIntent(ConversationModel, convId, intent).catch(() => undefined);
  };
  const [accepted] = await Promise.all([acknowledge(message, false), start(), countMissed(orgId, convId, acted.reads)]);
  return accepted;
}

/**
 * As `acceptMessage`, in the conversation of this id or the current one. @throws Problem NOT_FOUND when there is none of
 * this id, SANDBOX_LIMIT.
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
      // The current conversation was removed in favour of another one meanwhile.
      const replaced = convId === undefined && error instanceof Problem && error.code === 'NOT_FOUND';
      if (!replaced) throw error;
    }
  }
}

/** @throws Problem SANDBOX_LIMIT when a test organization has begun as many conversations as it may in a month. */
async function checkTestConversations(
  { config, clock }: Context,
  { _id, org_id, mode }: ConversationRef,
): Promise<void> {
  const limit = config.testConversationsPerMonth;
  if (mode === 'live' || (await takeTestConversation(org_id, _id, limit, clock()))) return;
  const message = `The ${limit} conversations that test mode has in a month are used up; use live mode, or wait for the next month.`;
  throw new Problem('SANDBOX_LIMIT', { message });
}

/** The customer is done; `csat` 1 to 5 when they said how it was. @throws Problem NOT_FOUND. */
export async function endConversation(
  ctx: Context,
  { _id: convId, org_id: orgId }: ConversationRef,
  csat: number | undefined,
): Promise<void> {
  const intent = intentFor(conversationWork(orgId, convId), ctx.clock());
  const ended = await actOn(orgId, convId, 'end', {
    now: ctx.clock(),
    ...(csat === undefined ? {} : { csat }),
    intents: [intent],
  });
  await startSaved(ctx, ConversationModel, ended, [intent, ...eventIntents(ended)]);
}
