/** Reads a conversation's messages page by page, backwards, and shows them to the customer. */
import { afterPlace, foreignCursor, placedListPage } from '../http/cursor.ts';
import type { ConversationRef } from '../../models/chat/saying.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import { listMessages, type Message } from '../../models/chat/message.ts';
import { shownOffer } from '../../models/rules/knowledge/offers.ts';
import { defined } from '../../models/rules/base/defined.ts';

/**
 * The last messages of a conversation, or the last ones before position `before`, in order of time. They are at most
 * `limit`, and have at most `characters` together, unless one message alone has more. `cursor` leads to the messages
 * before them.
 */
export async function readHistory(
  { _id: convId, org_id: orgId }: ConversationRef,
  { limit, characters = Infinity, before }: { limit: number; characters?: number; before?: number | undefined },
): Promise<{ found: Message[]; cursor: string | null }> {
  const newest = (await listMessages(orgId, convId, { limit: limit + 1, before })).toReversed();
  let size = 0;
  const over = newest.findIndex(({ body }) => (size += body.length) > characters);
  const fitting = over === -1 ? limit : Math.min(limit, Math.max(over, 1));
  const { entries, cursor } = placedListPage(newest, fitting, ({ position }) => `${convId}:${position}`);
  return { found: entries.toReversed(), cursor };
}

/**
 * Reads a cursor of `readHistory`: the conversation, and the position before which the page ends. `own`: the only
 * conversation that the cursor may belong to. @throws Problem VALIDATION for any other text.
 */
export function readHistoryCursor(
  cursor: string | undefined,
  own?: string,
): { convId: string; before: number } | undefined {
  const place = afterPlace(cursor, /^conv_[0-9A-Z]{26}:[1-9]\d{0,9}$/);
  if (place === undefined) return undefined;
  const [convId, position] = place.split(':') as [string, string];
  if (own !== undefined && convId !== own) throw foreignCursor();
  return { convId, before: Number(position) };
}

/** A message as its customer sees it. */
export function viewMessage(message: Message) {
  const { client_message_id, sources, has_context, confidence, offers, sender_name } = message;
  return {
    id: message._id,
    role: message.role,
    body: message.body,
    timestamp: message.at.toISOString(),
    ...defined({ client_message_id, sources, has_context, confidence }),
    ...(offers === undefined ? {} : { offers: offers.map(shownOffer) }),
    ...defined({ sender_name }),
  };
}

/** A conversation as its customer sees it. */
export function viewConversation(conversation: Conversation) {
  return {
    conv_id: conversation._id,
    mode: conversation.mode,
    status: conversation.status,
    preview: conversation.preview,
    last_message_at: conversation.last_message_at?.toISOString() ?? null,
    ticket_id: conversation.ticket?.ticket_id ?? null,
    csat: conversation.csat ?? null,
    created_at: conversation.created_at.toISOString(),
  };
}
