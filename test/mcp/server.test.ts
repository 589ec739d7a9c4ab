/** The routes of the tool server: connecting, discovering, approving tools, disconnecting, and the audit log. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { system, type TestOrg } from '../kit/harness.ts';
import { startEverything, startTestMcp, type TestMcp } from '../kit/mcp-server.ts';
import { customerOf } from '../kit/toolshop.ts';
import { defined } from '../../models/rules/base/defined.ts';

const api = system();
let mcp: TestMcp;
const status = {
  name: 'orderStatus',
  description: 'Says where an order is.',
  inputSchema: { type: 'object', properties: { order_number: { type: 'string' } }, required: ['order_number'] },
};

beforeAll(async () => {
  mcp = await startTestMcp(status);
});
afterAll(() => mcp.close());

/** An organization with a key, and functions that request its tool server routes. */
async function organization(given?: TestOrg) {
  const org = given ?? (await api.newOrg());
  const { token } = await api.newKey(org);
  const at = (path: string) => `/support/mcp/orgs/${org.orgId}${path}`;
  const call = (method: string, path: string, body?: unknown) =>
    api.request(method, at(path), { token, ...defined({ body }) });
  return {
    org,
    token,
    put: (body: unknown) => call('PUT', '/server', body),
    get: () => call('GET', '/server'),
    remove: () => call('DELETE', '/server'),
    discover: () => call('POST', '/discover'),
    audit: (query = '') => call('GET', `/audit${query}`),
    verify: () => call('GET', '/audit/verify'),
    approvals: () => call('GET', '/approvals'),
  };
}

describe('PUT /support/mcp/orgs/{orgId}/server', () => {
  it('PUT of the tool server connects the server, and the reply never has the server’s credentials', async () => {
    const { put, get } = await organization();
    expect((await get()).body).toEqual({ server: null });
    const { status: code, body } = await put({
      server_label: 'Shop',
      endpoint_url: mcp.url,
      auth_type: 'bearer',
      access_token: 'tok-very-secret',
    });
    expect([code, body.server.has_access_token, body.server.has_client_secret]).toEqual([200, true, false]);
    expect(body.server).toMatchObject({
      server_label: 'Shop',
      enabled: true,
      rate_limit_per_min: 60,
      approved_tools: [],
      last_discovered_at: null,
    });
    expect(JSON.stringify([body, (await get()).body])).not.toContain('tok-very-secret');
  });

  it('saving the tool server changes only the given fields', async () => {
    const { put, get } = await organization();
    await put({ server_label: 'Shop', endpoint_url: mcp.url, auth_type: 'bearer', access_token: 'tok' });
    await put({ enabled: false });
    expect((await get()).body.server).toMatchObject({
      server_label: 'Shop',
      enabled: false,
      has_access_token: true,
      auth_type: 'bearer',
    });
  });

  it.each([
    ['no address', {}, 'endpoint_url'],
    ['plain http to others', { endpoint_url: 'http://example.com/mcp' }, 'endpoint_url'],
    ['an address in a private network', { endpoint_url: 'https://10.0.0.1/mcp' }, 'endpoint_url'],
    ['a password in the address', { endpoint_url: 'https://a:b@example.com/mcp' }, 'endpoint_url'],
    ['bearer without a token', { endpoint_url: 'https://example.com/mcp', auth_type: 'bearer' }, 'access_token'],
    [
      'an unknown tier',
      { endpoint_url: 'https://example.com/mcp', approved_tools: [{ source_name: 'x', risk_tier: 'harmless' }] },
      'risk_tier',
    ],
    [
      'a tool without a tier',
      {
        endpoint_url: 'https://example.com/mcp',
        approved_tools: [{ source_name: 'x', description: '', input_schema: {} }],
      },
      'risk_tier',
    ],
    [
      'a tool that was never discovered',
      { endpoint_url: 'https://example.com/mcp', approved_tools: [{ source_name: 'x', risk: 'read_public' }] },
      'input_schema',
    ],
    [
      'an invalid schema',
      {
        endpoint_url: 'https://example.com/mcp',
        approved_tools: [
          { source_name: 'x', description: '', input_schema: { type: 'nonsense' }, risk: 'read_public' },
        ],
      },
      'input_schema',
    ],
    ['an unknown field', { endpoint_url: 'https://example.com/mcp', acess_token: 'x' }, 'acess_token'],
  ])('saving the tool server refuses %s', async (_what, body, field) => {
    const { put, get } = await organization();
    const reply = await put(body);
    expect([reply.status, JSON.stringify(reply.body.details)]).toEqual([400, expect.stringContaining(field)]);
    expect((await get()).body).toEqual({ server: null });
  });

  it('saving the tool server with a new host but without a new access token is refused', async () => {
    const { put } = await organization();
    await put({ endpoint_url: mcp.url, auth_type: 'bearer', access_token: 'tok' });
    const reply = await put({ endpoint_url: 'https://other.example.com/mcp' });
    expect([reply.status, JSON.stringify(reply.body.details)]).toEqual([400, expect.stringContaining('access_token')]);
  });

  it('saving the tool server requires the client secret again when the server or the token URL changes', async () => {
    const { put, get } = await organization();
    await put({ endpoint_url: mcp.url });
    // No sign-in happens here, because the server is stored with another kind of credential.
    const oauth = { token_url: `${mcp.url}/token`, client_id: 'shop', client_secret: 'word' };
    expect((await put({ oauth })).body.server).toMatchObject({ auth_type: 'none', has_client_secret: true });
    for (const moved of [
      { oauth: { token_url: 'https://collector.example/token' } },
      { endpoint_url: 'https://collector.example/mcp' },
    ]) {
      const { status, body } = await put({ auth_type: 'oauth2', ...moved });
      expect([status, JSON.stringify(body.details)]).toEqual([400, expect.stringContaining('client_secret')]);
      expect(JSON.stringify(body.details)).toContain('required again');
    }
    expect((await get()).body.server).toMatchObject({ has_client_secret: true, endpoint_url: mcp.url });
    // An unused secret is deleted, so that it cannot be sent to the new server later.
    const gone = await put({ endpoint_url: 'https://collector.example/mcp' });
    expect([gone.status, gone.body.server.has_client_secret]).toEqual([200, false]);
  });

  it('saving the tool server requires a key with mcp:write of the same organization', async () => {
    const { org } = await organization();
    const other = await organization();
    const reader = await api.newKey(org, { scopes: ['mcp:read'] });
    const path = `/support/mcp/orgs/${org.orgId}/server`;
    const body = { endpoint_url: mcp.url };
    expect((await api.request('PUT', path, { token: reader.token, body })).status).toBe(403);
    expect((await api.request('PUT', path, { token: other.token, body })).status).toBe(404);
  });
});

