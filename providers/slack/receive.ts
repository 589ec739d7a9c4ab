/**
 * Handles events of Slack. Mentions and commands ask the knowledge base, and a delivery posts the answer to the thread.
 * A person's message in the thread of a ticket becomes a reply to the customer.
 */
import { z } from 'zod';
import type { Handled, Starter } from '../base/handled.ts';
import { jsonOf, understood } from '../base/understood.ts';
import { breakConnection } from '../base/broken.ts';
import { withSlackToken, type SlackCredentials, type SlackTokenDeps } from './token.ts';
import { answerQuestion } from '../../agent/knowledge/answer.ts';
import type { AgentDeps } from '../../agent/knowledge/deps.ts';
import { SlackError } from './client.ts';
import { findOrganization } from '../../models/access/organization.ts';
import { findUserByEmail } from '../../models/access/user.ts';
import { findConversation } from '../../models/chat/conversation.ts';
import { findReply, startStored, storeReply, type Replier } from '../../models/chat/saying.ts';
import { createDelivery, DeliveryModel } from '../../models/events/delivery.ts';
import { noteAbout, type Inbound } from '../../models/events/inbound.ts';
import { credentialsOf, findConnection, type Integration } from '../../models/integrations/integration.ts';
import { findLink, type Link } from '../../models/events/link.ts';
import { normalizeEmail } from '../../models/rules/access/email.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { maxBodyLength } from '../../models/rules/chat/conversation.ts';
import { isWritten, mentions, plainSlack, slackAnswer, threadExternal } from './rules.ts';

export type SlackDeps = AgentDeps & Starter & SlackTokenDeps;
/**
 * The payload of a delivery that posts an answer. Deliveries of ticket events have another payload, with `ticket:
 * true`.
 */
export type SlackPayload =
  { channel: string; thread_ts?: string; text: string } | { response_url: string; text: string; privately?: true };

/** Slack sends null for some missing fields. */
const text = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
/** The body that `slackArrival` stored. `team`: the workspace that the request concerns. */
const body = z.object({
  kind: z.enum(['event', 'command', 'interaction']),
  team: z.string().optional(),
  payload: z.unknown().optional(),
});
/** Only the type is read at first, because events of some types have channels and users in other formats. */
const anyEvent = z.object({ event: z.object({ type: z.string() }).nullish() });
/** Slack gives the time of an event in seconds. */
const timed = z.object({ event_time: z.number().nullish() });
const revocation = z.object({
  event: z.object({ tokens: z.object({ bot: z.array(z.string()).nullish() }).nullish() }),
});
const message = z.object({
  event: z.object({ subtype: text, user: text, bot_id: text, text, channel: text, ts: text, thread_ts: text }),
});
const command = z.object({ text, channel_id: text, response_url: text });
/**
 * The fields that are read of an interaction, in which a person pressed or chose something. The type `message_action`
 * is a shortcut on a message.
 */
const interaction = z.object({ type: text, response_url: text, message: z.object({ text }).nullish() });
const maxQuestion = 2_000;

export async function handleSlack(inbound: Inbound, deps: SlackDeps): Promise<Handled> {
  const { kind, team, payload } = understood(body, jsonOf(inbound.body));
  const integration = await findConnection(inbound.org_id, 'slack');
  if (!integration) return { ignored: 'Slack is not connected any more.' };
  const credentials = credentialsOf(integration, deps.secrets) as SlackCredentials;
  if (kind === 'command') return handleCommand(inbound, understood(command, payload), deps);
  if (kind === 'interaction') return answerInteraction(inbound, understood(interaction, payload), credentials, deps);
  const type = understood(anyEvent, payload).event?.type;
  if (type === undefined || team === undefined) return { ignored: 'The request holds no event.' };
  if (type === 'tokens_revoked') {
    // Only the bot's token matters for the connection; tokens of users are not used.
    const revoked = understood(revocation, payload).event.tokens?.bot ?? [];
    if (!revoked.includes(credentials.bot_user_id)) return { ignored: 'The token of the bot was not revoked.' };
  }
  if (type === 'app_uninstalled' || type === 'tokens_revoked') {
    const { event_time: seconds } = understood(timed, payload);
    const at = typeof seconds === 'number' ? seconds * 1000 : inbound.received_at.getTime();
    // The event may arrive late. If it is older than the current connection, it is about an earlier one, and the
    // current connection works.
    if (integration.connected_at && at < integration.connected_at.getTime())
      return { ignored: 'The event is older than the connection.' };
    await breakConnection(integration, `Slack says: ${type}`, deps);
    return { outcome: 'The connection is broken, and the members were told.' };
  }
  if (type !== 'app_mention' && type !== 'message') return { ignored: 'Only messages are followed.' };
  const { event } = understood(message, payload);
  if (!isWritten(event, credentials.bot_user_id))
    return { ignored: 'Messages of bots, edits and removals are not followed.' };
  const { channel, ts, thread_ts: thread, user, text: said = '' } = event;
  if (channel === undefined || ts === undefined || user === undefined) return { ignored: 'The message has no place.' };
  if (type === 'app_mention')
    return answerMention(inbound, { channel, thread: thread ?? ts, text: said }, credentials, integration, deps);
  if (thread === undefined || thread === ts) return { ignored: 'The message is not in a thread.' };
  const link = await findLink('slack', threadExternal(team, channel, thread));
  if (!link || link.org_id !== inbound.org_id) return { ignored: 'The thread is not that of a ticket.' };
  if (mentions(said, credentials.bot_user_id))
    return { ignored: 'It speaks to the bot, which answers in the thread; the customer is not told.' };
  return replyFromThread(inbound, link, { team, channel, ts, user, text: said }, integration, deps);
}

/** The answer's text (`text`), and the ids of the sources that it is taken from (`about`). */
type Said = { text: string; about: string[] };

