/** Access to an organization's tool server: its URL, and its credential, which is decrypted only here. */
import { createFetch } from '../../clients/mcp/fetch.ts';
import type { ServerAddress } from '../../clients/mcp/mcp.ts';
import {
  grantedAuth,
  type OAuthClient,
  type OAuthState,
  type OAuthStore,
  type SignInEnd,
  type TokenTurns,
} from '../../clients/mcp/oauth.ts';
import type { StreamingHttp } from '../../clients/http/http.ts';
import { notifyMembers } from '../../models/access/notification.ts';
import { renewalTurns } from '../../models/base/lease.ts';
import { sha256 } from '../../models/mcp/hash.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { callbackPath, clientMetadataPath } from '../../models/rules/mcp/oauth.ts';
import {
  findToolServer,
  forgetOAuthState,
  keepOAuthState,
  toolSecretPlace,
  type ToolServer,
} from '../../models/mcp/server.ts';

export type ConnectionDeps = {
  secrets: SecretBox;
  http: Pick<StreamingHttp, 'open'>;
  egressAllow: readonly string[];
  publicUrl: string;
  clock: () => Date;
};
/** The fields of a server that are needed to reach it, even before it is stored. */
export type Reached = Pick<ToolServer, '_id' | 'connection' | 'endpoint_url' | 'auth_type' | 'access_token' | 'oauth'>;

const endings: Readonly<Record<SignInEnd['why'], string>> = {
  refused: 'It, or its authorization server, accepts the sign-in no longer.',
  moved:
    'It has moved to another authorization server, which has to be given the client secret anew where there is one.',
  scope: 'It asks for more than was agreed to.',
};
const signInLimits = { maxBytes: 1024 * 1024, headersTimeoutMs: 10_000, totalTimeoutMs: 15_000 };

export function createConnections({ secrets, http, egressAllow, publicUrl, clock }: ConnectionDeps) {
  const fetch = createFetch(http, egressAllow, signInLimits);

  const clientOf = ({ _id: orgId, oauth }: Pick<Reached, '_id' | 'oauth'>): OAuthClient => ({
    grantType: oauth?.grant_type ?? 'authorization_code',
    tokenUrl: oauth?.token_url,
    clientId: oauth?.client_id,
    clientSecret:
      oauth?.client_secret === undefined
        ? undefined
        : secrets.open(oauth.client_secret, toolSecretPlace(orgId, 'oauth.client_secret')),
    scopes: oauth?.scopes,
    redirectUrl: `${publicUrl}/v1${callbackPath}`,
    clientMetadataUrl: `${publicUrl}${clientMetadataPath}`,
  });

  const stateIn = (orgId: string, sealed: string): OAuthState =>
    JSON.parse(secrets.open(sealed, toolSecretPlace(orgId, 'oauth_state'))) as OAuthState;

  /** Reads and writes the result of a sign-in in the server's record, as long as the connection is the same. */
  const storeOf = ({ _id: orgId, connection }: Reached): OAuthStore => ({
    async read() {
      const server = await findToolServer(orgId);
      const sealed = server?.connection === connection ? server.oauth_state : undefined;
      return sealed === undefined ? {} : stateIn(orgId, sealed);
    },
    write: (state) => keepOAuthState(orgId, connection, sealedState(orgId, state)),
  });

  /** The encrypted result of a sign-in, as a server's record stores it. */
  const sealedState = (orgId: string, { client, tokens, discovery }: OAuthState): string =>
    secrets.seal(JSON.stringify({ client, tokens, discovery }), toolSecretPlace(orgId, 'oauth_state'));

  const turnsOf = ({ _id: orgId, connection }: Reached): TokenTurns => ({
    // Only one process at a time renews a token, because many authorization servers revoke the whole grant when a
    // refresh token is used twice.
    ...renewalTurns(`${orgId}:mcp:${connection}`),
    async ended(token, end) {
      const server = await findToolServer(orgId);
      const sealed = server?.connection === connection ? server.oauth_state : undefined;
      if (sealed === undefined) return;
      const { tokens } = stateIn(orgId, sealed);
      if (tokens?.access_token !== token) return;
      const kind = 'tool_server_signed_out';
      const body = `${endings[end.why]} Connect it again; until then no tool is called.`;
      // Because of this key, members are notified only once when a sign-in ends.
      const key = `${kind}:${connection}:${sha256(sealed).slice(0, 16)}`;
      await notifyMembers(orgId, { key, kind, title: 'The tool server is signed out', body, about: [] }, clock());
      // The sign-in is forgotten last. If this process dies before that, the next request notifies members.
      const scopes = end.why === 'scope' ? end.scopes : undefined;
      await forgetOAuthState(orgId, connection, sealed, { scopes, moved: end.why === 'moved' });
    },
  });

  function addressOf(server: Reached): ServerAddress {
    const { _id: orgId, connection, endpoint_url: url, auth_type, access_token: sealed } = server;
    const key = `${orgId}:${connection}`;
    if (auth_type === 'bearer' && sealed !== undefined)
      return { key, url, auth: { token: async () => secrets.open(sealed, toolSecretPlace(orgId, 'access_token')) } };
    if (auth_type === 'oauth2') {
      const store = storeOf(server);
      return { key, url, auth: grantedAuth(clientOf(server), store, turnsOf(server), fetch) };
    }
    return { key, url, auth: undefined };
  }

  return { addressOf, clientOf, sealedState, fetch };
}
export type Connections = ReturnType<typeof createConnections>;
