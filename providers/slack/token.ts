/**
 * The Slack token of an organization. An app with token rotation has tokens that expire after 12 hours, so they are
 * refreshed before that. Only one process at a time refreshes, because a refresh token works once. When Slack rejects
 * the refresh, the connection is broken.
 */
import { breakConnection } from '../base/broken.ts';
import type { SenderDeps } from '../base/sender.ts';
import { renewed } from '../../clients/http/renewal.ts';
import { SlackError, type SlackRotation } from './client.ts';
import { renewalTurns } from '../../models/base/lease.ts';
import {
  credentialsOf,
  findIntegration,
  keepRenewed,
  sealCredentials,
  type Integration,
} from '../../models/integrations/integration.ts';

export type SlackCredentials = {
  token: string;
  bot_user_id: string;
  /** Present only for an app with token rotation. Times are in ISO 8601. */
  refresh_token?: string;
  renew_at?: string;
  expires_at?: string;
};
export type SlackTokenDeps = Pick<SenderDeps, 'slack' | 'slackApp' | 'secrets' | 'clock' | 'log'>;

/** A token is refreshed after this fraction of its lifetime. Of 12 hours, two are left for retries. */
const renewedAfter = 5 / 6;

/** The rotation in the form in which credentials are stored. */
export function rotated(rotation: SlackRotation | undefined, now: Date): Partial<SlackCredentials> {
  if (rotation === undefined) return {};
  const after = (ms: number): string => new Date(now.getTime() + ms).toISOString();
  const { refreshToken, expiresInMs } = rotation;
  return { refresh_token: refreshToken, renew_at: after(expiresInMs * renewedAfter), expires_at: after(expiresInMs) };
}

type Connection = Pick<Integration, '_id' | 'org_id' | 'provider' | 'generation' | 'sealed'>;

/**
 * Calls `use` with a valid token of this connection. The token is refreshed first if that is due, and once more if
 * Slack says that it has expired. @throws SlackError
 */
export async function withSlackToken<T>(
  connection: Connection,
  deps: SlackTokenDeps,
  use: (credentials: SlackCredentials) => Promise<T>,
): Promise<T> {
  const credentials = await current(connection, deps);
  try {
    return await use(credentials);
  } catch (error) {
    const hasEnded = error instanceof SlackError && error.code === 'token_expired';
    if (!hasEnded || credentials.refresh_token === undefined) throw error;
    return use(await current(connection, deps, credentials.token));
  }
}

/** Returns valid credentials, which are refreshed if that is due. `ended`: a token that Slack has rejected. */
async function current(connection: Connection, deps: SlackTokenDeps, ended?: string): Promise<SlackCredentials> {
  const { _id: id, org_id: orgId } = connection;
  const { clock } = deps;
  const isBefore = (at: string | undefined): boolean => at === undefined || clock().getTime() < Date.parse(at);
  const lives = ({ token, expires_at: at }: SlackCredentials): boolean => token !== ended && isBefore(at);
  const isGood = (credentials: SlackCredentials): boolean => lives(credentials) && isBefore(credentials.renew_at);
  let sealed = connection.sealed!;
  const open = (): SlackCredentials => credentialsOf({ ...connection, sealed }, deps.secrets) as SlackCredentials;
  let seen = open();
  if (isGood(seen)) return seen;
  try {
    await renewed<SlackCredentials>({
      async read() {
        const standing = await findIntegration(orgId, 'slack');
        if (standing?.sealed === undefined) return undefined;
        sealed = standing.sealed;
        seen = open();
        return seen.refresh_token === undefined && !isGood(seen) ? undefined : seen;
      },
      isGood,
      ...renewalTurns(id),
      async renew(standing) {
        seen = await renewedBy(standing, deps);
        await keepRenewed(id, sealed, sealCredentials(connection, seen, deps.secrets));
      },
      // A token that is still valid is used while another process refreshes it.
      ...(lives(seen) ? { patienceMs: 0 } : {}),
      late: () => new SlackError('The token of Slack is being renewed.', { timedOut: true }),
    });
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    if (error.unauthorized) await breakConnection(connection, error.message, deps);
    else if (lives(seen)) return seen;
    throw error;
  }
  if (lives(seen)) return seen;
  throw new SlackError('Slack says: token_expired', { code: 'token_expired', status: 200, permanent: true });
}

async function renewedBy(
  standing: SlackCredentials,
  { slack, slackApp, clock }: SlackTokenDeps,
): Promise<SlackCredentials> {
  if (!slackApp) throw new SlackError('This system has no Slack app any more.');
  const { token, rotation } = await slack.refresh(slackApp, standing.refresh_token!);
  return { token, bot_user_id: standing.bot_user_id, ...rotated(rotation, clock()) };
}
