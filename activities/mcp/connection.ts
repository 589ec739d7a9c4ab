/** How an organization's tool server is reached: its address, and the credential that is opened only for this. */
import { createFetch } from '../../clients/mcp/fetch.ts';
import type { ServerAddress } from '../../clients/mcp/mcp.ts';
import {
  grantedAuth,
  oauthProvider,
  type OAuthClient,
  type OAuthState,
  type OAuthStore,
} from '../../clients/mcp/oauth.ts';
import type { StreamingHttp } from '../../clients/http/http.ts';
import type { SecretBox } from '../../models/base/secretbox.ts';
import { callbackPath, clientMetadataPath } from '../../models/rules/mcp/oauth.ts';
import { findToolServer, keepOAuthState, type ToolServer } from '../../models/mcp/server.ts';

export type ConnectionDeps = {
  secrets: SecretBox;
  http: Pick<StreamingHttp, 'open'>;
  egressAllow: readonly string[];
  publicUrl: string;
};

const signInLimits = { maxBytes: 1024 * 1024, headersTimeoutMs: 10_000, totalTimeoutMs: 15_000 };

export function createConnections({ secrets, http, egressAllow, publicUrl }: ConnectionDeps) {
  const clientOf = ({ oauth }: ToolServer): OAuthClient => ({
    grantType: oauth?.grant_type ?? 'authorization_code',
    tokenUrl: oauth?.token_url,
    clientId: oauth?.client_id,
    clientSecret: oauth?.client_secret === undefined ? undefined : secrets.open(oauth.client_secret),
    scopes: oauth?.scopes,
    redirectUrl: `${publicUrl}/v1${callbackPath}`,
    clientMetadataUrl: `${publicUrl}${clientMetadataPath}`,
  });

  /** What the sign-in gave, in the server's record. */
  const storeOf = ({ _id: orgId, connection }: ToolServer): OAuthStore => ({
    async read() {
      const sealed = (await findToolServer(orgId))?.oauth_state;
      return sealed === undefined ? {} : (JSON.parse(secrets.open(sealed)) as OAuthState);
    },
    async write({ client, tokens, discovery }) {
      await keepOAuthState(orgId, connection, secrets.seal(JSON.stringify({ client, tokens, discovery })));
    },
  });

  function addressOf(server: ToolServer): ServerAddress {
    const { _id: orgId, connection, endpoint_url: url, auth_type, access_token: sealed } = server;
    const key = `${orgId}:${connection}`;
    if (auth_type === 'bearer' && sealed !== undefined)
      return { key, url, auth: { token: async () => secrets.open(sealed) } };
    if (auth_type === 'oauth2') {
      const store = storeOf(server);
      const provider = oauthProvider(clientOf(server), store);
      const byPerson = server.oauth?.grant_type !== 'client_credentials';
      return { key, url, auth: byPerson ? grantedAuth(provider, store) : provider };
    }
    return { key, url, auth: undefined };
  }

  return { addressOf, clientOf, storeOf, fetch: createFetch(http, egressAllow, signInLimits) };
}
export type Connections = ReturnType<typeof createConnections>;
