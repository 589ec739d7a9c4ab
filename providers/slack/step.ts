/**
 * Tells the assignee of a task in Slack: whoever has the assignee's address in the workspace, directly; where nobody has it, or
 * the app may not write to people, in the channel that was chosen.
 */
import { connectionTo, refusedBy, StepSkipped, type Made, type StepCall, type StepRunner } from '../base/step.ts';
import { findPosted } from './message.ts';
import { withSlackToken, type SlackCredentials } from './token.ts';
import { SlackError, type SlackPost } from './client.ts';
import { findIntegration, type Integration } from '../../models/integrations/integration.ts';
import { noteTarget } from '../../models/tasks/execution.ts';
import { slackTaskText } from '../../models/rules/tasks/tasktext.ts';

const markType = 'support_task';

/** Where the message goes. `mention`: the assignee, in a channel that others read, too. */
type Target = { channel: string; mention?: string };
/** As it is kept with the step: `<channel>` or `<channel>:<user>`. */
const readTarget = (kept: string): Target => {
  const [channel = '', mention] = kept.split(':', 2);
  return { channel, ...(mention === undefined ? {} : { mention }) };
};

function postOf({ told, ref }: StepCall, { channel, mention }: Target): SlackPost {
  return {
    channel,
    text: slackTaskText(told, mention),
    metadata: { event_type: markType, event_payload: { task_id: ref.taskId } },
  };
}

const channelIn = ({ settings }: Integration, mention?: string): Target => {
  const channel = settings['channel_id'];
  if (typeof channel !== 'string')
    throw new StepSkipped('The assignee is not in the Slack workspace, and no channel is chosen.');
  return { channel, ...(mention === undefined ? {} : { mention }) };
};

/** What an app that was connected before it might write to people is refused with. */
const mayNot: ReadonlySet<string | undefined> = new Set([
  'missing_scope',
  'cannot_dm_bot',
  'user_disabled',
  'not_allowed',
]);

async function targetOf({ email, deps }: StepCall, integration: Integration, token: string): Promise<Target> {
  const user = email === undefined ? undefined : await deps.slack.userByEmail(token, email);
  if (!user) return channelIn(integration);
  try {
    return { channel: await deps.slack.directChannel(token, user.id) };
  } catch (error) {
    if (error instanceof SlackError && mayNot.has(error.code)) return channelIn(integration, user.id);
    throw error;
  }
}

export const slack: StepRunner = {
  async preview(call) {
    const integration = await findIntegration(call.task.org_id, 'slack');
    const { channel_id: channel, channel_name: name } = integration?.settings ?? {};
    // Whom an address belongs to is asked of Slack only when something is sent.
    const to = call.email ?? (typeof channel === 'string' ? channel : undefined);
    if (to === undefined) throw new StepSkipped('Nobody is assigned, and no channel of Slack is chosen.');
    const { url, body } = call.deps.slack.request(postOf(call, { channel: to }));
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: 'Bearer' };
    return {
      destination: call.email ?? `Slack #${String(name ?? channel)}`,
      request: { method: 'POST', url, headers, body },
    };
  },

  async send(call) {
    const { task, step, ref, deps, again, signal } = call;
    const { integration } = await connectionTo(task.org_id, 'slack', deps);
    const post = async (credentials: SlackCredentials): Promise<Made> => {
      const { token } = credentials;
      const target = step.target === undefined ? await targetOf(call, integration, token) : readTarget(step.target);
      const { channel, mention } = target;
      if (step.target === undefined) await noteTarget(ref, mention === undefined ? channel : `${channel}:${mention}`);
      const message = postOf(call, target);
      const before =
        again && step.first_at ? await findPosted(deps.slack, credentials, message, step.first_at) : undefined;
      const ts = before ?? (await deps.slack.post(token, message)).ts;
      const url = await deps.slack.permalink(token, channel, ts).catch(() => undefined);
      return url === undefined ? {} : { url };
    };
    try {
      return await withSlackToken(integration, deps, post);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SlackError) throw await refusedBy(error, integration, deps);
      throw error;
    }
  },
};
