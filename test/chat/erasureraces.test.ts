/**
 * The deletion of a customer, interrupted at every write and raced by other writes: the activities on a real database.
 * The last test deletes a customer's unanswered question with the real programs.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { modelsIn } from '../kit/database.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { createErasureActivities } from '../../activities/chat/erasure.ts';
import { actOn } from '../../models/chat/act.ts';
import { ConversationModel } from '../../models/chat/conversation.ts';
import { provideConversation } from '../../models/chat/current.ts';
import { CustomerModel, provideCustomer } from '../../models/chat/customer.ts';
import { createErasure, findErasure } from '../../models/chat/erasure.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import { FrameModel } from '../../models/live/frame.ts';
import { notePresence, PresenceModel } from '../../models/live/presence.ts';
import { recordCustomerGap } from '../../models/chat/customergap.ts';
import { recordGap, type Asker } from '../../models/knowledge/gap.ts';
import { newId } from '../../models/base/ids.ts';
import { insertMessage, MessageModel, type Message } from '../../models/chat/message.ts';
import { createSession, SessionModel } from '../../models/access/session.ts';
import { everyRecord } from '../../models/base/define.ts';

modelsIn('erasureraces');

const clock = () => new Date();
const activities = createErasureActivities({ clock, log: pino({ level: 'silent' }) });
const orgId = newId('org');
const run = (what: keyof typeof activities, customerId: string, ofOrg = orgId) =>
  new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run(activities[what], {
    orgId: ofOrg,
    customerId,
  });

/** A customer with two conversations, whom the test will delete. */
async function customerToErase() {
  const now = clock();
  const { _id: customerId } = await provideCustomer(orgId, 'live', { externalId: newId('request') }, now);
  for (const end of ['resolve', 'escalate'] as const) {
    const conversation = await provideConversation(orgId, 'live', customerId, now);
    const messageId = await write(conversation._id, 'Hello');
    await miss(ownWords(customerId), { customerId, messageId });
    const writer = conversationWriter(conversation, clock);
    for (const type of ['ack', 'reply_start', 'reply_end']) await writer.append({ type });
    await actOn(orgId, conversation._id, end, { now });
  }
  await newSession(customerId);
  await createErasure({
    _id: customerId,
    org_id: orgId,
    mode: 'live',
    status: 'erasing',
    conv_ids: [],
    found: { conversations: 0, messages: 0, frames: 0, sessions: 0, gaps: 0 },
    requested_by: 'usr_1',
    requested_at: now,
  });
  return customerId;
}

const newSession = (customer_id: string) =>
  createSession({
    _id: newId('session'),
    org_id: orgId,
    mode: 'live',
    kind: 'minted',
    customer_id,
    verified: true,
    context: {},
    expires_at: new Date(Date.now() + 60_000),
    created_by: 'key_1',
    created_at: clock(),
  });

const messageAt = (convId: string, position: number, body: string): Omit<Message, 'expires_at'> => ({
  _id: newId('message'),
  org_id: orgId,
  conv_id: convId,
  mode: 'live',
  role: 'customer',
  body,
  position,
  at: clock(),
});
async function write(convId: string, body: string): Promise<string> {
  const { position } = await actOn(orgId, convId, 'message', { now: clock(), message: { body, byCustomer: true } });
  return (await insertMessage(messageAt(convId, position, body)))!._id;
}

/** Records a question without an answer; without `asker`, an API key asked it. */
const miss = (question: string, asker?: Asker) => {
  const asked = { question, group: question, why: 'nothing_found' as const, now: clock() };
  return asker ? recordCustomerGap(orgId, 'live', asked, asker) : recordGap(orgId, 'live', asked);
};
const ownWords = (customerId: string) => `Where is ${customerId}?`;
type StoredGap = { count: number; askers: { customer: string; message: string; count: number }[] };
const gapOf = (question: string) =>
  mongoose.connection.collection<StoredGap>('gaps').findOne({ question }, everyRecord);
/** A new customer who has just asked this question. */
async function askingCustomer(question: string): Promise<Asker> {
  const customerId = await customerToErase();
  const { _id: convId } = await provideConversation(orgId, 'live', customerId, clock());
  const asker = { customerId, messageId: await write(convId, question) };
  await miss(question, asker);
  return asker;
}

