/**
 * Random stories of conversations. Customers write, leave, return on another device and repeat messages, while two APIs
 * and two workers crash. One API and one worker crash at any time; the other API crashes in the middle of a message,
 * and the other worker in the middle of an answer. Often that worker is only paused and continues later. In the end
 * every client must have exactly the history of the server.
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from './database.ts';
import { apiAt, until, type Api, type TestOrg } from './harness.ts';
import { removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from './processes.ts';
import { randomNumbers } from './random.ts';
import { ChatClient, mint, type Minted } from './socket.ts';
import type { MessageFault } from './chatapi.ts';
import type { Fault } from './worker.ts';
import type { Frame } from '../../models/live/frame.ts';
import type { Message } from '../../models/chat/message.ts';
import { noConversation, receive } from '../../web/widget/conversation.ts';
import { everyRecord } from '../../models/base/define.ts';

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
/** The processes that are meant to crash. Those that still run are killed at the end. */
const spare: Running[] = [];
const startApi = async (): Promise<void> => void apis.push(await startProcess('api/server.ts', env));
const startWorker = async (fleets = 'conversations'): Promise<void> =>
  void workers.push(await startProcess('test/kit/worker.ts', { ...env, FLEETS: fleets }));

/**
 * Starts the system of the stories and returns a function that plays one. Call this where hooks may be registered.
 * `name` is the name of the system.
 */
export function chatStories(name: string): (seed: number) => Promise<void> {
  beforeAll(async () => {
    env = systemEnv(name, { LIMITS: 'messages_per_minute=10000,test_replies_per_minute=10000' });
    mongo = await openClient(env['MONGODB_URI']!);
    db = mongo.db();
    // Each story starts the second API and worker. Only the handbook needs a worker for more than conversations.
    await Promise.all([startApi(), startWorker('documents,backlog,conversations')]);
    const api = apiAt(apis[0]!.url);
    org = await api.newOrg();
    key = (await api.newKey(org)).token;
    const { body } = await api.upload(org.orgId, key, { name: 'handbook.md', content: handbook });
    const document = await api.processed(org.orgId, key, body.document.doc_id);
    expect(document.status).toBe('indexed');
  });
  afterAll(async () => {
    await Promise.all(spare.map((running) => running.kill()));
    await Promise.all([...apis, ...workers].map((running) => running.stop()));
    await mongo.close();
    await removeDataDir(env);
  });
  return expectOneHistory;
}

type Chance = { random(): number; pick<T>(from: readonly T[]): T };

const inMessage: MessageFault[] = ['message counted', 'message stored', 'message acknowledged'];
const inAnswer: Fault[] = [
  'answer claimed',
  'answer begun',
  'between chunks',
  'answer unstored',
  'answer stored',
  'answer ended',
  'before settling',
];

/** A process that will crash in the middle of its work. */
type Doomed = { running: Running; fallen: boolean; sleeps: boolean };

async function startDoomed(program: string, fault: string, { pick }: Chance, signal = 'SIGKILL'): Promise<Doomed> {
  const extra = {
    FAULT: fault,
    FAULT_AFTER: pick(['0', '1', '2']),
    FAULT_SIGNAL: signal,
    FLEETS: 'conversations',
  };
  const running = await startProcess(program, { ...env, ...extra });
  spare.push(running);
  const doomed: Doomed = { running, fallen: false, sleeps: signal === 'sleep' };
  running.child.on('message', (message: { type?: string }) => {
    doomed.fallen ||= message.type === 'fallen';
  });
  return doomed;
}

/**
 * A customer on one device. The device repeats each message until it is acknowledged, as docs/chat.md asks of clients.
 */
class Device {
  readonly client: ChatClient;
  readonly said: { type: 'message'; body: string; client_message_id: string }[] = [];
  readonly minted: Minted;

  constructor(minted: Minted) {
    this.minted = minted;
    this.client = new ChatClient(minted.orgId, { sessionToken: minted.token });
  }

