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
import { noSuch, sought } from '../../../models/rules/base/errors.ts';

export const notificationRoutes = [
  route(contract.listNotifications, {
    summary: 'What you were told in the organizations that you belong to, the newest first.',
    auth: jwt,
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
  route(contract.readNotification, {
    summary: 'Mark a notification as read; one that is read stays so.',
    auth: jwt,
    async handle({ params: { notifId }, principal: { userId } }) {
      const found = await sought(markRead(userId, await organizationIdsOf(userId), notifId), 'notification');
      return { notification: viewNotification(found) };
    },
  }),
  route(contract.getNotices, {
    summary: 'How you are told what concerns the team.',
    auth: jwt,
    async handle({ principal }) {
      return noticesOf(await self(principal.userId));
    },
  }),
  route(contract.setNotices, {
    summary: 'Choose how you are told what concerns the team; what is left out stays.',
    auth: jwt,
    async handle({ body, principal: { userId } }) {
      return noticesOf((await setNotices(userId, defined(body))) ?? (await self(userId)));
    },
  }),
  route(contract.setAvailability, {
    summary: 'Say that you are away from an organization, or here again.',
    auth: jwt,
    errors: ['NOT_FOUND'],
    async handle({ body: { org_id, state }, principal: { userId } }, ctx) {
      if (!(await setAway(org_id, userId, state === 'away'))) throw noSuch('organization');
      await tellStaff(org_id, { type: 'member', body: { user_id: userId } }, ctx.clock());
      return { org_id, state };
    },
  }),
];
