/**
 * The OAuth sign-in to a tool server, against a real authorization server: by the client itself, and by a person in the
 * browser.
 */
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { decodeJwt } from 'jose';
import { createHttp } from '../../clients/http/http.ts';
import { createFetch } from '../../clients/mcp/fetch.ts';
import { oauthProvider, signIn, type OAuthState } from '../../clients/mcp/oauth.ts';
import { clientDocument, clientMetadataPath } from '../../models/rules/mcp/oauth.ts';
import { browse, guard, known, machine, startAuthority, type Authority } from '../kit/authority.ts';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type Reply } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { startTestMcp, type TestMcp } from '../kit/mcp-server.ts';
import { historyText } from '../kit/toolshop.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
const db = sharedDatabase();
const comesBack = 'http://127.0.0.1:3000/v1/support/mcp/oauth/callback';
let authority: Authority;
let mcp: TestMcp;
/** The client ids of the requests that the tool server accepted. */
let accepted: string[];
/** Access tokens that the tool server no longer accepts. */
const ended = new Set<string>();
let latest = '';
/** The tool server's answer to requests without a valid token. */
let guarded: TestMcp['intercept'];
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  mcp = await startTestMcp({ name: 'ping', description: 'Answers.' });
  authority = await startAuthority(mcp.url, comesBack);
  accepted = guard(mcp, authority.issuer, (token) => {
    latest = token;
    return ended.has(token);
  });
  guarded = mcp.intercept;
});
beforeEach(() => {
  Object.assign(authority, { agrees: true, refreshes: true });
  mcp.intercept = guarded;
});
afterAll(async () => {
  await Promise.all([mcp, authority, ...opened].map((one) => one.close()));
});

async function organization() {
  const org = await api.newOrg();
  const { token, keyId } = await api.newKey(org);
  const call = (method: string, path: string, body?: unknown) =>
    api.request(method, `/support/mcp/orgs/${org.orgId}${path}`, { token, ...defined({ body }) });
  return { org, keyId, call };
}

/** The outcome and text of the page on which the sign-in ends in the browser. */
async function pageAfter(
  search: string,
  headers: Record<string, string> = {},
): Promise<{ outcome: string | null; text: string }> {
  const reply = await api.request('GET', `/support/mcp/oauth/callback${search}`, { headers });
  const location = reply.headers.get('location') ?? '';
  const page = await fetch(`${api.url}${location}`);
  expect([reply.status, page.status]).toEqual([302, 200]);
  return { outcome: new URL(location, api.url).searchParams.get('outcome'), text: await page.text() };
}

/** Signs a person in; returns the query with which the browser is redirected back. */
async function agree(authorizationUrl: string): Promise<string> {
  return (await browse(authorizationUrl, comesBack)).search;
}

const byPerson = { auth_type: 'oauth2' };
const cookieOf = ({ headers }: Reply) => headers.getSetCookie()[0]!;

