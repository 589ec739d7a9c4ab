/** Ticket events as a receiver gets them: signed, in order, once, and with the same bytes at each attempt. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { createHmac, randomBytes } from 'node:crypto';
import { sharedDatabase } from '../../kit/database.ts';
import { system, until } from '../../kit/harness.ts';
import { all, hang, newSecret, outboxOf, status, type Answer, type Received } from '../../kit/receiver.ts';
import { receiversOfTest } from '../../kit/receivers.ts';
import { verifiedByNpm, verifiedByPython } from '../../kit/standardwebhooks.ts';

const api = system();
const db = sharedDatabase();
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
});
afterAll(() => connection.close());
const { configure, newOrg, newConversation, newTicket, act, outbox, deliveries } = outboxOf(api);
const newReceiver = receiversOfTest();

const idOf = ({ headers }: Received) => headers['webhook-id'];
const typesOf = (received: readonly Received[]) => received.map(({ event }) => event.type);
/** Answers the first requests with these answers, and accepts the others. */
const first = (...answers: Answer[]): Answer => {
  const left = [...answers];
  return (received, response) => (left.shift() ?? status(204))(received, response);
};
/** A header with which no further attempt starts by itself during a test. */
const later = { 'retry-after': '3600' };
// oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds
type Found = any;

