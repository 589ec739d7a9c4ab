/**
 * The part of Slack's Web API that tickets, answers and tasks need. Slack's own library is not used: it has its own
 * queues, retries and errors, and deliveries already have theirs.
 */
import { stringify } from 'node:querystring';
import { askService } from '../../clients/http/askservice.ts';
import { headerOf, type Http, type HttpResponse } from '../../clients/http/http.ts';
import { ServiceError, type ServiceFailure } from '../../clients/http/serviceerror.ts';
import { defined } from '../../models/rules/base/defined.ts';

export class SlackError extends ServiceError {
  override readonly name = 'SlackError';
  /** Slack's error code, such as `channel_not_found`. */
  readonly code: string | undefined;

  constructor(message: string, { code, ...about }: Omit<ServiceFailure, 'unauthorized'> & { code?: string } = {}) {
    super(message, { ...about, unauthorized: code !== undefined && refusedTokens.has(code) });
    this.code = code;
  }
}

/** The error codes with which Slack rejects a token that no longer works. */
const refusedTokens: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'token_revoked',
  'token_expired',
  'account_inactive',
  'team_access_not_granted',
  'org_login_required',
  'invalid_refresh_token',
  'invalid_grant',
]);
/** The error codes of temporary failures. */
const passing: ReadonlySet<string> = new Set([
  'internal_error',
  'fatal_error',
  'service_unavailable',
  'request_timeout',
  'ratelimited',
  'rate_limited',
  'team_added_to_org',
]);

export type SlackGrant = {
  token: string;
  team: { id: string; name: string };
  botUserId: string;
  scopes: string[];
  /** The channel that the person chose while installing the app, if Slack asked for one. */
  channel?: { id: string; name: string };
  /** Present only for an app with token rotation, whose tokens expire. */
  rotation?: SlackRotation;
};
/** The refresh token can be used once. */
export type SlackRotation = { refreshToken: string; expiresInMs: number };
type SlackApp = { clientId: string; clientSecret: string };
type Rotating = { refresh_token?: string; expires_in?: number };

const rotationOf = ({ refresh_token: refreshToken, expires_in: seconds }: Rotating): { rotation?: SlackRotation } =>
  refreshToken === undefined || seconds === undefined
    ? {}
    : { rotation: { refreshToken, expiresInMs: seconds * 1000 } };
export type SlackMessage = {
  ts: string;
  text?: string;
  user?: string;
  bot_id?: string;
  thread_ts?: string;
  metadata?: { event_type?: string; event_payload?: Record<string, unknown> };
};
export type SlackPost = {
  channel: string;
  text: string;
  thread_ts?: string;
  /** Identifies the message, so that a retry can find it. */
  metadata?: { event_type: string; event_payload: Record<string, string> };
};

export type Slack = ReturnType<typeof createSlack>;

const maxReplyBytes = 2 * 1024 * 1024;
const slack = { service: 'Slack', Failure: SlackError };

/**
 * `url`: the Web API's URL with a trailing `/`. Each call takes its token, so that one client serves all organizations.
 */
