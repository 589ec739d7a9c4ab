/** Zod schemas of the requests and replies about notifications that members read in this system. */
import { z } from 'zod';
import { mode } from './mode.ts';
import { cursor, id, pageQuery, timestamp, timezone } from '../../base/contract/common.ts';

import { maxMailAfterMinutes } from '../../../models/rules/access/noticesettings.ts';
import { memberStates } from '../../../models/rules/access/roles.ts';
import { operation } from '../../base/contract/operation.ts';

const notificationsQuery = pageQuery.extend({
  unread: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only those not read; `false`: only read.' }),
});
export const notification = z
  .object({
    notif_id: id,
    kind: z
      .string()
      .meta({ description: 'Such as task_assigned, task_updated, task_completed or integration_broken.' }),
    title: z.string(),
    body: z.string(),
    task_id: id.optional(),
    conv_id: id.optional().meta({ description: 'The conversation, in the inbox.' }),
    approval_id: id.optional().meta({ description: 'A call of a tool that waits for a member.' }),
    delivery_id: id.optional(),
    org_id: id,
    mode: mode.optional().meta({ description: 'Of what it links to; absent when that has no mode.' }),
    read: z.boolean(),
    created_at: timestamp,
  })
  .meta({ id: 'Notification' });
export const notificationList = z.object({
  notifications: z.array(notification),
  unread_count: z.number().int().meta({ description: 'Of all notifications, whatever the page and its filter.' }),
  cursor,
});
const notificationReply = z.object({ notification });

const time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'is a time such as 22:00');
export const notices = z
  .strictObject({
    browser: z.boolean().meta({ description: 'Whether the page shows them as notifications of the browser.' }),
    sound: z.boolean().meta({ description: 'Whether the page rings.' }),
    mail: z.boolean().meta({ description: 'Whether what stays unread is mailed.' }),
    mail_after_minutes: z.number().int().min(0).max(maxMailAfterMinutes).meta({
      description: 'How long it may be unread while you are here; while you are not, it is mailed at once.',
    }),
    quiet_hours: z.strictObject({ from: time, until: time, timezone }).nullable().meta({
      description: 'Hours without a sound, a browser notification or a mail; mails go out at their end. Null: none.',
    }),
  })
  .meta({ id: 'Notices' });
const noticesBody = notices.partial();

const availabilityBody = z.strictObject({
  org_id: id,
  state: z.enum(memberStates).meta({
    description: '`away`: others are told before you are, although you may be connected. `here` takes it back.',
  }),
});
const availabilityReply = availabilityBody;

export type Notification = z.output<typeof notification>;

export const listNotifications = operation('listNotifications', 'GET /me/notifications', {
  query: notificationsQuery,
  reply: notificationList,
});
export const readNotification = operation('readNotification', 'PUT /me/notifications/{notifId}/read', {
  reply: notificationReply,
});
export const getNotices = operation('getNotices', 'GET /me/notices', { reply: notices });
export const setNotices = operation('setNotices', 'PUT /me/notices', { body: noticesBody, reply: notices });
export const setAvailability = operation('setAvailability', 'PUT /me/availability', {
  body: availabilityBody,
  reply: availabilityReply,
});