  async come(url: string): Promise<void> {
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

  /** Resolves when everything sent is acknowledged, or when the device has to reconnect first. */
  async heard(): Promise<void> {
    await until(async () => this.unacknowledged().length === 0 || !this.client.isOpen, 'an ack');
  }

  say(body: string, id: string): Device['said'][number] {
    const frame = { type: 'message', body, client_message_id: id } as const;
    this.said.push(frame);
    this.client.send(frame);
    return frame;
  }

  /**
   * Sends a message by REST, through any API process, while the device sends it over its socket. The answer is 202, or
   * there is none when that process crashes.
   */
  async post(url: string, { body, client_message_id }: Device['said'][number]): Promise<void> {
    const { orgId, token } = this.minted;
    const said = { body, client_message_id, conv_id: this.client.convId };
    const sending = apiAt(url).request('POST', `/support/chat/messages/${orgId}`, { token, body: said });
    expect([202, undefined]).toContain(
      await sending.then(
        ({ status }) => status,
        () => undefined,
      ),
    );
  }
}

const messagesOf = (convId: string): Promise<Message[]> =>
  db.collection<Message>('messages').find({ conv_id: convId }).sort({ position: 1 }).toArray();
const logOf = (convId: string): Promise<Frame[]> =>
  db.collection<Frame>('frames').find({ stream: convId }, everyRecord).sort({ seq: 1 }).toArray();

/** All messages of a conversation, as the REST API returns them page by page. */
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

/** Plays one random story of customers on their devices, while processes crash. */
async function play(seed: number): Promise<{ customers: Minted[]; devices: Device[] }> {
  const random = randomNumbers(seed);
  const chance: Chance = { random, pick: (from) => from[Math.floor(random() * from.length)]! };
  const { pick } = chance;
  const takeOne = (from: Running[]): Running => from.splice(Math.floor(random() * from.length), 1)[0]!;
  const missing = [
    ...Array.from({ length: 2 - apis.length }, () => startApi()),
    ...Array.from({ length: 2 - workers.length }, () => startWorker()),
  ];
  const [[doomedApi, doomedWorker, ...customers]] = await Promise.all([
    Promise.all([
      startDoomed('test/kit/chatapi.ts', pick(inMessage), chance),
      startDoomed('test/kit/worker.ts', pick(inAnswer), chance, pick(['SIGKILL', 'sleep', 'sleep'])),
      ...[0, 1].map(() => mint(apiAt(apis[0]!.url), org, { key })),
    ]),
    ...missing,
  ]);
  const urls = (): string[] => [...apis, ...(doomedApi.fallen ? [] : [doomedApi.running])].map(({ url }) => url);
  const devices = customers.flatMap((minted) => [new Device(minted), new Device(minted)]);
  await Promise.all(devices.map((device) => device.come(pick(urls()))));
  const posts: Promise<void>[] = [];
  const deaths = new Map([
    [10 + Math.floor(random() * 20), async () => takeOne(apis).kill()],
    [35 + Math.floor(random() * 20), async () => takeOne(workers).kill()],
  ]);
  for (let step = 0; step < 60; step++) {
    await deaths.get(step)?.();
    const device = pick(devices);
    const move = random();
    if (!device.client.isOpen) await device.come(pick(urls()));
    else if (move < 0.4) device.say(pick(questions), `${seed}-${step}`);
    else if (move < 0.55) {
      // The message is sent twice, by the socket and by REST. Everything earlier must be acknowledged first, because
      // the order in which the two arrive is not determined.
      await device.heard();
      const elsewhere = pick(urls());
      if (device.client.isOpen) posts.push(device.post(elsewhere, device.say(pick(questions), `${seed}-${step}`)));
    } else if (move < 0.75) device.client.drop();
    // An impatient customer sends the last messages again, although nothing was lost.
    else for (const frame of device.said.slice(-2)) device.client.send(frame);
    // Sometimes people read before they continue.
    if (random() < 0.2) await device.heard();
  }
  // A process that has not reached its fault yet gets all work until it does.
  if (!doomedWorker.fallen) await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  for (let more = 0; !doomedApi.fallen || !doomedWorker.fallen; more++) {
    expect(more).toBeLessThan(20);
    const device = devices[more % devices.length]!;
    if (!doomedApi.fallen) device.client.drop();
    if (!device.client.isOpen) await device.come(doomedApi.fallen ? pick(urls()) : doomedApi.running.url);
    device.say(pick(questions), `${seed}-more-${more}`);
    await device.heard();
    const { convId } = device.client;
    await until(
      async () => doomedWorker.fallen || (await messagesOf(convId!)).every(({ state }) => state !== 'waiting'),
      'an answer, or the end of who writes it',
    );
  }
  await Promise.all([startApi(), ...(workers.length === 0 ? [startWorker()] : []), ...posts]);
  for (const device of devices) {
    while (device.unacknowledged().length > 0 || !device.client.isOpen) {
      if (!device.client.isOpen) await device.come(pick(urls()));
      await device.heard();
    }
  }
  for (const convId of new Set(devices.map(({ client }) => client.convId!))) {
    await until(async () => (await messagesOf(convId)).every(({ state }) => state !== 'waiting'), 'every answer');
  }
  // A paused process continues its work before it ends.
  if (doomedWorker.sleeps) {
    doomedWorker.running.child.send({ type: 'wake' });
    await doomedWorker.running.stop();
  }
  return { customers, devices };
}

/** For each answer in the log: the text as a client assembles it, and how many times it ends. */
function answersIn(log: readonly Frame[]) {
  const found = new Map<string, { pieces: string; ends: string[] }>();
  for (const { type, body } of log) {
    const id = String(body['message_id']);
    const answer = found.get(id) ?? { pieces: '', ends: [] };
    if (type === 'reply_start') found.set(id, { ...answer, pieces: '' });
    if (type === 'reply_chunk') found.set(id, { ...answer, pieces: answer.pieces + String(body['body']) });
    if (type === 'reply_end') found.set(id, { ...answer, ends: [...answer.ends, String(body['body'])] });
  }
  return found;
}

const byId = <T extends { id: string | undefined }>(entries: Iterable<T>): T[] =>
  [...entries].toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1));

