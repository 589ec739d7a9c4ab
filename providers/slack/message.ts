/**
 * Posts a message to Slack without posting it twice. Slack takes no idempotency key for a message. So a retry first
 * searches for the message by its metadata.
 */
import { SlackError, type Slack, type SlackMessage, type SlackPost } from './client.ts';
import type { SlackCredentials } from './token.ts';
import type { OutgoingRequest } from '../../models/rules/events/delivery.ts';

/** The tolerance for clock differences between Slack and this system, in seconds. */
const clockSlackSeconds = 120;

/** The request that posts the message, without the token. */
export function requestOf(post: SlackPost, { slack }: { slack: Slack }): OutgoingRequest {
  const { url, body } = slack.request(post);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: 'Bearer' };
  return { method: 'POST', url, headers, body };
}

/**
 * Posts the message unless an earlier attempt already did. `since`: the start of the first attempt, if there was one.
 * Returns the message's timestamp.
 */
export async function postOnce(
  slack: Slack,
  credentials: SlackCredentials,
  post: SlackPost,
  since: Date | undefined,
): Promise<string> {
  const before = since && (await findPosted(slack, credentials, post, since));
  return before ?? (await slack.post(credentials.token, post)).ts;
}

/**
 * The timestamp of a message that an earlier attempt posted without receiving the response. Returns undefined also when
 * Slack does not let the bot read the channel. A bot may post in channels that it may not read, and the message may
 * then appear twice.
 */
async function findPosted(
  slack: Slack,
  { token, bot_user_id: bot }: SlackCredentials,
  { channel, thread_ts: thread, text, metadata: mark }: SlackPost,
  since: Date,
): Promise<string | undefined> {
  const oldest = String(since.getTime() / 1000 - clockSlackSeconds);
  const messages = await slack.messages(token, channel, { thread, oldest }).catch((error: unknown): SlackMessage[] => {
    if (error instanceof SlackError && error.permanent && !error.unauthorized) return [];
    throw error;
  });
  const wanted = Object.entries(mark?.event_payload ?? {});
  const found = messages.find(
    ({ metadata, user, text: said }) =>
      (wanted.length > 0 && wanted.every(([name, value]) => metadata?.event_payload?.[name] === value)) ||
      // Another event may have the same text, so the text is compared only for a message without metadata.
      (metadata?.event_payload === undefined && user === bot && said === text),
  );
  return found?.ts;
}
