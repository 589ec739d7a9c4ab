/** The API itself starts the workflows of recovered deliveries: no worker runs here, so the sweeper cannot do it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { randomUUID } from 'node:crypto';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import {
  DeliveryModel,
  deliveryRecords,
  findDelivery,
  insertDeliveries,
  type Subject,
} from '../../models/events/delivery.ts';
import { disableDestination } from '../../models/events/destination.ts';
import type { DeliveryKind } from '../../models/rules/events/delivery.ts';
import { ticketEventsWork } from '../../models/rules/chat/work.ts';
import { sendLineWork } from '../../models/rules/events/work.ts';
import { defined } from '../../models/rules/base/defined.ts';

const env = systemEnv('recovering');
let running: Running;
let connection: Connection;
let api: Api;
let org: TestOrg;
beforeAll(async () => {
  [running, connection] = await Promise.all([
    startProcess('api/server.ts', env),
    Connection.connect({ address: env['TEMPORAL_ADDRESS']! }),
    connectMongo(env['MONGODB_URI']!),
  ]);
  api = apiAt(running.url);
  org = await api.newOrg();
});
afterAll(async () => {
  await running.stop();
  await Promise.all([connection.close(), disconnectMongo()]);
  await removeDataDir(env);
});

/** Stores failed deliveries about this subject; returns their ids. */
async function failed(
  count: number,
  subject: Subject,
  { line, ...to }: { line?: string; org_id?: string; kind?: DeliveryKind; lane?: string } = {},
): Promise<string[]> {
  const fresh = Array.from({ length: count }, () => ({
    org_id: org.orgId,
    mode: 'test' as const,
    kind: 'webhook' as const,
    event_id: `evt_${randomUUID()}`,
    event_type: 'test',
    lane: 'webhook',
    destination: 'http://127.0.0.1:1/',
    subject,
    about: [],
    payload: {},
    ...to,
    ...defined({ line }),
  }));
  const records = deliveryRecords(fresh, new Date()).map((one) => ({ ...one, status: 'failed' as const }));
  await insertDeliveries(records);
  return records.map(({ _id }) => _id);
}

describe('POST …/recover', () => {
  it('a request to recover failed deliveries immediately starts one workflow for each ticket, and one for a delivery without a ticket', async () => {
    const tickets = Array.from({ length: 3 }, () => ({
      ticket_id: `tkt_${randomUUID()}`,
      conv_id: `conv_${randomUUID()}`,
    }));
    for (const ticket of tickets) await failed(4, ticket, { line: `ticket:${ticket.ticket_id}` });
    const [alone] = await failed(1, {});
    const { token } = await api.newKey(org, { mode: 'test' });
    const reply = await api.request('POST', `/support/outbox/orgs/${org.orgId}/recover`, {
      token,
      body: { since: '2020-01-01T00:00:00Z' },
    });
    expect([reply.status, reply.body]).toEqual([202, { recovered: 13 }]);
    await until(
      async () => (await DeliveryModel.countDocuments({ org_id: org.orgId, 'pending.0': { $exists: true } })) === 0,
      'all of it to be started',
    );
    const client = new Client({ connection });
    const ids = [
      ...tickets.map(({ conv_id, ticket_id }) => ticketEventsWork(org.orgId, conv_id, ticket_id).id),
      sendLineWork(org.orgId, alone!).id,
    ];
    for (const id of ids) {
      const handle = client.workflow.getHandle(id);
      const { events } = await handle.fetchHistory();
      const signals = events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
      expect(signals.map((event) => event.workflowExecutionSignaledEventAttributes!.signalName)).toEqual(['tryNow']);
      await handle.terminate('the test is over');
    }
    expect(
      await DeliveryModel.countDocuments({
        org_id: org.orgId,
        status: 'pending',
        next_attempt_at: { $lte: new Date() },
      }),
    ).toBe(13);
  });

  it('a request to recover failed deliveries skips notifications to a disabled Slack webhook, and sends failed notification mails again', async () => {
    const other = await api.newOrg();
    const { orgId } = other;
    const notification = { kind: 'notification', version: 0 } as const;
    await disableDestination({ org_id: orgId, mode: 'test', ...notification }, 'Slack answered 410.', new Date());
    const ofOther = { org_id: orgId, kind: 'notification' } as const;
    const [toSlack] = await failed(1, {}, { ...ofOther, lane: 'slack' });
    const [mail] = await failed(1, {}, { ...ofOther, lane: 'email:usr_1' });
    const { token } = await api.newKey(other, { mode: 'test' });
    const reply = await api.request('POST', `/support/outbox/orgs/${orgId}/recover`, {
      token,
      body: { since: '2020-01-01T00:00:00Z' },
    });
    expect([reply.status, reply.body]).toEqual([202, { recovered: 1 }]);
    expect((await findDelivery(orgId, toSlack!))!.status).toBe('failed');
    expect((await findDelivery(orgId, mail!))!.status).toBe('pending');
    await until(
      async () => (await DeliveryModel.countDocuments({ org_id: orgId, 'pending.0': { $exists: true } })) === 0,
      'the mail to be started',
    );
    const client = new Client({ connection });
    await client.workflow.getHandle(sendLineWork(orgId, mail!).id).terminate('the test is over');
  });
});
