/**
 * The sign-in at a tool server's authorization server (OAuth 2.1): client credentials, or an authorization code with
 * PKCE. The MCP library discovers the authorization server by its metadata, registers the client if necessary, verifies
 * the issuer and refreshes tokens. This file supplies settings and storage.
 */
import {
  auth,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  OAuthClientFlowError,
  OAuthError,
  OAuthErrorCode,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { authorizationOf } from './fetch.ts';
import { ServerFailure, type Credential } from './mcp.ts';
import { renewed, type Renewals } from '../http/renewal.ts';
import { clientMetadata, type ToolClient } from '../../models/rules/mcp/oauth.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** `redirectUrl`: the URL to which the browser returns after a person has given consent. */
export type OAuthClient = ToolClient & {
  tokenUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** The URL (https only) where authorization servers can read about this client. */
  clientMetadataUrl?: string | undefined;
};

/**
 * The result of a sign-in, or the data that are needed to finish a started sign-in. It is stored as JSON and contains
 * secrets.
 */
export type OAuthState = {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  discovery?: OAuthDiscoveryState;
  verifier?: string;
};
/** Reads and replaces the stored state; the caller provides the storage. */
export type OAuthStore = { read(): Promise<OAuthState>; write(state: OAuthState): Promise<void> };

/**
 * Connects the MCP library's sign-in to the stored state. `redirected` is called with the URL at which a person must
 * give consent.
 */
export function oauthProvider(
  client: OAuthClient,
  store: OAuthStore,
  { state, redirected = () => undefined }: { state?: string; redirected?: (url: URL) => void } = {},
): OAuthClientProvider {
  const change = async (patch: OAuthState) => store.write({ ...(await store.read()), ...patch });
  const byPerson = client.grantType === 'authorization_code';
  return {
    get redirectUrl() {
      return byPerson ? client.redirectUrl : undefined;
    },
    ...(client.clientMetadataUrl?.startsWith('https:') ? { clientMetadataUrl: client.clientMetadataUrl } : {}),
    get clientMetadata() {
      return clientMetadata(client);
    },
    ...(state === undefined ? {} : { state: () => state }),
    async clientInformation() {
      if (client.clientId === undefined) return (await store.read()).client;
      return {
        client_id: client.clientId,
        ...defined({ client_secret: client.clientSecret }),
      };
    },
    saveClientInformation: (information) => change({ client: information }),
    tokens: async () => (await store.read()).tokens,
    saveTokens: (tokens) => change({ tokens }),
    redirectToAuthorization: (url) => redirected(url),
    saveCodeVerifier: (verifier) => change({ verifier }),
    codeVerifier: async () => (await store.read()).verifier ?? '',
    async discoveryState() {
      const { discovery } = await store.read();
      if (discovery || client.tokenUrl === undefined || byPerson) return discovery;
      const { origin } = new URL(client.tokenUrl);
      // The member configured the token endpoint, so discovery is skipped.
      return {
        authorizationServerUrl: origin,
        authorizationServerMetadata: {
          issuer: origin,
          authorization_endpoint: client.tokenUrl,
          token_endpoint: client.tokenUrl,
          response_types_supported: ['code'],
        },
      };
    },
    saveDiscoveryState: (discovery) => change({ discovery }),
    ...(byPerson
      ? {}
      : {
          prepareTokenRequest: (scope?: string) =>
            new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) }),
        }),
  };
}

/**
 * The possible issuers of an authorization server with this token endpoint. An issuer is a prefix of the endpoint's
 * URL.
 */
function issuersOf(tokenUrl: string): string[] {
  const { origin, pathname } = new URL(tokenUrl);
  const parts = pathname.split('/').filter((part) => part !== '');
  return parts.slice(0, 8).map((_, index) => `${origin}/${parts.slice(0, index).join('/')}`);
}

/**
 * Discovers the authorization server of a token endpoint that the member configured. The server's metadata are needed,
 * because only they name the URL where a person gives consent. @throws ServerFailure
 */