describe('a ticket’s events', () => {
  it('the events of a ticket arrive in order, signed and with all details, and are recorded as delivered', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    const { convId, ticketId, customerId, email } = await newTicket(org, { name: 'Ada Example' });
    await act(org, convId, 'resolve');
    const found = await deliveries(org, all(3, 'delivered'));
    expect(typesOf(receiver.received)).toEqual(['ticket.created', 'ticket.escalated', 'ticket.resolved']);
    const [created] = receiver.received;
    const read = verifiedByNpm(org.secret, created!);
    expect(read).toEqual({
      type: 'ticket.created',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: {
        org_id: org.orgId,
        mode: 'live',
        ticket: expect.objectContaining({ ticket_id: ticketId, event_seq: 1, description: 'Needs a person.' }),
        conversation: expect.objectContaining({ conv_id: convId, preview: 'Where is my card?' }),
        customer: expect.objectContaining({ customer_id: customerId, email, name: 'Ada Example', verified: true }),
      },
    });
    expect(await verifiedByPython(org.secret, created!)).toEqual(read);
    const key = Buffer.from(org.secret.slice('whsec_'.length), 'base64');
    expect(created!.headers['x-svc-signature']).toBe(createHmac('sha256', key).update(created!.body).digest('hex'));
    expect(found.map(({ event_id }) => event_id)).toEqual(receiver.received.map(idOf));
    expect(found[0]).toMatchObject({
      org_id: org.orgId,
      mode: 'live',
      kind: 'webhook',
      destination: receiver.url,
      attempts: [{ status_code: 204, duration_ms: expect.any(Number) }],
      next_attempt_at: null,
      error: null,
      conv_id: convId,
      ticket_id: ticketId,
      request: { method: 'POST', url: receiver.url, body: created!.body },
    });
    const { body } = await outbox(org, 'GET', '/deliveries');
    expect(body.destinations).toEqual([expect.objectContaining({ kind: 'webhook', mode: 'live', status: 'active' })]);
  });

  it('events are sent when the agent escalates, and again for each further escalation', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    const session = await api.newSession(org, { key: org.key });
    const say = (body: string) =>
      api.request('POST', `/support/chat/messages/${org.orgId}`, { token: session.token, body: { body } });
    const said = await say('I want to talk to a person, please.');
    await deliveries(org, all(2, 'delivered'));
    await act(org, said.body.conv_id, 'resolve');
    await act(org, said.body.conv_id, 'escalate');
    await deliveries(org, all(4, 'delivered'));
    const escalated = receiver.received.filter(({ event }) => event.type === 'ticket.escalated');
    expect(escalated.map(({ event }) => event.data.ticket.event_seq)).toEqual([2, 4]);
    expect(new Set(receiver.received.map(idOf)).size).toBe(4);
  });

  it('events are signed with the bytes of the secret when the secret is plain text', async () => {
    const receiver = await newReceiver();
    const secret = `no base64 at all: ${randomBytes(8).toString('hex')}`;
    const org = await newOrg(receiver.url, { secret });
    await newTicket(org);
    await deliveries(org, all(2, 'delivered'));
    const [created] = receiver.received;
    expect(verifiedByNpm(secret, created!)).toEqual(await verifiedByPython(secret, created!));
    expect(() => verifiedByNpm(secret, { ...created!, body: `${created!.body} ` })).toThrow();
    const headers = { ...created!.headers, 'webhook-timestamp': '1' };
    await expect(verifiedByPython(secret, { ...created!, headers })).rejects.toThrow();
  });

  it('an event waits for the previous event of its ticket, and for no event of another ticket', async () => {
    const failing = new Set<unknown>();
    // At first every event fails, because the test does not know the ticket's id before the ticket exists.
    const receiver = await newReceiver(status(500, later, 'Not today.'));
    const org = await newOrg(receiver.url);
    const other = await newConversation(org);
    const one = await newConversation(org);
    const { ticket } = await act(org, one.convId, 'escalate');
    failing.add(ticket.ticket_id);
    await deliveries(org, (found) => found.some(({ status: at }: Found) => at === 'retrying'));
    receiver.answer = (received, response) =>
      (failing.has(received.event.data.ticket.ticket_id) ? status(500, later) : status(204))(received, response);
    await act(org, one.convId, 'resolve');
    await act(org, other.convId, 'escalate');
    const found = await deliveries(
      org,
      (all5) => all5.length === 5 && all5.filter(({ status: at }: Found) => at === 'delivered').length === 2,
    );
    const own = found.filter(({ ticket_id }) => ticket_id === ticket.ticket_id);
    expect(own.map(({ status: at }) => at)).toEqual(['retrying', 'pending', 'pending']);
    expect(own[0]).toMatchObject({
      attempts: expect.arrayContaining([expect.objectContaining({ status_code: 500, response_head: 'Not today.' })]),
      error: 'The receiver answered 500.',
    });
    failing.clear();
    const { status: redelivered } = await outbox(org, 'POST', `/deliveries/${own[0].delivery_id}/redeliver`);
    expect(redelivered).toBe(202);
    await deliveries(org, all(5, 'delivered'));
    const ofTicket = receiver.received.filter(({ event }) => event.data.ticket.ticket_id === ticket.ticket_id);
    expect(ofTicket.slice(-3).map(({ event }) => event.data.ticket.event_seq)).toEqual([1, 2, 3]);
    expect(ofTicket.slice(0, -3).every(({ event }) => event.data.ticket.event_seq === 1)).toBe(true);
    // Each attempt sends the same event, byte for byte.
    const created = ofTicket.filter(({ event }) => event.data.ticket.event_seq === 1);
    expect(new Set(created.map(idOf)).size).toBe(1);
    expect(new Set(created.map(({ body }) => body)).size).toBe(1);
  });
});

