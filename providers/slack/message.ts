/**
 * Messages of ours in Slack. Slack has no key for a message, so that an attempt after one that may have arrived looks for the
 * message first, by what marks it.
 */
import type { Slack, SlackPost } from './client.ts';

/** What a message is found by again. */
export type SlackMark = { event_type: string; event_payload: Record<string, string> };

/** Slack's clock and ours differ. */
const clockSlackSeconds = 120;

/** The message of an earlier attempt that arrived, though its answer did not. `since`: when the first attempt began. */
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
