/** Connects to Slack with the code of an OAuth grant, or chooses another channel for an existing connection. */
import { ConnectionRefused, refusing, type Connector, type ConnectorDeps } from '../base/connector.ts';
import { rotated, withSlackToken, type SlackCredentials } from './token.ts';
import { SlackError, type SlackGrant } from './client.ts';
import { countWorkspace, sealCredentials, type Connected } from '../../models/integrations/integration.ts';
import { createRelease } from '../../models/integrations/release.ts';
import { slackExternal } from './rules.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** What Slack granted for a code. `channel_id`: the channel that the person chose while installing the app. */
type Granted = { credentials: SlackCredentials; team: SlackGrant['team']; channel_id?: string };
/** The code of a new grant, or what was granted for it; all fields are missing when only the channel changes. */
type Candidates = { code?: string; redirect_uri?: string; granted?: Granted };

/**
 * Joins the channel, so that Slack reports replies there. A failed join is ignored, because private channels need an
 * invitation. Returns the channel's id and name as settings.
 */
async function enter(token: string, id: string, { slack }: ConnectorDeps): Promise<Record<string, unknown>> {
  const channel = await slack.channel(token, id);
  await slack.join(token, channel.id).catch(() => undefined);
  return { channel_id: channel.id, channel_name: channel.name };
}

/**
 * A valid token for revoking the connection. An expired token is refreshed here, because nothing else refreshes the
 * token of a removed connection.
 */
async function working(
  standing: SlackCredentials,
  keep: (credentials: object) => Promise<void>,
  deps: ConnectorDeps,
): Promise<SlackCredentials> {
  const { refresh_token: refreshToken, expires_at: at } = standing;
  const now = deps.clock();
  if (at === undefined || Date.parse(at) > now.getTime() || !deps.slackApp || refreshToken === undefined)
    return standing;
  const { token, rotation } = await deps.slack.refresh(deps.slackApp, refreshToken);
  const renewed = { token, bot_user_id: standing.bot_user_id, ...rotated(rotation, now) };
  await keep(renewed);
  return renewed;
}

export const slackConnector: Connector = {
  async redeem(candidates, deps) {
    const { code, redirect_uri: redirectUri } = candidates as Candidates;
    if (code === undefined || redirectUri === undefined) return undefined;
    if (!deps.slackApp) throw new ConnectionRefused('This system has no Slack app.');
    const app = deps.slackApp;
    const grant = await refusing(() => deps.slack.exchange(app, code, redirectUri));
    const credentials: SlackCredentials = {
      token: grant.token,
      bot_user_id: grant.botUserId,
      ...rotated(grant.rotation, deps.clock()),
    };
    const granted: Granted = { credentials, team: grant.team, ...defined({ channel_id: grant.channel?.id }) };
    return { granted } satisfies Candidates;
  },
  async connect(candidate, standing, deps): Promise<Connected> {
    const { granted } = candidate.credentials as Candidates;
    const wanted = candidate.settings['channel_id'] as string | undefined;
    if (!granted) {
      if (standing?.sealed === undefined) throw new ConnectionRefused('Slack is not connected.');
      const { account, settings, workspace, events_of } = standing;
      const channel =
        wanted === undefined
          ? {}
          : await refusing(() => withSlackToken(standing, deps, ({ token }) => enter(token, wanted, deps)));
      // The credentials are left out, because another process may have refreshed the token meanwhile.
      return {
        ...defined({ account }),
        settings: { ...settings, ...channel },
        ...defined({ workspace, events_of }),
      };
    }
    const { credentials, team } = granted;
    const id = wanted ?? granted.channel_id;
    const channel =
      id === undefined
        ? {}
        : await refusing(() => enter(credentials.token, id, deps)).catch(async (error: unknown) => {
            // The connection failed, so the new token would stay unused; it is queued for revocation.
            const owned = {
              org_id: candidate.org_id,
              provider: 'slack',
              credentials,
              workspace: team.id,
            } as const;
            await createRelease(owned, { secrets: deps.secrets, now: deps.clock() });
            throw error;
          });
    return {
      account: team.name,
      settings: { team_id: team.id, ...channel },
      sealed: sealCredentials(candidate, credentials, deps.secrets),
      workspace: team.id,
      events_of: slackExternal(team.id),
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
  async release({ credentials, workspace }, keep, deps) {
    // Organizations in the same workspace share one installation of the app, and revoking a token may end the
    // installation. So the token is revoked only when no other organization uses the workspace.
    if (workspace === undefined || (await countWorkspace('slack', workspace)) > 0) return;
    try {
      await deps.slack.revoke((await working(credentials as SlackCredentials, keep, deps)).token);
    } catch (error) {
      // A token that Slack rejects is already revoked, so the error is only logged.
      if (!(error instanceof SlackError) || !(error.unauthorized || error.permanent)) throw error;
      deps.log.warn({ reason: error.message }, 'Slack did not take a token back');
    }
  },
};
