/**
 * How a customer's message and a person's reply are stored, however they come: over a socket, REST, mail or a team chat. The
 * act on the conversation comes first, then the message; both carry the intent to attend to the conversation, so that
 * nothing is left half done by a process that dies in between.
 */
import { actOn, leftIntents } from './act.ts';
import type { Conversation } from './conversation.ts';
import { findClientMessage, insertMessage, type MailOrigin, type Message } from './message.ts';
import { noticesSeen } from './notices.ts';
import { newId } from '../base/ids.ts';
import { intentFor, type Intent } from '../base/pending.ts';
import { conversationWork, mailReplyWork } from '../rules/chat/work.ts';

/** Where something is said. */
export type ConversationRef = Pick<Conversation, '_id' | 'org_id' | 'mode'>;
/** `clientMessageId`: the sender's own id for it; the same one of the same sender is the same message. */
export type Said = { body: string; clientMessageId?: string | undefined; mail?: MailOrigin | undefined };
/** What is known of a customer who says something. */
export type SpokenAs = {
  /** The session it came with; mail has none. */
  session?: { id: string; context: Readonly<Record<string, unknown>> | undefined };
  /** The product that the signed session names. */
  productType?: string | undefined;
  verified: boolean;
};

/**
 * What was stored. `intent` attends to the conversation; it is in the message with all others that the message leaves, and
 * those are started with `startSaved`. `left`: the same intent where it stayed in
 * the conversation as well. `message` is null when it was stored before.
 */
export type Stored = { message: Message | null; acted: Conversation; intent: Intent; left: Intent[] };

/**
 * Stores what a customer says. `begin` is asked before the first message of the conversation; what it throws refuses the
 * message.
 * @throws Problem NOT_FOUND when the conversation has been removed or takes no further messages.
 */
export async function storeMessage(
  { _id: convId, org_id: orgId, mode }: ConversationRef,
  { body, clientMessageId, mail }: Said,
  { session, productType, verified }: SpokenAs,
  now: Date,
  begin: () => Promise<void>,
): Promise<Stored> {
  const intent = intentFor(conversationWork(orgId, convId), now);
  const acted = await actOn(orgId, convId, 'message', {
    now,
    message: { body, byCustomer: true },
    ...(session ? { session } : {}),
    begin,
    // A process that dies before the message is stored has then left no change of status that nobody is shown.
    intents: ({ moved }) => (moved ? [intent] : []),
  });
  const message = await insertMessage({
    _id: newId('message'),
    org_id: orgId,
    conv_id: convId,
    mode,
    role: 'customer',
    body,
    position: acted.position,
    at: now,
    ...(clientMessageId === undefined ? {} : { client_message_id: clientMessageId }),
    ...(productType === undefined ? {} : { product_type: productType }),
    verified,
    ...(mail ? { mail } : {}),
    ...(session === undefined ? {} : { session_id: session.id }),
    state: 'waiting',
    reply_id: newId('message'),
    pending: [intent],
  });
  return { message, acted, intent, left: leftIntents(acted, [intent]) };
}

/** Who replies to a customer. `id`: a user's or a key's; `name` is what the customer sees. */
export type Replier = { id: string; name: string };

/** The reply that this sender stored before under the same id. */
export const findReply = async (convId: string, clientMessageId: string | undefined, { id }: Pick<Replier, 'id'>) =>
  clientMessageId === undefined ? null : findClientMessage(convId, clientMessageId, id);

/**
 * Stores a person's reply; `message` is null when this sender stored it before (ask `findReply` first, because the act moves
 * the conversation also for a reply that turns out to be there).
 * @throws Problem NOT_FOUND.
 */
export async function storeReply(
  { _id: convId, org_id: orgId, mode }: ConversationRef,
  { body, clientMessageId }: Said,
  { id, name }: Replier,
  now: Date,
): Promise<Stored> {
  const intent = intentFor(conversationWork(orgId, convId), now);
  // In the conversation too, until the message is there: a process that dies in between has changed the status.
  const acted = await actOn(orgId, convId, 'reply', {
    now,
    message: { body, byCustomer: false },
    intents: [intent],
  });
  const message = await insertMessage({
    _id: newId('message'),
    org_id: orgId,
    conv_id: convId,
    mode,
    role: 'agent',
    body,
    position: acted.position,
    at: now,
    ...(clientMessageId === undefined ? {} : { client_message_id: clientMessageId }),
    sender_id: id,
    sender_name: name,
    shown: false,
    unmailed: true,
    pending: [intent, intentFor(mailReplyWork(orgId, convId), now)],
  });
  // Whoever replies has seen the conversation.
  await noticesSeen(orgId, convId, id);
  return { message, acted, intent, left: leftIntents(acted, [intent]) };
}