async function findAuthority(provider: OAuthClientProvider, tokenUrl: string, fetch: FetchLike): Promise<void> {
  for (const issuer of issuersOf(tokenUrl)) {
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch }).catch(() => undefined);
    if (metadata?.token_endpoint !== tokenUrl) continue;
    await provider.saveDiscoveryState?.({ authorizationServerUrl: issuer, authorizationServerMetadata: metadata });
    return;
  }
  throw new ServerFailure('no_authority');
}

/**
 * Signs in. When a person must give consent, only prepares the sign-in and calls the provider's `redirected`.
 * `returned`: the query parameters with which the browser came back. @throws ServerFailure
 */
export async function signIn(
  provider: OAuthClientProvider,
  serverUrl: string,
  fetch: FetchLike,
  {
    returned,
    tokenUrl,
    scopes = [],
  }: {
    returned?: { code: string; iss?: string | undefined };
    tokenUrl?: string | undefined;
    /** Scopes that the server has required before. */
    scopes?: readonly string[] | undefined;
  } = {},
): Promise<'signed_in' | 'person_needed'> {
  try {
    if (!returned && tokenUrl !== undefined && provider.redirectUrl !== undefined)
      await findAuthority(provider, tokenUrl, fetch);
    const challenge = returned ? {} : await challengeOf(serverUrl, fetch);
    const scope = scopesOf(challenge.scope, scopes.join(' ')).join(' ');
    const result = await auth(provider, {
      serverUrl,
      fetchFn: fetch,
      ...(returned ? { authorizationCode: returned.code, ...defined({ iss: returned.iss }) } : {}),
      ...challenge,
      ...(scope === '' ? {} : { scope }),
    });
    return result === 'AUTHORIZED' ? 'signed_in' : 'person_needed';
  } catch (error) {
    if (error instanceof ServerFailure) throw error;
    if (error instanceof OAuthError || error instanceof OAuthClientFlowError)
      throw new ServerFailure('unauthorized', { cause: error });
    throw new ServerFailure('unreachable', { cause: error });
  }
}

/**
 * Why a sign-in has ended. `refused`: its tokens are no longer accepted. `moved`: the tool server now names another
 * authorization server. `scope`: the server requires more scopes than were consented to; `scopes` has all of them.
 */
export type SignInEnd = { why: 'refused' | 'moved' } | { why: 'scope'; scopes: string[] };

/** The lock by which one process at a time refreshes tokens. */
export type TokenTurns = Pick<Renewals<unknown>, 'claim' | 'end'> & {
  /** Records that the sign-in of this access token has ended. Does nothing if a newer sign-in exists. */
  ended(token: string, end: SignInEnd): Promise<void>;
};

/** Temporary errors of an authorization server. */
const passing: readonly string[] = [
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
];

/**
 * The credential of a sign-in, for tool calls. Its token is refreshed, but a new sign-in is never started, because no
 * person is present to consent. Only one process refreshes an expired token, because a refresh token works once. When
 * the refresh is refused, the sign-in has ended; a member is notified and may sign in again. The connection's own
 * `fetch` must come from `createFetch`, which remembers the token of each request. `fetchFn` must complete its requests
 * in less time than a claim (`turns.claim`) lasts.
 */
