/**
 * The token of an organization's Slack. Where the app has token rotation turned on, a token ends after half a day: it is renewed
 * before that, by one process of all, since what renews it serves once. What Slack refuses to renew breaks the connection.
 */
import type { Logger } from 'pino';
import { breakConnection } from '../base/broken.ts';
import { renewed } from '../../clients/http/renewal.ts';
import { SlackError, type Slack, type SlackRotation } from './client.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import {
  credentialsOf,
  findIntegration,
  integrationTurns,
  keepRenewed,
  sealCredentials,
  type Integration,
} from '../../models/integrations/integration.ts';

export type SlackCredentials = {
  token: string;
  bot_user_id: string;
  /** These only of an app with token rotation; times in ISO 8601. */
  refresh_token?: string;
  renew_at?: string;
  expires_at?: string;
};
export type SlackTokenDeps = {
  slack: Slack;
  slackApp: { clientId: string; clientSecret: string } | undefined;
  secrets: SecretBox;
  clock: () => Date;
  log: Logger;
};

/** The part of a token's life after which it is renewed: two hours of twelve are left for what fails. */
const renewedAfter = 5 / 6;

/** As credentials are stored. */
export function rotated(rotation: SlackRotation | undefined, now: Date): Partial<SlackCredentials> {
  if (rotation === undefined) return {};
  const after = (ms: number): string => new Date(now.getTime() + ms).toISOString();
  const { refreshToken, expiresInMs } = rotation;
  return { refresh_token: refreshToken, renew_at: after(expiresInMs * renewedAfter), expires_at: after(expiresInMs) };
}

type Connection = Pick<Integration, '_id' | 'org_id' | 'provider' | 'generation' | 'sealed'>;

/**
 * Does something with the token of this connection, which is renewed first where that is due, and again when Slack says that it
 * has ended. @throws SlackError
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

/** The credentials that work. `ended`: a token that Slack no longer takes. */
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
      ...integrationTurns(id, clock),
      async renew(standing) {
        seen = await renewedBy(standing, deps);
        await keepRenewed(id, sealed, sealCredentials(connection, seen, deps.secrets));
      },
      // One that still lives serves while another process renews it.
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
