/**
 * Posts to the Slack incoming webhook that an organization configured. The URL is a secret: each attempt reads the
 * current one, and attempts never store it. Slack takes no idempotency key here, so a retry after a lost response may
 * post a message twice.
 */
import { post, type Post } from '../webhook/post.ts';
import type { SenderDeps } from '../base/sender.ts';
import { findOrgWebhook, slackWebhookPlace } from '../../models/events/orgwebhook.ts';
import { DeliveryRefused, type Sent } from '../../models/rules/events/delivery.ts';
import { maskWebhook } from '../../models/rules/events/notification.ts';
import { webhookUrlProblem } from '../../models/rules/integrations/supportconfig.ts';

/** The request to send, and a version of it that may be shown. @throws DeliveryRefused */
export async function slackWebhookPost(
  orgId: string,
  text: string,
  { secrets, egressAllow }: SenderDeps,
): Promise<Post> {
  const { slack_webhook_url: sealed } = await findOrgWebhook(orgId);
  if (sealed === null) throw new DeliveryRefused('slack_webhook_url is not set any more.', { permanent: true });
  const url = secrets.open(sealed, slackWebhookPlace(orgId));
  const problem = webhookUrlProblem(url, egressAllow);
  if (problem) throw new DeliveryRefused(`slack_webhook_url ${problem}.`, { permanent: true });
  const headers = { 'content-type': 'application/json' };
  return { url, request: { method: 'POST', url: maskWebhook(url), headers, body: JSON.stringify({ text }) } };
}

/** @throws DeliveryRefused */
export const sendToSlackWebhook = (to: Post, deps: SenderDeps, signal: AbortSignal): Promise<Sent> =>
  post(to, deps, signal, (status, said) => ({
    message: slackAnswered(status, said),
    // Slack answers with 403, 404 or 410 when the webhook, its app or its channel no longer exists.
    broken: [403, 404, 410].includes(status),
    permanent: status === 400,
  }));

/** The message about a response in which Slack gives a reason, such as `expired_url`. */
export const slackAnswered = (status: number, said: string): string =>
  `Slack answered ${status}${said === '' ? '' : `: ${said.slice(0, 100)}`}.`;
