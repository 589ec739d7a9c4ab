/**
 * Finds our messages in Slack. Slack takes no idempotency key for a message. So a retry first searches for the message
 * by its metadata.
 */
import type { Slack, SlackPost } from './client.ts';

/** The metadata by which a retry finds a message. */
export type SlackMark = { event_type: string; event_payload: Record<string, string> };

/** Allows for the difference between Slack's clock and ours. */
const clockSlackSeconds = 120;

/**
 * The timestamp of a message that an earlier attempt posted without receiving the response. `since`: the start of the
 * first attempt.
 */
export async function findPosted(
  slack: Slack,
  { token, bot_user_id: bot }: { token: string; bot_user_id: string },
  { channel, thread_ts: thread, text, metadata: mark }: SlackPost,
  since: Date,
): Promise<string | undefined> {
  const oldest = String(since.getTime() / 1000 - clockSlackSeconds);
  const messages = await slack.messages(token, channel, { thread, oldest });
  const wanted = Object.entries(mark?.event_payload ?? {});
  const found = messages.find(
    ({ metadata, user, text: said }) =>
      (wanted.length > 0 && wanted.every(([name, value]) => metadata?.event_payload?.[name] === value)) ||
      (user === bot && said === text),
  );
  return found?.ts;
}
