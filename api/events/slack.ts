/**
 * Requests of Slack: events, slash commands and interactions, all signed with the app's secret; who signed one, whose it is,
 * and the answers that Slack wants at once.
 */
import type { SignatureProvider } from '../access/auth.ts';
import type { Context } from '../context.ts';
import { ownedBy, storeArrival, wake, type Arrival, type Owner } from './inbound.ts';
import { isForm, isHmac, jsonIn, member, sha256, textMember, unsigned } from './signing.ts';
import { shallow } from '../http/body.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import { claimInbound, settleInbound, type Inbound } from '../../models/events/inbound.ts';
import { findOwner } from '../../models/integrations/integration.ts';
import { findLink } from '../../models/events/link.ts';
import { withinWindow } from '../../models/rules/events/inbound.ts';
import { slackAnswer, slackExternal, threadExternal } from '../../models/rules/events/slack.ts';

type Said =
  | { kind: 'event' | 'interaction'; payload: unknown }
  | { kind: 'command'; payload: Record<string, string> }
  /** Slack looks whether the certificate is good; it signs nothing and wants nothing else. */
  | { kind: 'ssl_check' };
export type SlackSender = { id: string; said: Said; digest: string };

/** What Slack wants to read at once; an empty object says that all is well. */
export type SlackReply = { challenge?: string; response_type?: 'ephemeral' | 'in_channel'; text?: string };

export const slack: SignatureProvider<SlackSender> = {
  name: 'slack',
  header: 'x-slack-signature',
  verify({ headers, body, now }, { config }) {
    const secret = config.slack.signingSecret;
    if (secret === undefined) throw unsigned('SLACK_SIGNING_SECRET is not set here.');
    const form = isForm(headers) ? new URLSearchParams(body.toString('utf8')) : undefined;
    if (form?.get('ssl_check') === '1')
      return Promise.resolve({ id: 'ssl_check', said: { kind: 'ssl_check' }, digest: '' });
    const [at, given] = [headers['x-slack-request-timestamp'], headers['x-slack-signature']];
    if (typeof at !== 'string' || !/^\d{1,12}$/.test(at) || !withinWindow(Number(at) * 1000, now))
      throw unsigned('x-slack-request-timestamp is missing, or more than 5 minutes from now.');
    if (typeof given !== 'string' || !given.startsWith('v0=') || !isHmac(given.slice(3), secret, [`v0:${at}:`, body]))
      throw unsigned('x-slack-signature is not the one of this body and this time.');
    return Promise.resolve({ id: 'slack', said: read(form, body), digest: sha256(`${at}:`, body) });
  },
};

function read(form: URLSearchParams | undefined, body: Buffer): Said {
  if (!form) return { kind: 'event', payload: jsonIn(body) };
  const payload = form.get('payload');
  if (payload !== null) return { kind: 'interaction', payload: shallow(jsonIn(Buffer.from(payload))) };
  return { kind: 'command', payload: Object.fromEntries(form) };
}

/** Takes in a verified request, and gives what Slack is to be answered. */
export async function takeSlack(ctx: Context, { id, said, digest }: SlackSender): Promise<SlackReply> {
  if (said.kind === 'ssl_check') return {};
  if (member(said.payload, 'type') === 'url_verification') {
    const challenge = member(said.payload, 'challenge');
    return typeof challenge === 'string' ? { challenge: challenge.slice(0, 1_000) } : {};
  }
  const arrival = await arrivalOf(ctx, id, said, digest);
  const stored = await storeArrival(ctx, arrival);
  if (said.kind === 'command') return answerCommand(ctx, said.payload, arrival.owner, stored);
  if (stored?.pending) wake(ctx, stored);
  return {};
}

async function arrivalOf(
  ctx: Context,
  sender: string,
  { kind, payload }: Exclude<Said, { kind: 'ssl_check' }>,
  digest: string,
): Promise<Arrival> {
  const body = JSON.stringify(payload ?? null);
  const shared = { provider: 'slack', sender } as const;
  if (kind === 'event') {
    const event = member(payload, 'event');
    const [team, eventId] = [teamOfEvent(payload), textMember(payload, 'event_id')];
    const channel = textMember(event, 'channel') ?? textMember(member(event, 'item'), 'channel');
    const thread = textMember(event, 'thread_ts') ?? textMember(event, 'ts');
    return {
      ...shared,
      // A retry has the same body and another time.
      keys: [...(eventId === undefined ? [] : [eventId]), sha256(body)],
      owner: await ownerOf(ctx, team, channel, thread),
      lane: `slack:${channel ?? 'workspace'}:${thread ?? ''}`,
      type: textMember(event, 'type') ?? 'event',
      body: JSON.stringify({ kind, team, payload }),
    };
  }
  const trigger = textMember(payload, 'trigger_id');
  // An app that is installed for a whole Enterprise Grid has `team: null`; the person's workspace is named then.
  const team =
    textMember(payload, 'team_id') ??
    textMember(member(payload, 'team'), 'id') ??
    textMember(member(payload, 'user'), 'team_id');
  return {
    ...shared,
    keys: [trigger ?? digest],
    owner: await ownerOf(ctx, team, undefined, undefined),
    lane: `slack:${kind}:${trigger ?? digest}`,
    type: kind,
    body: JSON.stringify({ kind, team, payload }),
  };
}

/**
 * The workspace that has the app. In a channel that two companies share (Slack Connect) `team_id` may be the one of the person
 * who wrote.
 */
function teamOfEvent(payload: unknown): string | undefined {
  const authorizations = member(payload, 'authorizations');
  const [first] = Array.isArray(authorizations) ? (authorizations as unknown[]) : [];
  return textMember(first, 'team_id') ?? textMember(payload, 'team_id');
}

/** A thread belongs to who opened it with a ticket; everything else to who connected the workspace. */
async function ownerOf(
  ctx: Context,
  team: string | undefined,
  channel: string | undefined,
  thread: string | undefined,
): Promise<Owner> {
  if (team === undefined) return { unknown: 'The request names no workspace.' };
  const threadId = channel === undefined || thread === undefined ? undefined : threadExternal(team, channel, thread);
  const [link, owner] = await Promise.all([
    threadId === undefined ? null : findLink('slack', threadId),
    findOwner('slack', slackExternal(team)),
  ]);
  const orgId = link?.org_id ?? owner?.org_id;
  return orgId === undefined ? { unknown: 'No organization has connected this Slack workspace.' } : ownedBy(ctx, orgId);
}

/** Slack waits for 3 s; what is not known by then is sent to the command's `response_url`. */
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
  // Whoever claims it answers; a process that dies before leaves it to the sweeper.
  if (answer && (await claimInbound([stored], inline)).has(stored._id)) {
    const settled = { status: 'processed', outcome: 'Answered at once.' } as const;
    await settleInbound({ id: stored._id, attempt: inline, settled, now: ctx.clock() });
    return { response_type: 'in_channel', text: slackAnswer(answer) };
  }
  wake(ctx, stored);
  return privately('Looking for an answer …');
}
const inline = 'inline';
export const maxQuestion = 2_000;
