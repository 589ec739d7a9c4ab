/**
 * Customers who write, leave, come back elsewhere and send again, while APIs and workers are killed: whatever the interleaving,
 * every client ends with exactly the history that the server has, each message stored once and each answered once.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient, type Db } from 'mongodb';
import { apiAt, until, type Api, type TestOrg } from './harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from './processes.ts';
import { ChatClient, mint, type Minted } from './socket.ts';
import type { Frame } from '../models/frame.ts';
import type { Message } from '../models/message.ts';

const questions = [
  'How long does a transfer take?',
  'What does a replacement card cost?',
  'When is the branch open?',
  'How do I close my account?',
];
const handbook = [
  '# Transfers\n\nA transfer to another bank takes one working day.',
  '# Cards\n\nA replacement card costs 12 euros and arrives within a week.',
  '# Branch\n\nThe branch is open on weekdays from nine to four.',
  '# Accounts\n\nTo close your account, write to us; it is closed within two weeks.',
].join('\n\n');

let env: SystemEnv;
let mongo: MongoClient;
let db: Db;
let org: TestOrg;
let key: string;
const apis: Running[] = [];
const workers: Running[] = [];
const startApi = async (): Promise<void> => void apis.push(await startProcess('api/server.ts', env));
const startWorker = async (): Promise<void> =>
  void workers.push(await startProcess('test/worker.ts', { ...env, FLEETS: 'documents,conversations' }));

beforeAll(async () => {
  env = systemEnv('chatproperty', { RATE_MESSAGES_PER_MINUTE: '10000', TEST_REPLIES_PER_MINUTE: '10000' });
  mongo = await MongoClient.connect(env['MONGODB_URI']!);
  db = mongo.db();
  await Promise.all([startApi(), startApi(), startApi(), startWorker(), startWorker()]);
  const api = apiAt(apis[0]!.url);
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  const { body } = await api.upload(org.orgId, key, { name: 'handbook.md', content: handbook });
  const document = await api.processed(org.orgId, key, body.document.doc_id);
  expect(document.status).toBe('indexed');
});
afterAll(async () => {
  await Promise.all([...apis, ...workers].map((running) => running.stop()));
  await mongo.close();
  await removeDataDir(env);
});

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A customer at one device: what it says it says until it is acknowledged, as docs/chat.md asks of clients. */
class Device {
  readonly client: ChatClient;
  readonly said: { type: 'message'; body: string; client_message_id: string }[] = [];
  readonly pick: <T>(from: readonly T[]) => T;

  constructor(minted: Minted, pick: Device['pick']) {
    this.client = new ChatClient(minted.orgId, { sessionToken: minted.token });
    this.pick = pick;
  }

  async come(): Promise<void> {
    const { url } = this.pick(apis);
    const before = this.client.all('welcome').length;
    await (this.client.convId === undefined ? this.client.connect(url) : this.client.resume(url));
    await until(
      async () => this.client.all('welcome').length > before || this.client.closed !== undefined,
      'a welcome, or the end of a connection to a process that is being killed',
    );
    for (const frame of this.unacknowledged()) this.client.send(frame);
  }

  unacknowledged(): Device['said'] {
    const acknowledged = new Set(this.client.all('ack').map(({ client_message_id }) => client_message_id));
    return this.said.filter(({ client_message_id }) => !acknowledged.has(client_message_id));
  }

  say(body: string, id: string): void {
    const frame = { type: 'message', body, client_message_id: id } as const;
    this.said.push(frame);
    this.client.send(frame);
  }
}

const messagesOf = (convId: string): Promise<Message[]> =>
  db.collection<Message>('messages').find({ conv_id: convId }).sort({ position: 1 }).toArray();

/** Everything REST tells about a conversation's messages. */
async function historyOf(api: Api, { orgId, token }: Minted, convId: string) {
  const found: { id: string; role: string; body: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path: string = `/support/chat/conversation/${orgId}/${convId}?limit=50${cursor ? `&cursor=${cursor}` : ''}`;
    const { status, body } = await api.request('GET', path, { token });
    expect(status).toBe(200);
    found.unshift(...body.messages.map(({ id, role, body }: (typeof found)[number]) => ({ id, role, body })));
    cursor = body.cursor;
  }
  return found;
}

describe('a conversation under random interleavings', () => {
  it.each([1, 2, 3])('ends with one history for all (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
    const customers = await Promise.all([0, 1].map(() => mint(apiAt(apis[0]!.url), org, { key })));
    const devices = customers.flatMap((minted) => [new Device(minted, pick), new Device(minted, pick)]);
    await Promise.all(devices.map((device) => device.come()));
    const steps = 60;
    const deaths = new Map([
      [10 + Math.floor(random() * 20), async () => apis.splice(Math.floor(random() * apis.length), 1)[0]!.kill()],
      [35 + Math.floor(random() * 20), async () => workers.splice(Math.floor(random() * workers.length), 1)[0]!.kill()],
    ]);
    for (let step = 0; step < steps; step++) {
      await deaths.get(step)?.();
      const device = pick(devices);
      const move = random();
      if (!device.client.isOpen) await device.come();
      else if (move < 0.5) device.say(pick(questions), `${seed}-${step}`);
      else if (move < 0.75) device.client.drop();
      // Impatient: the same again, though nothing was lost.
      else for (const frame of device.said.slice(-2)) device.client.send(frame);
      // Sometimes people read before they go on.
      if (random() < 0.2)
        await until(async () => device.unacknowledged().length === 0 || !device.client.isOpen, 'an ack');
    }
    await Promise.all([startApi(), startWorker()]);

    for (const [i, minted] of customers.entries()) {
      const mine = devices.slice(2 * i, 2 * i + 2);
      const convId = mine[0]!.client.convId!;
      expect(mine[1]!.client.convId).toBe(convId);
      await until(async () => {
        for (const device of mine) if (!device.client.isOpen) await device.come();
        return mine.every((device) => device.unacknowledged().length === 0);
      }, 'everything to be acknowledged');
      await until(async () => {
        const messages = await messagesOf(convId);
        return messages.every(({ role, state }) => role !== 'customer' || state !== 'waiting');
      }, 'everything to be answered');
      const stored = await messagesOf(convId);
      const log = await db.collection<Frame>('frames').find({ conv_id: convId }).sort({ seq: 1 }).toArray();
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1));
      for (const { client } of mine) await client.caughtUp(log.length);

      // What was said is there once, in the words it was said in.
      const said = mine.flatMap((device) => device.said.map((frame) => [frame.client_message_id, frame.body]));
      const asked = stored.filter(({ role }) => role === 'customer');
      expect(asked.map((message) => [message.client_message_id, message.body]).toSorted()).toEqual(said.toSorted());
      // Each question has one answer, and each answer was ended once.
      const answers = stored.filter(({ role }) => role === 'ai');
      expect(answers.map(({ answers }) => answers).toSorted()).toEqual(
        asked
          .filter(({ state }) => state === 'answered')
          .map(({ _id }) => _id)
          .toSorted(),
      );
      const ends = log.filter(({ type }) => type === 'reply_end').map(({ body }) => body['message_id']);
      expect(ends.toSorted()).toEqual(answers.map(({ _id }) => _id).toSorted());

      const history = await historyOf(apiAt(apis[0]!.url), minted, convId);
      expect(history.map(({ id }) => id)).toEqual(stored.map(({ _id }) => _id));
      const byId = history.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      for (const { client } of mine) {
        expect([...client.shown.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(byId);
        expect(client.faults).toEqual([]);
      }
    }
    for (const { client } of devices) await client.close();
  });
});
