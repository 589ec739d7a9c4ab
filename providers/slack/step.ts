/**
 * Sends a task to its assignee in Slack: as a direct message to the Slack user with the assignee's address. The message
 * goes to the configured channel when there is no such user, or the app may not send direct messages.
 */
import { createHash } from 'node:crypto';
import { connection, guarded } from '../base/connected.ts';
import type { SenderDeps } from '../base/sender.ts';
import type { StepCall, StepSender } from '../base/step.ts';
import { postOnce, requestOf } from './message.ts';
import { withSlackToken, type SlackCredentials } from './token.ts';
import { SlackError, type SlackPost } from './client.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { noteTarget } from '../../models/tasks/execution.ts';
import { DeliveryRefused } from '../../models/rules/events/delivery.ts';
import { slackTaskText } from '../../models/rules/tasks/tasktext.ts';
import { defined } from '../../models/rules/base/defined.ts';

const markType = 'support_task';

/** The destination of the message. `mention`: the assignee's Slack id, when the message goes to a channel. */
type Target = { channel: string; mention?: string };
/** Parses the form that is stored with the step: `<channel>` or `<channel>:<user>`. */
const readTarget = (kept: string): Target => {
  const [channel = '', mention] = kept.split(':', 2);
  return { channel, ...defined({ mention }) };
};

/**
 * A digest of what decides the destination: the assignee's address, the workspace and the channel. A stored destination
 * is used again only while the digest is the same, because the assignee or the connection may change between attempts.
 */
function basisOf(email: string | undefined, { workspace, settings }: Integration): string {
  const basis = JSON.stringify([email ?? null, workspace ?? null, settings['channel_id'] ?? null]);
  return createHash('sha256').update(basis).digest('base64url').slice(0, 22);
}

function postOf({ told, ref }: StepCall, { channel, mention }: Target): SlackPost {
  return {
    channel,
    text: slackTaskText(told, mention),
    metadata: { event_type: markType, event_payload: { task_id: ref.taskId } },
  };
}

const nowhere = (message: string): DeliveryRefused => new DeliveryRefused(message, { permanent: true, nowhere: true });

const channelIn = ({ settings }: Integration, mention?: string): Target => {
  const channel = settings['channel_id'];
  if (typeof channel !== 'string')
    throw nowhere('The assignee is not in the Slack workspace, and no channel is chosen.');
  return { channel, ...defined({ mention }) };
};

/** Error codes that mean that the app may not message this user directly, for example because of a missing scope. */
const mayNot: ReadonlySet<string | undefined> = new Set([
  'missing_scope',
  'cannot_dm_bot',
  'user_disabled',
  'not_allowed',
]);

async function targetOf(
  email: string | undefined,
  integration: Integration,
  token: string,
  { slack }: SenderDeps,
): Promise<Target> {
  const user = email === undefined ? undefined : await slack.userByEmail(token, email);
  if (!user) return channelIn(integration);
  try {
    return { channel: await slack.directChannel(token, user.id) };
  } catch (error) {
    if (error instanceof SlackError && mayNot.has(error.code)) return channelIn(integration, user.id);
    throw error;
  }
}

export const slack: StepSender = {
  async destination({ task, email }) {
    if (email !== undefined) return email;
    const { channel_id: channel, channel_name: name } = (await findIntegration(task.org_id, 'slack'))?.settings ?? {};
    return `Slack #${String(name ?? channel)}`;
  },

  async preview(call, deps) {
    const channel = (await findIntegration(call.task.org_id, 'slack'))?.settings['channel_id'];
    // A preview does not look up the Slack user, because nothing may be sent to Slack in test mode.
    const to = call.email ?? (typeof channel === 'string' ? channel : undefined);
    if (to === undefined) throw nowhere('Nobody is assigned, and no channel of Slack is chosen.');
    return requestOf(postOf(call, { channel: to }), deps);
  },

  async send(call, deps, signal) {
    const { task, step, ref, email, again } = call;
    const { integration } = await connection(task.org_id, 'slack', deps);
    const basis = basisOf(email, integration);
    const kept = step.target_of === basis ? step.target : undefined;
    const post = async (credentials: SlackCredentials): Promise<string | undefined> => {
      const { token } = credentials;
      const target = kept === undefined ? await targetOf(email, integration, token, deps) : readTarget(kept);
      const { channel, mention } = target;
      if (kept === undefined) await noteTarget(ref, mention === undefined ? channel : `${channel}:${mention}`, basis);
      const since = again ? step.first_at : undefined;
      const ts = await postOnce(deps.slack, credentials, postOf(call, target), since);
      return deps.slack.permalink(token, channel, ts).catch(() => undefined);
    };
    return guarded({ integration, deps, signal }, async () => {
      const url = await withSlackToken(integration, deps, post);
      return { result: url === undefined ? {} : { url } };
    });
  },
};
