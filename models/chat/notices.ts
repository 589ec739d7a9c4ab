/** Marks notices about a conversation as read when a member opens the conversation or replies in it. */
import { markReadAbout } from '../access/notification.ts';
import { aboutConversation, conversationNotices } from '../rules/chat/notice.ts';

export const noticesSeen = (orgId: string, convId: string, userId: string): Promise<void> =>
  markReadAbout(orgId, userId, aboutConversation(convId), conversationNotices);
