/**
 * Verifies events, slash commands and interactions of Slack, all signed with the app's secret, and finds the
 * organization they belong to.
 */
import { slackExternal, threadExternal } from './rules.ts';
import type { Arrival, OwnedBy, Owner } from '../base/arrival.ts';
import { isForm, isHmac, member, sha256, textMember, unsigned, type SignedRequest } from '../base/signing.ts';
import { findOwner } from '../../models/integrations/integration.ts';
import { findLink } from '../../models/events/link.ts';
import { jsonIn } from '../../models/rules/base/json.ts';
import { withinWindow } from '../../models/rules/events/inbound.ts';

type Said =
  | { kind: 'event' | 'interaction'; payload: unknown }
  | { kind: 'command'; payload: Record<string, string> }
  /** Slack's check of this system's TLS certificate. It is not signed and needs only a reply. */
  | { kind: 'ssl_check' };
export type SlackSender = { id: string; said: Said; digest: string };

/** `secret`: the app's signing secret. @throws Problem UNAUTHENTICATED */
export function verifySlack({ headers, body, now }: SignedRequest, secret: string | undefined): SlackSender {
  if (secret === undefined) throw unsigned('SLACK_SIGNING_SECRET is not set here.');
  const form = isForm(headers) ? new URLSearchParams(body.toString('utf8')) : undefined;
  if (form?.get('ssl_check') === '1') return { id: 'ssl_check', said: { kind: 'ssl_check' }, digest: '' };
  const [at, given] = [headers['x-slack-request-timestamp'], headers['x-slack-signature']];
  if (typeof at !== 'string' || !/^\d{1,12}$/.test(at) || !withinWindow(Number(at) * 1000, now))
    throw unsigned('x-slack-request-timestamp is missing, or more than 5 minutes from now.');
  if (typeof given !== 'string' || !given.startsWith('v0=') || !isHmac(given.slice(3), secret, [`v0:${at}:`, body]))
    throw unsigned('x-slack-signature is not the one of this body and this time.');
  return { id: 'slack', said: read(form, body), digest: sha256(`${at}:`, body) };
}

function read(form: URLSearchParams | undefined, body: Buffer): Said {
  if (!form) return { kind: 'event', payload: jsonIn(body) };
  const payload = form.get('payload');
  if (payload !== null) return { kind: 'interaction', payload: jsonIn(payload) };
  return { kind: 'command', payload: Object.fromEntries(form) };
}

/** The verified request in the form in which it is stored, with the organization it belongs to. */
export async function slackArrival(
  sender: string,
  { kind, payload }: Exclude<Said, { kind: 'ssl_check' }>,
  digest: string,
  ownedBy: OwnedBy,
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
      // When Slack repeats an event, the body is the same but the timestamp differs. So the key is a hash of the body
      // alone.
      keys: [...(eventId === undefined ? [] : [eventId]), sha256(body)],
      owner: await ownerOf(ownedBy, team, channel, thread),
      lane: `slack:${channel ?? 'workspace'}:${thread ?? ''}`,
      type: textMember(event, 'type') ?? 'event',
      body: JSON.stringify({ kind, team, payload }),
    };
  }
  const trigger = textMember(payload, 'trigger_id');
  // An app installed for an entire Enterprise Grid sends `team: null`; then the user's workspace is used.
  const team =
    textMember(payload, 'team_id') ??
    textMember(member(payload, 'team'), 'id') ??
    textMember(member(payload, 'user'), 'team_id');
  return {
    ...shared,
    keys: [trigger ?? digest],
    owner: await ownerOf(ownedBy, team, undefined, undefined),
    lane: `slack:${kind}:${trigger ?? digest}`,
    type: kind,
    body: JSON.stringify({ kind, team, payload }),
  };
}

/**
 * The workspace that has the app. In a channel shared by two companies (Slack Connect) `team_id` may be the author's
 * workspace.
 */
function teamOfEvent(payload: unknown): string | undefined {
  const authorizations = member(payload, 'authorizations');
  const [first] = Array.isArray(authorizations) ? (authorizations as unknown[]) : [];
  return textMember(first, 'team_id') ?? textMember(payload, 'team_id');
}

/**
 * A thread belongs to the organization whose ticket opened it. Everything else belongs to the organization that
 * connected the workspace.
 */
async function ownerOf(
  ownedBy: OwnedBy,
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
  return orgId === undefined ? { unknown: 'No organization has connected this Slack workspace.' } : ownedBy(orgId);
}
