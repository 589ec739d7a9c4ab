/** Connects to Slack: the code of a grant becomes a token, or another channel is chosen for the token that stands. */
import { ConnectionRefused, type Connector, type ConnectorDeps } from './connector.ts';
import { SlackError } from '../../../clients/slack/slack.ts';
import { countWorkspace, type Connected } from '../../../models/events/integration.ts';
import { slackExternal } from '../../../models/rules/events/slack.ts';

export type SlackCredentials = { token: string; bot_user_id: string };
/** A grant that was just given, or nothing, for another channel. */
type Candidates = { code?: string; redirect_uri?: string };

async function refusing<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof SlackError) || !(error.unauthorized || error.permanent)) throw error;
    throw new ConnectionRefused(error.message, { unauthorized: error.unauthorized, cause: error });
  }
}

const openCredentials = (sealed: string, { secrets }: ConnectorDeps): SlackCredentials =>
  JSON.parse(secrets.open(sealed)) as SlackCredentials;

/** The channel's name; joins it, so that replies are told of. Private channels are joined by invitation only. */
async function enter(token: string, id: string, { slack }: ConnectorDeps): Promise<Record<string, unknown>> {
  const channel = await refusing(() => slack.channel(token, id));
  await slack.join(token, channel.id).catch(() => undefined);
  return { channel_id: channel.id, channel_name: channel.name };
}

export const slackConnector: Connector = {
  async connect(candidate, standing, deps): Promise<Connected> {
    const { code, redirect_uri: redirectUri } = JSON.parse(deps.secrets.open(candidate.sealed)) as Candidates;
    const wanted = candidate.settings['channel_id'] as string | undefined;
    if (code === undefined || redirectUri === undefined) {
      if (standing?.sealed === undefined) throw new ConnectionRefused('Slack is not connected.');
      const { account, settings, sealed, workspace, external } = standing;
      const { token } = openCredentials(sealed, deps);
      const channel = wanted === undefined ? {} : await enter(token, wanted, deps);
      return {
        ...(account === undefined ? {} : { account }),
        settings: { ...settings, ...channel },
        sealed,
        ...(workspace === undefined ? {} : { workspace }),
        ...(external === undefined ? {} : { external }),
      };
    }
    if (!deps.slackApp) throw new ConnectionRefused('This system has no Slack app.');
    const app = deps.slackApp;
    const grant = await refusing(() => deps.slack.exchange(app, code, redirectUri));
    if (grant.expires)
      throw new ConnectionRefused('Turn token rotation off for the Slack app: its tokens end by themselves.');
    const id = wanted ?? grant.channel?.id;
    const channel = id === undefined ? {} : await enter(grant.token, id, deps);
    const credentials = { token: grant.token, bot_user_id: grant.botUserId } satisfies SlackCredentials;
    return {
      account: grant.team.name,
      settings: { team_id: grant.team.id, ...channel },
      sealed: deps.secrets.seal(JSON.stringify(credentials)),
      workspace: grant.team.id,
      external: slackExternal(grant.team.id),
    };
  },
  async test({ sealed, settings }, deps) {
    const { token } = openCredentials(sealed!, deps);
    const { team } = await refusing(() => deps.slack.whoami(token));
    const id = settings['channel_id'];
    if (typeof id !== 'string') return `Slack takes the token for ${team}; no channel is chosen yet.`;
    const { name } = await refusing(() => deps.slack.channel(token, id));
    return `Slack takes the token for ${team}; tickets go to #${name}.`;
  },
  async release({ sealed, workspace }, deps) {
    // Organizations that share a workspace share the app's installation, which revoking a token may end.
    if (sealed === undefined || workspace === undefined || (await countWorkspace('slack', workspace)) > 0) return;
    await deps.slack.revoke(openCredentials(sealed, deps).token).catch(() => undefined);
  },
};
