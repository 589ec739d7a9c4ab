/** What members were told of customers: a member who has seen a conversation has read what tells of it, and it goes with its customer. */
import type { Erased, Eraser } from './erasure.ts';
import { markReadAbout, NotificationModel } from '../access/notification.ts';
import { collectionOf } from '../base/define.ts';
import { aboutConversation, conversationNotices } from '../rules/chat/notice.ts';

/** A member has looked at a conversation, or replied in it. */
export const noticesSeen = (orgId: string, convId: string, userId: string): Promise<void> =>
  markReadAbout(orgId, userId, aboutConversation(convId), conversationNotices);

const ofCustomer = ({ orgId, customerId }: Erased) => ({ org_id: orgId, customer_id: customerId });

export const notificationEraser: Eraser = {
  kind: 'notifications',
  count: (erased) => collectionOf(NotificationModel).countDocuments(ofCustomer(erased)),
  async remove(erased) {
    await collectionOf(NotificationModel).deleteMany(ofCustomer(erased));
  },
};