describe('an attempt', () => {
  /** An organization whose first event got this answer, and the delivery of that event. */
  async function answered(answer: Answer) {
    const receiver = await newReceiver(first(answer));
    const org = await newOrg(receiver.url);
    const ticket = await newTicket(org);
    const [delivery] = await deliveries(org, ([created]) => created?.attempts.length > 0);
    return { receiver, org, ticket, delivery };
  }
  const tryNow = async (org: Found, delivery: Found) =>
    outbox(org, 'POST', `/deliveries/${delivery.delivery_id}/redeliver`);

  it('a failed delivery attempt is repeated after five seconds', async () => {
    const { receiver, org } = await answered(status(503, {}, 'x'.repeat(5_000)));
    const [{ attempts }] = await deliveries(org, all(2, 'delivered'));
    expect(attempts).toMatchObject([{ status_code: 503 }, { status_code: 204 }]);
    expect(attempts[0].response_head).toHaveLength(500);
    expect(Date.parse(attempts[1].at) - Date.parse(attempts[0].at)).toBeGreaterThanOrEqual(4_900);
    expect(receiver.received[1]!.at - receiver.received[0]!.at).toBeGreaterThanOrEqual(4_900);
    expect(Number(receiver.received[1]!.headers['webhook-timestamp'])).toBeGreaterThan(
      Number(receiver.received[0]!.headers['webhook-timestamp']),
    );
  });

  it('the next delivery attempt waits at least as long as Retry-After requests', async () => {
    const { delivery } = await answered(status(429, later));
    expect(delivery).toMatchObject({ status: 'retrying', attempts: [{ status_code: 429 }] });
    const wait = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempts[0].at);
    expect(wait).toBeGreaterThanOrEqual(3_600_000);
    expect(wait).toBeLessThan(1.3 * 3_600_000);
  });

  it('a delivery attempt that is answered with a redirect fails, and the redirect is not followed', async () => {
    const elsewhere = await newReceiver();
    const { org, delivery } = await answered(status(308, { ...later, location: elsewhere.url }));
    expect(delivery).toMatchObject({
      status: 'retrying',
      error: 'The receiver answered 308; redirects are not followed.',
    });
    await tryNow(org, delivery);
    await deliveries(org, all(2, 'delivered'));
    expect(elsewhere.received).toEqual([]);
  });

  it('a delivery attempt goes to the current address and is signed only with the secret of that address', async () => {
    const { org, delivery } = await answered(status(500, later));
    const moved = await newReceiver();
    const fresh = newSecret();
    await configure(org, { outbox_webhook_url: moved.url, outbox_webhook_secret: fresh });
    await tryNow(org, delivery);
    await deliveries(org, all(2, 'delivered'));
    const [again] = moved.received;
    expect(String(again!.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verifiedByNpm(fresh, again!)).toMatchObject({ type: expect.any(String) });
  });

  it('after a change of the secret a delivery attempt is signed with both secrets', async () => {
    const { receiver, org, delivery } = await answered(status(500, later));
    receiver.answer = status(204);
    const fresh = newSecret();
    await configure(org, { outbox_webhook_secret: fresh });
    // Saving the same secret again is no change and adds no signature.
    await configure(org, { outbox_webhook_secret: fresh });
    await tryNow(org, delivery);
    await deliveries(org, all(2, 'delivered'));
    const again = receiver.received[1];
    expect(String(again!.headers['webhook-signature']).split(' ')).toHaveLength(2);
    expect(verifiedByNpm(fresh, again!)).toEqual(verifiedByNpm(org.secret, again!));
    expect(await verifiedByPython(fresh, again!)).toEqual(await verifiedByPython(org.secret, again!));
    const key = Buffer.from(fresh.slice('whsec_'.length), 'base64');
    expect(again!.headers['x-svc-signature']).toBe(createHmac('sha256', key).update(again!.body).digest('hex'));
    expect([again!.body, idOf(again!)]).toEqual([receiver.received[0]!.body, idOf(receiver.received[0]!)]);
  });

  it('a delivery that waits is given up when its destination is removed', async () => {
    const { org, delivery } = await answered(status(500, later));
    await configure(org, { outbox_providers: [], outbox_webhook_url: null });
    await tryNow(org, delivery);
    const found = await deliveries(org, all(2, 'failed'));
    expect(found[0].error).toBe('outbox_webhook_url is not set any more.');
  });
});

