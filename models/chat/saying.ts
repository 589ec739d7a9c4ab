/**
 * Stores customers' messages and members' replies from every channel: socket, REST, mail and team chat. `actOn` changes
 * the conversation first; then the message is stored. The message stores the intent to start the conversation's
 * workflow. A conversation whose status changes stores this intent too, because the process may die before it stores
 * the message.
 */
import { actOn, leftIntents } from './act.ts';
import type { Conversation } from './conversation.ts';
import { findClientMessage, insertMessage, type MailOrigin, type Message } from './message.ts';
import { noticesSeen } from './notices.ts';
import { newId } from '../base/ids.ts';
import { intentFor, type Intent } from '../base/pending.ts';
import { conversationWork, mailReplyWork } from '../rules/chat/work.ts';
import { defined } from '../rules/base/defined.ts';

export type ConversationRef = Pick<Conversation, '_id' | 'org_id' | 'mode'>;
/** `clientMessageId`: the sender's own id for the message, by which duplicates are recognised. */
export type Said = { body: string; clientMessageId?: string | undefined; mail?: MailOrigin | undefined };
/** What is known about the customer who writes. */
export type SpokenAs = {
  /** The session of the message; mails have none. */
  session?: { id: string; context: Readonly<Record<string, unknown>> | undefined };
  /** The product of the session; for a mail, the product of the customer's message before it. */
  productType?: string | undefined;
  verified: boolean;
};

/**
 * The result of storing a message. `message`: null for a duplicate. `acted`: the conversation after the act. `intent`:
 * the intent to start the conversation's workflow, as it is stored in the message. `left`: contains this intent when
 * the conversation stores it too; otherwise empty.
 */
export type Stored = { message: Message | null; acted: Conversation; intent: Intent; left: Intent[] };

/**
 * Stores a customer's message. `begin` is called before the first message of a conversation; an error that it throws
 * refuses the message.
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
    // When the status changes, the conversation stores the intent, too. Otherwise a crash before the message is stored
    // would leave a status change that the customer is never shown.
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
    ...defined({ client_message_id: clientMessageId, product_type: productType }),
    verified,
    ...(mail ? { mail } : {}),
    ...(session === undefined ? {} : { session_id: session.id }),
    state: 'waiting',
    reply_id: newId('message'),
    pending: [intent],
  });
  return { message, acted, intent, left: leftIntents(acted, [intent]) };
}

/** The sender of a reply. `id`: the id of a user or an API key. `name`: what the customer sees. */
export type Replier = { id: string; name: string };

/** The reply that this sender has stored with this `clientMessageId`; null when there is none. */
export const findReply = async (
  conversation: Pick<Conversation, '_id' | 'org_id'>,
  clientMessageId: string | undefined,
  { id }: Pick<Replier, 'id'>,
) => (clientMessageId === undefined ? null : findClientMessage(conversation, clientMessageId, id));

/**
 * Stores a member's reply; `message` is null for a duplicate. Call `findReply` first, because the act changes the
 * conversation even when the reply turns out to be a duplicate.
 * @throws Problem NOT_FOUND.
 */
export async function storeReply(
  { _id: convId, org_id: orgId, mode }: ConversationRef,
  { body, clientMessageId }: Said,
  { id, name }: Replier,
  now: Date,
): Promise<Stored> {
  const intent = intentFor(conversationWork(orgId, convId), now);
  // The conversation stores the intent, too, because this act changes the status, and the process may die before the
  // message is stored.
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
    ...defined({ client_message_id: clientMessageId }),
    sender_id: id,
    sender_name: name,
    shown: false,
    unmailed: true,
    pending: [intent, intentFor(mailReplyWork(orgId, convId), now)],
  });
  await noticesSeen(orgId, convId, id);
  return { message, acted, intent, left: leftIntents(acted, [intent]) };
}
