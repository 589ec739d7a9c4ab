/** What travels about what members are told: notifications, and where an organization is told. Zod only. */
import { z } from 'zod';
import { cursor, id, orgParams, pageQuery, timestamp } from '../../base/contract/common.ts';
import { notifyEvents } from '../../../models/rules/events/announcement.ts';

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
    kind: z.string().meta({ description: `Such as ${notifyEvents.slice(1, 4).join(', ')} or integration_broken.` }),
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

export const webhooksBody = z.strictObject({
  slack_webhook_url: z.string().max(2_048).nullable().optional().meta({
    description: 'An incoming webhook of Slack, https; null removes it. What GET shows of it leaves it as it is.',
  }),
  email_notifications: z.boolean().optional(),
  notify_on: z.array(z.enum(notifyEvents)).max(50).optional(),
});
export const webhooksReply = z
  .object({
    slack_webhook_url: z
      .string()
      .nullable()
      .meta({ description: 'Its host alone: whoever knows the whole address can post there.' }),
    email_notifications: z.boolean(),
    notify_on: z.array(z.enum(notifyEvents)),
  })
  .meta({ id: 'OrgWebhooks' });