export function grantedAuth(client: OAuthClient, store: OAuthStore, turns: TokenTurns, fetchFn: FetchLike): Credential {
  const provider = oauthProvider(client, store);
  const byPerson = client.grantType === 'authorization_code';
  const canRenew = ({ refresh_token: token }: StoredOAuthTokens) => !byPerson || token !== undefined;
  const standing = async () => (await store.read()).tokens;
  const over = async (token: string, end: SignInEnd): Promise<never> => {
    await turns.ended(token, end);
    throw new ServerFailure('unauthorized');
  };
  return {
    token: async () => (await standing())?.access_token,
    async onUnauthorized({ response, serverUrl }) {
      // Requests run in parallel on one connection, so the refused request may have used an older token.
      const refused = tokenOf(response);
      const { tokens, discovery } = await store.read();
      if (tokens !== undefined && tokens.access_token === refused) {
        if (client.tokenUrl === undefined && (await hasMoved(response, serverUrl, discovery, fetchFn)))
          return over(refused, { why: 'moved' });
        if (!canRenew(tokens)) return over(refused, { why: 'refused' });
      }
      let isNew = false;
      const isThere = await renewed<StoredOAuthTokens>({
        ...turns,
        read: async () => {
          const now = await standing();
          return now && canRenew(now) ? now : undefined;
        },
        isGood: ({ access_token: token }) => token !== refused,
        async renew({ access_token: token, scope: before }) {
          // A refresh keeps the scopes of the person's consent. Client credentials must name all scopes again.
          const scope = byPerson ? [] : scopesOf(before, extractWWWAuthenticateParams(response).scope);
          const asked = { serverUrl, fetchFn, ...(scope.length === 0 ? {} : { scope: scope.join(' ') }) };
          await renew(provider, asked, () => turns.ended(token, { why: 'refused' }));
          isNew = true;
        },
        late: () => new ServerFailure('timeout'),
      });
      if (!isThere) throw new ServerFailure('unauthorized');
      const fresh = isNew ? (await standing())?.access_token : undefined;
      if (fresh !== undefined && (await isRefused(serverUrl, fresh, fetchFn))) await over(fresh, { why: 'refused' });
    },
    async onForbidden(reply) {
      const { error, scope } = extractWWWAuthenticateParams(reply);
      const { tokens, discovery } = await store.read();
      if (error !== 'insufficient_scope' || tokens === undefined || tokens.access_token !== tokenOf(reply)) return;
      const before = tokens.scope ?? (discovery?.resourceMetadata?.scopes_supported ?? client.scopes ?? []).join(' ');
      await turns.ended(tokens.access_token, { why: 'scope', scopes: scopesOf(before, scope) });
    },
  };
}

const tokenOf = (reply: Response): string | undefined => authorizationOf(reply)?.replace(/^Bearer /, '');

const maxScopes = 50;

/** The valid scopes in these lists, deduplicated. */
const scopesOf = (...lists: readonly (string | undefined)[]): string[] => {
  const found = lists.flatMap((list) => list?.split(' ') ?? []);
  return [...new Set(found)].filter((scope) => /^[!#-[\]-~]{1,200}$/.test(scope)).slice(0, maxScopes);
};

async function renew(
  provider: OAuthClientProvider,
  asked: Parameters<typeof auth>[1],
  refused: () => Promise<void>,
): Promise<void> {
  try {
    if ((await auth(provider, asked)) !== 'AUTHORIZED') throw new ServerFailure('unreachable');
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    if (!passing.includes(error.code)) await refused();
    throw new ServerFailure('unauthorized', { cause: error });
  }
}

/** Whether the tool server now names authorization servers, but not the one that issued the tokens. */
async function hasMoved(
  refusal: Response,
  serverUrl: URL,
  discovery: OAuthDiscoveryState | undefined,
  fetchFn: FetchLike,
): Promise<boolean> {
  if (discovery === undefined) return false;
  const { resourceMetadataUrl } = extractWWWAuthenticateParams(refusal);
  const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
  const found = await discoverOAuthProtectedResourceMetadata(serverUrl, options, fetchFn).catch(() => undefined);
  const named = found?.authorization_servers ?? [];
  return named.length > 0 && !named.map(plainAddress).includes(plainAddress(discovery.authorizationServerUrl));
}

const plainAddress = (address: string): string => address.replace(/\/+$/, '');

/** Whether the tool server rejects even a token that was just issued. */
async function isRefused(serverUrl: URL, token: string, fetchFn: FetchLike): Promise<boolean> {
  const reply = await ping(serverUrl.href, fetchFn, { authorization: `Bearer ${token}` }).catch(() => undefined);
  return reply?.status === 401;
}

/**
 * The tool server's WWW-Authenticate challenge for a request without a credential. The challenge names the
 * authorization server.
 */
async function challengeOf(
  serverUrl: string,
  fetch: FetchLike,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const reply = await ping(serverUrl, fetch);
  if (reply.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(reply);
  return {
    ...defined({ resourceMetadataUrl, scope }),
  };
}

/** The tool server's reply to a `ping`, which has no effect; its body is dropped. */
async function ping(serverUrl: string, fetch: FetchLike, headers: Record<string, string> = {}): Promise<Response> {
  const reply = await fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await reply.body?.cancel();
  return reply;
}
