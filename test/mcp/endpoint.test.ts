/**
 * `/v1/mcp`: the knowledge base as an MCP server, used by the official client in both protocol revisions and by our own
 * client.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Client,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { createHttp } from '../../clients/http/http.ts';
import { createMcp } from '../../clients/mcp/mcp.ts';
import { allScopes, system, type TestOrg } from '../kit/harness.ts';

const api = system();
const clients: Client[] = [];
let org: TestOrg;
let key: string;
let foreign: string;
const document = `# Gannet cards
The gannet card costs 12 EUR a year. It is free for students under 26.

# Lost cards
Call the night line at once when a gannet card is lost.
`;

beforeAll(async () => {
  const other = await api.newOrg();
  [org, foreign] = [await api.newOrg(), (await api.newKey(other)).token];
  key = (await api.newKey(org)).token;
  for (const [file, segments] of [
    [{ name: 'cards.md', content: document }, ''],
    [{ name: 'business.md', content: '# Heron account\nThe heron account costs 30 EUR a month.' }, 'business'],
  ] as const) {
    const { status, body } = await api.upload(org.orgId, key, file, { segments });
    expect(status).toBe(201);
    expect((await api.processed(org.orgId, key, body.document.doc_id)).status).toBe('indexed');
  }
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
});

async function connect(token = key, mode: 'auto' | 'legacy' = 'auto'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  clients.push(client);
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${api.url}/v1/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}
const call = (client: Client, name: string, given: Record<string, unknown>) =>
  client.callTool({ name, arguments: given });
/** A request as an older client sends it, without the handshake. */
const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${api.url}/v1/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  });

describe.each(['auto', 'legacy'] as const)('the official client in mode %s', (mode) => {
  it('the official MCP client lists the tools of /v1/mcp with their schemas, and gets structured results', async () => {
    const client = await connect(key, mode);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['ask', true],
      ['search', true],
    ]);
    for (const { inputSchema, outputSchema } of tools)
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    const answer = await call(client, 'ask', { question: 'What does the gannet card cost?' });
    expect(answer.content).toMatchObject([{ type: 'text', text: expect.stringContaining('12 EUR a year') }]);
    expect(answer.structuredContent).toMatchObject({
      has_context: true,
      confidence: 'high',
      mode: 'test',
      sources: [{ type: 'document', name: 'cards.md' }],
    });
    const found = await call(client, 'search', { query: 'lost gannet card', limit: 1 });
    expect(found.structuredContent).toMatchObject({
      confidence: 'high',
      passages: [{ heading: 'Lost cards', source: { name: 'cards.md' } }],
    });
  });
});

describe('our own client', () => {
  it('the product’s MCP client lists and calls the tools of the product’s MCP server like those of any other server', async () => {
    const http = createHttp({ userAgent: 'test', egressAllow: ['127.0.0.1'] });
    const mcp = createMcp({ http, egressAllow: ['127.0.0.1'] });
    const address = { key: 'own', url: `${api.url}/v1/mcp`, auth: { token: async () => key } };
    const [definition] = await mcp.listTools(address);
    const asked = { name: 'ask', arguments: { question: 'What does the gannet card cost?' } };
    const answer = await mcp.callTool(address, { ...asked, definition: definition!, timeoutMs: 10_000 });
    expect(answer).toMatchObject({ isError: false, structured: { has_context: true } });
    await mcp.close();
    await http.close();
  });
});

