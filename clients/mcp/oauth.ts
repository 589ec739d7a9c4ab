/**
 * The sign-in at a tool server's authorization server (OAuth 2.1): client credentials, or an authorization code with PKCE.
 * The library finds the server by its metadata, registers where it must, checks the issuer and refreshes; here stands what
 * it is told and where it keeps what it got.
 */
import {
  auth,
  discoverAuthorizationServerMetadata,
  extractWWWAuthenticateParams,
  OAuthClientFlowError,
  OAuthError,
  OAuthErrorCode,
  type AuthProvider,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { authorizationOf } from './fetch.ts';
import { ServerFailure } from './mcp.ts';
import { renewed, type Renewals } from '../http/renewal.ts';
import { clientMetadata, type ToolClient } from '../../models/rules/mcp/oauth.ts';

/** `redirectUrl`: where the browser comes back to. */
export type OAuthClient = ToolClient & {
  tokenUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** Where authorization servers may read about this client: https only. */
  clientMetadataUrl?: string | undefined;
};

/** What a sign-in has given, or needs to be finished. JSON; it holds secrets. */
export type OAuthState = {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  discovery?: OAuthDiscoveryState;
  verifier?: string;
};
/** Reads and replaces the state; nothing here keeps it. */
export type OAuthStore = { read(): Promise<OAuthState>; write(state: OAuthState): Promise<void> };

/** `redirected` is called with the address at which a person has to agree. */
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
        ...(client.clientSecret === undefined ? {} : { client_secret: client.clientSecret }),
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
      // The member has said where tokens come from, so nothing has to be found.
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

/** Where the metadata of the authorization server may be that has this token endpoint: its issuer is a part of the address. */
function issuersOf(tokenUrl: string): string[] {
  const { origin, pathname } = new URL(tokenUrl);
  const parts = pathname.split('/').filter((part) => part !== '');
  return parts.slice(0, 8).map((_, index) => `${origin}/${parts.slice(0, index).join('/')}`);
}

/**
 * The member has said where tokens come from; where a person agrees, only the server's metadata say. @throws ServerFailure.
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
 * Signs in, or prepares that a person does: `redirected` of the provider has then been called. `returned`: what the browser
 * came back with. @throws ServerFailure.
 */
export async function signIn(
  provider: OAuthClientProvider,
  serverUrl: string,
  fetch: FetchLike,
  { returned, tokenUrl }: { returned?: { code: string; iss?: string | undefined }; tokenUrl?: string | undefined } = {},
): Promise<'signed_in' | 'person_needed'> {
  try {
    if (!returned && tokenUrl !== undefined && provider.redirectUrl !== undefined)
      await findAuthority(provider, tokenUrl, fetch);
    const challenge = returned ? {} : await challengeOf(serverUrl, fetch);
    const result = await auth(provider, {
      serverUrl,
      fetchFn: fetch,
      ...(returned
        ? { authorizationCode: returned.code, ...(returned.iss === undefined ? {} : { iss: returned.iss }) }
        : {}),
      ...challenge,
    });
    return result === 'AUTHORIZED' ? 'signed_in' : 'person_needed';
  } catch (error) {
    if (error instanceof ServerFailure) throw error;
    if (error instanceof OAuthError || error instanceof OAuthClientFlowError)
      throw new ServerFailure('unauthorized', { cause: error });
    throw new ServerFailure('unreachable', { cause: error });
  }
}

/** How processes take turns in renewing tokens. */
export type TokenTurns = Pick<Renewals<unknown>, 'claim' | 'end'> & {
  /** The authorization server has ended what a person agreed to. */
  refused(): Promise<void>;
};

const invalidGrant: string = OAuthErrorCode.InvalidGrant;
/** How long a call waits for another process that renews the tokens. */
const patienceMs = 15_000;

/**
 * The credential of a person's grant, for calls: it is refreshed, and never asked for anew, because no person is there to
 * agree. Of all who learn that it has run out only one refreshes it, for a refresh token serves once. The connection's own
 * `fetch` is made by `createFetch`. `fetchFn` takes no longer than a claim lasts.
 */
export function grantedAuth(
  provider: OAuthClientProvider,
  store: OAuthStore,
  turns: TokenTurns,
  fetchFn: FetchLike,
): AuthProvider {
  const read = async (): Promise<StoredOAuthTokens | undefined> => {
    const { tokens } = await store.read();
    return tokens?.refresh_token === undefined ? undefined : tokens;
  };
  return {
    token: async () => (await store.read()).tokens?.access_token,
    async onUnauthorized({ response, serverUrl }) {
      // Requests run side by side over one connection: what this one was sent with may be older than what another got.
      const refused = authorizationOf(response)?.replace(/^Bearer /, '');
      const isThere = await renewed<StoredOAuthTokens>({
        ...turns,
        read,
        isGood: ({ access_token: token }) => token !== refused,
        renew: () => renew(provider, turns, serverUrl, fetchFn),
        patienceMs,
        late: () => new ServerFailure('timeout'),
      });
      if (!isThere) throw new ServerFailure('unauthorized');
    },
  };
}

async function renew(
  provider: OAuthClientProvider,
  { refused }: TokenTurns,
  serverUrl: URL,
  fetchFn: FetchLike,
): Promise<void> {
  try {
    if ((await auth(provider, { serverUrl, fetchFn })) !== 'AUTHORIZED') throw new ServerFailure('unreachable');
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    if (error.code === invalidGrant) await refused();
    throw new ServerFailure('unauthorized', { cause: error });
  }
}

/** What the tool server says about its authorization server when it is asked without a credential. */
async function challengeOf(
  serverUrl: string,
  fetch: FetchLike,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const reply = await fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await reply.body?.cancel();
  if (reply.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(reply);
  return {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}