describe('with a client secret', () => {
  it('with a client secret, the client signs in by itself, and no reply, history or record shows the secret', async () => {
    const { call, org } = await organization();
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth: machine });
    expect([put.status, put.body.server?.signed_in, put.body.authorization_url]).toEqual([200, true, undefined]);
    expect(put.body.server).toMatchObject({ has_client_secret: true, oauth: { grant_type: 'client_credentials' } });
    expect(JSON.stringify(put.body)).not.toContain(machine.client_secret);
    expect((await call('POST', '/discover')).body.tools).toMatchObject([{ source_name: 'ping' }]);
    expect(accepted).toContain('machine');
    // Neither the secret nor the token appears in the workflow histories, which operators can see.
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const temporal = new Client({ connection });
    const histories = await until(async () => {
      const found = new Map<string, string>();
      const query = `Organization = "${org.orgId}"`;
      for await (const { workflowId, type } of temporal.workflow.list({ query }))
        found.set(type, await historyText(temporal, workflowId));
      return found.has('beginToolGrant') && found.has('discoverTools') && [...found.values()];
    }, 'both workflows to be listed');
    await connection.close();
    const rows = await db().collection('tool_servers').find().toArray();
    for (const text of [...histories, JSON.stringify(rows)])
      for (const hidden of [machine.client_secret, latest]) expect(text).not.toContain(hidden);
  });

  it('the client secret and the tokens are sent only to the server for which they were given', async () => {
    const { call } = await organization();
    await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth: machine });
    const sent: string[] = [];
    const collector = createServer((request, response) => {
      request.on('data', (piece: Buffer) => sent.push(piece.toString()));
      request.on('end', () => {
        sent.push(JSON.stringify(request.headers));
        response.writeHead(401).end();
      });
    });
    const { url, close } = await listening(collector);
    const elsewhere = `${url}/token`;
    for (const patch of [{ oauth: { token_url: elsewhere } }, { endpoint_url: elsewhere }]) {
      const { status, body } = await call('PUT', '/server', patch);
      expect([status, JSON.stringify(body.details)]).toEqual([400, expect.stringContaining('required again')]);
    }
    await close();
    expect(sent).toEqual([]);
    expect((await call('POST', '/discover')).status).toBe(200);
  });

  it('a wrong client secret causes an error that does not repeat the secret, and the stored settings stay', async () => {
    const { call } = await organization();
    const wrong = { client_id: 'machine', client_secret: 'wrong-secret-words' };
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth: wrong });
    expect([put.status, put.body.code]).toEqual([502, 'TOOL_SERVER_FAILED']);
    expect(JSON.stringify(put.body)).not.toContain('wrong-secret-words');
    expect((await call('GET', '/server')).body).toEqual({ server: null });
    await call('PUT', '/server', { endpoint_url: mcp.url, auth_type: 'oauth2', oauth: machine });
    const before = (await call('GET', '/server')).body;
    const later = await call('PUT', '/server', { server_label: 'Never stored', oauth: wrong });
    expect([later.status, (await call('GET', '/server')).body]).toEqual([502, before]);
    expect((await call('POST', '/discover')).status).toBe(200);
  });
});