describe('the protocol’s example server', () => {
  it('all tools of the protocol’s example server can be approved one by one, and a customer’s message calls one', async () => {
    const everything = await startEverything();
    const { put, discover, get, org, token } = await organization();
    const connect = { endpoint_url: everything.url, server_label: 'Everything' };
    expect((await put({ ...connect, environment: 'staging' })).status).toBe(400);
    expect((await put({ ...connect, environment: 'production' })).body.server.environment).toBe('production');
    type Found = {
      source_name: string;
      description: string;
      input_schema: { $schema?: string };
      output_schema?: object;
    };
    const found: Found[] = (await discover()).body.tools;
    expect(found.every(({ input_schema }) => input_schema.$schema?.includes('draft-07'))).toBe(true);
    // Sends back all approved tools as they are shown, plus one more without its output schema.
    for (const { output_schema: _left, ...tool } of found) {
      const { source_name, description, input_schema } = tool;
      const standing = (await get()).body.server.approved_tools;
      const next = { source_name, description, input_schema, risk_tier: 'read_public', auth_scope: 'public' };
      const reply = await put({ ...connect, environment: 'sandbox', approved_tools: [...standing, next] });
      expect([reply.status, reply.body.server?.approved_tools.length]).toEqual([200, standing.length + 1]);
    }
    const after: { source_name: string; status: string }[] = (await discover()).body.tools;
    expect(after.filter(({ status: now }) => now !== 'approved')).toEqual([]);
    const { client } = await customerOf(api, org, token);
    client.say('Return structured content along with an output schema for Chicago');
    expect((await client.frame('reply_end')).body).toContain('"conditions"');
    client.drop();
    const shown: { suspended: boolean }[] = (await get()).body.server.approved_tools;
    expect(shown.filter(({ suspended }) => suspended)).toEqual([]);
    await everything.close();
  });
});

