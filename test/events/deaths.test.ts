/**
 * Workers that die at each step of a delivery: every event arrives under one id and is recorded as delivered once.
 * The same holds for notifications of members about an escalation, even when the API process that stored it dies.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { apiAt, until } from '../kit/harness.ts';
import { deathOf, removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { all, outboxOf, startReceiver, type Receiver } from '../kit/receiver.ts';
import type { MessageFault } from '../kit/chatapi.ts';
import type { Fault } from '../kit/worker.ts';

const env = systemEnv('deliverydeaths', { FLEETS: 'deliveries,slowdeliveries' });
const program = 'test/kit/worker.ts';
let api: Running;
let receiver: Receiver;
const outputs: (() => string)[] = [];
beforeAll(async () => {
  [api, receiver] = await Promise.all([startProcess('api/server.ts', env), startReceiver()]);
  outputs.push(api.output);
});
afterAll(async () => {
  await api.stop();
  await receiver.close();
  await removeDataDir(env);
});

/**
 * `attempts` and `requests` count what the crash of this case causes. A worker that dies later, in another case, may
 * have started a delivery of this case before. Each such crash adds at most one attempt and one request.
 */
type Case = { fault: Fault; proven: boolean; attempts: number; requests: number };
/** `proven`: something was delivered before, so that the activity that plans deliveries also sends them. */
const cases: Case[] = [
  { fault: 'deliveries stored', proven: false, attempts: 1, requests: 1 },
  { fault: 'delivery claimed', proven: false, attempts: 2, requests: 1 },
  { fault: 'delivery sent', proven: false, attempts: 2, requests: 2 },
  { fault: 'delivery settled', proven: false, attempts: 1, requests: 1 },
  // The delivery is stored together with its claim, so it looks as if an attempt had been in flight.
  { fault: 'deliveries stored', proven: true, attempts: 2, requests: 1 },
  { fault: 'delivery sent', proven: true, attempts: 2, requests: 2 },
];

describe('a worker that is killed', () => {
  it('when a worker is killed at any step of a delivery, the delivery is not lost, and its requests share one id', async () => {
    const { newOrg, newTicket, outbox, deliveries } = outboxOf(apiAt(api.url));
    const orgs = [];
    for (const one of cases) orgs.push({ ...one, ...(await newOrg(receiver.url)) });
    const healthy = await startProcess(program, env);
    outputs.push(healthy.output);
    for (const org of orgs.filter(({ proven }) => proven)) {
      await outbox(org, 'POST', '/test');
      await deliveries(org, all(1, 'delivered'));
    }
    await healthy.stop();
    receiver.received.length = 0;
    const tickets = [];
    for (const org of orgs) {
      const dying = startProcess(program, { ...env, FAULT: org.fault, FAULT_OF: org.orgId });
      const ticket = await newTicket(org);
      tickets.push({ ...org, ...ticket });
      expect([org.fault, org.proven, await deathOf(dying)]).toEqual([org.fault, org.proven, 'SIGKILL']);
    }
    const last = await startProcess(program, env);
    outputs.push(last.output);
    for (const { fault, proven, attempts, requests, ticketId, ...org } of tickets) {
      const found = await deliveries(
        org,
        (all2) => all2.filter(({ ticket_id, status }) => ticket_id === ticketId && status === 'delivered').length === 2,
      );
      const [created, escalated] = found.filter(({ ticket_id }) => ticket_id === ticketId);
      const arrived = receiver.received.filter(({ event }) => event.data.ticket?.ticket_id === ticketId);
      const ofFirst = arrived.filter(({ event }) => event.data.ticket.event_seq === 1);
      const extra = created.attempts.length - attempts;
      const isExpected = extra >= 0 && extra < tickets.length;
      const arrivedAsOften = ofFirst.length >= requests && ofFirst.length <= requests + extra;
      const seen = { attempts: created.attempts.length, requests: ofFirst.length };
      expect({ fault, proven, ...seen, isExpected, arrivedAsOften }).toMatchObject({
        isExpected: true,
        arrivedAsOften: true,
      });
      const died = created.attempts.filter(({ error }: { error?: string }) => error?.includes('was interrupted'));
      expect(died).toHaveLength(created.attempts.length - 1);
      expect(created.attempts.filter(({ status_code }: { status_code?: number }) => status_code === 204)).toHaveLength(
        1,
      );
      expect(new Set(ofFirst.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([created.event_id]));
      expect(new Set(ofFirst.map(({ body }) => body)).size).toBe(1);
      expect(arrived.at(-1)!.headers['webhook-id']).toBe(escalated.event_id);
    }

    // Personal data and secrets appear in no log and no workflow history.
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const { workflow } = new Client({ connection });
    const histories = [];
    for (const { ticketId } of tickets) {
      const handle = workflow.getHandle(`ticket:${ticketId}`);
      await until(async () => (await handle.describe()).status.name === 'COMPLETED', `ticket:${ticketId} to end`);
      histories.push(JSON.stringify(await handle.fetchHistory()));
    }
    await connection.close();
    const written = [...histories, ...outputs.map((output) => output())].join('\n');
    expect(written).toContain(tickets[0]!.orgId);
    for (const { secret, email } of tickets)
      for (const said of [secret, secret.slice('whsec_'.length), email]) {
        expect(written).not.toContain(said);
        expect(written).not.toContain(Buffer.from(said).toString('base64').replace(/=+$/, ''));
      }
    await last.stop();
  });

  it('a worker killed at any step of notifying members of an escalation leaves each member notified once per channel', async () => {
    const usual = apiAt(api.url);
    const { newOrg, newConversation, act, deliveries } = outboxOf(usual);
    const choose = {
      slack_webhook_url: `${receiver.url}/T1`,
      email_notifications: true,
      notify_on: ['conversation_escalated'],
    };
    const begun = async () => {
      const org = await newOrg(receiver.url, { live: false });
      await usual.request('PUT', `/orgs/${org.orgId}/webhooks`, { token: org.owner.token, body: choose });
      await usual.request('PUT', '/me/notices', { token: org.owner.token, body: { mail: true } });
      return { ...org, ...(await newConversation(org)) };
    };
    const fault: MessageFault = 'conversation escalated';
    const [dyingApi, first] = await Promise.all([
      startProcess('test/kit/chatapi.ts', { ...env, FAULT: fault }),
      begun(),
    ]);
    const dead = deathOf(Promise.resolve(dyingApi));
    await expect(outboxOf(apiAt(dyingApi.url)).act(first, first.convId, 'escalate')).rejects.toThrow();
    expect(await dead).toBe('SIGKILL');
    const orgs = [first];
    const faults: Fault[] = ['member notified', 'notice stored', 'before the occasion is settled', 'occasion settled'];
    for (const FAULT of faults) {
      const org = await begun();
      const dying = startProcess(program, { ...env, FAULT, FAULT_OF: org.orgId });
      await act(org, org.convId, 'escalate');
      expect([FAULT, await deathOf(dying)]).toEqual([FAULT, 'SIGKILL']);
      orgs.push(org);
    }
    const last = await startProcess(program, env);
    for (const org of orgs) {
      const made = await deliveries(org, all(2, 'suppressed'), '&kind=notification');
      expect(made.map(({ event_type }) => event_type)).toEqual(Array(2).fill('conversation_escalated'));
      const { body } = await usual.request('GET', '/me/notifications', { token: org.owner.token });
      expect(body.data.notifications.map(({ kind, conv_id }: Record<string, string>) => [kind, conv_id])).toEqual([
        ['conversation_escalated', org.convId],
      ]);
    }
    await last.stop();
  });
});