describe('a receiver that does not answer', () => {
  it('deliveries to a receiver that does not answer move to the slow task queue, and move back after the receiver has answered', async () => {
    const receiver = await newReceiver(first(hang));
    const org = await newOrg(receiver.url);
    const { ticketId, convId } = await newTicket(org);
    const { workflow } = new Client({ connection });
    const [created] = await deliveries(org, all(2, 'delivered'));
    expect(created.attempts).toMatchObject([{ error: 'The server did not answer in time.' }, { status_code: 204 }]);
    /** The task queues on which the latest run of the ticket's workflow looked for events and sent them. */
    const queues = async () => {
      const events = (await workflow.getHandle(`ticket:${ticketId}`).fetchHistory()).events ?? [];
      const activities = events.flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity ?? []);
      const of = (name: string) =>
        activities.flatMap(({ activityType, taskQueue }) => (activityType?.name === name ? [taskQueue?.name] : []));
      // A slow start of the workflow may be repeated; the workflow then looks for events once more.
      return { looked: [...new Set(of('sendEvents'))], sent: of('sendSome') };
    };
    const { looked, sent } = await queues();
    expect([looked, sent.slice(0, 2)]).toEqual([['shared-deliveries'], ['shared-deliveries', 'shared-slowdeliveries']]);
    expect(sent.slice(2)).not.toContain('shared-slowdeliveries');
    // The same workflow also handles events that arrive while it is running.
    await until(
      async () => (await workflow.getHandle(`ticket:${ticketId}`).describe()).status.name === 'COMPLETED',
      'the workflow of both events to end',
    );
    await act(org, convId, 'resolve');
    await deliveries(org, all(3, 'delivered'));
    const after = await queues();
    expect([after.looked, after.sent]).toEqual([['shared-deliveries'], []]);
  });
});

describe('a receiver that answers 410', () => {
  it('a receiver that answers 410 is disabled, and the missed events can be recovered once its address is saved again', async () => {
    const receiver = await newReceiver(status(410));
    const org = await newOrg(receiver.url);
    const since = new Date().toISOString();
    const one = await newTicket(org);
    const two = await newTicket(org);
    await deliveries(org, all(4, 'failed'));
    const asked = receiver.received.length;
    await act(org, one.convId, 'resolve');
    const [, , , , resolved] = await deliveries(org, all(5, 'failed'));
    expect(resolved).toMatchObject({ attempts: [], error: expect.stringContaining('disabled') });
    expect(receiver.received).toHaveLength(asked);
    const list = await outbox(org, 'GET', '/deliveries');
    expect(list.body.destinations).toEqual([
      expect.objectContaining({ status: 'disabled', last_error: expect.stringContaining('410') }),
    ]);
    // Notifications about the conversations are not part of this test.
    const about = { org_id: org.orgId, conv_id: { $exists: false } };
    const told = await db().collection('notifications').find(about).toArray();
    expect(told).toEqual([expect.objectContaining({ user_id: org.owner.userId, kind: 'destination_disabled' })]);
    for (const path of [`/deliveries/${resolved.delivery_id}/redeliver`, '/test'])
      expect((await outbox(org, 'POST', path)).status).toBe(409);
    expect((await outbox(org, 'POST', '/recover', { since })).body).toEqual({ recovered: 0 });

    receiver.answer = status(204);
    await configure(org, { outbox_providers: ['webhook'] });
    expect((await outbox(org, 'GET', '/deliveries')).body.destinations).toEqual([]);
    const recovered = await outbox(org, 'POST', '/recover', { since });
    expect([recovered.status, recovered.body]).toEqual([202, { recovered: 5 }]);
    await deliveries(org, all(5, 'delivered'));
    const got = receiver.received.slice(asked).map(({ event }) => event.data.ticket);
    for (const { ticketId, events } of [
      { ticketId: one.ticketId, events: [1, 2, 3] },
      { ticketId: two.ticketId, events: [1, 2] },
    ])
      expect(got.filter(({ ticket_id }) => ticket_id === ticketId).map(({ event_seq }) => event_seq)).toEqual(events);
  });
});

