/**
 * Members' view of conversations, and their actions. An action is stored together with the intent to start the workflow
 * that shows it. So the action reaches the customer's sockets even if this process dies. The tables of
 * models/rules/chat/conversation.ts decide what is allowed.
 */
import type { TenantPrincipal } from '../access/auth.ts';
import { startSaved, type Starter } from '../../workflows/start.ts';
import { actOn, type ActOptions } from '../../models/chat/act.ts';
import { ConversationModel, findConversation, type Conversation, type Ticket } from '../../models/chat/conversation.ts';
import { findCustomer, findCustomers, type Customer } from '../../models/chat/customer.ts';
import { tellStaff } from '../../models/live/staff.ts';
import { findReply, startStored, storeReply } from '../../models/chat/saying.ts';
import type { Message } from '../../models/chat/message.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { escalationReasons, type Act } from '../../models/rules/chat/conversation.ts';
import { invalid, noSuch, Problem } from '../../models/rules/base/errors.ts';
import { findUser } from '../../models/access/user.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Caller = Pick<TenantPrincipal, 'orgId' | 'modes' | 'kind' | 'actor'>;

/** @throws Problem NOT_FOUND, also for a conversation of a mode that the caller may not see. */
export async function conversationOf({ orgId, modes }: Caller, convId: string): Promise<Conversation> {
  const found = await findConversation(orgId, convId);
  if (!found || !modes.includes(found.mode)) throw noSuch('conversation');
  return found;
}

/**
 * Performs an act, calls `tell`, which informs members' pages, and signals the conversation's workflow. @throws Problem
 * NOT_FOUND, CONFLICT.
 */
export async function actShown(
  ctx: Starter,
  caller: Caller,
  convId: string,
  act: Act,
  more: Pick<ActOptions, 'reason' | 'note' | 'assignTo'> = {},
  tell: () => Promise<void> = () => Promise.resolve(),
): Promise<Conversation> {
  await conversationOf(caller, convId);
  const acted = await actOn(caller.orgId, convId, act, { now: ctx.clock(), attend: true, ...byOf(caller), ...more });
  await tell();
  await startSaved(ctx, ConversationModel, acted, acted.pending ?? []);
  return acted;
}

/**
 * Assigns a conversation to a member or to nobody. Customers do not see who is assigned. The conversation's workflow is
 * signalled all the same: every act postpones the expiry of a test conversation, and the workflow then postpones the
 * expiry of its messages and frames. @throws Problem NOT_FOUND, VALIDATION.
 */
export async function assign(
  ctx: Starter,
  caller: Caller,
  convId: string,
  userId: string | null,
): Promise<Conversation> {
  await conversationOf(caller, convId);
  if (userId !== null) {
    const org = await findOrganization(caller.orgId);
    if (!org?.members.some((member) => member.user_id === userId)) {
      throw invalid(['body', 'user_id'], 'is not a member of this organization');
    }
  }
  const tell = () => tellStaff(caller.orgId, { type: 'changed', body: { conv_id: convId } }, ctx.clock());
  return userId === null
    ? actShown(ctx, caller, convId, 'unassign', {}, tell)
    : actShown(ctx, caller, convId, 'assign', { assignTo: userId }, tell);
}

const byOf = ({ kind, actor }: Caller) => (kind === 'member' ? { by: actor } : {});

type Reply = { body: string; client_message_id?: string | undefined; sender_name?: string | undefined };

/**
 * Stores a person's reply. A retry with the same `client_message_id` by the same sender changes nothing.
 * @throws Problem NOT_FOUND, VALIDATION.
 */
export async function replyTo(
  ctx: Starter,
  caller: Caller,
  convId: string,
  { body, client_message_id, sender_name }: Reply,
): Promise<{ messageId: string; duplicate: boolean }> {
  const { actor } = caller;
  const conversation = await conversationOf(caller, convId);
  const sender = await senderName(caller, sender_name);
  const said = { body, clientMessageId: client_message_id };
  const standing = await findReply(conversation, client_message_id, { id: actor });
  if (standing) return { messageId: standing._id, duplicate: true };

  const from = { id: actor, name: sender };
  const stored = await storeReply(conversation, said, from, ctx.clock());
  await startStored(stored, (model, record, intents) => startSaved(ctx, model, record, intents));
  if (stored.message) return { messageId: stored.message._id, duplicate: false };
  const first = await findReply(conversation, said.clientMessageId, from);
  if (!first) throw new Problem('CONFLICT', { message: 'This reply was stored and removed meanwhile.' });
  return { messageId: first._id, duplicate: true };
}

/** The name that customers see: a member's own; for a key the name in the request, else the organization's. */
async function senderName({ kind, orgId, actor }: Caller, given: string | undefined): Promise<string> {
  if (kind === 'key') return given ?? (await findOrganization(orgId))?.name ?? 'Support';
  if (given !== undefined) {
    throw invalid(['body', 'sender_name'], 'is for keys; your reply has your own name');
  }
  return (await findUser(actor))?.name ?? 'Support';
}

const viewTicket = (ticket: Ticket) => ({ ...ticket, description: ticket.note ?? escalationReasons[ticket.reason] });

/**
 * A conversation as members see it. `customer` is missing after the customer was erased. `reader`: the user id of the
 * member who sees the conversation.
 */
export function viewConversation(
  conversation: Conversation,
  customer: Readonly<Customer> | null | undefined,
  reader?: string,
) {
  const { name, email, contact_email, verified = false } = customer ?? {};
  return {
    ...conversation,
    conv_id: conversation._id,
    preview: conversation.customer_preview ?? '',
    customer: {
      customer_id: conversation.customer_id,
      ...defined({ name, email, contact_email }),
      verified,
    },
    ticket: conversation.ticket && viewTicket(conversation.ticket),
    tags: conversation.tags ?? [],
    read_position: readPosition(conversation, reader),
    note_count: conversation.notes?.length ?? 0,
  };
}

/**
 * The position of the newest message that the member has seen; null for a key, and when the member never opened the
 * conversation.
 */
export const readPosition = ({ read_by }: Conversation, reader: string | undefined): number | null =>
  (reader === undefined ? undefined : read_by?.[reader]) ?? null;

export const readerOf = ({ kind, actor }: TenantPrincipal): string | undefined =>
  kind === 'member' ? actor : undefined;

export const viewOne = async (conversation: Conversation, principal: TenantPrincipal) => ({
  conversation: viewConversation(
    conversation,
    await findCustomer(conversation.org_id, conversation.customer_id),
    readerOf(principal),
  ),
});

/** Conversations as members see them, with their customers. */
export async function viewConversations(orgId: string, conversations: readonly Conversation[], reader?: string) {
  const customers = await findCustomers(
    orgId,
    conversations.map(({ customer_id }) => customer_id),
  );
  const byId = new Map(customers.map((customer) => [customer._id, customer]));
  return conversations.map((one) => viewConversation(one, byId.get(one.customer_id), reader));
}

/** A message as members see it. */
export const viewMessage = (message: Message) => ({ ...message, id: message._id, timestamp: message.at });
