/**
 * Posts ticket events and answers to Slack: a ticket's first event to the channel, later events to its thread, and
 * answers to the place of the question. Slack supports no idempotency key for messages. After an attempt that may have
 * succeeded, a retry therefore first searches for the message by its metadata.
 */
import { connection, guarded } from '../base/connected.ts';
import type { DeliverySender, SenderDeps } from '../base/sender.ts';
import { postOnce, requestOf } from './message.ts';
import { withSlackToken } from './token.ts';
import type { SlackPost } from './client.ts';
import { slackAnswered } from './webhook.ts';
import { post } from '../webhook/post.ts';
import type { Delivery } from '../../models/events/delivery.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { createLink, findLinkOf } from '../../models/events/link.ts';
import { DeliveryRefused, type OutgoingRequest, type Sent } from '../../models/rules/events/delivery.ts';
import { webhookUrlProblem } from '../../models/rules/integrations/supportconfig.ts';
import { threadExternal } from './rules.ts';
import { slackTicketText } from '../../models/rules/events/tickettext.ts';
import { defined } from '../../models/rules/base/defined.ts';

type Payload =
  /**
   * A ticket event. It goes to the ticket's thread, or to the channel that is configured at the time of the attempt.
   */
  { ticket: true; text: string } | { channel: string; thread_ts?: string; text: string } | Response;
/** `privately`: true when only the person who asked sees the response. */
type Response = { response_url: string; text: string; privately?: true };

const markType = 'support_delivery';
/** Adds the event's id to the message's metadata, so that a retry can find the message. */
const marked = ({ event_id }: Delivery, post: Omit<SlackPost, 'metadata'>): SlackPost => ({
  ...post,
  metadata: { event_type: markType, event_payload: { event_id } },
});

/**
 * The message of a delivery, with the currently configured channel. A ticket's thread is used only if it is in the
 * connected workspace, because the connection reaches no other.
 */
async function postOf(
  delivery: Delivery,
  payload: Exclude<Payload, Response>,
  integration: Integration | null,
): Promise<SlackPost> {
  const { org_id: orgId, subject } = delivery;
  if (!('ticket' in payload)) return marked(delivery, payload);
  const link = subject.ticket_id === undefined ? null : await findLinkOf(orgId, 'slack', subject.ticket_id);
  if (link) {
    const [team, channel, thread_ts] = link.external.split(':');
    if (team === integration?.settings['team_id'])
      return marked(delivery, { channel: channel!, thread_ts: thread_ts!, text: payload.text });
  }
  const channel = integration?.settings['channel_id'];
  if (typeof channel !== 'string') throw new DeliveryRefused('No channel of Slack is chosen for tickets.');
  return marked(delivery, { channel, text: payload.text });
}

/** The request that answers a command. */
const responseOf = ({ response_url: url, text, privately }: Response): OutgoingRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ response_type: privately ? 'ephemeral' : 'in_channel', replace_original: false, text }),
});

/** Answers a command. Slack accepts five answers within half an hour. @throws DeliveryRefused */
async function respond(response: Response, deps: SenderDeps, signal: AbortSignal): Promise<Sent> {
  const request = responseOf(response);
  const problem = webhookUrlProblem(request.url, deps.egressAllow);
  if (problem) throw new DeliveryRefused(`response_url ${problem}.`, { permanent: true });
  const explain = (status: number, said: string) => ({
    message: slackAnswered(status, said),
    permanent: status < 500 && status !== 429,
  });
  return post({ url: request.url, request }, deps, signal, explain, { ownUrl: true });
}

export const slack: DeliverySender = {
  async compose({ conversation, told }) {
    const integration = await findIntegration(conversation.org_id, 'slack');
    if (!integration || integration.status === 'disconnected') return null;
    const text = slackTicketText(told);
    return { destination: destinationOf(integration), payload: { ticket: true, text } satisfies Payload };
  },

  async preview(delivery, deps) {
    const payload = delivery.payload as Payload;
    if ('response_url' in payload) return responseOf(payload);
    const integration = await findIntegration(delivery.org_id, 'slack');
    return requestOf(await postOf(delivery, payload, integration), deps);
  },

  async send(delivery, deps, signal) {
    const payload = delivery.payload as Payload;
    if ('response_url' in payload) return respond(payload, deps, signal);
    const { integration } = await connection(delivery.org_id, 'slack', deps);
    const message = await postOf(delivery, payload, integration);
    const request = requestOf(message, deps);
    return guarded({ integration, deps, signal, request }, async () => {
      const since = delivery.attempts.length > 0 ? delivery.created_at : undefined;
      const ts = await withSlackToken(integration, deps, (credentials) =>
        postOnce(deps.slack, credentials, message, since),
      );
      await noteThread(delivery, message, ts, integration, deps);
      return { status_code: 200, request, result: { id: ts } };
    });
  },
};

const destinationOf = ({ settings }: Integration): string =>
  typeof settings['channel_name'] === 'string' ? `Slack #${settings['channel_name']}` : 'Slack';

/** Links the ticket to the thread of its first message, so that replies in the thread find the ticket. */
async function noteThread(
  { org_id, mode, subject }: Delivery,
  { channel, thread_ts }: SlackPost,
  ts: string,
  { settings }: Integration,
  { clock }: SenderDeps,
): Promise<void> {
  const { ticket_id, conv_id, customer_id } = subject;
  const team = settings['team_id'];
  if (ticket_id === undefined || thread_ts !== undefined || typeof team !== 'string') return;
  await createLink({
    org_id,
    mode,
    provider: 'slack',
    external: threadExternal(team, channel, ts),
    kind: 'ticket',
    subject_id: ticket_id,
    ...defined({ conv_id, customer_id }),
    created_at: clock(),
  });
}
