/** The sign-in at a tool server's authorization server, against a real one: by the client itself, and by a person. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';
import { system } from '../kit/harness.ts';
import { startTestMcp, type TestMcp } from '../kit/mcp-server.ts';

type Session = {
  provider: {
    Grant: new (of: object) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
  };
  client: { clientId: string };
  session: { accountId: string };
};

const api = system();
const clientSecret = 'a-client-secret-nobody-may-see';
const authority = createServer();
let issuer: string;
let mcp: TestMcp;
/** Tokens that the tool server has accepted, by their client. */
const accepted: string[] = [];

beforeAll(async () => {
  authority.listen(0, '127.0.0.1');
  await once(authority, 'listening');
  issuer = `http://127.0.0.1:${(authority.address() as AddressInfo).port}`;
  mcp = await startTestMcp({ name: 'ping', description: 'Answers.' });
  const resource = mcp.url;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'machine',
        client_secret: clientSecret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    cookies: { keys: ['test'] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'tools', audience: resource, accessTokenFormat: 'jwt' }),
      },
    },
    scopes: ['openid', 'offline_access', 'tools'],
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
    async loadExistingGrant({ oidc }: { oidc: Session }) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid offline_access');
      grant.addResourceScope(resource, 'tools');
      await grant.save();
      return grant;
    },
  } as never);
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    await provider.interactionFinished(
      ctx.req,
      ctx.res,
      { login: { accountId: 'ada' } },
      { mergeWithLastSubmission: false },
    );
    ctx.respond = false;
  });
  authority.on('request', provider.callback());
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const metadata = '/.well-known/oauth-protected-resource/mcp';
  mcp.intercept = async (request, response) => {
    if (request.url === metadata) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ resource, authorization_servers: [issuer], scopes_supported: ['tools'] }));
      return true;
    }
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource });
      accepted.push(String(payload['client_id']));
      return false;
    } catch {
      const challenge = `Bearer resource_metadata="${new URL(metadata, resource).href}"`;
      response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    }
  };
});
afterAll(async () => {
  await mcp.close();
  authority.closeAllConnections();
  await new Promise((resolve) => authority.close(resolve));
});

async function organization() {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  const call = (method: string, path: string, body?: unknown) =>
    api.request(method, `/support/mcp/orgs/${org.orgId}${path}`, { token, ...(body === undefined ? {} : { body }) });
  return { org, call };
}

describe('OAuth 2.1', () => {
  it('with a client secret signs in by itself; the secret and the tokens stay inside', async () => {
    const { call } = await organization();
    const oauth = { client_id: 'machine', client_secret: clientSecret };
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth });
    expect([put.status, put.body.server?.signed_in, put.body.authorization_url]).toEqual([200, true, undefined]);
    expect(put.body.server).toMatchObject({ has_client_secret: true, oauth: { grant_type: 'client_credentials' } });
    expect(JSON.stringify(put.body)).not.toContain(clientSecret);
    expect((await call('POST', '/discover')).body.tools).toMatchObject([{ source_name: 'ping' }]);
    expect(accepted).toContain('machine');
  });

  it('with a wrong client secret says so, without repeating it', async () => {
    const { call } = await organization();
    const oauth = { client_id: 'machine', client_secret: 'wrong-secret-words' };
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth });
    expect([put.status, put.body.code]).toEqual([502, 'TOOL_SERVER_FAILED']);
    expect(JSON.stringify(put.body)).not.toContain('wrong-secret-words');
  });

  it('with a state that is unknown, or a person who does not agree, ends with a sentence', async () => {
    const reply = await api.request('GET', '/support/mcp/oauth/callback?state=unknown&code=x');
    expect([reply.status, reply.body.error]).toEqual([400, expect.stringContaining('connect the tool server again')]);
  });

  it('finds this system’s own metadata where its client id says', async () => {
    const reply = await fetch(`${api.url}/.well-known/tool-client.json`);
    expect(await reply.json()).toMatchObject({
      client_id: 'http://127.0.0.1:3000/.well-known/tool-client.json',
      redirect_uris: ['http://127.0.0.1:3000/v1/support/mcp/oauth/callback'],
      token_endpoint_auth_method: 'none',
    });
  });
});
