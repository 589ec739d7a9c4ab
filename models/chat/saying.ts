/**
 * Stores customers' messages and members' replies from every channel: socket, REST, mail and team chat. `actOn` changes
 * the conversation first; then the message is stored. The message stores an intent to signal the conversation's
 * workflow. When the act changes the status, the conversation stores such an intent, too. So the customer is shown the
 * new status even if the process dies before it stores the message.
 */
import { actOn } from './act.ts';
import { ConversationModel, type Conversation } from './conversation.ts';
import { findClientMessage, insertMessage, MessageModel, type MailOrigin, type Message } from './message.ts';
import { noticesSeen } from './notices.ts';
import { newId } from '../base/ids.ts';
import { intentFor, settleIntent, type Start } from '../base/pending.ts';
import { conversationWork, mailReplyWork } from '../rules/chat/work.ts';
import { defined } from '../rules/base/defined.ts';

export type ConversationRef = Pick<Conversation, '_id' | 'org_id' | 'mode'>;
/** `clientMessageId`: the sender's own id for the message, by which duplicates are recognised. */
export type Said = { body: string; clientMessageId?: string | undefined; mail?: MailOrigin | undefined };
/** What is known about the customer who writes. */
export type SpokenAs = {
  /** The session of the message; mails have none. */
  session?: { id: string; context: Readonly<Record<string, unknown>> | undefined };
  /** The product type of the session; for a mail, that of the customer's message before it. */
  productType?: string | undefined;
  verified: boolean;
};

/** The result of storing a message. `message`: null for a duplicate. `acted`: the conversation after the act. */
export type Stored = { message: Message | null; acted: Conversation };

/** Starts the workflows of a stored message and its act, with only one signal to the conversation's workflow. */
export async function startStored({ message, acted }: Stored, start: Start): Promise<void> {
  const { pending = [] } = acted;
  if (!message) return start(ConversationModel, acted, pending);
  const signals = pending.filter(({ workflow }) => workflow === 'conversation');
  const others = pending.filter((intent) => !signals.includes(intent));
  await Promise.all([start(MessageModel, message, message.pending ?? []), start(ConversationModel, acted, others)]);
  // The message signals the workflow, which reads all changes of the conversation, so the conversation's own signals
  // are removed. A signal whose removal fails is sent again, which does no harm.
  const settled = signals.map((intent) => settleIntent(ConversationModel, acted, intent).catch(() => undefined));
  await Promise.all(settled);
}

/**
 * Stores a customer's message. Call `startStored` with the result. `begin` is called before the first message of a
 * conversation; an error that it throws refuses the message.
 * @throws Problem NOT_FOUND when the conversation has been removed or takes no further messages.
 */
export async function storeMessage(
  { _id: convId, org_id: orgId, mode }: ConversationRef,
  { body, clientMessageId, mail }: Said,
  { session, productType, verified }: SpokenAs,
  now: Date,
  begin: () => Promise<void>,
): Promise<Stored> {
  const acted = await actOn(orgId, convId, 'message', {
    now,
    message: { body, byCustomer: true },
    ...(session ? { session } : {}),
    begin,
    attend: true,
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
    pending: [intentFor(conversationWork(orgId, convId), now)],
  });
  return { message, acted };
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
 * conversation even when the reply turns out to be a duplicate. Call `startStored` with the result.
 * @throws Problem NOT_FOUND.
 */
export async function storeReply(
  { _id: convId, org_id: orgId, mode }: ConversationRef,
  { body, clientMessageId }: Said,
  { id, name }: Replier,
  now: Date,
): Promise<Stored> {
  const acted = await actOn(orgId, convId, 'reply', { now, message: { body, byCustomer: false }, attend: true });
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
    pending: [conversationWork(orgId, convId), mailReplyWork(orgId, convId)].map((work) => intentFor(work, now)),
  });
  await noticesSeen(orgId, convId, id);
  return { message, acted };
}
