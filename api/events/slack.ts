/** Requests from Slack: each is verified, stored, and answered at once with the reply that Slack expects. */
import type { SignatureProvider } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { shallow } from '../http/body.ts';
import { ownedBy, storeArrival, wake } from './inbound.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import { claimInbound, settleInbound, type Inbound } from '../../models/events/inbound.ts';
import type { Owner } from '../../providers/base/arrival.ts';
import { member } from '../../providers/base/signing.ts';
import { slackAnswer } from '../../providers/slack/rules.ts';
import { slackArrival, verifySlack, type SlackSender } from '../../providers/slack/verify.ts';

/** The body of the immediate reply to Slack; an empty object acknowledges the request. */
export type SlackReply = { challenge?: string; response_type?: 'ephemeral' | 'in_channel'; text?: string };

export const slack: SignatureProvider<SlackSender> = {
  name: 'slack',
  header: 'x-slack-signature',
  verify(request, { config }) {
    const sender = verifySlack(request, config.slack.signingSecret);
    // The payload came in a form field, so the check of nesting depth has not covered it yet.
    if (sender.said.kind === 'interaction') shallow(sender.said.payload);
    return Promise.resolve(sender);
  },
};

/** Stores a verified request and returns the reply to Slack. */
export async function takeSlack(ctx: Context, { id, said, digest }: SlackSender): Promise<SlackReply> {
  if (said.kind === 'ssl_check') return {};
  if (member(said.payload, 'type') === 'url_verification') {
    const challenge = member(said.payload, 'challenge');
    return typeof challenge === 'string' ? { challenge: challenge.slice(0, 1_000) } : {};
  }
  const arrival = await slackArrival(id, said, digest, ownedBy(ctx));
  const stored = await storeArrival(ctx, arrival);
  if (said.kind === 'command') return answerCommand(ctx, said.payload, arrival.owner, stored);
  if (stored?.pending) wake(ctx, stored);
  return {};
}

/** Slack waits for 3 s. An answer that takes longer is sent to the command's `response_url`. */
const inlineMs = 2_000;

async function answerCommand(
  ctx: Context,
  { text = '' }: Record<string, string>,
  owner: Owner,
  stored: Inbound | null,
): Promise<SlackReply> {
  const privately = (said: string): SlackReply => ({ response_type: 'ephemeral', text: said });
  if ('unknown' in owner) return privately('This workspace is not connected to the support platform.');
  if (!stored) return privately('This command was taken before.');
  const query = text.trim().slice(0, maxQuestion);
  if (query === '') {
    wake(ctx, stored);
    return privately('Write your question behind the command.');
  }
  const asked = answerQuestion(ctx, { orgId: owner.orgId, mode: owner.mode, query, segments: [], history: [] });
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), inlineMs).unref());
  const answer = await Promise.race([asked.catch(() => undefined), late]);
  // Only the process that claims the command answers it. If this process dies before that, the sweeper starts the
  // workflow that answers it.
  if (answer && (await claimInbound([stored], inline)).has(stored._id)) {
    const settled = { status: 'processed', outcome: 'Answered at once.' } as const;
    await settleInbound({ id: stored._id, attempt: inline, settled, now: ctx.clock() });
    return { response_type: 'in_channel', text: slackAnswer(answer) };
  }
  wake(ctx, stored);
  return privately('Looking for an answer …');
}
const inline = 'inline';
const maxQuestion = 2_000;
