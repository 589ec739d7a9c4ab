/** What an act on a conversation gives members to be told. Pure; models/chat/act.ts stores it with the act. */
import type { Act, ConversationStatus } from './conversation.ts';

export const conversationNotices = ['conversation_escalated', 'conversation_assigned', 'customer_replied'] as const;
export type ConversationNotice = (typeof conversationNotices)[number];

/** A conversation before and after an act; `by` is the user id of the member who acts. */
export type Moved = {
  from: ConversationStatus;
  to: ConversationStatus;
  assignedBefore: string | undefined;
  assigned: string | undefined;
  by: string | undefined;
};

/**
 * Undefined where nobody is told. A conversation that somebody has is followed by that member: each message of the customer
 * is told, and nobody else is. In one that nobody has, the message after a member's reply calls for a person again.
 */
export function noticeOf(
  act: Act,
  { from, to, assignedBefore, assigned, by }: Moved,
): { kind: ConversationNotice; again: boolean } | undefined {
  if (act === 'assign')
    return assigned === assignedBefore || assigned === by ? undefined : { kind: 'conversation_assigned', again: true };
  if (act === 'message' && assigned !== undefined) return { kind: 'customer_replied', again: from === 'pending' };
  return to === 'escalated' && from !== 'escalated' ? { kind: 'conversation_escalated', again: true } : undefined;
}

/** What notifications and their gathering call a conversation. */
export const aboutConversation = (convId: string): string => `conversation:${convId}`;
