/**
 * Slack's Web API through Slack's library and our outbound HTTP client. The library's retries are turned off, because
 * deliveries and events have their own retry schedule.
 */
import { stringify } from 'node:querystring';
import {
  LogLevel,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
  WebClient,
  type ChatPostMessageArguments,
  type Logger,
} from '@slack/web-api';
import type { Http } from '../../clients/http/http.ts';
import { ServiceError, type ServiceFailure } from '../../clients/http/serviceerror.ts';
import { HttpError } from '../../models/rules/base/http.ts';
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
  /** Marks our message, so that a retry can find it. */
  metadata?: { event_type: string; event_payload: Record<string, string> };
};

export type Slack = ReturnType<typeof createSlack>;

const timeoutMs = 15_000;
const maxReplyBytes = 2 * 1024 * 1024;
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};

/**
 * `url`: the Web API's URL with a trailing `/`. `http` sends requests to Slack; `respond` sends them to the response
 * URLs of commands. Each call takes its token, so that one client serves all organizations.
 */
export function createSlack({ http, respond, url }: { http: Http; respond: Http; url: string }) {
  const client = new WebClient(undefined, {
    slackApiUrl: url,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: silent,
    allowAbsoluteUrls: false,
    fetch: async (address, init = {}) => {
      const { status, headers, body } = await http.request(String(address), {
        method: 'POST',
        headers: Object.fromEntries(new Headers(init.headers).entries()),
        // Every request here is a form. The library would send other bodies only for file uploads, which are not used.
        body: typeof init.body === 'string' ? init.body : '',
        maxBytes: maxReplyBytes,
        headersTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      });
      const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      );
      return new Response(new Uint8Array(body), { status, headers: given });
    },
  });

  async function call<T>(make: () => Promise<unknown>): Promise<T> {
    try {
      return (await make()) as T;
    } catch (error) {
      throw readError(error);
    }
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
      const granted = await call<Granted>(() =>
        client.oauth.v2.access({
          client_id: app.clientId,
          client_secret: app.clientSecret,
          code,
          redirect_uri: redirectUri,
        }),
      );
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
      try {
        const given = await call<Rotating & { access_token: string }>(() =>
          client.oauth.v2.access({ ...asked, grant_type: 'refresh_token' }),
        );
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
      return call(() => client.auth.test({ token }));
    },
    async channel(token: string, channel: string): Promise<{ id: string; name: string }> {
      const { channel: found } = await call<{ channel: { id: string; name?: string } }>(() =>
        client.conversations.info({ token, channel }),
      );
      return { id: found.id, name: found.name ?? found.id };
    },
    /** The bot joins the channel, so that Slack sends us its messages. Private channels need an invitation. */
    async join(token: string, channel: string): Promise<void> {
      await call(() => client.conversations.join({ token, channel }));
    },
    async post(token: string, message: SlackPost): Promise<{ channel: string; ts: string }> {
      const said = { token, ...messageOf(message) };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a method of Slack, not of a window
      return call(() => client.chat.postMessage(said as ChatPostMessageArguments));
    },
    /** The request that `post` sends, without the token. */
    request: (message: SlackPost): { url: string; body: string } => ({
      url: `${url}chat.postMessage`,
      body: stringify(formOf(message)),
    }),
    /** The body that `respond` sends. */
    response: (text: string, privately?: boolean): string => JSON.stringify(responseOf(text, privately)),
    async permalink(token: string, channel: string, ts: string): Promise<string> {
      const { permalink } = await call<{ permalink: string }>(() =>
        client.chat.getPermalink({ token, channel, message_ts: ts }),
      );
      return permalink;
    },
    /** The newest messages of a channel or all of a thread, with their metadata. */
    async messages(
      token: string,
      channel: string,
      { thread, oldest }: { thread?: string | undefined; oldest?: string | undefined },
    ): Promise<SlackMessage[]> {
      const asked = { token, channel, limit: 200, include_all_metadata: true, ...(oldest ? { oldest } : {}) };
      const { messages } = await call<{ messages?: SlackMessage[] }>(() =>
        thread === undefined
          ? client.conversations.history(asked)
          : client.conversations.replies({ ...asked, ts: thread }),
      );
      return messages ?? [];
    },
    async user(token: string, user: string): Promise<{ name: string; email?: string }> {
      type Found = {
        user: {
          name?: string;
          real_name?: string;
          profile?: { email?: string; display_name?: string; real_name?: string };
        };
      };
      const { user: found } = await call<Found>(() => client.users.info({ token, user }));
      const { profile = {} } = found;
      const name = [profile.display_name, profile.real_name, found.real_name, found.name].find(Boolean) ?? user;
      return { name, ...defined({ email: profile.email }) };
    },
    /** The user with this e-mail address; undefined when the workspace has none. */
    async userByEmail(token: string, email: string): Promise<{ id: string } | undefined> {
      try {
        return (await call<{ user: { id: string } }>(() => client.users.lookupByEmail({ token, email }))).user;
      } catch (error) {
        if (error instanceof SlackError && error.code === 'users_not_found') return undefined;
        throw error;
      }
    },
    /** The channel for direct messages between the bot and this user. */
    async directChannel(token: string, user: string): Promise<string> {
      const opened = await call<{ channel: { id: string } }>(() => client.conversations.open({ token, users: user }));
      return opened.channel.id;
    },
    async revoke(token: string): Promise<void> {
      await call(() => client.auth.revoke({ token }));
    },
    /** Sends an answer to a command's response URL. Slack accepts five answers within half an hour. */
    async respond(address: string, response: string, signal?: AbortSignal): Promise<void> {
      const { status, body } = await respond.request(address, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: response,
        maxBytes: 4_096,
        cut: true,
        headersTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
        signal,
      });
      if (status >= 200 && status < 300) return;
      const word = body.toString('utf8').slice(0, 100);
      throw new SlackError(`Slack answered ${status}: ${word}`, { status, permanent: status < 500 && status !== 429 });
    },
  };
}

const messageOf = (message: SlackPost) => ({ unfurl_links: false, unfurl_media: false, ...message });
/** `privately`: only the person who asked sees the answer. */
const responseOf = (text: string, privately = false) => ({
  response_type: privately ? 'ephemeral' : 'in_channel',
  replace_original: false,
  text,
});
/** Encodes a form like Slack's library: values that are no text become JSON. */
const formOf = (message: SlackPost): Record<string, string | boolean> =>
  Object.fromEntries(
    Object.entries(messageOf(message)).map(([name, value]) => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : value,
    ]),
  );

function readError(error: unknown): SlackError {
  if (error instanceof WebAPIRateLimitedError)
    return new SlackError('Slack asks to wait.', { status: 429, retryAfterMs: error.retryAfter * 1000, cause: error });
  if (error instanceof WebAPIPlatformError) {
    const code = error.data.error.slice(0, 100);
    const permanent = !passing.has(code);
    return new SlackError(`Slack says: ${code}`, { code, permanent, status: 200, cause: error });
  }
  if (error instanceof WebAPIHTTPError)
    return new SlackError(`Slack answered ${error.statusCode}.`, { status: error.statusCode, cause: error });
  const cause = error instanceof WebAPIRequestError ? error.original : error;
  const timedOut = cause instanceof HttpError && cause.reason === 'timed_out';
  return new SlackError('Slack could not be reached.', { timedOut, cause: error });
}