describe('without a client secret', () => {
  it('without a client secret, the client registers itself, and lists the tools after one person has agreed', async () => {
    const { call, keyId } = await organization();
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson });
    expect([put.status, put.body.server.signed_in]).toEqual([200, false]);
    const asked = new URL(put.body.authorization_url);
    expect(asked.origin).toBe(authority.issuer);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: mcp.url,
      state: expect.any(String),
    });
    expect(authority.registered).toContain(asked.searchParams.get('client_id'));
    expect((await call('POST', '/discover')).status).toBe(502);
    const search = await agree(asked.href);
    const { outcome, text } = await pageAfter(search);
    expect([outcome, text]).toEqual(['connected', expect.stringContaining('<h1>Connected</h1>')]);
    expect((await call('GET', '/server')).body.server.signed_in).toBe(true);
    expect((await call('POST', '/discover')).body.tools).toMatchObject([{ source_name: 'ping' }]);
    expect((await pageAfter(search)).outcome).toBe('unknown_state');
    const { events } = (await call('GET', '/audit')).body;
    expect(events.find(({ action }: { action: string }) => action === 'signed_in')).toMatchObject({ actor: keyId });
  });

  it('the sign-in at a tool server ends on a page with the reason when the person declines', async () => {
    const { call } = await organization();
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson });
    authority.agrees = false;
    const denied = await pageAfter(await agree(put.body.authorization_url));
    expect([denied.outcome, denied.text]).toEqual(['access_denied', expect.stringContaining('access was denied')]);
    expect(denied.text).not.toContain('<b>');
    expect((await call('GET', '/server')).body.server.signed_in).toBe(false);
    authority.agrees = true;
    const again = await call('PUT', '/server', byPerson);
    expect((await pageAfter(await agree(again.body.authorization_url))).outcome).toBe('connected');
    // A signed-in organization can change other settings without signing in again.
    expect(
      (await call('PUT', '/server', { ...byPerson, server_label: 'Shop' })).body.authorization_url,
    ).toBeUndefined();
  });

  it.each(['', '?state=unknown&code=x', '?code=x', '?state=unknown&error=%3Cscript%3E'])(
    'a browser that returns from a sign-in with the query %j gets an error page',
    async (search) => {
      const { outcome, text } = await pageAfter(search);
      expect([outcome, text]).toEqual(['unknown_state', expect.stringContaining('Connect it again')]);
    },
  );

  it('a sign-in for a server that was replaced meanwhile stores no tokens', async () => {
    const { call } = await organization();
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson });
    const search = await agree(put.body.authorization_url);
    await call('DELETE', '/server');
    const other = await startTestMcp();
    const heads = other.heads;
    opened.push(other);
    await call('PUT', '/server', { endpoint_url: other.url });
    expect((await pageAfter(search)).outcome).toBe('changed');
    await call('POST', '/discover');
    expect(heads.length).toBeGreaterThan(0);
    expect(heads.every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  it('a sign-in started in a member’s browser can only be finished in that browser', async () => {
    const { call, org } = await organization();
    const begin = () =>
      api.request('PUT', `/support/mcp/orgs/${org.orgId}/server`, {
        token: org.owner.token,
        body: { endpoint_url: mcp.url, ...byPerson },
      });
    const [begun, other] = [await begin(), await begin()];
    expect(cookieOf(begun)).toMatch(/^connect_.*; httponly/i);
    const search = await agree(begun.body.authorization_url);
    const cookie = cookieOf(begun).split(';', 1)[0]!;
    // Three browsers cannot finish the sign-in: one without a cookie, one with the cookie of another sign-in, and one
    // with an invented cookie.
    const [name] = cookie.split('=');
    for (const foreign of ['', cookieOf(other).split(';', 1)[0]!, `${name}=${'x'.repeat(43)}`])
      expect((await pageAfter(search, { cookie: foreign })).outcome).toBe('unknown_state');
    expect((await call('GET', '/server')).body.server.signed_in).toBe(false);
    expect((await pageAfter(search, { cookie })).outcome).toBe('connected');
    expect((await pageAfter(search, { cookie })).outcome).toBe('unknown_state');
    expect((await call('GET', '/server')).body.server.signed_in).toBe(true);
  });

  it('a sign-in is invalid once the key or the member who started the sign-in may no longer change the tool server', async () => {
    const { org, call, keyId } = await organization();
    const begun = await call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson });
    const search = await agree(begun.body.authorization_url);
    const key = `/support/developer-keys/orgs/${org.orgId}/keys/${keyId}`;
    await api.request('PATCH', key, { token: org.owner.token, body: { scopes: ['mcp:read'] } });
    expect(await pageAfter(search)).toMatchObject({
      outcome: 'no_longer_allowed',
      text: expect.stringContaining('no longer a member'),
    });
    expect((await call('GET', '/server')).body.server).toMatchObject({ signed_in: false });
    expect((await pageAfter(search)).outcome).toBe('unknown_state');

    const other = await api.newOrg();
    const admin = await api.join(other, 'admin');
    const body = { endpoint_url: mcp.url, ...byPerson };
    const path = `/support/mcp/orgs/${other.orgId}/server`;
    const asked = await api.request('PUT', path, { token: admin.token, body });
    const back = await agree(asked.body.authorization_url);
    await api.request('DELETE', `/orgs/${other.orgId}/members/${admin.userId}`, { token: other.owner.token });
    const cookie = cookieOf(asked).split(';', 1)[0]!;
    expect((await pageAfter(back, { cookie })).outcome).toBe('no_longer_allowed');
    expect((await api.request('GET', path, { token: other.owner.token })).body.server).toMatchObject({
      signed_in: false,
    });
  });

  it('the authorization URL is taken from the metadata that belongs to the given token endpoint', async () => {
    const { call } = await organization();
    const oauth = { ...known, token_url: `${authority.issuer}/token` };
    const put = await call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson, oauth });
    expect(new URL(put.body.authorization_url).pathname).toBe('/auth');
    expect((await pageAfter(await agree(put.body.authorization_url))).outcome).toBe('connected');
    expect((await call('POST', '/discover')).status).toBe(200);
    expect(accepted).toContain(known.client_id);
    const wrong = { ...known, token_url: `${authority.issuer}/nowhere` };
    const refused = await call('PUT', '/server', { oauth: wrong });
    expect([refused.status, refused.body.error]).toEqual([502, expect.stringContaining('token_url')]);
  });
});