describe('POST /support/mcp/orgs/{orgId}/discover', () => {
  it('discovering tools lists new, approved, changed and removed tools with their changed fields, and approves none', async () => {
    const own = await startTestMcp(structuredClone(status));
    const { put, discover, get } = await organization();
    await put({ endpoint_url: own.url });
    const first = await discover();
    expect(first.status).toBe(200);
    expect(first.body.tools).toEqual([
      {
        source_name: 'orderStatus',
        description: status.description,
        input_schema: status.inputSchema,
        suggested_tool_name: 'order_status',
        status: 'new',
        changed_since_approval: false,
      },
    ]);
    expect((await get()).body.server).toMatchObject({
      approved_tools: [],
      last_discovered_at: first.body.discovered_at,
    });
    // The tool is approved by its name; its definition is the discovered one.
    const approved = await put({
      approved_tools: [{ source_name: 'orderStatus', risk_tier: 'read_public', auth_scope: 'public' }],
    });
    expect(approved.body.server.approved_tools[0]).toMatchObject({
      tool_name: 'order_status',
      description: status.description,
      suspended: false,
    });
    expect((await discover()).body.tools[0]).toMatchObject({ status: 'approved', changed_since_approval: false });
    own.tools = [{ ...status, description: 'Sends orders anywhere.' }, { name: 'wipe' }];
    const later = (await discover()).body.tools;
    expect(
      later.map(({ source_name, status: now }: { source_name: string; status: string }) => [source_name, now]),
    ).toEqual([
      ['orderStatus', 'changed'],
      ['wipe', 'new'],
    ]);
    expect(later[0].diff).toEqual([
      { field: 'description', change: 'changed', before: status.description, after: 'Sends orders anywhere.' },
    ]);
    own.tools = [];
    expect((await discover()).body.tools).toMatchObject([{ source_name: 'orderStatus', status: 'removed' }]);
    expect((await get()).body.server.approved_tools).toHaveLength(1);
    await own.close();
  });

  it('discovering tools lists a tool with an unusable schema as unusable, and all other tools normally', async () => {
    const own = await startTestMcp(structuredClone(status));
    own.intercept = (_request, response, body) => {
      if (!body.includes('"tools/list"')) return false;
      const tools = [
        { name: 'broken', description: 'Cannot be called.', inputSchema: { type: 'object', minProperties: 'many' } },
        { name: 'orderStatus', inputSchema: { type: 'object', properties: { code: { pattern: '(?i)x' } } } },
      ];
      const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: (JSON.parse(body) as { id: number }).id, result }));
      return true;
    };
    const { put, discover, get } = await organization();
    await put({ endpoint_url: own.url });
    const problem = expect.stringContaining('input_schema is not a usable JSON Schema');
    const notes = [expect.stringContaining('input_schema.properties.code.pattern is not enforced')];
    expect((await discover()).body.tools).toMatchObject([
      { source_name: 'broken', problem },
      { source_name: 'orderStatus', notes },
    ]);
    const terms = { risk_tier: 'read_public', auth_scope: 'public' };
    const approved_tools = ['broken', 'orderStatus'].map((source_name) => ({ source_name, ...terms }));
    expect((await put({ approved_tools })).body.server.approved_tools).toMatchObject([{ problem }, { notes }]);
    // A shown definition may be sent back unchanged; a schema written by the caller must be valid.
    const shown = (await get()).body.server.approved_tools;
    expect((await put({ approved_tools: shown })).body.server.approved_tools).toEqual(shown);
    const wrong = await put({ approved_tools: [{ ...shown[0], input_schema: { type: 'nonsense' } }] });
    expect([wrong.status, JSON.stringify(wrong.body.details)]).toEqual([400, expect.stringContaining('input_schema')]);
    await own.close();
  });

  it('an output schema that the server has added is approved only with its tool, not when the list is sent back', async () => {
    const other = { name: 'opening', description: 'Says when the shop is open.', inputSchema: { type: 'object' } };
    const own = await startTestMcp(structuredClone(status), other);
    const { put, discover, get } = await organization();
    await put({ endpoint_url: own.url });
    await discover();
    const terms = { risk_tier: 'read_public', auth_scope: 'public' };
    await put({ approved_tools: [{ source_name: 'orderStatus', ...terms }] });
    const outputSchema = { type: 'object', properties: { place: { type: 'string' } } };
    own.tools = [{ ...structuredClone(status), outputSchema }, other];
    const first = async () => (await discover()).body.tools[0];
    expect(await first()).toMatchObject({ source_name: 'orderStatus', status: 'changed' });
    const shown = (await get()).body.server.approved_tools;
    const reply = await put({ approved_tools: [...shown, { source_name: 'opening', ...terms }] });
    expect(reply.body.server.approved_tools).toEqual([shown[0], expect.objectContaining({ source_name: 'opening' })]);
    expect(await first()).toMatchObject({ source_name: 'orderStatus', status: 'changed' });
    // A tool that is approved by its name gets the discovered definition.
    const anew = await put({ approved_tools: [{ source_name: 'orderStatus', ...terms }] });
    expect(anew.body.server.approved_tools).toMatchObject([{ output_schema: outputSchema }]);
    expect(await first()).toMatchObject({ source_name: 'orderStatus', status: 'approved' });
    await own.close();
  });

  it('discovering tools gets 409 without a tool server, and 502 without the server’s own text when the server fails', async () => {
    const { discover, put, audit } = await organization();
    expect((await discover()).status).toBe(409);
    const own = await startTestMcp();
    own.intercept = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<b>secret words of the server</b>');
      return true;
    };
    await put({ endpoint_url: own.url });
    const failed = await discover();
    expect([failed.status, failed.body.code]).toEqual([502, 'TOOL_SERVER_FAILED']);
    expect(JSON.stringify(failed.body)).not.toContain('secret words');
    expect((await audit()).body.events[0]).toMatchObject({ kind: 'discovery', outcome: 'error' });
    await own.close();
  });

  it('discovering tools counts towards the rate limit of tool calls, and gets 429 with Retry-After over the limit', async () => {
    const { discover, put } = await organization();
    await put({ endpoint_url: mcp.url, rate_limit_per_min: 1 });
    const statuses = [];
    // The minute of the limit may end between two requests.
    for (let times = 0; times < 3; times += 1) statuses.push(await discover());
    expect(statuses[0]?.status).toBe(200);
    expect(statuses.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(
      statuses.map(() => '"mcp";q=1;w=60'),
    );
    expect(statuses[0]?.headers.get('ratelimit')).toMatch(/^"mcp";r=0;t=\d+$/);
    const refused = statuses.find(({ status: code }) => code === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused?.body.code).toBe('RATE_LIMITED');
  });
});

