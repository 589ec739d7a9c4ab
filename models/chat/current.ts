/** The current conversation of a customer. A client that names no conversation is connected to the current one. */
import { ConversationModel, type Conversation } from './conversation.ts';
import { againIfDuplicate } from '../base/connect.ts';
import { collectionOf } from '../base/define.ts';
import { newId } from '../base/ids.ts';
import type { Mode } from '../rules/access/keys.ts';
import { keptUntil } from '../rules/chat/retention.ts';

/**
 * The customer's unresolved conversation with the latest message, or else an unresolved one without a message; null
 * when all are resolved. There may be several unresolved conversations, when an earlier one was reopened.
 */
export async function findStanding(orgId: string, mode: Mode, customerId: string): Promise<Conversation | null> {
  return collectionOf(ConversationModel).findOne(
    { org_id: orgId, mode, customer_id: customerId, status: { $ne: 'resolved' } },
    { sort: { last_message_at: -1, ordinal: -1 } },
  );
}

/** The customer's unresolved conversation, created if there is none; concurrent callers get the same one. */
export async function provideConversation(
  orgId: string,
  mode: Mode,
  customerId: string,
  now: Date,
): Promise<Conversation> {
  return againIfDuplicate(async () => {
    const standing = await findStanding(orgId, mode, customerId);
    if (standing) return standing;
    const last = await collectionOf(ConversationModel).findOne(
      { org_id: orgId, mode, customer_id: customerId },
      { sort: { ordinal: -1 }, projection: { ordinal: 1 } },
    );
    // Another process may have begun or reopened a conversation since the first query, so the query is repeated. If
    // another process begins a conversation after this check, the insert below fails on the unique `ordinal`.
    const since = last && (await findStanding(orgId, mode, customerId));
    if (since) return since;
    const fresh: Conversation = {
      _id: newId('conversation'),
      org_id: orgId,
      mode,
      customer_id: customerId,
      // `ordinal` is unique, so only one of two concurrent inserts succeeds.
      ordinal: (last?.ordinal ?? 0) + 1,
      status: 'open',
      version: 0,
      status_version: 0,
      shown_version: 0,
      unread: 0,
      reads: 0,
      position: 0,
      misses: 0,
      preview: '',
      events: [],
      created_at: now,
      updated_at: now,
      ...keptUntil(mode, now),
    };
    await collectionOf(ConversationModel).insertOne(fresh);
    return fresh;
  });
}

/**
 * Removes the customer's other conversations without a message, after the given conversation was reopened. The clients
 * of a removed conversation are told, and then connect to the given one.
 */
export async function removeEmpty({ _id, org_id, mode, customer_id }: Conversation): Promise<void> {
  await collectionOf(ConversationModel).deleteMany({
    org_id,
    mode,
    customer_id,
    _id: { $ne: _id },
    status: 'open',
    last_message_at: { $exists: false },
  });
}