describe('when an access token has expired', () => {
  async function signedIn() {
    const made = await organization();
    const put = await made.call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson });
    await pageAfter(await agree(put.body.authorization_url));
    expect((await made.call('POST', '/discover')).status).toBe(200);
    ended.add(latest);
    authority.granted.length = 0;
    return made;
  }

  it('an expired access token is refreshed once for concurrent requests, and nobody has to agree again', async () => {
    const { call } = await signedIn();
    const replies = await Promise.all(Array.from({ length: 4 }, () => call('POST', '/discover')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(authority.granted).toEqual(['refresh_token']);
    ended.add(latest);
    expect((await call('POST', '/discover')).status).toBe(200);
    expect(authority.granted).toEqual(['refresh_token', 'refresh_token']);
  });

  it('a request whose token is refused after another request has refreshed the token is repeated with the new token', async () => {
    const { call } = await signedIn();
    const serve = mcp.intercept!;
    const before = accepted.length;
    let held = false;
    mcp.intercept = async (request, response, body) => {
      if (!held && ended.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
        held = true;
        await until(async () => accepted.length > before, 'the other to be served with the new token');
      }
      return serve(request, response, body);
    };
    const replies = await Promise.all([call('POST', '/discover'), call('POST', '/discover')]);
    mcp.intercept = serve;
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect([held, authority.granted]).toEqual([true, ['refresh_token']]);
  });

  it('a revoked grant ends the sign-in at the tool server, and members are notified once', async () => {
    const { call, org } = await signedIn();
    await authority.revoke();
    for (let times = 0; times < 2; times += 1)
      expect((await call('POST', '/discover')).body).toMatchObject({ code: 'TOOL_SERVER_FAILED' });
    expect((await call('GET', '/server')).body.server.signed_in).toBe(false);
    const told = await until(async () => {
      const found = await db().collection('notifications').find({ org_id: org.orgId }).toArray();
      return found.length > 0 && found;
    }, 'members to be told');
    expect(told.map(({ kind }) => kind)).toEqual(['tool_server_signed_out']);
  });
});

describe('when a sign-in has ended', () => {
  type Made = Awaited<ReturnType<typeof organization>>;
  async function signedIn(settings: object = {}): Promise<Made> {
    const made = await organization();
    const put = await made.call('PUT', '/server', { endpoint_url: mcp.url, ...byPerson, ...settings });
    if (put.body.authorization_url) await pageAfter(await agree(put.body.authorization_url));
    expect((await made.call('POST', '/discover')).status).toBe(200);
    return made;
  }
  const told = async ({ org }: Made): Promise<string[]> => {
    const found = await db().collection('notifications').find({ org_id: org.orgId }).sort({ _id: 1 }).toArray();
    return found.map(({ body }) => String(body));
  };
  /** Expects that the sign-in is unusable, and that members have `times` notifications, however often it is tried. */
  async function expectSignedOut(made: Made, times: number, sentence: string) {
    for (let tries = 0; tries < 2; tries += 1)
      expect((await made.call('POST', '/discover')).body).toMatchObject({ code: 'TOOL_SERVER_FAILED' });
    expect((await made.call('GET', '/server')).body.server.signed_in).toBe(false);
    const bodies = await told(made);
    expect([bodies.length, bodies.at(-1)]).toEqual([times, expect.stringContaining(sentence)]);
  }
  /** Saves the server with its `auth_type`, which returns a new authorization URL, and completes the sign-in. */
  async function signInAgain({ call }: Made): Promise<URL> {
    const { body } = await call('PUT', '/server', byPerson);
    const address = new URL(body.authorization_url);
    expect((await pageAfter(await agree(address.href))).outcome).toBe('connected');
    expect((await call('POST', '/discover')).status).toBe(200);
    return address;
  }

  it('members are notified each time a token that cannot be refreshed is revoked, and can sign in again', async () => {
    authority.refreshes = false;
    const made = await signedIn();
    for (const times of [1, 2]) {
      ended.add(latest);
      await expectSignedOut(made, times, 'accepts the sign-in no longer');
      await signInAgain(made);
    }
  });

  it('members can sign in again when even a new token is refused', async () => {
    const made = await signedIn();
    const serve = mcp.intercept!;
    mcp.intercept = (request, response) => {
      if (request.headers.authorization === undefined) return serve(request, response, '');
      response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
      return true;
    };
    await expectSignedOut(made, 1, 'accepts the sign-in no longer');
    mcp.intercept = serve;
    await signInAgain(made);
  });

  it('when the tool server needs another scope, the next sign-in requests this scope too', async () => {
    const made = await signedIn();
    const serve = mcp.intercept!;
    mcp.intercept = async (request, response, body) => {
      const token = request.headers.authorization?.replace('Bearer ', '');
      if (token === undefined || String(decodeJwt(token)['scope']).includes('orders'))
        return serve(request, response, body);
      const challenge = 'Bearer error="insufficient_scope", scope="orders"';
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return true;
    };
    const refused = await made.call('POST', '/discover');
    expect(refused.body.error).toContain('asks for more than was agreed to');
    await expectSignedOut(made, 1, 'asks for more than was agreed to');
    const { searchParams } = await signInAgain(made);
    expect(searchParams.get('scope')!.split(' ')).toEqual(expect.arrayContaining(['tools', 'orders']));
  });

  it('when the tool server has moved to another authorization server, the next sign-in is at the new authorization server', async () => {
    const made = await signedIn();
    const machines = await signedIn({ oauth: machine });
    const other = await startAuthority(mcp.url, comesBack);
    opened.push(other);
    guard(mcp, other.issuer);
    authority.granted.length = 0;
    await expectSignedOut(made, 1, 'moved to another authorization server');
    // The old authorization server is not asked for tokens that would be refused.
    expect(authority.granted).toEqual([]);
    expect((await signInAgain(made)).origin).toBe(other.issuer);
    // A client secret for the old authorization server is not sent to the new one.
    await expectSignedOut(machines, 1, 'client secret');
    const without = await machines.call('PUT', '/server', byPerson);
    expect([without.status, JSON.stringify(without.body.details)]).toEqual([
      400,
      expect.stringContaining('client_secret'),
    ]);
    expect(other.granted).toEqual(['authorization_code']);
    expect((await machines.call('PUT', '/server', { oauth: machine })).body.server.signed_in).toBe(true);
  });
});