describe('test mode', () => {
  it('test mode sends nothing and stores the exact request', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url, { live: false });
    await newTicket(org);
    const found = await deliveries(org, all(2, 'suppressed'));
    expect(receiver.received).toEqual([]);
    for (const { request, event_id, event_type, mode } of found) {
      expect(request).toMatchObject({ method: 'POST', url: receiver.url, headers: { 'webhook-id': event_id } });
      expect(verifiedByNpm(org.secret, request)).toMatchObject({ type: event_type, data: { mode: 'test' } });
      expect(await verifiedByPython(org.secret, request)).toMatchObject({ type: event_type });
      expect(mode).toBe('test');
    }
  });
});

describe('POST /support/outbox/orgs/{orgId}/test', () => {
  it('POST …/test sends an event of the type test', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    const sent = await outbox(org, 'POST', '/test');
    expect([sent.status, sent.body.delivery.event_type]).toEqual([202, 'test']);
    await deliveries(org, all(1, 'delivered'));
    expect(verifiedByNpm(org.secret, receiver.received[0]!)).toMatchObject({
      type: 'test',
      data: { org_id: org.orgId, mode: 'live', ticket: null },
    });
    const byMember = await outbox(org, 'POST', '/test', {}, org.owner.token);
    expect(byMember.status).toBe(202);
    await deliveries(org, all(2, 'delivered'), '&event_type=test');
  });

  it('POST …/test is refused with 409 while the address or the secret is missing', async () => {
    const org = await api.newOrg();
    const { token } = org.owner;
    const path = `/support/outbox/orgs/${org.orgId}/test`;
    expect((await api.request('POST', path, { token })).body.error).toContain('outbox_webhook_url');
    await configure(org, { outbox_webhook_url: 'https://example.com/hook' });
    const refused = await api.request('POST', path, { token });
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('outbox_webhook_secret')]);
  });
});

describe('POST …/deliveries/{id}/redeliver', () => {
  it('a request to redeliver sends a delivered event again with the same id and body and a new signature', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    await newTicket(org);
    const [created] = await deliveries(org, all(2, 'delivered'));
    const fresh = newSecret();
    await configure(org, { outbox_webhook_secret: null, outbox_providers: [] });
    await configure(org, { outbox_webhook_secret: fresh, outbox_providers: ['webhook'] });
    const again = await outbox(org, 'POST', `/deliveries/${created.delivery_id}/redeliver`);
    expect([again.status, again.body.delivery.status]).toEqual([202, 'pending']);
    const [found] = await deliveries(org, ([one]) => one.status === 'delivered' && one.attempts.length === 2);
    const repeated = receiver.received[2]!;
    expect([idOf(repeated), repeated.body]).toEqual([found.event_id, receiver.received[0]!.body]);
    verifiedByNpm(fresh, repeated);
    // A secret that was removed signs nothing any more.
    expect(() => verifiedByNpm(org.secret, repeated)).toThrow();
  });
});

describe('POST …/recover', () => {
  it('a request to recover deliveries skips deliveries that are older than `since` and deliveries that did not fail', async () => {
    const receiver = await newReceiver(first(status(410)));
    const org = await newOrg(receiver.url);
    await newTicket(org);
    await deliveries(org, all(2, 'failed'));
    await configure(org, { outbox_providers: ['webhook'] });
    const later = new Date(Date.now() + 1_000).toISOString();
    expect((await outbox(org, 'POST', '/recover', { since: later })).body).toEqual({ recovered: 0 });
    expect((await outbox(org, 'POST', '/recover', { since: 'yesterday' })).status).toBe(400);
    const since = '2020-01-01T00:00:00+01:00';
    expect((await outbox(org, 'POST', '/recover', { since })).body).toEqual({ recovered: 2 });
    await deliveries(org, all(2, 'delivered'));
    expect((await outbox(org, 'POST', '/recover', { since })).body).toEqual({ recovered: 0 });
    expect(receiver.received).toHaveLength(3);
  });
});