describe('the tools of /v1/mcp', () => {
  it('the tools of /v1/mcp return content of a segment only when the call names that segment', async () => {
    const client = await connect();
    const nothing = await call(client, 'ask', { question: 'Do you sell hovercraft?' });
    expect(nothing.structuredContent).toMatchObject({ has_context: false, sources: [] });
    const question = 'What does the heron account cost?';
    const personal = await call(client, 'ask', { question, segments: ['personal'] });
    expect(personal.structuredContent).toMatchObject({ has_context: false });
    const business = await call(client, 'ask', { question, segments: ['business'] });
    expect(JSON.stringify(business.content)).toContain('30 EUR a month');
    const gaps = await api.request('GET', `/orgs/${org.orgId}/kb/gaps`, { token: key });
    expect(gaps.body.gaps.map((gap: { question: string }) => gap.question)).toContain('Do you sell hovercraft?');
  });

  it('the tools of /v1/mcp return content of the key’s organization only', async () => {
    const stranger = await connect(foreign);
    const answer = await call(stranger, 'search', { query: 'What does the gannet card cost?' });
    expect(answer.structuredContent).toMatchObject({ confidence: 'none', passages: [] });
  });

  it.each([
    ['no argument', 'ask', {}],
    ['an empty question', 'ask', { question: '' }],
    ['a long question', 'ask', { question: 'x'.repeat(2_001) }],
    ['an unknown argument', 'ask', { question: 'What?', org_id: 'org_other' }],
    ['too many passages', 'search', { query: 'cards', limit: 1_000 }],
  ])('the tools of /v1/mcp refuse invalid arguments: %s', async (_, name, given) => {
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
    const text = await reply.text();
    expect(text).toMatch(/"isError":true|"error":/);
    expect(text).not.toContain('gannet');
  });
});

describe('POST /v1/mcp', () => {
  it.each([
    ['no credential', 401, () => ''],
    ['a key that does not exist', 401, () => `Bearer ${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`],
    ['a dashboard login', 401, () => `Bearer ${org.owner.token}`],
    [
      'a key without support:read',
      403,
      async () => {
        const scopes = allScopes.filter((scope) => scope !== 'support:read');
        return `Bearer ${(await api.newKey(org, { scopes })).token}`;
      },
    ],
  ])('a request with %s is refused with %i', async (_, status, authorization) => {
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { authorization: await authorization() });
    const told = reply.headers.get('www-authenticate');
    expect([reply.status, told]).toEqual([status, status === 401 ? expect.stringMatching(/^Bearer resource_/) : null]);
    expect(await reply.json()).toMatchObject({ code: status === 401 ? expect.any(String) : 'MISSING_SCOPE' });
  });

  it('POST /v1/mcp names no authorization server in its metadata, because only API keys are accepted', async () => {
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { authorization: '' });
    const { resourceMetadataUrl } = extractWWWAuthenticateParams(reply);
    expect(resourceMetadataUrl?.pathname).toBe('/.well-known/oauth-protected-resource/v1/mcp');
    const found = await discoverOAuthProtectedResourceMetadata(`${api.url}/v1/mcp`);
    expect(found).toEqual({
      resource: 'http://127.0.0.1:3000/v1/mcp',
      resource_name: 'Knowledge base',
      bearer_methods_supported: ['header'],
      scopes_supported: ['support:read'],
      resource_documentation: 'http://127.0.0.1:3000/docs',
    });
  });

  it('a request from a web page of another origin is refused', async () => {
    const reply = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { origin: 'https://evil.example' });
    expect(reply.status).toBe(403);
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['a body that is no message', 400, { hello: 'there' }],
    ['an empty batch', 400, []],
    ['a long batch', 400, Array.from({ length: 51 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))],
    ['a batch of two items that are no messages', 400, [1, 2]],
  ])('a request with %s gets %i', async (_, status, body) => {
    const reply = await post(body);
    expect(reply.status).toBe(status);
    expect((await reply.json()) as object).toHaveProperty('error');
  });

  it('POST /v1/mcp accepts only POST with JSON up to the size limit', async () => {
    const get = await fetch(`${api.url}/v1/mcp`, { headers: { authorization: `Bearer ${key}` } });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post({}, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(1024 * 1024) })).status).toBe(413);
  });

  it('POST /v1/mcp refuses a subscription to change notifications with 404', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const listen = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: meta } };
    const reply = await post(listen, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    });
    expect([reply.status, await reply.json()]).toMatchObject([404, { id: 1, error: { code: -32_601 } }]);
  });

  it('POST /v1/mcp counts every call of a batch towards the rate limit', async () => {
    const asking = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'nothing', arguments: {} } };
    // A new key, so that its minute starts with the first request.
    const { token } = await api.newKey(org);
    const left = async (body: unknown) => {
      const reply = await post(body, { authorization: `Bearer ${token}` });
      await reply.text();
      return Number(/;r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1]);
    };
    const first = await left({ ...asking, id: 1 });
    const second = await left([1, 2, 3, 4, 5].map((id) => ({ ...asking, id })));
    expect(first - second).toBe(5);
  });
});
