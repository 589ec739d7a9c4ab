/** Connects to Slack: the code of a grant becomes a token, or another channel is chosen for the token that stands. */
import { ConnectionRefused, type Connector, type ConnectorDeps } from './connector.ts';
import { rotated, withSlackToken, type SlackCredentials } from '../slacktoken.ts';
import { SlackError } from '../../../clients/slack/slack.ts';
import { candidateCredentials } from '../../../models/events/candidate.ts';
import { countWorkspace, sealCredentials, type Connected } from '../../../models/events/integration.ts';
import { slackExternal } from '../../../models/rules/events/slack.ts';

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

/** The channel's name; joins it, so that replies are told of. Private channels are joined by invitation only. */
async function enter(token: string, id: string, { slack }: ConnectorDeps): Promise<Record<string, unknown>> {
  const channel = await slack.channel(token, id);
  await slack.join(token, channel.id).catch(() => undefined);
  return { channel_id: channel.id, channel_name: channel.name };
}

/** Revoking takes a token that works; nobody else renews this one any more. */
async function revoke(
  { token, refresh_token: refreshToken, expires_at: at }: SlackCredentials,
  { slack, slackApp, clock }: ConnectorDeps,
): Promise<void> {
  const hasEnded = at !== undefined && Date.parse(at) <= clock().getTime();
  const isRenewed = hasEnded && slackApp !== undefined && refreshToken !== undefined;
  await slack.revoke(isRenewed ? (await slack.refresh(slackApp, refreshToken)).token : token);
}

export const slackConnector: Connector = {
  async connect(candidate, standing, deps): Promise<Connected> {
    const { code, redirect_uri: redirectUri } = candidateCredentials(candidate, deps.secrets) as Candidates;
    const wanted = candidate.settings['channel_id'] as string | undefined;
    if (code === undefined || redirectUri === undefined) {
      if (standing?.sealed === undefined) throw new ConnectionRefused('Slack is not connected.');
      const { account, settings, workspace, external } = standing;
      const channel =
        wanted === undefined
          ? {}
          : await refusing(() => withSlackToken(standing, deps, ({ token }) => enter(token, wanted, deps)));
      // Without the credential, which another process may have renewed meanwhile.
      return {
        ...(account === undefined ? {} : { account }),
        settings: { ...settings, ...channel },
        ...(workspace === undefined ? {} : { workspace }),
        ...(external === undefined ? {} : { external }),
      };
    }
    if (!deps.slackApp) throw new ConnectionRefused('This system has no Slack app.');
    const app = deps.slackApp;
    const grant = await refusing(() => deps.slack.exchange(app, code, redirectUri));
    const id = wanted ?? grant.channel?.id;
    const channel = id === undefined ? {} : await refusing(() => enter(grant.token, id, deps));
    const credentials: SlackCredentials = {
      token: grant.token,
      bot_user_id: grant.botUserId,
      ...rotated(grant.rotation, deps.clock()),
    };
    return {
      account: grant.team.name,
      settings: { team_id: grant.team.id, ...channel },
      sealed: sealCredentials(candidate, credentials, deps.secrets),
      workspace: grant.team.id,
      external: slackExternal(grant.team.id),
    };
  },
  async test(integration, deps) {
    const id = integration.settings['channel_id'];
    return refusing(() =>
      withSlackToken(integration, deps, async ({ token }) => {
        const { team } = await deps.slack.whoami(token);
        if (typeof id !== 'string') return `Slack takes the token for ${team}; no channel is chosen yet.`;
        const { name } = await deps.slack.channel(token, id);
        return `Slack takes the token for ${team}; tickets go to #${name}.`;
      }),
    );
  },
  async release({ credentials, workspace }, deps) {
    // Organizations that share a workspace share the app's installation, which revoking a token may end.
    if (workspace === undefined || (await countWorkspace('slack', workspace)) > 0) return;
    await revoke(credentials as SlackCredentials, deps).catch(() => undefined);
  },
};
