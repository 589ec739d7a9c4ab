/** Routes by which members read their own notifications. */
import { jwt } from '../auth.ts';
import * as contract from '../contract/notifications.ts';
import { afterCursor, defaultLimit, listPage } from '../../http/cursor.ts';
import { route } from '../../http/route.ts';
import { countUnread, listNotifications, markRead, type Notification } from '../../../models/access/notification.ts';
import { organizationIdsOf } from '../../../models/access/organization.ts';
import { Problem } from '../../../models/rules/base/errors.ts';

const view = (notification: Notification) => ({
  ...notification,
  notif_id: notification._id,
  created_at: notification.created_at.toISOString(),
});

export const notificationRoutes = [
  route({
    name: 'listNotifications',
    method: 'GET',
    path: '/me/notifications',
    summary: 'What you were told in the organizations that you belong to, the newest first.',
    auth: jwt,
    query: contract.notificationsQuery,
    reply: contract.notificationList,
    envelope: true,
    async handle({ query, principal: { userId } }) {
      const limit = query.limit ?? defaultLimit;
      const unread = query.unread === undefined ? undefined : query.unread === 'true';
      const orgIds = await organizationIdsOf(userId);
      const page = { limit: limit + 1, before: afterCursor(query.cursor), unread };
      const [found, unread_count] = await Promise.all([
        listNotifications(userId, orgIds, page),
        countUnread(userId, orgIds),
      ]);
      const { entries, cursor } = listPage(found, limit);
      return { notifications: entries.map(view), unread_count, cursor };
    },
  }),
  route({
    name: 'readNotification',
    method: 'PUT',
    path: '/me/notifications/{notifId}/read',
    summary: 'Mark a notification as read; one that is read stays so.',
    auth: jwt,
    params: contract.notificationParams,
    reply: contract.notificationReply,
    envelope: true,
    limit: 'writes',
    async handle({ params: { notifId }, principal: { userId } }) {
      const found = await markRead(userId, await organizationIdsOf(userId), notifId);
      if (!found) throw new Problem('NOT_FOUND', { message: 'There is no such notification.' });
      return { notification: view(found) };
    },
  }),
];
