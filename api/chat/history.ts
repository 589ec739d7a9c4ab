/** Reads a conversation's messages page by page, backwards, and shows them to the customer. */
import type { ConversationRef } from '../../models/chat/saying.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import { listMessages, type Message } from '../../models/chat/message.ts';
import { shownOffer } from '../../models/rules/knowledge/offers.ts';
import { Problem, type Detail } from '../../models/rules/base/errors.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** Messages in order of time. `cursor`: the cursor of the page with earlier messages; null when there are none. */
export type HistoryPage = { found: Message[]; cursor: string | null };

/** The last `limit` messages of a conversation, or the last ones before position `before`. */
export async function readHistory(
  { _id: convId, org_id: orgId }: ConversationRef,
  limit: number,
  before?: number,
): Promise<HistoryPage> {
  const found = await listMessages(orgId, convId, { limit: limit + 1, before });
  return found.length > limit ? pageFrom(convId, found.slice(1)) : { found, cursor: null };
}

/** Builds a page whose cursor leads to the earlier messages. */
export function pageFrom(convId: string, found: Message[]): HistoryPage {
  const [first] = found;
  return { found, cursor: first ? Buffer.from(`${convId}:${first.position}`).toString('base64url') : null };
}

/** Decodes a cursor of `pageFrom`. @throws Problem VALIDATION for any other text. */
export function readHistoryCursor(cursor: string): { convId: string; before: number } {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [, convId, position] = /^(conv_[0-9A-Z]{26}):([1-9]\d{0,9})$/.exec(text) ?? [];
  if (!convId || !position || Buffer.from(text).toString('base64url') !== cursor) throw foreignCursor();
  return { convId, before: Number(position) };
}

export function foreignCursor(): Problem {
  const detail: Detail = { path: ['query', 'cursor'], message: 'is not a cursor of this list; start without one' };
  return new Problem('VALIDATION', { details: [detail] });
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
