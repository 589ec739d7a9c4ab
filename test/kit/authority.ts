/**
 * A real authorization server (oidc-provider) on loopback for tool servers. Clients register themselves, people
 * consent, and the tokens are JWTs.
 */
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { json } from './listening.ts';
import type { TestMcp } from './mcp-server.ts';
import { startProvider } from './oidc-server.ts';

type Token = { destroy(): Promise<void> };

export type Authority = {
  issuer: string;
  /** Whether the person at the browser consents. */
  agrees: boolean;
  /** Whether the server issues refresh tokens. */
  refreshes: boolean;
  /** The grant types that clients exchanged for tokens, in order. */
  granted: string[];
  /** The ids of the registered clients. */
  registered: string[];
  /** Revokes all grants, so that no refresh token is accepted any more. */
  revoke(): Promise<void>;
  close(): Promise<void>;
};

export const machine = { client_id: 'machine', client_secret: 'a-client-secret-nobody-may-see' };
export const known = { client_id: 'known-in-advance' };

/** `readClient` returns the client metadata document at an address. */
export async function startAuthority(
  resource: string,
  redirectUri: string,
  { readClient }: { readClient?: (url: string) => object } = {},
): Promise<Authority> {
  const refreshTokens: Token[] = [];
  const state: Omit<Authority, 'issuer' | 'close'> = {
    agrees: true,
    refreshes: true,
    granted: [],
    registered: [],
    revoke: async () => void (await Promise.all(refreshTokens.splice(0).map((token) => token.destroy()))),
  };
  const { issuer, provider, close } = await startProvider(
    {
      clients: [
        { ...machine, grant_types: ['client_credentials'], response_types: [], redirect_uris: [] },
        {
          ...known,
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: [redirectUri],
        },
      ],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        registration: { enabled: true },
        ...(readClient
          ? {
              clientIdMetadataDocument: {
                enabled: true,
                ack: 'draft-02',
                allowFetch: () => true,
                allowClient: () => true,
              },
            }
          : {}),
        resourceIndicators: {
          enabled: true,
          defaultResource: () => resource,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({ scope: 'tools orders', audience: resource, accessTokenFormat: 'jwt' }),
        },
      },
      ...(readClient ? { fetch: async (url: string) => Response.json(readClient(url)) } : {}),
      scopes: ['openid', 'offline_access', 'tools', 'orders'],
      issueRefreshToken: async () => state.refreshes,
      // Using a refresh token twice revokes the whole grant.
      rotateRefreshToken: true,
      findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    },
    (grant) => {
      grant.addOIDCScope('openid offline_access tools orders');
      grant.addResourceScope(resource, 'tools orders');
    },
    () =>
      state.agrees
        ? { login: { accountId: 'ada' }, consent: {} }
        : { error: 'access_denied', error_description: 'The person said <b>no</b>.' },
  );
  provider.on('grant.success', ({ oidc }: { oidc: { params: { grant_type: string } } }) =>
    state.granted.push(oidc.params.grant_type),
  );
  provider.on('registration_create.success', (_: unknown, { clientId }: { clientId: string }) =>
    state.registered.push(clientId),
  );
  provider.on('refresh_token.saved', (token: Token) => refreshTokens.push(token));
  return Object.assign(state, { issuer, close });
}

/**
 * Makes a tool server accept only tokens of this authorization server. Returns a list to which the client id of each
 * accepted request is added.
 */
export function guard(mcp: TestMcp, issuer: string, refused: (token: string) => boolean = () => false): string[] {
  const accepted: string[] = [];
  const resource = mcp.url;
  const metadata = '/.well-known/oauth-protected-resource/mcp';
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  mcp.intercept = async (request, response) => {
    if (request.url === metadata) {
      json(response, 200, { resource, authorization_servers: [issuer], scopes_supported: ['tools'] });
      return true;
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    try {
      if (refused(token)) throw new Error('refused');
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource });
      accepted.push(String(payload['client_id']));
      return false;
    } catch {
      const challenge = `Bearer resource_metadata="${new URL(metadata, resource).href}"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    }
  };
  return accepted;
}

/** Follows redirects like a browser with cookies, until a URL starts with `until`. */
export async function browse(from: string, until: string): Promise<URL> {
  const jar = new Map<string, string>();
  let at = from;
  for (let hop = 0; hop < 12; hop += 1) {
    if (at.startsWith(until)) return new URL(at);
    const reply = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';')[0]!.split('=');
      jar.set(name, value);
    }
    const location = reply.headers.get('location');
    if (location === null) throw new Error(`${at}: ${reply.status} ${await reply.text()}`);
    at = new URL(location, at).href;
  }
  throw new Error(`The browser did not come to ${until}; it is at ${at}.`);
}
