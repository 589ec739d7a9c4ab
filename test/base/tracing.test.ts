/**
 * One trace leads from a request through workflows and activities to the outgoing call. A real
 * OpenTelemetry collector takes the spans and hands them to Zipkin, which is asked for the trace.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { openClient, proveAddresses } from '../kit/database.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { startIdentityProvider, type IdentityProvider } from '../kit/oidc-server.ts';
import { linearTeam, startLinearService, type Service } from '../kit/services.ts';
import { startZipkin, type Span, type Zipkin } from '../kit/zipkin.ts';
import { cancel, openShop, please } from '../kit/toolshop.ts';
import { outboxOf, startReceiver, type Receiver } from '../kit/receiver.ts';

let zipkin: Zipkin;
let receiver: Receiver;
let linear: Service;
let provider: IdentityProvider;
let env: SystemEnv;
let running: Running[];
let api: Api;
let connection: Connection;
beforeAll(async () => {
  zipkin = await startZipkin();
  receiver = await startReceiver();
  linear = await startLinearService();
  provider = await startIdentityProvider(['http://127.0.0.1:3000/v1/auth/oidc/main/callback']);
  const { issuer, clientId: client_id, clientSecret: client_secret } = provider;
  const OIDC_PROVIDERS = JSON.stringify({ main: { issuer, client_id, client_secret } });
  env = systemEnv('tracing', {
    OTEL_EXPORTER_OTLP_ENDPOINT: zipkin.endpoint,
    SERVICE_URLS: `linear=${linear.url}/graphql`,
  });
  running = await Promise.all([
    startProcess('api/server.ts', { ...env, OIDC_PROVIDERS }),
    startProcess('workers/main.ts', {
      ...env,
      FLEETS: 'documents,backlog,conversations,tools,deliveries,slowdeliveries,inbound',
    }),
  ]);
  api = apiAt(running[0]!.url);
  connection = await Connection.connect({ address: env['TEMPORAL_ADDRESS']! });
});
afterAll(async () => {
  await connection.close();
  await Promise.all(running.map((process) => process.stop()));
  await receiver.close();
  await linear.close();
  await provider.close();
  zipkin.close();
  await removeDataDir(env);
});

const newTrace = () => {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
};

/** Waits until the trace has the spans `wanted`, written `service: name`, and returns all of them. */
async function spansWith(traceId: string, wanted: readonly string[]): Promise<Span[]> {
  let spans: Span[] = [];
  await until(async () => {
    spans = await zipkin.spansOf(traceId);
    const names = spans.map(({ localEndpoint, name }) => `${localEndpoint.serviceName}: ${name}`);
    return wanted.every((name) => names.includes(name.toLowerCase()));
  }, 'the spans to be exported');
  return spans;
}

it('a request, its workflow and its activities are one trace, whose id is in the reply, the log and the workflow’s memo', async () => {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  const { traceId, traceparent } = newTrace();
  const form = new FormData();
  form.set('file', new Blob(['A gannet card costs 12 EUR.'], { type: 'text/markdown' }), 'a.md');
  const { body, headers } = await api.request('POST', `/orgs/${org.orgId}/documents`, {
    token,
    form,
    headers: { traceparent },
  });
  expect(headers.get('x-trace-id')).toBe(traceId);
  await api.processed(org.orgId, token, body.document.doc_id);
  const wanted = ['support-platform-api: POST /v1/orgs/:orgId/documents', 'support-platform-worker: readDocument'];
  const spans = await spansWith(traceId, wanted);
  const root = spans.find(({ localEndpoint }) => localEndpoint.serviceName.endsWith('api'));
  expect(spans.find(({ name }) => name === 'readdocument')!.parentId).toBe(root!.id);
  const handle = new Client({ connection }).workflow.getHandle(`document:${body.document.doc_id}`);
  expect((await handle.describe()).memo).toEqual({ traceparent: expect.stringContaining(traceId) });
});

it('a message that asks for a person is one trace up to the webhook, which gets the trace in a header', async () => {
  const org = await outboxOf(api).newOrg(receiver.url, { live: false });
  const { orgId } = org;
  // An API with an identity provider takes an organization live only if the owner's address is verified.
  const mongo = await openClient(env['MONGODB_URI']!);
  await proveAddresses(mongo.db(), org.owner);
  await mongo.close();
  await api.goLive(org);
  const key = (await api.newKey(org, { mode: 'live' })).token;
  const session = await api.newSession(org, { key });
  const { traceId, traceparent } = newTrace();
  const { status } = await api.request('POST', `/support/chat/messages/${orgId}`, {
    token: session.token,
    headers: { traceparent },
    body: { body: 'I want to talk to a person.' },
  });
  expect(status).toBeLessThan(300);
  await until(async () => receiver.received.length > 0, 'the webhook');
  expect(receiver.received[0]!.headers['traceparent']).toContain(traceId);
  const wanted = ['support-platform-worker: attendTo', 'support-platform-worker: POST'];
  await spansWith(traceId, wanted);
});

it('a message that calls a tool is one trace up to the tool server, which gets the trace in a header', async () => {
  const shop = await openShop(api, [{ tool: cancel, risk_tier: 'safe_write' }]);
  const session = await api.newSession(shop.org, { key: shop.key });
  const { traceId, traceparent } = newTrace();
  const path = `/support/chat/messages/${shop.org.orgId}`;
  await api.request('POST', path, { token: session.token, headers: { traceparent }, body: { body: please } });
  await until(async () => shop.mcp.calls.length > 0, 'the call of the tool');
  expect(shop.mcp.heads.at(-1)!['traceparent']).toContain(traceId);
  await spansWith(traceId, ['support-platform-worker: advanceCall', 'support-platform-worker: POST']);
  await shop.mcp.close();
});

it('a request to an external service is a span of the trace, but the service gets no header of the trace', async () => {
  const org = await api.newOrg();
  const { traceId, traceparent } = newTrace();
  const { status } = await api.request('PUT', `/orgs/${org.orgId}/integrations/linear`, {
    token: org.owner.token,
    headers: { traceparent },
    body: { api_key: 'lin_api_0123456789', team_id: linearTeam.id },
  });
  expect(status).toBe(200);
  await spansWith(traceId, ['support-platform-worker: POST']);
  expect(linear.sent.map(({ headers }) => headers)).toEqual([
    expect.not.objectContaining({ traceparent: expect.anything() }),
  ]);
});

it('a request to an identity provider is a span of the trace of the sign-in', async () => {
  const { traceId, traceparent } = newTrace();
  const begun = await fetch(`${api.url}/v1/auth/oidc/main/start`, { headers: { traceparent }, redirect: 'manual' });
  expect(begun.status).toBe(302);
  const wanted = ['support-platform-api: GET /v1/auth/oidc/:provider/start', 'support-platform-api: GET'];
  await spansWith(traceId, wanted);
});

it('a request without a trace, or with a malformed one, gets a new trace', async () => {
  const made = await api.request('GET', '/health/live');
  expect(made.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  const odd = await api.request('GET', '/health/live', { headers: { traceparent: '00-zz-zz-01' } });
  expect(odd.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
});
