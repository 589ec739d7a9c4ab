/**
 * Slack's Web API, through its own library over the outbound client. The library's retries are off, because deliveries and
 * events have a schedule of their own.
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

/** A call that Slack refused, or did not answer. */
export class SlackError extends ServiceError {
  override readonly name = 'SlackError';
  /** Slack's word, such as `channel_not_found`. */
  readonly code: string | undefined;

  constructor(message: string, { code, ...about }: Omit<ServiceFailure, 'unauthorized'> & { code?: string } = {}) {
    super(message, { ...about, unauthorized: code !== undefined && refusedTokens.has(code) });
    this.code = code;
  }
}

/** What Slack says of a token that no longer works. */
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
/** What may pass by itself. */
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
  /** The channel that the person chose while granting, if Slack asked. */
  channel?: { id: string; name: string };
  /** When the token ends by itself: the app has token rotation turned on. */
  rotation?: SlackRotation;
};
/** What a token that ends is renewed with, once. */
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
  /** Marks a message of ours, so that it is found again. */
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
 * `url`: of the Web API, with `/` at its end. `http` reaches Slack; `respond` reaches the addresses that come with commands.
 * Tokens are passed with each call, so that one client serves all organizations.
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
        // All that is sent here is a form; the library sends files only with methods that are not used.
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
    /** Exchanges the code of a grant. @throws SlackError */
    async exchange(app: SlackApp, code: string, redirectUri: string): Promise<SlackGrant> {
      type Granted = Rotating & {
        access_token: string;
        bot_user_id: string;
        scope?: string;
        /** Null where the app is installed for a whole Enterprise Grid. */
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
    /** A new token for one that ends, which ends soon after. @throws SlackError */
    async refresh(app: SlackApp, refreshToken: string): Promise<{ token: string; rotation?: SlackRotation }> {
      const asked = { client_id: app.clientId, client_secret: app.clientSecret, refresh_token: refreshToken };
      try {
        const given = await call<Rotating & { access_token: string }>(() =>
          client.oauth.v2.access({ ...asked, grant_type: 'refresh_token' }),
        );
        return { token: given.access_token, ...rotationOf(given) };
      } catch (error) {
        // What is wrong with the app is mended by its operator, so that what waits for it is tried again.
        if (error instanceof SlackError && error.permanent && !error.unauthorized)
          throw new SlackError(error.message, { status: 200, cause: error });
        throw error;
      }
    },
    /** Whether the token is taken, and whose it is. */
    async whoami(token: string): Promise<{ team_id: string; team: string; user_id: string }> {
      return call(() => client.auth.test({ token }));
    },
    async channel(token: string, channel: string): Promise<{ id: string; name: string }> {
      const { channel: found } = await call<{ channel: { id: string; name?: string } }>(() =>
        client.conversations.info({ token, channel }),
      );
      return { id: found.id, name: found.name ?? found.id };
    },
    /** So that what is said there is sent to us; private channels are joined by invitation only. */
    async join(token: string, channel: string): Promise<void> {
      await call(() => client.conversations.join({ token, channel }));
    },
    async post(token: string, message: SlackPost): Promise<{ channel: string; ts: string }> {
      const said = { token, ...messageOf(message) };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a method of Slack, not of a window
      return call(() => client.chat.postMessage(said as ChatPostMessageArguments));
    },
    /** The request by which `post` sends a message, without the token. */
    request: (message: SlackPost): { url: string; body: string } => ({
      url: `${url}chat.postMessage`,
      body: stringify(formOf(message)),
    }),
    /** The body by which `respond` answers. */
    response: (text: string, privately?: boolean): string => JSON.stringify(responseOf(text, privately)),
    async permalink(token: string, channel: string, ts: string): Promise<string> {
      const { permalink } = await call<{ permalink: string }>(() =>
        client.chat.getPermalink({ token, channel, message_ts: ts }),
      );
      return permalink;
    },
    /** The newest messages of a channel, or all of a thread, with what marks them. */
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
      return { name, ...(profile.email === undefined ? {} : { email: profile.email }) };
    },
    /** The person with this address; undefined when nobody in the workspace has it. */
    async userByEmail(token: string, email: string): Promise<{ id: string } | undefined> {
      try {
        return (await call<{ user: { id: string } }>(() => client.users.lookupByEmail({ token, email }))).user;
      } catch (error) {
        if (error instanceof SlackError && error.code === 'users_not_found') return undefined;
        throw error;
      }
    },
    /** The channel in which the bot and this person alone write to each other. */
    async directChannel(token: string, user: string): Promise<string> {
      const opened = await call<{ channel: { id: string } }>(() => client.conversations.open({ token, users: user }));
      return opened.channel.id;
    },
    async revoke(token: string): Promise<void> {
      await call(() => client.auth.revoke({ token }));
    },
    /** Answers a command at the address that came with it, which takes five answers within half an hour. */
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
/** `privately`: shown to the person alone who asked. */
const responseOf = (text: string, privately = false) => ({
  response_type: privately ? 'ephemeral' : 'in_channel',
  replace_original: false,
  text,
});
/** As the library writes a form: what is no text becomes JSON. */
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
