/** The removal of a customer that is interrupted at any write, or written behind: the activities on a real database. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import mongoose from 'mongoose';
import { pino } from 'pino';
import { createErasureActivities } from '../activities/erasure.ts';
import { connectMongo, disconnectMongo } from '../models/connect.ts';
import { actOn, ConversationModel, provideConversation } from '../models/conversation.ts';
import { CustomerModel, provideCustomer } from '../models/customer.ts';
import { createErasure, findErasure } from '../models/erasure.ts';
import { FrameModel, frameWriter } from '../models/frame.ts';
import { newId } from '../models/ids.ts';
import { insertMessage, MessageModel, type Message } from '../models/message.ts';
import { createSession, SessionModel } from '../models/session.ts';

beforeAll(async () => {
  const uri = new URL(process.env['TEST_MONGODB_URI']!);
  uri.pathname = '/erasureraces';
  await connectMongo(uri.href);
});
afterAll(disconnectMongo);

const clock = () => new Date();
const activities = createErasureActivities({ clock, log: pino({ level: 'silent' }) });
const orgId = newId('org');
const run = (what: keyof typeof activities, customerId: string) =>
  new MockActivityEnvironment(undefined, { logger: new DefaultLogger('ERROR') }).run(activities[what], {
    orgId,
    customerId,
  });

/** A customer with two conversations, who is to be removed. */
async function customerToErase() {
  const now = clock();
  const { _id: customerId } = await provideCustomer(orgId, 'live', { externalId: newId('request') }, now);
  for (const end of ['resolve', 'escalate'] as const) {
    const conversation = await provideConversation(orgId, 'live', customerId, now);
    await write(conversation._id, 'Hello');
    const writer = frameWriter(conversation, clock);
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
    found: { conversations: 0, messages: 0, frames: 0, sessions: 0 },
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
async function write(convId: string, body: string): Promise<void> {
  const { position } = await actOn(orgId, convId, 'message', { now: clock(), message: { body, byCustomer: true } });
  await insertMessage(messageAt(convId, position, body));
}

const convIdsOf = async (customerId: string) =>
  (await ConversationModel.find({ customer_id: customerId }, { _id: 1 }).lean()).map(({ _id }) => _id);
async function left(customerId: string, convIds: readonly string[]): Promise<number> {
  const inside = { conv_id: { $in: convIds } };
  const counts = await Promise.all([
    ConversationModel.countDocuments({ customer_id: customerId }),
    SessionModel.countDocuments({ customer_id: customerId }),
    CustomerModel.countDocuments({ _id: customerId }),
    MessageModel.countDocuments(inside),
    FrameModel.countDocuments(inside),
  ]);
  return counts.reduce((sum, n) => sum + n, 0);
}

const writes = ['deleteMany', 'deleteOne', 'updateOne', 'findOneAndUpdate', 'bulkWrite'] as const;
type Write = (...args: unknown[]) => Promise<unknown>;

/** Runs `work` with the connection dying at its `n`th write; false when there were fewer. */
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

describe('the removal of a customer', () => {
  it('that dies at any of its writes is finished by the next try, and tells how much there was', async () => {
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
        found: { conversations: 2, messages: 2, frames: 6, sessions: 1 },
      });
      if (!died) break;
    }
    // Shutting out, noting, each collection, writing down.
    expect(points).toBeGreaterThanOrEqual(10);
  });

  it('takes along what was at work meanwhile: a message under way, an answer, a session, a conversation', async () => {
    const customerId = await customerToErase();
    const convIds = await convIdsOf(customerId);
    const [open] = convIds;
    const told = { message: { body: 'Late', byCustomer: true } };
    const { position } = await actOn(orgId, open!, 'message', { now: clock(), ...told });
    const conversation = (await ConversationModel.findById(open).lean())!;
    await run('eraseCustomer', customerId);
    // Each of them was let in before, and comes to its write only now.
    await insertMessage(messageAt(open!, position, 'Late'));
    await frameWriter(conversation, clock).append({ type: 'reply_chunk' });
    await newSession(customerId);
    const begun = await provideConversation(orgId, 'live', customerId, clock());
    await write(begun._id, 'Later');
    expect(await left(customerId, [...convIds, begun._id])).toBe(5);
    await run('verifyErasure', customerId);
    expect(await left(customerId, [...convIds, begun._id])).toBe(0);
    const erasure = await findErasure(orgId, customerId);
    expect(erasure).toMatchObject({ status: 'verified', conv_ids: [] });
    expect(erasure!.verified_at! >= erasure!.erased_at!).toBe(true);
  });

  it('that runs twice at once ends as if it had run once', async () => {
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

  it('touches nobody else', async () => {
    const [gone, stays] = [await customerToErase(), await customerToErase()];
    const convIds = await convIdsOf(stays);
    const before = await left(stays, convIds);
    await run('eraseCustomer', gone);
    expect(await left(stays, convIds)).toBe(before);
  });
});
