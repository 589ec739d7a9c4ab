/**
 * A loopback receiver of webhooks, and helpers for tests of deliveries: organizations with a receiver, and tickets with
 * events.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { until, type Api, type TestOrg } from './harness.ts';
import { serving } from './listening.ts';
import { defined } from '../../models/rules/base/defined.ts';

export type Received = {
  at: number;
  headers: IncomingHttpHeaders;
  /** The body as received. */
  body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what it holds is what its test finds out
  event: any;
};
/** How a request is answered. The default is 204. */
export type Answer = (received: Received, response: ServerResponse) => void;
export type Receiver = {
  url: string;
  received: Received[];
  answer: Answer;
  close(): Promise<void>;
};

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_, response) =>
    void response.writeHead(code, headers).end(body);
/** Accepts the request and never answers. */
export const hang: Answer = () => undefined;

/** `tls` is a certificate with its key, for HTTPS under the host name of the certificate. */
export async function startReceiver(
  answer: Answer = status(204),
  tls?: { cert: string; key: string; hostname: string },
): Promise<Receiver> {
  const received: Received[] = [];
  const receiver = { received, answer };
  const { port, close } = await serving(
    ({ headers }, response, body) => {
      const one: Received = { at: Date.now(), headers, body, event: JSON.parse(body) };
      received.push(one);
      receiver.answer(one, response);
    },
    tls && createTlsServer(tls),
  );
  return Object.assign(receiver, {
    url: `${tls ? `https://${tls.hostname}` : 'http://127.0.0.1'}:${port}/hook`,
    close,
  });
}

export const newSecret = (): string => `whsec_${Buffer.from(randomUUID() + randomUUID()).toString('base64')}`;

/** Requests of tests about the outbox of organizations. */
export function outboxOf(api: Api) {
  const configure = async (org: TestOrg, body: Record<string, unknown>) => {
    const reply = await api.request('PUT', `/support/config/orgs/${org.orgId}`, { token: org.owner.token, body });
    if (reply.status !== 200) throw new Error(`config: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  /** An organization whose ticket events are sent to this URL, live by default. */
  async function newOrg(url: string, { secret = newSecret(), live = true } = {}) {
    const org = await api.newOrg();
    if (live) await api.goLive(org);
    // The owner gets no notices by mail, because these tests are about deliveries to other services.
    await api.request('PUT', '/me/notices', { token: org.owner.token, body: { mail: false } });
    const mode = live ? ('live' as const) : ('test' as const);
    const key = (await api.newKey(org, { mode })).token;
    await configure(org, {
      outbox_providers: ['webhook'],
      outbox_webhook_url: url,
      outbox_webhook_secret: secret,
    });
    return { ...org, key, secret };
  }
  type Org = TestOrg & { key: string };
  const outbox = (org: Org, method: string, rest: string, body?: unknown, token = org.key) =>
    api.request(method, `/support/outbox/orgs/${org.orgId}${rest}`, { token, ...defined({ body }) });
  /** A conversation of a new customer, with one message. */
  async function newConversation(org: Org, customer: Record<string, unknown> = {}) {
    const email = `${randomUUID()}@customer.example`;
    const session = await api.newSession(org, { key: org.key, body: { customer: { email, ...customer } } });
    const sent = await api.request('POST', `/support/chat/messages/${org.orgId}`, {
      token: session.token,
      body: { body: 'Where is my card?' },
    });
    if (sent.status !== 202) throw new Error(`message: ${sent.status}`);
    return { convId: sent.body.conv_id as string, customerId: session.customerId, email };
  }
  /** Calls a route of a member: `escalate`, `resolve` or `reopen`. */
  async function act(org: Org, convId: string, name: string, body: unknown = {}) {
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/${name}`;
    const reply = await api.request('POST', path, { token: org.key, body });
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.conversation;
  }
  /** A new ticket whose first two events are being delivered. */
  async function newTicket(org: Org, customer: Record<string, unknown> = {}) {
    const conversation = await newConversation(org, customer);
    const { ticket } = await act(org, conversation.convId, 'escalate', { reason: 'Needs a person.' });
    return { ...conversation, ticketId: ticket.ticket_id as string };
  }
  /** Waits until `want` accepts the deliveries and returns them, oldest first. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  async function deliveries(org: Org, want: (all: any[]) => boolean = () => true, query = ''): Promise<any[]> {
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    let last: any[] = [];
    return until(
      async () => {
        const reply = await outbox(org, 'GET', `/deliveries?limit=100${query}`);
        last = (reply.body.deliveries ?? []).toReversed();
        return want(last) && last;
      },
      () => `deliveries; the last ones were ${JSON.stringify(last).slice(0, 3_000)}`,
    );
  }
  return { configure, newOrg, outbox, newConversation, act, newTicket, deliveries };
}

/** Whether there are `count` deliveries and all of them have the status. */
export const all =
  (count: number, wanted: string) =>
  (found: { status: string }[]): boolean =>
    found.length === count && found.every((one) => one.status === wanted);