export function createSlack({ http, url }: { http: Http; url: string }) {
  async function call<T>(token: string | undefined, method: string, asked: object = {}): Promise<T> {
    const { reply, said } = await askService(http, slack, `${url}${method}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: stringify(formOf(asked)),
      maxBytes: maxReplyBytes,
    });
    const { ok, error } = (said ?? {}) as { ok?: unknown; error?: unknown };
    if (reply.status === 200 && ok === true) return said as T;
    throw refusalOf(reply, error);
  }

  return {
    /** Exchanges the code of an OAuth grant for a token. @throws SlackError */
    async exchange(app: SlackApp, code: string, redirectUri: string): Promise<SlackGrant> {
      type Granted = Rotating & {
        access_token: string;
        bot_user_id: string;
        scope?: string;
        /** Null when the app is installed for an entire Enterprise Grid. */
        team: { id: string; name?: string } | null;
        incoming_webhook?: { channel?: string; channel_id?: string };
      };
      const granted = await call<Granted>(undefined, 'oauth.v2.access', {
        client_id: app.clientId,
        client_secret: app.clientSecret,
        code,
        redirect_uri: redirectUri,
      });
      const { team, incoming_webhook: hook } = granted;
      if (!team)
        throw new SlackError('Slack installed the app for a whole organization; install it in one workspace.', {
          status: 200,
          permanent: true,
        });
      return {
        token: granted.access_token,
        team: { id: team.id, name: team.name ?? team.id },
        botUserId: granted.bot_user_id,
        scopes: (granted.scope ?? '').split(',').filter(Boolean),
        ...(hook?.channel_id === undefined
          ? {}
          : { channel: { id: hook.channel_id, name: (hook.channel ?? hook.channel_id).replace(/^#/, '') } }),
        ...rotationOf(granted),
      };
    },
    /** Exchanges a refresh token for a new token; the old token expires soon after. @throws SlackError */
    async refresh(app: SlackApp, refreshToken: string): Promise<{ token: string; rotation?: SlackRotation }> {
      const asked = { client_id: app.clientId, client_secret: app.clientSecret, refresh_token: refreshToken };
      type Given = Rotating & { access_token: string };
      try {
        const given = await call<Given>(undefined, 'oauth.v2.access', { ...asked, grant_type: 'refresh_token' });
        return { token: given.access_token, ...rotationOf(given) };
      } catch (error) {
        // The operator can repair the app's configuration, so this error is reported as temporary and retried.
        if (error instanceof SlackError && error.permanent && !error.unauthorized)
          throw new SlackError(error.message, { status: 200, cause: error });
        throw error;
      }
    },
    /** Checks the token, and returns the workspace and the user it belongs to. */
    async whoami(token: string): Promise<{ team_id: string; team: string; user_id: string }> {
      return call(token, 'auth.test');
    },
    async channel(token: string, channel: string): Promise<{ id: string; name: string }> {
      type Found = { channel: { id: string; name?: string } };
      const { channel: found } = await call<Found>(token, 'conversations.info', { channel });
      return { id: found.id, name: found.name ?? found.id };
    },
    /** The bot joins the channel, so that Slack sends this system its messages. Private channels need an invitation. */
    async join(token: string, channel: string): Promise<void> {
      await call(token, 'conversations.join', { channel });
    },
    async post(token: string, message: SlackPost): Promise<{ channel: string; ts: string }> {
      return call(token, 'chat.postMessage', messageOf(message));
    },
    /** The request that `post` sends, without the token. */
    request: (message: SlackPost): { url: string; body: string } => ({
      url: `${url}chat.postMessage`,
      body: stringify(formOf(messageOf(message))),
    }),
    async permalink(token: string, channel: string, ts: string): Promise<string> {
      return (await call<{ permalink: string }>(token, 'chat.getPermalink', { channel, message_ts: ts })).permalink;
    },
    /** At most 200 messages of a channel or a thread, with their metadata. Messages before `oldest` are left out. */
    async messages(
      token: string,
      channel: string,
      { thread, oldest }: { thread?: string | undefined; oldest?: string | undefined },
    ): Promise<SlackMessage[]> {
      const method = thread === undefined ? 'conversations.history' : 'conversations.replies';
      const asked = { channel, limit: 200, include_all_metadata: true, oldest, ts: thread };
      return (await call<{ messages?: SlackMessage[] }>(token, method, asked)).messages ?? [];
    },
    async user(token: string, user: string): Promise<{ name: string; email?: string }> {
      type Found = {
        user: {
          name?: string;
          real_name?: string;
          profile?: { email?: string; display_name?: string; real_name?: string };
        };
      };
      const { user: found } = await call<Found>(token, 'users.info', { user });
      const { profile = {} } = found;
      const name = [profile.display_name, profile.real_name, found.real_name, found.name].find(Boolean) ?? user;
      return { name, ...defined({ email: profile.email }) };
    },
    /** The user with this e-mail address; undefined when the workspace has none. */
    async userByEmail(token: string, email: string): Promise<{ id: string } | undefined> {
      try {
        return (await call<{ user: { id: string } }>(token, 'users.lookupByEmail', { email })).user;
      } catch (error) {
        if (error instanceof SlackError && error.code === 'users_not_found') return undefined;
        throw error;
      }
    },
    /** The channel for direct messages between the bot and this user. */
    async directChannel(token: string, user: string): Promise<string> {
      type Opened = { channel: { id: string } };
      return (await call<Opened>(token, 'conversations.open', { users: user })).channel.id;
    },
    async revoke(token: string): Promise<void> {
      await call(token, 'auth.revoke');
    },
  };
}

const messageOf = (message: SlackPost) => ({ unfurl_links: false, unfurl_media: false, ...message });
/** The fields of a form; Slack takes JSON for a value that is no text. Undefined values are left out. */
const formOf = (asked: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asked)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );

function refusalOf({ status, headers }: HttpResponse, error: unknown): SlackError {
  if (status === 429) {
    const seconds = Number(headerOf(headers, 'retry-after'));
    return new SlackError('Slack asks to wait.', { status, retryAfterMs: seconds > 0 ? seconds * 1000 : undefined });
  }
  if (status !== 200 || typeof error !== 'string') return new SlackError(`Slack answered ${status}.`, { status });
  const code = error.slice(0, 100);
  return new SlackError(`Slack says: ${code}`, { code, permanent: !passing.has(code), status });
}