/** Plays the story of this seed and expects the same history everywhere. */
async function expectOneHistory(seed: number): Promise<void> {
  const { customers, devices } = await play(seed);
  for (const [i, minted] of customers.entries()) {
    const mine = devices.slice(2 * i, 2 * i + 2);
    const convId = mine[0]!.client.convId!;
    expect(mine[1]!.client.convId).toBe(convId);
    const [stored, log] = await Promise.all([messagesOf(convId), logOf(convId)]);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, n) => n + 1));
    for (const { client } of mine) await client.caughtUp(log.length);

    // Each message is stored once and unchanged, in the order of its device, and acknowledged once.
    const asked = stored.filter(({ role }) => role === 'customer');
    for (const { said } of mine) {
      const ids = new Set<string | undefined>(said.map(({ client_message_id }) => client_message_id));
      const own = asked.filter(({ client_message_id }) => ids.has(client_message_id));
      expect(own.map(({ client_message_id, body }) => [client_message_id, body])).toEqual(
        said.map(({ client_message_id, body }) => [client_message_id, body]),
      );
    }
    expect(asked).toHaveLength(mine.flatMap(({ said }) => said).length);
    const acks = log.filter(({ type }) => type === 'ack').map(({ body }) => body['message_id']);
    expect(acks.toSorted()).toEqual(asked.map(({ _id }) => _id).toSorted());
    expect(new Set(stored.map(({ position }) => position)).size).toBe(stored.length);
    // Each question has exactly one answer, which ends once and whose pieces form its text.
    expect(asked.filter(({ state }) => state !== 'answered')).toEqual([]);
    const answers = stored.filter(({ role }) => role === 'ai');
    expect(answers.map(({ answers }) => answers).toSorted()).toEqual(asked.map(({ _id }) => _id).toSorted());
    expect(Object.fromEntries(answersIn(log))).toEqual(
      Object.fromEntries(answers.map(({ _id, body }) => [_id, { pieces: body, ends: [body] }])),
    );

    const history = await historyOf(apiAt(apis[0]!.url), minted, convId);
    expect(history.map(({ id }) => id)).toEqual(stored.map(({ _id }) => _id));
    for (const { client } of mine) {
      expect(client.faults).toEqual([]);
      expect(byId(client.shown.values())).toEqual(byId(history));
      // The widget assembles frames with its own code and must get the same text.
      const { entries } = client.frames.reduce(receive, noConversation);
      expect(byId(entries.map(({ id, role, body }) => ({ id, role, body })))).toEqual(byId(history));
      expect(entries.filter(({ state }) => state !== 'there')).toEqual([]);
    }
  }
  for (const { client } of devices) await client.close();
}
