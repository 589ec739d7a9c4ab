/**
 * Routes of an organization's notification settings: its Slack webhook, its members' mails, and the events to notify
 * about.
 */
import { member } from '../../access/auth.ts';
import type { Context } from '../../context.ts';
import * as contract from '../contract/orgwebhook.ts';
import { route } from '../../http/route.ts';
import {
  findOrgWebhook,
  saveOrgWebhook,
  slackWebhookPlace,
  type OrgWebhookSettings,
} from '../../../models/events/orgwebhook.ts';
import { invalid } from '../../../models/rules/base/errors.ts';
import { notifyEvents } from '../../../models/rules/events/announcement.ts';
import { maskWebhook } from '../../../models/rules/events/notification.ts';
import { webhookUrlProblem } from '../../../models/rules/integrations/supportconfig.ts';
import { defined } from '../../../models/rules/base/defined.ts';

const viewWebhooks = (
  { secrets }: Context,
  orgId: string,
  { slack_webhook_url: sealed, ...settings }: OrgWebhookSettings,
) => ({
  ...settings,
  slack_webhook_url: sealed === null ? null : maskWebhook(secrets.open(sealed, slackWebhookPlace(orgId))),
});

/** The encrypted webhook URL to store; undefined keeps the stored one. @throws Problem VALIDATION */
function sealedUrl(
  ctx: Context,
  orgId: string,
  given: string | null | undefined,
  { slack_webhook_url: standing }: OrgWebhookSettings,
): string | null | undefined {
  if (given === undefined || given === null) return given;
  if (standing !== null && given === maskWebhook(ctx.secrets.open(standing, slackWebhookPlace(orgId))))
    return undefined;
  const message = webhookUrlProblem(given, ctx.config.egressAllow);
  if (message !== undefined) throw invalid(['body', 'slack_webhook_url'], message);
  return ctx.secrets.seal(new URL(given).href, slackWebhookPlace(orgId));
}

export const orgWebhookRoutes = [
  route(contract.getOrgWebhooks, {
    summary: 'Where the organization is told about its customers, tasks and meetings, and of what.',
    auth: member(),
    async handle({ params: { orgId } }, ctx) {
      return viewWebhooks(ctx, orgId, await findOrgWebhook(orgId));
    },
  }),
  route(contract.setOrgWebhooks, {
    summary:
      'Choose where the organization is told about its customers, tasks and meetings, and of what; what is left out stays.',
    auth: member('admin'),
    async handle({ params: { orgId }, body }, ctx) {
      const url = sealedUrl(ctx, orgId, body.slack_webhook_url, await findOrgWebhook(orgId));
      const { email_notifications, notify_on } = body;
      const saved = await saveOrgWebhook(
        orgId,
        {
          ...defined({ slack_webhook_url: url, email_notifications }),
          ...(notify_on === undefined ? {} : { notify_on: notifyEvents.filter((event) => notify_on.includes(event)) }),
        },
        // Saving the same URL again also enables a webhook that was disabled after failures.
        { savesUrl: body.slack_webhook_url !== undefined, now: ctx.clock() },
      );
      return viewWebhooks(ctx, orgId, saved);
    },
  }),
];
