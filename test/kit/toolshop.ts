/** Helpers for tests of tools in conversations: an organization with its own tool server, and its customers. */
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { until, type Api, type TestOrg } from './harness.ts';
import { startTestMcp, type TestMcp, type TestTool } from './mcp-server.ts';
import { ChatClient } from './socket.ts';
import type { AuthScope, RiskTier } from '../../models/rules/mcp/tool.ts';
import { defined } from '../../models/rules/base/defined.ts';

export const inputSchema = {
  type: 'object',
  properties: { order_number: { type: 'string' } },
  required: ['order_number'],
  additionalProperties: false,
};
export const cancel: TestTool = {
  name: 'cancel_order',
  description: 'Cancels an order.',
  inputSchema,
  answer: ({ order_number }) => ({ content: [{ type: 'text', text: `Order ${String(order_number)} is cancelled.` }] }),
};
/** The message of a customer that causes the tool call, and the agent's reply after the call. */
export const please = 'Please cancel my order A-1042';
export const done = 'Cancel order:\nOrder A-1042 is cancelled.';
/** The bearer token of the tool server. */
export const secret = 'tok-nobody-may-see-this';

type Terms = { risk_tier: RiskTier; auth_scope?: AuthScope; timeout_ms?: number };
export type Approved = { tool: TestTool } & Terms;

/** An organization with a tool server and these approved tools. The caller closes the server. */
export async function openShop(api: Api, approved: readonly Approved[], settings: Record<string, unknown> = {}) {
  const mcp = await startTestMcp(...approved.map(({ tool }) => tool));
  const org = await api.newOrg();
  const { token: key } = await api.newKey(org);
  const request = (method: string, path: string, { token = key, body }: { token?: string; body?: unknown } = {}) =>
    api.request(method, `/support/mcp/orgs/${org.orgId}${path}`, { token, ...defined({ body }) });
  const approve = async (now: readonly Approved[] = approved) => {
    const approved_tools = now.map(({ tool: { name, description, inputSchema: input_schema }, ...terms }) => ({
      source_name: name,
      description,
      input_schema,
      auth_scope: 'public',
      timeout_ms: 60_000,
      ...terms,
    }));
    const body = { endpoint_url: mcp.url, auth_type: 'bearer', access_token: secret, ...settings, approved_tools };
    const reply = await request('PUT', '/server', { body });
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  };
  const events = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await request('GET', `/audit${query}`)).body.events;
  await approve();
  return {
    org,
    mcp,
    key,
    approve,
    request,
    events,
    /**
     * The outcomes of the calls, newest first, once the audit has `count` of them. A customer may hear of an outcome
     * before the audit has it.
     */
    outcomes: (count: number) =>
      until(async () => {
        const found = outcomesOf(await events());
        return found.length >= count && found;
      }, `${count} calls in the audit`),
  };
}
export type Shop = Awaited<ReturnType<typeof openShop>>;

/** A verified and connected customer. */
export async function customerOf(api: Api, org: TestOrg, key: string, body: Record<string, unknown> = {}) {
  const session = await api.newSession(org, { key, body });
  const client = await new ChatClient(org.orgId, { sessionToken: session.token }).connect(api.url);
  return { ...session, client };
}

/** A visitor of a page: anonymous, or with an e-mail address that the page signed with `embedSecret`. */
async function visitorOf(api: Api, org: TestOrg, embedSecret?: string): Promise<ChatClient> {
  const keys = await api.request('GET', `/support/developer-keys/orgs/${org.orgId}/publishable-keys`, {
    token: org.owner.token,
  });
  const query: Record<string, string> = { pk: keys.body.data.test.key, visitorId: randomUUID() };
  if (embedSecret !== undefined) {
    const email = `${randomUUID()}@customer.example`;
    Object.assign(query, { email, sig: createHmac('sha256', embedSecret).update(email).digest('hex') });
  }
  return new ChatClient(org.orgId, query).connect(api.url);
}

const outcomesOf = (events: readonly Record<string, unknown>[]) =>
  events.flatMap(({ kind, outcome }) => (kind === 'invocation' ? [outcome] : []));

/** The whole history of a workflow as text, with decoded payloads. */
export async function historyText(temporal: Client, workflowId: string): Promise<string> {
  const history = await temporal.workflow.getHandle(workflowId).fetchHistory();
  return JSON.stringify(history, function (this: Record<string, unknown>, name: string, value: unknown) {
    // Buffers are already converted by their `toJSON` here, so the original value is read.
    const given = this[name];
    return given instanceof Uint8Array ? Buffer.from(given).toString('utf8') : value;
  });
}

/** The shops and customers of the tests of one file. Everything is closed after these tests. */
export function shopping(api: Api) {
  const servers: TestMcp[] = [];
  const clients: ChatClient[] = [];
  afterAll(async () => {
    for (const client of clients) client.drop();
    await Promise.all(servers.map((server) => server.close()));
  });
  return {
    opened: async (approved: readonly Approved[], settings?: Record<string, unknown>): Promise<Shop> => {
      const shop = await openShop(api, approved, settings);
      servers.push(shop.mcp);
      return shop;
    },
    met: async ({ org, key }: Pick<Shop, 'org' | 'key'>, body?: Record<string, unknown>) => {
      const made = await customerOf(api, org, key, body);
      clients.push(made.client);
      return made;
    },
    visited: async ({ org }: Pick<Shop, 'org'>, embedSecret?: string): Promise<ChatClient> => {
      const client = await visitorOf(api, org, embedSecret);
      clients.push(client);
      return client;
    },
  };
}
