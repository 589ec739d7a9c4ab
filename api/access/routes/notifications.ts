/** Routes by which members read their own notifications, and choose how they are notified. */
import { jwt } from '../auth.ts';
import * as contract from '../contract/notifications.ts';
import { paged } from '../../http/cursor.ts';
import { viewNotification } from '../notification.ts';
import { self } from '../profile.ts';
import { route } from '../../http/route.ts';
import { countUnread, listNotifications, markRead } from '../../../models/access/notification.ts';
import { organizationIdsOf, setAway } from '../../../models/access/organization.ts';
import { tellStaff } from '../../../models/live/staff.ts';
import { noticesOf, setNotices } from '../../../models/access/user.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { noSuch } from '../../../models/rules/base/errors.ts';

export const notificationRoutes = [
  route('listNotifications', 'GET /me/notifications', {
    summary: 'What you were told in the organizations that you belong to, the newest first.',
    auth: jwt,
    query: contract.notificationsQuery,
    reply: contract.notificationList,
    async handle({ query, principal: { userId } }) {
      const unread = query.unread === undefined ? undefined : query.unread === 'true';
      const orgIds = await organizationIdsOf(userId);
      const [{ entries, cursor }, unread_count] = await Promise.all([
        paged(query, (limit, before) => listNotifications(userId, orgIds, { limit, before, unread })),
        countUnread(userId, orgIds),
      ]);
      return { notifications: entries.map(viewNotification), unread_count, cursor };
    },
  }),
  route('readNotification', 'PUT /me/notifications/{notifId}/read', {
    summary: 'Mark a notification as read; one that is read stays so.',
    auth: jwt,
    reply: contract.notificationReply,
    async handle({ params: { notifId }, principal: { userId } }) {
      const found = await markRead(userId, await organizationIdsOf(userId), notifId);
      if (!found) throw noSuch('notification');
      return { notification: viewNotification(found) };
    },
  }),
  route('getNotices', 'GET /me/notices', {
    summary: 'How you are told what concerns the team.',
    auth: jwt,
    reply: contract.notices,
    async handle({ principal }) {
      return noticesOf(await self(principal.userId));
    },
  }),
  route('setNotices', 'PUT /me/notices', {
    summary: 'Choose how you are told what concerns the team; what is left out stays.',
    auth: jwt,
    body: contract.noticesBody,
    reply: contract.notices,
    async handle({ body, principal: { userId } }) {
      return noticesOf((await setNotices(userId, defined(body))) ?? (await self(userId)));
    },
  }),
  route('setAvailability', 'PUT /me/availability', {
    summary: 'Say that you are away from an organization, or here again.',
    auth: jwt,
    body: contract.availabilityBody,
    reply: contract.availabilityReply,
    errors: ['NOT_FOUND'],
    async handle({ body: { org_id, state }, principal: { userId } }, ctx) {
      if (!(await setAway(org_id, userId, state === 'away'))) throw noSuch('organization');
      await tellStaff(org_id, { type: 'member', body: { user_id: userId } }, ctx.clock());
      return { org_id, state };
    },
  }),
];
