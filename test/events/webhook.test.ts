/** Ticket events as a receiver gets them: signed, in order, once, and the same bytes at each attempt. */
import { describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { system } from '../kit/harness.ts';
import { all, outboxOf, receiversOfTest, type Received } from '../kit/receiver.ts';

const api = system();
const { newOrg, newTicket, act, deliveries } = outboxOf(api);
const newReceiver = receiversOfTest();

const headersOf = ({ headers }: Received) => headers as Record<string, string>;

describe('a ticket’s events', () => {
  it('arrive in order, signed, with all that is known, and are recorded as delivered', async () => {
    const receiver = await newReceiver();
    const org = await newOrg(receiver.url);
    const { convId, ticketId, customerId, email } = await newTicket(org, { name: 'Ada Example' });
    await act(org, convId, 'resolve');
    const found = await deliveries(org, all(3, 'delivered'));
    expect(receiver.received.map(({ event }) => event.type)).toEqual([
      'ticket.created',
      'ticket.escalated',
      'ticket.resolved',
    ]);
    const [created] = receiver.received;
    expect(new Webhook(org.secret).verify(created!.body, headersOf(created!))).toEqual({
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
    const key = Buffer.from(org.secret.slice('whsec_'.length), 'base64');
    expect(created!.headers['x-svc-signature']).toBe(createHmac('sha256', key).update(created!.body).digest('hex'));
    expect(found.map(({ event_id }) => event_id)).toEqual(
      receiver.received.map(({ headers }) => headers['webhook-id']),
    );
    expect(found[0]).toMatchObject({
      org_id: org.orgId,
      mode: 'live',
      kind: 'webhook',
      destination: receiver.url,
      attempts: [{ status_code: 204, duration_ms: expect.any(Number) }],
      next_attempt_at: null,
      request: { method: 'POST', url: receiver.url, body: created!.body },
    });
  });
});