describe('the metadata of this system as an OAuth client', () => {
  it('the metadata of this system as an OAuth client is served at the URL that serves as client id', async () => {
    const reply = await fetch(`${api.url}/.well-known/tool-client.json`);
    expect(await reply.json()).toMatchObject({
      client_id: 'http://127.0.0.1:3000/.well-known/tool-client.json',
      redirect_uris: [comesBack],
      token_endpoint_auth_method: 'none',
    });
  });

  it('an authorization server that fetches this system’s client metadata accepts this system as a client without registration', async () => {
    const publicUrl = 'https://support.example';
    const redirectUrl = `${publicUrl}/v1/support/mcp/oauth/callback`;
    const clientId = `${publicUrl}${clientMetadataPath}`;
    const resource = await startTestMcp({ name: 'ping' });
    const reading = await startAuthority(resource.url, redirectUrl, { readClient: () => clientDocument(publicUrl) });
    const clients = guard(resource, reading.issuer);
    const http = createHttp({ userAgent: 'test', egressAllow: ['127.0.0.1'] });
    opened.push(resource, reading, http);
    const limits = { maxBytes: 1_000_000, headersTimeoutMs: 5_000, totalTimeoutMs: 10_000 };
    const fetcher = createFetch(http, ['127.0.0.1'], limits);
    let kept: OAuthState = {};
    const store = { read: async () => kept, write: async (next: OAuthState) => void (kept = next) };
    let address = '';
    const provider = oauthProvider(
      { grantType: 'authorization_code', redirectUrl, clientMetadataUrl: clientId },
      store,
      { state: 'a-state', redirected: (url) => (address = url.href) },
    );
    expect(await signIn(provider, resource.url, fetcher)).toBe('person_needed');
    expect(new URL(address).searchParams.get('client_id')).toBe(clientId);
    const back = await browse(address, redirectUrl);
    const returned = { code: back.searchParams.get('code')!, iss: back.searchParams.get('iss')! };
    expect(await signIn(provider, resource.url, fetcher, { returned })).toBe('signed_in');
    await fetch(resource.url, { headers: { authorization: `Bearer ${kept.tokens?.access_token}` } });
    expect([clients, reading.registered]).toEqual([[clientId], []]);
  });
});
