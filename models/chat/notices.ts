/** What members were told of customers: a member who has seen a conversation has read what tells of it. */
import { markReadAbout } from '../access/notification.ts';
import { aboutConversation, conversationNotices } from '../rules/chat/notice.ts';

/** A member has looked at a conversation, or replied in it. */
export const noticesSeen = (orgId: string, convId: string, userId: string): Promise<void> =>
  markReadAbout(orgId, userId, aboutConversation(convId), conversationNotices);