const convIdsOf = async (customerId: string) =>
  (await ConversationModel.find({ customer_id: customerId }, { _id: 1 }, everyRecord).lean()).map(({ _id }) => _id);
async function left(customerId: string, convIds: readonly string[]): Promise<number> {
  const inside = { conv_id: { $in: convIds } };
  const counts = await Promise.all([
    ConversationModel.countDocuments({ customer_id: customerId }, everyRecord),
    SessionModel.countDocuments({ customer_id: customerId }, everyRecord),
    CustomerModel.countDocuments({ _id: customerId }),
    MessageModel.countDocuments(inside),
    FrameModel.countDocuments({ org_id: orgId, stream: { $in: convIds } }),
    mongoose.connection.collection('gaps').countDocuments({ question: ownWords(customerId) }, everyRecord),
  ]);
  return counts.reduce((sum, n) => sum + n, 0);
}

const writes = ['deleteMany', 'deleteOne', 'updateOne', 'updateMany', 'findOneAndUpdate'] as const;
type Write = (...args: unknown[]) => Promise<unknown>;

/** Runs `work` with the connection failing at its `n`th write; false when there were fewer writes. */
async function dyingAt(n: number, work: () => Promise<unknown>): Promise<boolean> {
  let count = 0;
  let died = false;
  const restore: (() => void)[] = [];
  for (const model of Object.values(mongoose.models)) {
    const collection = model.collection as unknown as Record<(typeof writes)[number], Write>;
    for (const name of writes) {
      const real = collection[name];
      collection[name] = async (...args) => {
        count += 1;
        died ||= count === n;
        if (died) throw new Error('The process died.');
        return real.apply(collection, args);
      };
      restore.push(() => (collection[name] = real));
    }
  }
  try {
    await work();
  } catch (error) {
    if (!died) throw error;
  } finally {
    for (const undo of restore) undo();
  }
  return died;
}

describe('the deletion of a customer', () => {
  it('a customer’s deletion that fails at any write is completed by the retry, and reports how much was deleted', async () => {
    let points = 0;
    for (let n = 1; ; n++) {
      const customerId = await customerToErase();
      const convIds = await convIdsOf(customerId);
      expect(convIds).toHaveLength(2);
      const died = await dyingAt(n, () => run('eraseCustomer', customerId));
      if (died) {
        points += 1;
        expect((await findErasure(orgId, customerId))?.status).toBe('erasing');
        await run('eraseCustomer', customerId);
      }
      expect([n, await left(customerId, convIds)]).toEqual([n, 0]);
      expect(await findErasure(orgId, customerId)).toMatchObject({
        status: 'erased',
        found: { conversations: 2, messages: 2, frames: 6, sessions: 1, gaps: 1 },
      });
      if (!died) break;
    }
    // The writes disable the customer, record that, delete from each collection, and record the end.
    expect(points).toBeGreaterThanOrEqual(10);
  });

  it('the deletion of a customer also removes messages, answers, sessions and conversations that are written meanwhile', async () => {
    const customerId = await customerToErase();
    const convIds = await convIdsOf(customerId);
    const [open] = convIds;
    const messageId = await write(open!, ownWords(customerId));
    const told = { message: { body: 'Late', byCustomer: true } };
    const { position } = await actOn(orgId, open!, 'message', { now: clock(), ...told });
    const conversation = (await ConversationModel.findById(open).lean())!;
    await run('eraseCustomer', customerId);
    // Each of these requests was accepted before the deletion and writes only now.
    await insertMessage(messageAt(open!, position, 'Late'));
    await conversationWriter(conversation, clock).append({ type: 'reply_chunk' });
    await newSession(customerId);
    // The text of a deleted message is never recorded again, not even temporarily.
    await miss(ownWords(customerId), { customerId, messageId });
    expect(await gapOf(ownWords(customerId))).toBeNull();
    const begun = await provideConversation(orgId, 'live', customerId, clock());
    await miss(ownWords(customerId), { customerId, messageId: await write(begun._id, 'Later') });
    expect(await left(customerId, [...convIds, begun._id])).toBe(6);
    await run('verifyErasure', customerId);
    expect(await left(customerId, [...convIds, begun._id])).toBe(0);
    const erasure = await findErasure(orgId, customerId);
    expect(erasure).toMatchObject({ status: 'verified', conv_ids: [] });
    expect(erasure!.verified_at! >= erasure!.erased_at!).toBe(true);
  });

  it('a customer’s deletion also deletes the times at which the customer was last connected to each conversation', async () => {
    const customerId = await customerToErase();
    const convIds = await convIdsOf(customerId);
    const seen = convIds.map((personId) => ({ orgId, personId, present: true }));
    await notePresence(newId('request'), seen, clock());
    await run('eraseCustomer', customerId);
    expect(await PresenceModel.countDocuments({ _id: { $in: convIds } })).toBe(0);
  });

  it('a customer’s deletion that runs twice at the same time has the same result as one run', async () => {
    const customerId = await customerToErase();
    const convIds = await convIdsOf(customerId);
    await Promise.all([
      run('eraseCustomer', customerId),
      run('eraseCustomer', customerId),
      run('verifyErasure', customerId),
    ]);
    expect(await left(customerId, convIds)).toBe(0);
    expect((await findErasure(orgId, customerId))?.status).toBe('verified');
  });

  it('the deletion of a customer leaves other customers’ records unchanged', async () => {
    const [gone, stays] = [await customerToErase(), await customerToErase()];
    const convIds = await convIdsOf(stays);
    const before = await left(stays, convIds);
    await run('eraseCustomer', gone);
    expect(await left(stays, convIds)).toBe(before);
  });
});