describe('DELETE /support/mcp/orgs/{orgId}/server', () => {
  it('DELETE …/server disconnects the server and keeps the audit log', async () => {
    const { put, remove, get, discover, audit, verify } = await organization();
    await put({ endpoint_url: mcp.url });
    expect([(await remove()).body, (await get()).body]).toEqual([{ server: null }, { server: null }]);
    expect([(await remove()).status, (await discover()).status]).toEqual([404, 409]);
    const actions = (await audit()).body.events.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['server_disconnected', 'server_connected']);
    expect((await verify()).body).toEqual({ intact: true, checked: 2, read: 2 });
  });
});

describe('GET /support/mcp/orgs/{orgId}/audit', () => {
  it('the audit log is paged and filtered, and names who did what', async () => {
    const { put, audit, org } = await organization();
    const tool = { description: 'x', input_schema: { type: 'object' }, risk_tier: 'safe_write' };
    await put({
      endpoint_url: mcp.url,
      approved_tools: [
        { ...tool, source_name: 'a' },
        { ...tool, source_name: 'b' },
      ],
    });
    const first = await audit('?limit=2');
    expect(first.body.events.map(({ action, tool: name }: Record<string, string>) => [action, name])).toEqual([
      ['tool_approved', 'b'],
      ['tool_approved', 'a'],
    ]);
    const rest = await audit(`?limit=2&cursor=${first.body.next_cursor}`);
    expect([rest.body.events.length, rest.body.next_cursor]).toEqual([1, null]);
    expect((await audit('?tool=a')).body.events).toMatchObject([
      { kind: 'config', tool: 'a', risk_tier: 'safe_write', actor: expect.stringMatching(/^key_/) },
    ]);
    expect((await audit('?outcome=ok')).body.events).toEqual([]);
    expect((await audit(`?to=${new Date(0).toISOString()}`)).body.events).toEqual([]);
    expect((await audit('?outcome=fine')).status).toBe(400);
    const foreign = await organization();
    expect((await api.request('GET', `/support/mcp/orgs/${org.orgId}/audit`, { token: foreign.token })).status).toBe(
      404,
    );
  });
});
