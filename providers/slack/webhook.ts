/**
 * Posts to the Slack incoming webhook that an organization configured. The URL is a secret: each attempt reads the
 * current one, and attempts never store it. Slack takes no idempotency key here, so a retry after a lost response may
 * post a message twice.
 */
import { post } from '../webhook/post.ts';
import type { SenderDeps } from '../base/sender.ts';
import { headerOf } from '../../clients/http/http.ts';
import { findOrgWebhook, slackWebhookPlace } from '../../models/events/orgwebhook.ts';
import { DeliveryRefused, type OutgoingRequest, type Sent } from '../../models/rules/events/delivery.ts';
import { maskWebhook } from '../../models/rules/events/notification.ts';
import { readRetryAfter } from '../../models/rules/events/schedule.ts';
import { webhookUrlProblem } from '../../models/rules/integrations/supportconfig.ts';

type Post = { url: string; request: OutgoingRequest };

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
export async function sendToSlackWebhook(
  { url, request }: Post,
  { http, clock }: SenderDeps,
  signal: AbortSignal,
): Promise<Sent> {
  const { response, said } = await post(http, url, request, signal);
  const { status, headers } = response;
  const reply = { request, status_code: status, ...(said === '' ? {} : { response_head: said }) };
  if (status >= 200 && status < 300) return reply;
  // Slack answers with 403, 404 or 410 when the webhook, its app or its channel no longer exists.
  const gone = [403, 404, 410].includes(status);
  throw new DeliveryRefused(`Slack answered ${status}${said === '' ? '' : `: ${said.slice(0, 100)}`}.`, {
    ...reply,
    broken: gone,
    permanent: status === 400,
    retryAfterMs: readRetryAfter(headerOf(headers, 'retry-after'), clock()),
  });
}