/** Asks the knowledge base in the mode (test or live) of the received event. */
async function answered({ org_id: orgId, mode }: Inbound, query: string, deps: SlackDeps): Promise<Said> {
  const answer = await answerQuestion(deps, { orgId, mode, query, segments: [], history: [] });
  return { text: slackAnswer(answer), about: answer.sources.map(({ id }) => id) };
}

async function answerMention(
  inbound: Inbound,
  { channel, thread, text }: { channel: string; thread: string; text: string },
  { bot_user_id: bot }: SlackCredentials,
  { settings }: Integration,
  deps: SlackDeps,
): Promise<Handled> {
  const query = plainSlack(text, bot).slice(0, maxQuestion);
  const { text: said, about } =
    query === '' ? { text: 'Write your question behind my name.', about: [] } : await answered(inbound, query, deps);
  const name = settings['channel_id'] === channel ? String(settings['channel_name']) : channel;
  await send(inbound, `#${name}`, { channel, thread_ts: thread, text: said }, about, deps);
  return { outcome: 'The answer goes to the thread.' };
}

async function handleCommand(
  inbound: Inbound,
  { text: asked = '', response_url: url, channel_id: channel }: z.infer<typeof command>,
  deps: SlackDeps,
): Promise<Handled> {
  if (url === undefined && channel === undefined) return { ignored: 'The command has no place for an answer.' };
  const query = asked.trim().slice(0, maxQuestion);
  if (query === '') return { ignored: 'The command asks nothing.' };
  const { text: answer, about } = await answered(inbound, query, deps);
  const payload: SlackPayload =
    url === undefined ? { channel: channel!, text: answer } : { response_url: url, text: answer };
  await send(inbound, url === undefined ? channel! : 'response_url', payload, about, deps);
  return { outcome: 'The answer is sent where the command was given.' };
}

/**
 * A shortcut on a message sends the message's text as a question to the knowledge base. Any other interaction gets a
 * hint on where answers are given. Only the person who interacted sees the response.
 */
async function answerInteraction(
  inbound: Inbound,
  { type, response_url: url, message: shown }: z.infer<typeof interaction>,
  { bot_user_id: bot }: SlackCredentials,
  deps: SlackDeps,
): Promise<Handled> {
  if (url === undefined) return { ignored: 'Slack gave no address to answer this interaction at.' };
  const asked = type === 'message_action' ? plainSlack(shown?.text ?? '', bot) : '';
  const query = asked.slice(0, maxQuestion);
  const said = query === '' ? { text: nothingToPress, about: [] } : await answered(inbound, query, deps);
  await send(inbound, 'response_url', { response_url: url, text: said.text, privately: true }, said.about, deps);
  return { outcome: query === '' ? 'The person is told where answers are given.' : 'The answer goes to the person.' };
}
const nothingToPress =
  'There is nothing to press here. Mention me with your question, or use the slash command, and I answer from the knowledge base.';

async function send(
  { _id, org_id, mode }: Inbound,
  destination: string,
  payload: SlackPayload,
  about: string[],
  { clock, start }: SlackDeps,
): Promise<void> {
  const lane = 'slack:answer';
  const subject = {};
  const fresh = { org_id, mode, kind: 'slack', event_id: _id, event_type: 'slack.answer', lane } as const;
  const { delivery, intents } = await createDelivery({ ...fresh, destination, subject, about, payload }, clock());
  await start(DeliveryModel, delivery, intents);
}

/** Stores a message from a ticket's thread as a reply to the customer. The same message is stored once. */
async function replyFromThread(
  inbound: Inbound,
  { org_id: orgId, conv_id: convId, about }: Link,
  said: { team: string; channel: string; ts: string; user: string; text: string },
  integration: Integration,
  deps: SlackDeps,
): Promise<Handled> {
  const { team, channel, ts, user } = said;
  await noteAbout(inbound._id, about);
  const body = plainSlack(said.text)
    .slice(0, maxBodyLength)
    .replace(/[\ud800-\udbff]$/, '');
  if (body === '') return { ignored: 'The message has no text.' };
  const conversation = convId === undefined ? null : await findConversation(orgId, convId);
  if (!conversation) return { ignored: 'The conversation of this ticket is gone.' };
  const clientMessageId = `slack:${channel}:${ts}`;
  const replier = await replierOf(team, user, integration, deps);
  if (await findReply(conversation, clientMessageId, replier)) return { outcome: replied };
  try {
    const stored = await storeReply(conversation, { body, clientMessageId }, replier, deps.clock());
    await startStored(stored, deps.start);
  } catch (error) {
    if (error instanceof Problem && error.code === 'CONFLICT') return { ignored: error.message };
    throw error;
  }
  return { outcome: replied };
}
const replied = 'The customer got it as a reply.';

/**
 * The author of the reply: the member with the e-mail address that Slack has for this user, otherwise only the user's
 * name.
 */
async function replierOf(team: string, user: string, integration: Integration, deps: SlackDeps): Promise<Replier> {
  const { org_id: orgId } = integration;
  const asked = withSlackToken(integration, deps, ({ token }) => deps.slack.user(token, user));
  const person = await asked.catch((error: unknown) => {
    // Without the permission to read users, the reply has the general name `Support`.
    if (error instanceof SlackError && error.permanent && !error.unauthorized)
      return { name: 'Support', email: undefined };
    throw error;
  });
  const { email } = person;
  const known = email === undefined ? null : await findUserByEmail(normalizeEmail(email));
  const org = known && (await findOrganization(orgId));
  if (known && org?.members.some(({ user_id }) => user_id === known._id)) return { id: known._id, name: known.name };
  return { id: `slack:${team}:${user}`, name: person.name.slice(0, 100) };
}