describe('an unanswered question', () => {
  it('an unanswered question is deleted with the last customer who asked the question', async () => {
    const words = `Where is ${newId('request')}?`;
    const [one, two, ...others] = await Promise.all(Array.from({ length: 8 }, () => askingCustomer(words)));
    expect((await gapOf(words))!.count).toBe(8);
    await run('eraseCustomer', one!.customerId);
    expect(await gapOf(words)).toMatchObject({ count: 7, askers: { length: 7 } });
    await Promise.all([two!, ...others.slice(1)].map(({ customerId }) => run('eraseCustomer', customerId)));
    expect(await gapOf(words)).toMatchObject({ count: 1, askers: { length: 1 } });
    await run('eraseCustomer', others[0]!.customerId);
    expect(await gapOf(words)).toBeNull();
  });

  it('a message adds one to the count of its unanswered question, however often or concurrently its answer is attempted', async () => {
    const words = `Where is ${newId('request')}?`;
    const asker = await askingCustomer(words);
    await Promise.all(Array.from({ length: 10 }, () => miss(words, asker)));
    expect((await gapOf(words))!.count).toBe(1);
    const { _id: convId } = await provideConversation(orgId, 'live', asker.customerId, clock());
    const again = await write(convId, words);
    await Promise.all(Array.from({ length: 10 }, () => miss(words, { ...asker, messageId: again })));
    expect(await gapOf(words)).toMatchObject({ count: 2, askers: [{ count: 2 }] });
    await run('eraseCustomer', asker.customerId);
    expect(await gapOf(words)).toBeNull();
  });

  it('an unanswered question that an API key asked too stays after the customer who asked it is deleted', async () => {
    const words = `Where is ${newId('request')}?`;
    await miss(words);
    const { customerId } = await askingCustomer(words);
    await run('eraseCustomer', customerId);
    expect(await gapOf(words)).toMatchObject({ count: 1, askers: [] });
  });

  it('a question that is being recorded as unanswered while its customer is deleted is gone afterwards', async () => {
    const words = Array.from({ length: 20 }, () => `Where is ${newId('request')}?`);
    for (const question of words) {
      const { customerId } = await askingCustomer('Hello?');
      const [convId] = await convIdsOf(customerId);
      const messageId = await write(convId!, question);
      await Promise.all([run('eraseCustomer', customerId), miss(question, { customerId, messageId })]);
      await run('verifyErasure', customerId);
      expect(await gapOf(question)).toBeNull();
    }
  });

  it('an unanswered question records at most a thousand customers who asked it, and counts any further ones', async () => {
    const words = `Where is ${newId('request')}?`;
    const first = await askingCustomer(words);
    const askers = Array.from({ length: 999 }, (_, i) => ({ customer: `hash ${i}`, message: `hash ${i}`, count: 1 }));
    await mongoose.connection
      .collection<StoredGap>('gaps')
      .updateOne({ question: words }, { $push: { askers: { $each: askers } }, $inc: { count: 999 } }, everyRecord);
    const next = await askingCustomer(words);
    await miss(words, { ...first, messageId: await write((await convIdsOf(first.customerId))[0]!, words) });
    expect(await gapOf(words)).toMatchObject({ count: 1002, askers: { length: 1000 } });
    for (const { customerId } of [first, next]) await run('eraseCustomer', customerId);
    expect(await gapOf(words)).toMatchObject({ count: 1000, askers: { length: 999 } });
  });
});

