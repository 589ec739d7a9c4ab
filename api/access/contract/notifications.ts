/** Zod schemas of the requests and replies about notifications that members read in this system. */
import { z } from 'zod';
import { cursor, id, orgParams, pageQuery, timestamp } from '../../base/contract/common.ts';

export { orgParams };

export const notificationsQuery = pageQuery.extend({
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
    read: z.boolean(),
    created_at: timestamp,
  })
  .meta({ id: 'Notification' });
export const notificationList = z.object({
  notifications: z.array(notification),
  unread_count: z.number().int().meta({ description: 'Of all notifications, whatever the page and its filter.' }),
  cursor,
});
export const notificationParams = z.object({ notifId: id });
export const notificationReply = z.object({ notification });
