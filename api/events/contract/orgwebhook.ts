/** Zod schemas of an organization's notification settings. */
import { z } from 'zod';
import { notifyEvents } from '../../../models/rules/events/announcement.ts';
import { operation } from '../../base/contract/operation.ts';

const webhooksBody = z.strictObject({
  slack_webhook_url: z.string().max(2_048).nullable().optional().meta({
    description: 'An incoming webhook of Slack, https; null removes it. What GET shows of it leaves it as it is.',
  }),
  email_notifications: z.boolean().optional(),
  notify_on: z.array(z.enum(notifyEvents)).max(50).optional(),
});
const webhooksReply = z
  .object({
    slack_webhook_url: z
      .string()
      .nullable()
      .meta({ description: 'Its host alone: whoever knows the whole address can post there.' }),
    email_notifications: z.boolean(),
    notify_on: z.array(z.enum(notifyEvents)),
  })
  .meta({ id: 'OrgWebhooks' });

export const getOrgWebhooks = operation('getOrgWebhooks', 'GET /orgs/{orgId}/webhooks', { reply: webhooksReply });
export const setOrgWebhooks = operation('setOrgWebhooks', 'PUT /orgs/{orgId}/webhooks', {
  body: webhooksBody,
  reply: webhooksReply,
});