describe('GET …/deliveries', () => {
  it('the list of deliveries is filtered and paginated, newest first', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    const { convId } = await newTicket(org);
    await act(org, convId, 'resolve');
    const whole = (await deliveries(org, all(3, 'delivered'))).toReversed();
    const ids = (reply: Found) => reply.body.deliveries.map(({ delivery_id }: Found) => delivery_id);
    const one = await outbox(org, 'GET', '/deliveries?limit=2');
    const two = await outbox(org, 'GET', `/deliveries?limit=2&cursor=${one.body.cursor}`);
    expect([...ids(one), ...ids(two)]).toEqual(whole.map(({ delivery_id }) => delivery_id));
    expect(two.body.cursor).toBeNull();
    for (const [query, count] of [
      ['status=delivered', 3],
      ['status=failed', 0],
      ['kind=webhook', 3],
      ['kind=slack', 0],
      ['event_type=ticket.resolved', 1],
      ['event_type=test', 0],
    ] as const)
      expect([query, ids(await outbox(org, 'GET', `/deliveries?${query}`)).length]).toEqual([query, count]);
    const single = await outbox(org, 'GET', `/deliveries/${whole[0].delivery_id}`);
    expect(single.body.delivery).toEqual(whole[0]);
    expect((await outbox(org, 'GET', '/deliveries?status=sent')).status).toBe(400);
    expect((await outbox(org, 'GET', '/deliveries?cursor=abc')).status).toBe(400);
  });

  it('deliveries of other organizations are hidden, and a key sees only its mode', async () => {
    const receiver = await newReceiver();
    const [org, other] = await Promise.all([newOrg(receiver.url), newOrg(receiver.url)]);
    await newTicket(org);
    const [created] = await deliveries(org, all(2, 'delivered'));
    const own = `/support/outbox/orgs/${org.orgId}/deliveries`;
    const there = `/support/outbox/orgs/${other.orgId}/deliveries`;
    expect((await api.request('GET', own, { token: other.key })).status).toBe(404);
    expect((await api.request('GET', `${there}/${created.delivery_id}`, { token: other.key })).status).toBe(404);
    const redeliver = `${there}/${created.delivery_id}/redeliver`;
    expect((await api.request('POST', redeliver, { token: other.key })).status).toBe(404);
    expect((await api.request('GET', there, { token: other.key })).body.deliveries).toEqual([]);
    const test = (await api.newKey(org, { mode: 'test' })).token;
    expect((await api.request('GET', own, { token: test })).body.deliveries).toEqual([]);
    expect((await api.request('GET', `${own}/${created.delivery_id}`, { token: test })).status).toBe(404);
    const member = await api.request('GET', `${own}?mode=live`, { token: org.owner.token });
    expect(member.body.deliveries).toHaveLength(2);
    const reader = (await api.newKey(org, { mode: 'live', scopes: ['support:read'] })).token;
    expect((await api.request('GET', own, { token: reader })).status).toBe(200);
    expect((await api.request('POST', `${own}/${created.delivery_id}/redeliver`, { token: reader })).status).toBe(403);
    const minter = (await api.newKey(org, { mode: 'live', scopes: ['sessions:mint'] })).token;
    expect((await api.request('GET', own, { token: minter })).status).toBe(403);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('the removal of a customer', () => {
  it('the removal of a customer deletes the customer’s deliveries, even those that wait for a retry', async () => {
    const receiver = await newReceiver(status(500));
    const org = await newOrg(receiver.url);
    const one = await newTicket(org);
    const two = await newTicket(org);
    await deliveries(org, (found) => found.filter(({ attempts }: Found) => attempts.length > 0).length === 2);
    const path = `/support/customers/orgs/${org.orgId}/${one.customerId}`;
    await api.request('DELETE', path, { token: org.owner.token });
    const erased = await until(async () => {
      const { body } = await api.request('DELETE', path, { token: org.owner.token });
      return body.data.status !== 'erasing' && body.data;
    }, 'the customer to be removed');
    expect(erased.found).toMatchObject({ conversations: 1, deliveries: 2 });
    const left = await deliveries(org);
    expect(left.map(({ conv_id }) => conv_id)).toEqual([two.convId, two.convId]);
    expect(JSON.stringify(left)).not.toContain(one.email);
  });
});
