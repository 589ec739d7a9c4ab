/** Marks notices about a conversation as read when the member has seen the conversation. */
import { markReadAbout } from '../access/notification.ts';
import { aboutConversation, conversationNotices } from '../rules/chat/notice.ts';

/** Called when a member opens a conversation or replies in it. */
export const noticesSeen = (orgId: string, convId: string, userId: string): Promise<void> =>
  markReadAbout(orgId, userId, aboutConversation(convId), conversationNotices);