describe('a customer whose question has no answer', () => {
  let env: SystemEnv;
  let api: Running;
  let client: Api;
  let model: OpenAiServer;
  let temporal: Client;
  let org: TestOrg;
  let key: string;
  const workers: Running[] = [];
  async function startWorker(extra: Record<string, string>): Promise<void> {
    workers.push(await startProcess('test/kit/worker.ts', { ...env, ...extra }));
  }

  beforeAll(async () => {
    env = systemEnv('erasureraces', { FLEETS: 'documents,backlog,sources,conversations' });
    model = await startOpenAiServer();
    model.reply = () => JSON.stringify({ answered: false, sources: [], answer: '' });
    api = await startProcess('api/server.ts', env);
    temporal = new Client({ connection: await Connection.connect({ address: env['TEMPORAL_ADDRESS']! }) });
    client = apiAt(api.url);
    org = await client.newOrg();
    key = (await client.newKey(org)).token;
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.kill();
  });
  afterAll(async () => {
    await temporal.connection.close();
    await api.stop();
    await model.close();
    await removeDataDir(env);
  });

  /** Asks a question in words that no other test uses. */
  async function asks(question: string) {
    const { token, customerId } = await client.newSession(org, { key });
    const said = { token, body: { body: question } };
    const { status, body } = await client.request('POST', `/support/chat/messages/${org.orgId}`, said);
    expect(status).toBe(202);
    return { customerId, convId: body.conv_id as string };
  }
  const erase = (customerId: string) => {
    const path = `/support/customers/orgs/${org.orgId}/${customerId}`;
    return client.request('DELETE', path, { token: org.owner.token });
  };
  const erased = (customerId: string) =>
    until(async () => (await erase(customerId)).body.data.status === 'erased', 'the removal');

  it('a customer who is deleted while a model answers their question leaves no trace after the attempt to answer has ended', async () => {
    await startWorker({ OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'm' });
    const file = { name: 'a.md', content: '# Gannet cards\nThe gannet card costs 12 EUR a year.\n' };
    const { body } = await client.upload(org.orgId, key, file);
    await client.processed(org.orgId, key, body.document.doc_id);
    const { promise: thinking, resolve: answer } = Promise.withResolvers<void>();
    model.script({ kind: 'paced', pauses: [{ after: 5, until: thinking }] });
    const words = 'What does the gannet card cost?';
    const arrived = model.next();
    const { customerId, convId } = await asks(words);
    await arrived;
    await erased(customerId);
    answer();
    const attempts = temporal.workflow.getHandle(`conversation:${convId}`);
    await until(async () => {
      const { raw } = await attempts.describe();
      return (raw.pendingActivities ?? []).length === 0;
    }, 'the attempt to end');
    expect(await gapOf(words)).toBeNull();
    await run('verifyErasure', customerId, org.orgId);
    for (const { name } of await mongoose.connection.db!.listCollections().toArray()) {
      const records = JSON.stringify(await mongoose.connection.collection(name).find().toArray());
      expect([name, records.includes(words), records.includes(convId)]).toEqual([name, false, false]);
    }
  });
});
