/**
 * Data of test mode is kept while it is in use. Then it expires, and MongoDB deletes it without leaving personal data.
 * Live data has no expiry.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { sharedDatabase, tracesIn } from '../kit/database.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { customerDays, daysAfter, keptUntil, logDays } from '../../models/rules/chat/retention.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { everyRecord } from '../../models/base/define.ts';

const api = system();
const db = sharedDatabase();
let temporal: Client;
beforeAll(async () => {
  temporal = new Client({ connection: await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! }) });
});
afterAll(() => temporal.connection.close());
type Mode = 'test' | 'live';
/** A customer with unique words, who asked one question with an answer and one without, and got a member's reply. */
async function newCustomer(mode: Mode) {
  const word = `w${randomUUID().replaceAll('-', '')}`;
  const org: TestOrg = await api.newOrg();
  if (mode === 'live') await api.goLive(org);
  const { token: key } = await api.newKey(org, { mode });
  const customer = { email: `${word}@customer.example`, name: `Ada ${word}`, externalCustomerId: `u-${word}` };
  const session = await api.newSession(org, { key, body: { customer, context: { plan: word }, stepUp: true } });
  const say = async (body: string, conv_id?: string): Promise<string> => {
    const path = `/support/chat/messages/${org.orgId}`;
    const said = await api.request('POST', path, {
      token: session.token,
      body: { body, ...defined({ conv_id }) },
    });
    expect(said.status).toBe(202);
    return said.body.conv_id;
  };
  const convId = await say(`Where is ${word}?`);
  await settled(convId);
  for (const [act, body] of [
    ['escalate', { reason: `${word} called.` }],
    ['reply', { body: `There, ${word}.` }],
    ['resolve', {}],
  ] as const) {
    const path = `/support/inbox/orgs/${org.orgId}/${convId}/${act}`;
    expect((await api.request('POST', path, { token: org.owner.token, body })).status).toBeLessThan(300);
  }
  await settled(convId);
  return { ...session, org, word, convId, say, texts: [word, session.customerId, convId, session.sessionId] };
}

/** Waits until no work is left and the workflow is idle; its last step is to extend the retention periods. */
const settled = (convId: string) =>
  until(async () => {
    const waiting = await db()
      .collection('messages')
      .countDocuments({ conv_id: convId, $or: [{ state: 'waiting' }, { shown: false }] });
    const standing = await db()
      .collection<{ _id: string; shown_version: number; status_version: number }>('conversations')
      .findOne({ _id: convId });
    if (waiting > 0 || standing?.shown_version !== standing?.status_version) return false;
    const { raw } = await temporal.workflow.getHandle(`conversation:${convId}`).describe();
    return !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0;
  }, `${convId} to be attended to`);

/** The collections and fields by which MongoDB expires records (TTL indexes). */
async function expiring(): Promise<{ name: string; field: string }[]> {
  const found = [];
  for (const { name } of await db().listCollections().toArray()) {
    for (const index of await db().collection(name).indexes()) {
      if (index.expireAfterSeconds !== undefined) found.push({ name, field: Object.keys(index.key)[0]! });
    }
  }
  return found;
}

/** Moves all dates of the organization's records into the past, as if this much time had passed. */
async function passDays({ orgId }: TestOrg, amount: number): Promise<void> {
  for (const { name, field } of await expiring()) {
    const earlier = { $dateSubtract: { startDate: `$${field}`, unit: 'day', amount } };
    await db()
      .collection(name)
      .updateMany({ org_id: orgId, [field]: { $type: 'date' } }, [{ $set: { [field]: earlier } }]);
  }
}

/** The collections with a record that contains one of these texts. */
async function traces(texts: readonly string[]): Promise<string[]> {
  const found = new Set(await tracesIn(db(), texts));
  // The rate limit counters of the last minute belong to no organization.
  found.delete('rate_limits');
  return [...found];
}

const endsOf = async (name: string, filter: object): Promise<(Date | undefined)[]> =>
  (await db().collection(name).find(filter).toArray()).map((record) => record['expires_at'] as Date | undefined);

