/**
 * Which notification an act on a conversation causes. Pure; models/chat/act.ts stores the notification together with
 * the act.
 */
import type { Act, ConversationStatus } from './conversation.ts';

export const conversationNotices = [
  'conversation_escalated',
  'conversation_assigned',
  'customer_replied',
  'mentioned',
  'snooze_over',
] as const;
export type ConversationNotice = (typeof conversationNotices)[number];

/** A conversation before and after an act. `by` is the user id of the acting member. */
export type Moved = {
  from: ConversationStatus;
  to: ConversationStatus;
  assignedBefore: string | undefined;
  assigned: string | undefined;
  by: string | undefined;
};

/**
 * The notification of an act; undefined when nobody is notified. An assignment notifies the new assignee, except
 * members who assign a conversation to themselves. A message of the customer notifies the assignee. Any other act, and
 * a message in an unassigned conversation, causes a notification only when it escalates the conversation. `again`:
 * whether members who have not read an earlier notification are notified again.
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

/** The `topic` of all notifications about one conversation. */
export const aboutConversation = (convId: string): string => `conversation:${convId}`;