/** The expiry of a conversation used since `before`: by that day, or by the next one if midnight has passed. */
async function endSince(before: Date, convId: string): Promise<Date> {
  const [end] = await endsOf('conversations', { _id: convId });
  expect([before, new Date()].map((at) => keptUntil('test', at).expires_at)).toContainEqual(end);
  return end!;
}

describe('a customer of test mode', () => {
  it('a customer of test mode is deleted with all records except unanswered questions 30 days after the last message', async () => {
    const { org, texts } = await newCustomer('test');
    const held = ['conversations', 'customers', 'frames', 'gaps', 'messages', 'notifications', 'sessions'];
    let seen: string[] = [];
    await until(
      async () => (seen = await traces(texts)).join() === held.join(),
      () => `the customer to be in ${held.join()}, now in ${seen.join()}`,
    );
    await passDays(org, 29);
    // When MongoDB has removed this marker, it has checked the whole collection for expired records.
    const marker = db().collection<{ _id: string; expires_at: Date }>('conversations');
    await marker.insertOne({ _id: org.orgId, expires_at: new Date(0) });
    await until(async () => (await marker.countDocuments({ _id: org.orgId })) === 0, 'a pass of MongoDB');
    expect(await traces(texts)).toEqual(held);
    // A session is kept for 30 days after it expires.
    await passDays(org, 5);
    await until(async () => (await traces(texts)).join() === 'gaps', 'all but the question to be removed');
    await passDays(org, 183);
    await until(async () => (await traces(texts)).length === 0, 'the question to be removed');
  });

  it('a customer who writes again keeps the whole conversation for 30 days more', async () => {
    const { org, customerId, convId, say } = await newCustomer('test');
    await passDays(org, 20);
    const before = new Date();
    await say('Is anybody still there?', convId);
    await settled(convId);
    const end = await endSince(before, convId);
    await until(
      async () => (await endsOf('messages', { conv_id: convId })).every((at) => at?.getTime() === end.getTime()),
      'every message to be kept as long as its conversation',
    );
    expect(await endsOf('messages', { conv_id: convId })).toHaveLength(5);
    expect(await endsOf('customers', { _id: customerId })).toEqual([daysAfter(end, customerDays)]);
    const last = await db()
      .collection('frames')
      .find({ stream: convId }, everyRecord)
      .sort({ seq: -1 })
      .limit(1)
      .toArray();
    expect(last[0]!['expires_at']).toEqual(daysAfter(end, logDays));
  });

  it.each<[string, string, (org: TestOrg) => object]>([
    ['reopening it', 'reopen', () => ({})],
    ['assigning it to a member', 'assign', ({ owner }) => ({ user_id: owner.userId })],
    ['assigning it to nobody', 'assign', () => ({ user_id: null })],
  ])(
    'a member’s act on a conversation of test mode prolongs the retention of the conversation, its messages and its customer: %s',
    async (_, act, body) => {
      const { org, customerId, convId } = await newCustomer('test');
      await passDays(org, 20);
      const path = `/support/inbox/orgs/${org.orgId}/${convId}/${act}`;
      const before = new Date();
      expect((await api.request('POST', path, { token: org.owner.token, body: body(org) })).status).toBe(200);
      const end = await endSince(before, convId);
      await until(
        async () => (await endsOf('messages', { conv_id: convId })).every((at) => at?.getTime() === end.getTime()),
        'every message to be kept as long as its conversation',
      );
      expect(await endsOf('customers', { _id: customerId })).toEqual([daysAfter(end, customerDays)]);
    },
  );
});

describe('a customer of live mode', () => {
  it('in live mode no record of a conversation expires, except frames that show an answer while the answer is written', async () => {
    const { convId, customerId } = await newCustomer('live');
    for (const [name, filter] of [
      ['conversations', { _id: convId }],
      ['customers', { _id: customerId }],
      ['messages', { conv_id: convId }],
      ['frames', { _id: new RegExp(`^${convId}:`), type: { $nin: ['typing', 'reply_start', 'reply_chunk'] } }],
    ] as const) {
      const ends = await endsOf(name, filter);
      expect([name, ends.length > 0, ends.filter((end) => end !== undefined)]).toEqual([name, true, []]);
    }
  });
});
