/**
 * Tests the chat over WebSocket and REST with two API processes: no message is lost, duplicated or shown to another
 * customer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Long, type MongoClient, type Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { WebSocket } from 'ws';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { moveClock, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { ChatClient, chatUrl, mint, type Minted, type Query } from '../kit/socket.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import { conversationWriter } from '../../models/chat/log.ts';
import type { Frame, FrameWriter } from '../../models/live/frame.ts';
import type { Message } from '../../models/chat/message.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { everyRecord } from '../../models/base/define.ts';

let env: SystemEnv;
let here: Running;
let there: Running;
let api: Api;
let other: Api;
let mongo: MongoClient;
let db: Db;
let org: TestOrg;
let key: string;
const clients: ChatClient[] = [];
const raws: Socket[] = [];
const spare: Running[] = [];

beforeAll(async () => {
  env = systemEnv('chat');
  mongo = await openClient(env['MONGODB_URI']!);
  db = mongo.db();
  await connectMongo(env['MONGODB_URI']!);
  [here, there] = await Promise.all([startProcess('test/kit/chatapi.ts', env), startProcess('api/server.ts', env)]);
  api = apiAt(here.url);
  other = apiAt(there.url);
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});
afterEach(async () => {
  const faults = clients.flatMap((client) => client.faults);
  for (const client of clients.splice(0)) client.drop();
  for (const raw of raws.splice(0)) raw.destroy();
  await Promise.all(spare.splice(0).map((running) => running.kill()));
  expect(faults).toEqual([]);
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await disconnectMongo();
  await mongo.close();
  await removeDataDir(env);
});

const session = (options: Parameters<typeof mint>[2] = {}): Promise<Minted> => mint(api, org, { key, ...options });
const clientOf = ({ orgId, token }: Pick<Minted, 'orgId' | 'token'>): ChatClient => {
  const client = new ChatClient(orgId, { sessionToken: token });
  clients.push(client);
  return client;
};
/** Connects a client for a new customer and waits for the greeting. */
async function newClient(query: Query = {}, url = here.url): Promise<ChatClient> {
  const client = await clientOf(await session()).connect(url, query);
  await client.frame('history');
  return client;
}
/** Opens another tab of the same customer and waits for its greeting. */
async function tabOf({ orgId, credentials }: ChatClient, url = there.url, query: Query = {}): Promise<ChatClient> {
  const client = await clientOf({ orgId, token: credentials['sessionToken']! }).connect(url, query);
  await client.frame('history');
  return client;
}
/**
 * A writer in the test's own process, as a worker has one: the frames reach both API processes only through the
 * database.
 */
const writerOf = (convId: string): FrameWriter =>
  conversationWriter({ _id: convId, org_id: org.orgId, mode: 'test' }, () => new Date());
/** Appends a whole answer and returns the sequence number of its last frame. */
async function answer(convId: string, messageId: string, pieces: string[]): Promise<number> {
  const writer = writerOf(convId);
  await writer.append({ type: 'typing', transient: true });
  await writer.append({ type: 'reply_start', body: { message_id: messageId } });
  for (const body of pieces) {
    await writer.append({ type: 'reply_chunk', body: { message_id: messageId, body }, transient: true });
  }
  const end = { message_id: messageId, body: pieces.join(''), sources: [], has_context: true };
  return writer.append({
    type: 'reply_end',
    body: { ...end, timestamp: new Date().toISOString() },
    key: `end:${messageId}`,
  });
}
const framesOf = (convId: string): Promise<Frame[]> =>
  db.collection<Frame>('frames').find({ stream: convId }, everyRecord).sort({ seq: 1 }).toArray();
const messagesOf = (convId: string): Promise<Message[]> =>
  db.collection<Message>('messages').find({ conv_id: convId }).sort({ position: 1 }).toArray();
const conversationOf = async (convId: string): Promise<Conversation> =>
  (await db.collection<Conversation>('conversations').findOne({ _id: convId }))!;
const rest = (client: ChatClient, method: string, path: string, body?: unknown, at = api) =>
  at.request(method, path.replace('{orgId}', client.orgId), {
    token: client.credentials['sessionToken'],
    ...defined({ body }),
  });

describe('GET wss …/support/chat/ws/{orgId}', () => {
  it('a new customer is greeted with a new conversation and an empty history', async () => {
    const client = await newClient();
    expect(client.all('welcome')).toEqual([
      { type: 'welcome', seq: 0, conv_id: client.convId, status: 'open', mode: 'test', reachable: false },
    ]);
    expect(client.all('history')).toEqual([{ type: 'history', seq: 0, messages: [], cursor: null }]);
  });

  it('a stored message is acknowledged in every tab of the customer, in every process', async () => {
    const client = await newClient();
    const tab = await tabOf(client);
    client.say('Where is my card?', 'first');
    const [ack, same] = await Promise.all([client.frame('ack'), tab.frame('ack')]);
    expect(same).toEqual(ack);
    const [stored] = await messagesOf(client.convId!);
    expect(ack).toEqual({
      type: 'ack',
      seq: 1,
      client_message_id: 'first',
      message_id: stored!._id,
      body: 'Where is my card?',
      timestamp: stored!.at.toISOString(),
    });
    expect(stored).toMatchObject({ role: 'customer', state: 'waiting', position: 1, verified: true, mode: 'test' });
    const { body } = await rest(client, 'GET', '/support/chat/history/{orgId}', undefined, other);
    expect(body).toEqual({
      conv_id: client.convId,
      messages: [
        {
          id: ack.message_id,
          role: 'customer',
          body: 'Where is my card?',
          timestamp: ack.timestamp,
          client_message_id: 'first',
        },
      ],
      cursor: null,
    });
  });

  it('a new message signals the conversation’s workflow', async () => {
    const client = await newClient();
    const missed = () => here.output().split('workflow not started').length;
    const signalled = async (): Promise<boolean> => {
      const before = missed();
      const said = (await messagesOf(client.convId!)).length;
      client.say('Hello');
      // The intent is removed once the workflow has been signalled. If that takes more than a second, it is left for
      // the sweeper, and no sweeper runs here.
      return until(async () => {
        const message = (await messagesOf(client.convId!))[said];
        if (message?.pending?.length === 0) return 'signalled';
        return missed() > before && 'missed';
      }, 'the workflow to be signalled').then((outcome) => outcome === 'signalled');
    };
    await until(signalled, 'the workflow to be signalled');
  });

  it('messages sent over one socket are stored in the order they were sent', async () => {
    const client = await newClient();
    const bodies = Array.from({ length: 12 }, (_, i) => `number ${i}`);
    for (const [i, body] of bodies.entries()) client.say(body, `id ${i}`);
    await until(async () => client.all('ack').length === bodies.length, 'all to be acknowledged');
    expect(client.all('ack').map((ack) => ack.body)).toEqual(bodies);
    expect((await messagesOf(client.convId!)).map((message) => message.body)).toEqual(bodies);
  });

  it('an answer that another process writes reaches every tab of the customer completely and in order', async () => {
    const client = await newClient();
    const tab = await tabOf(client);
    const pieces = Array.from({ length: 40 }, (_, i) => `piece ${i} `);
    const last = await answer(client.convId!, 'msg_answer', pieces);
    await Promise.all([client.caughtUp(last), tab.caughtUp(last)]);
    for (const one of [client, tab]) {
      expect(one.all('reply_chunk').map((chunk) => chunk.body)).toEqual(pieces);
      expect(one.all('reply_end')).toHaveLength(1);
      expect(one.shown.get('msg_answer')?.body).toBe(pieces.join(''));
    }
  });

  it('frames that several writers append to a conversation’s log at the same time reach the client in the order of the log', async () => {
    const client = await newClient();
    await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        const own = writerOf(client.convId!);
        for (let i = 0; i < 10; i++)
          await own.append({ type: 'reply_start', body: { message_id: `msg_${writer}_${i}` } });
      }),
    );
    await client.caughtUp(60);
    const stored = await framesOf(client.convId!);
    expect(client.all('reply_start').map(({ seq, message_id }) => [seq, message_id])).toEqual(
      stored.map(({ seq, body }) => [seq, body['message_id']]),
    );
  });

  it('metrics count open sockets, frames by type, and closed sockets by close code', async () => {
    const own = await startProcess('api/server.ts', env);
    spare.push(own);
    const counted = async (): Promise<Record<string, number>> => {
      const text = await (await fetch(`${own.url}/metrics`)).text();
      const lines = text.matchAll(/^chat_(\w+?)(?:_total)?(?:\{\w+="(\w+)"\})? (\d+)$/gm);
      return Object.fromEntries(
        [...lines].map(([, name, label, value]) => [label ? `${name} ${label}` : name!, Number(value)]),
      );
    };
    const client = await newClient({}, own.url);
    const tab = await tabOf(client, own.url);
    expect(await counted()).toEqual({ sockets_open: 2, 'frames_sent welcome': 2, 'frames_sent history': 2 });
    client.say('Hello');
    client.send({ type: 'ping' });
    await Promise.all([client.frame('pong'), client.frame('ack'), tab.frame('ack')]);
    await client.close();
    tab.send({ type: `made up ${randomUUID()}` });
    await tab.ended();
    const left = await clientOf({ orgId: org.orgId, token: 'nothing' }).connect(own.url);
    await left.ended();
    // Close codes invented by a client are all counted as "other".
    const rude = new WebSocket(chatUrl(own.url, org.orgId, client.credentials));
    await once(rude, 'message');
    rude.close(3999);
    await once(rude, 'close');
    await until(async () => (await counted())['sockets_open'] === 0, 'the sockets to be gone');
    expect(await counted()).toEqual({
      sockets_open: 0,
      'frames_sent welcome': 3,
      'frames_sent history': 3,
      'frames_sent ack': 2,
      'frames_sent pong': 1,
      'frames_sent error': 2,
      'frames_received message': 1,
      'frames_received ping': 1,
      'frames_received invalid': 1,
      'sockets_closed 1005': 1,
      'sockets_closed 4400': 1,
      'sockets_closed 4401': 1,
      'sockets_closed other': 1,
    });
  });

  it('a confirmation or step-up for a tool call that is not pending gets an error that names the refused frame’s type', async () => {
    const client = await newClient();
    client.send({ type: 'typing' });
    client.send({ type: 'ping' });
    client.send({ type: 'confirm_response', pending_id: 'p', approved: true });
    client.send({ type: 'step_up_response', pending_id: 'p', step_up_token: 't' });
    await client.frame('pong');
    await until(async () => client.all('error').length === 2, 'both refusals');
    expect(client.all('error').map(({ code, refused }) => [code, refused])).toEqual([
      ['NOTHING_PENDING', 'confirm_response'],
      ['NOTHING_PENDING', 'step_up_response'],
    ]);
    expect(client.isOpen).toBe(true);
  });

  it('an end frame resolves the conversation and stores the customer’s rating, and the next connection starts a new conversation', async () => {
    const client = await newClient();
    client.say('Thanks');
    await client.frame('ack');
    client.send({ type: 'end', body: '4' });
    const ended = await until(async () => {
      const conversation = await conversationOf(client.convId!);
      return conversation.status === 'resolved' && conversation;
    }, 'the end');
    expect(ended.csat).toBe(4);
    const next = await tabOf(client);
    expect(next.convId).not.toBe(client.convId);
    // A client that names the old conversation still gets it.
    const former = await tabOf(client, there.url, { conv_id: client.convId! });
    expect(former.all('history')[0]?.messages.map(({ body }) => body)).toEqual(['Thanks']);
    expect(former.all('welcome')[0]?.status).toBe('resolved');
  });

  it('a context_update from the page is stored, but does not override the product that is signed into the session token', async () => {
    const client = clientOf(await session({ context: { productType: 'business' } }));
    await client.connect(here.url);
    client.send({
      type: 'context_update',
      context: { productType: 'personal', page: { title: 'Prices', 'a.b': [null] } },
    });
    client.say('What does it cost?');
    await client.frame('ack');
    const [message] = await messagesOf(client.convId!);
    expect(message?.product_type).toBe('business');
    expect((await conversationOf(client.convId!)).refinement).toEqual({
      productType: 'personal',
      page: { title: 'Prices', 'a.b': [null] },
    });
  });

  it('a context that is too large or too deep is refused, and the socket stays open', async () => {
    const client = await newClient();
    let deep: unknown = 1;
    for (let i = 0; i < 2000; i++) deep = [deep];
    client.send({ type: 'context_update', context: { note: 'x'.repeat(9_000) } });
    client.send({ type: 'context_update', context: { deep } });
    client.send({ type: 'context_update', context: 'text' });
    await until(async () => client.all('error').length === 3, 'three refusals');
    expect(new Set(client.all('error').map(({ code }) => code))).toEqual(new Set(['VALIDATION']));
    client.send({ type: 'ping' });
    await client.frame('pong');
  });
});

describe('a client that resumes', () => {
  it('a client that resumes gets each frame it missed exactly once, also from another process', async () => {
    const client = await newClient();
    client.say('Hello', 'a');
    await client.frame('ack');
    client.drop();
    const last = await answer(client.convId!, 'msg_one', ['one ', 'two']);
    await client.resume(there.url);
    await client.caughtUp(last);
    client.drop();
    const end = await answer(
      client.convId!,
      'msg_two',
      Array.from({ length: 130 }, (_, i) => `${i} `),
    );
    await client.resume(here.url);
    await client.caughtUp(end);
    const stored = await framesOf(client.convId!);
    const logged = client.frames.filter(({ type }) => !['welcome', 'history'].includes(type));
    expect(logged.map(({ seq, type }) => [seq, type])).toEqual(stored.map(({ seq, type }) => [seq, type]));
    // A client that resumes gets no second history.
    expect(client.all('history')).toHaveLength(1);
    expect(client.all('welcome').map(({ seq }) => seq)).toEqual([0, 1, last]);
  });

  it('a client that resumes gets the history when its resume_from is no sequence number of this conversation', async () => {
    const client = await newClient();
    client.say('Hello');
    await client.frame('ack');
    for (const resumeFrom of ['2', '999999999999999', 'x', '-1', '']) {
      const tab = await tabOf(client, there.url, { conv_id: client.convId!, resume_from: resumeFrom });
      expect(tab.all('history')[0]?.messages).toHaveLength(1);
      expect(tab.seq).toBe(1);
    }
  });

  it('a client that resumes gets the history when the missed frames are no longer in the log, or are too many', async () => {
    const client = await newClient();
    client.say('Hello');
    await client.frame('ack');
    await answer(client.convId!, 'msg_gone', ['one ', 'two ', 'three']);
    const frames = db.collection<Frame>('frames');
    await frames.deleteMany({ stream: client.convId!, type: 'reply_chunk', 'body.body': 'two ' }, everyRecord);
    const tab = await tabOf(client, there.url, { conv_id: client.convId!, resume_from: '1' });
    expect(tab.seq).toBe(7);
    const [template] = await framesOf(client.convId!);
    const many = Array.from({ length: 1_100 }, (_, i) => ({
      ...template!,
      _id: `${client.convId}:${8 + i}`,
      seq: 8 + i,
      key: `many:${i}`,
    }));
    await frames.insertMany(many);
    const late = await tabOf(client, there.url, { conv_id: client.convId!, resume_from: '7' });
    expect(late.seq).toBe(1_107);
  });

  it('a client that connects while an answer is being streamed sees the answer from the beginning', async () => {
    const client = await newClient();
    client.say('Hello');
    await client.frame('ack');
    const [message] = await messagesOf(client.convId!);
    // Does what a worker does when it starts an answer.
    await db
      .collection<Message>('messages')
      .updateOne({ _id: message!._id }, { $set: { attempt: 'a', state: 'waiting' } });
    const writer = writerOf(client.convId!);
    await writer.append({ type: 'reply_start', body: { message_id: message!.reply_id! } });
    await writer.append({ type: 'reply_chunk', body: { message_id: message!.reply_id!, body: 'The begin' } });
    const tab = await tabOf(client);
    await writer.append({ type: 'reply_chunk', body: { message_id: message!.reply_id!, body: 'ning.' } });
    await until(async () => tab.shown.get(message!.reply_id!)?.body === 'The beginning.', 'the whole answer');
  });

  it('a socket first gets the last messages of a long history, and earlier messages page by page on request', async () => {
    const client = await newClient();
    const convId = client.convId!;
    const at = new Date();
    const many = Array.from(
      { length: 130 },
      (_, i) =>
        ({
          _id: `msg_${convId}_${i}`,
          org_id: org.orgId,
          conv_id: convId,
          mode: 'test',
          role: 'customer',
          // The last forty messages together exceed the size limit of one frame, and so does the first one alone.
          body: i === 0 ? 'x'.repeat(200_001) : i < 90 ? `short ${i}` : `long ${i} ${'x'.repeat(7_000)}`,
          position: i + 1,
          at,
          state: 'answered',
        }) satisfies Message,
    );
    await db.collection<Message>('messages').insertMany(many);
    const tab = await tabOf(client);
    const [history] = tab.all('history');
    const shown = history!.messages.map(({ id }) => id);
    expect(shown).toEqual(many.slice(-shown.length).map(({ _id }) => _id));
    expect(shown.length).toBeGreaterThan(20);
    expect(shown.length).toBeLessThan(40);
    const before: string[] = [];
    for (let cursor = history!.cursor; cursor !== null;) {
      const path = `/support/chat/conversation/{orgId}/${convId}?limit=30&cursor=${cursor}`;
      const { status, body } = await rest(client, 'GET', path);
      expect(status).toBe(200);
      before.unshift(...body.messages.map(({ id }: { id: string }) => id));
      cursor = body.cursor;
    }
    expect([...before, ...shown]).toEqual(many.map(({ _id }) => _id));
    const told: string[] = [];
    for (let cursor = history!.cursor; cursor !== null;) {
      tab.send({ type: 'earlier', cursor });
      const earlier = await tab.frame('earlier', (frame) => frame.before === cursor);
      told.unshift(...earlier.messages.map(({ id }) => id));
      cursor = earlier.cursor;
    }
    expect([...told, ...shown]).toEqual(many.map(({ _id }) => _id));
    // A cursor from another conversation or an invalid one is refused, and the socket stays open.
    const stranger = await newClient();
    for (const cursor of [history!.cursor!, 'nothing']) {
      stranger.send({ type: 'earlier', cursor });
      await until(async () => stranger.all('error').at(-1)?.code === 'VALIDATION' && stranger.isOpen, 'a refusal');
      stranger.frames.length = 0;
    }
    expect(stranger.all('earlier')).toEqual([]);
  });
});

describe('a message that is sent twice with the same client_message_id', () => {
  it('a repeated message is acknowledged again and stored once', async () => {
    const client = await newClient();
    client.say('Hello', 'same');
    await client.frame('ack');
    client.say('Hello', 'same');
    await until(async () => client.all('ack').length === 2, 'the second acknowledgement');
    const [first, second] = client.all('ack');
    expect(second).toEqual(first);
    expect(await messagesOf(client.convId!)).toHaveLength(1);
    expect((await conversationOf(client.convId!)).unread).toBe(1);
    const { status, body } = await rest(client, 'POST', '/support/chat/messages/{orgId}', {
      body: 'Hello',
      client_message_id: 'same',
      conv_id: client.convId,
    });
    expect([status, body]).toEqual([202, { conv_id: client.convId, message_id: first!.message_id, duplicate: true }]);
  });

  it('a message that is repeated with its Idempotency-Key is stored once even when the API died before it kept the answer', async () => {
    const client = await newClient();
    const request = {
      token: client.credentials['sessionToken'],
      body: { body: 'Hello' },
      headers: { 'idempotency-key': randomUUID() },
    };
    const send = () => api.request('POST', `/support/chat/messages/${client.orgId}`, request);
    const first = await send();
    expect([first.status, first.body.duplicate]).toEqual([202, undefined]);
    // A process that dies before it stores the reply leaves the record of the key in this state.
    const left = { $unset: { reply: 1 }, $set: { running_until: new Date(0) } } as const;
    const { modifiedCount } = await db.collection('idempotency').updateMany({ about: client.convId! }, left);
    expect(modifiedCount).toBe(1);
    const again = await send();
    expect([again.status, again.body]).toEqual([202, { ...first.body, duplicate: true }]);
    expect(await messagesOf(client.convId!)).toHaveLength(1);
  });

  it('a repeated message becomes one message of one conversation, even when sent concurrently over two processes, sockets and REST', async () => {
    for (let round = 0; round < 8; round++) {
      const minted = await session();
      const tabs = [clientOf(minted), clientOf(minted)] as const;
      await Promise.all([tabs[0].connect(here.url), tabs[1].connect(there.url)]);
      const said = { body: 'Hello', client_message_id: 'same' };
      for (const tab of tabs) tab.send({ type: 'message', ...said });
      const sent = await Promise.all(
        [api, other, api].map((at) => rest(tabs[0], 'POST', '/support/chat/messages/{orgId}', said, at)),
      );
      await Promise.all(tabs.map((tab) => tab.frame('ack')));
      const ids = new Set([
        ...sent.map(({ body }) => body.message_id),
        ...tabs.flatMap((tab) => tab.all('ack').map(({ message_id }) => message_id)),
      ]);
      expect(ids.size).toBe(1);
      expect(new Set([tabs[0].convId, tabs[1].convId]).size).toBe(1);
      expect(await messagesOf(tabs[0].convId!)).toHaveLength(1);
      await until(async () => (await conversationOf(tabs[0].convId!)).unread === 1, 'one unread message');
      expect((await framesOf(tabs[0].convId!)).filter(({ type }) => type === 'ack')).toHaveLength(1);
    }
  });

  it('a message is stored once when it is resent to another process after the first process died', async () => {
    const doomed = await startProcess('api/server.ts', env);
    spare.push(doomed);
    const client = await newClient({}, doomed.url);
    const tab = await tabOf(client);
    for (let i = 0; i < 5; i++) client.say(`number ${i}`, `id ${i}`);
    await client.frame('ack');
    await doomed.kill();
    await client.ended();
    await client.resume(there.url);
    for (let i = 0; i < 5; i++) client.say(`number ${i}`, `id ${i}`);
    const inLog = async () => (await framesOf(client.convId!)).filter(({ type }) => type === 'ack');
    await until(async () => (await inLog()).length === 5 && client.seq === 5 && tab.seq === 5, 'all five');
    for (const one of [client, tab]) {
      expect([...one.shown.values()].map(({ body }) => body).toSorted()).toEqual(
        [0, 1, 2, 3, 4].map((i) => `number ${i}`),
      );
    }
    expect(await messagesOf(client.convId!)).toHaveLength(5);
  });
});

describe('an invalid or excessive frame', () => {
  const malformed: [string, string | Uint8Array, string][] = [
    ['what is not JSON', '{"type":', 'MALFORMED_JSON'],
    ['what is not UTF-8', '', 'MALFORMED_JSON'],
    ['a type that does not exist', '{"type":"refund"}', 'UNKNOWN_TYPE'],
    ['a type that only the server sends', '{"type":"reply_end","message_id":"m"}', 'UNKNOWN_TYPE'],
    ['an inherited name as a type', '{"type":"constructor"}', 'UNKNOWN_TYPE'],
    ['no object', '[]', 'UNKNOWN_TYPE'],
    ['null', 'null', 'UNKNOWN_TYPE'],
    ['binary', randomBytes(20), 'BINARY_FRAME'],
    ['more than 64 KiB', `{"type":"ping"}${' '.repeat(65_536 - 14)}`, 'TOO_LARGE'],
    ['megabytes', 'x'.repeat(5_000_000), 'TOO_LARGE'],
  ];
  it.each(malformed)(
    'a client that sends an invalid frame (%s) gets an error, and its socket is closed with 4400',
    async (name, data, code) => {
      const client = await newClient();
      if (name === 'what is not UTF-8') {
        // A complete text frame, masked with zeros, whose single byte starts an incomplete UTF-8 character.
        (client as unknown as { socket: { _socket: Socket } }).socket._socket.write(
          Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xc3]),
        );
      } else client.sendRaw(data);
      expect(await client.ended()).toEqual({ code: 4400, reason: code });
      expect(client.all('error').map((error) => error.code)).toEqual([code]);
    },
  );

  it('a frame of exactly 64 KiB is accepted', async () => {
    const client = await newClient();
    client.sendRaw(`{"type":"ping"}${' '.repeat(65_536 - 15)}`);
    await client.frame('pong');
  });

  it('a frame whose header announces a gigabyte is refused without waiting for its content', async () => {
    const client = await newClient();
    const raw = (client as unknown as { socket: { _socket: Socket } }).socket._socket;
    raw.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0x7b]));
    expect((await client.ended()).code).toBe(4400);
    expect(client.all('error')[0]?.code).toBe('TOO_LARGE');
  });

  it.each([
    ['an empty body', { type: 'message', body: '', client_message_id: 'm' }],
    ['a blank body', { type: 'message', body: ' \n\t', client_message_id: 'm' }],
    ['a body of more than 8,000 characters', { type: 'message', body: 'x'.repeat(8_001), client_message_id: 'm' }],
    ['a body that is no text', { type: 'message', body: { $gt: '' }, client_message_id: 'm' }],
    ['an unknown field', { type: 'message', body: 'x', client_message_id: 'm', role: 'agent' }],
  ])('a message with %s gets an error that names the message, and the socket stays open', async (_, frame) => {
    const client = await newClient();
    client.send(frame);
    const error = await client.frame('error');
    expect([error.code, error.refused, error.client_message_id]).toEqual(['VALIDATION', 'message', 'm']);
    client.send({ type: 'ping' });
    await client.frame('pong');
    expect(await messagesOf(client.convId!)).toEqual([]);
  });

  it('an end frame with a rating out of range is refused', async () => {
    const client = await newClient();
    client.send({ type: 'end', body: '6' });
    expect((await client.frame('error')).code).toBe('VALIDATION');
    expect((await conversationOf(client.convId!)).status).toBe('open');
  });

  it('a customer who sends 21 messages in a minute over all processes gets an error, and the socket closes with 4429', async () => {
    const client = await newClient();
    const tab = await tabOf(client);
    for (let i = 0; i < 8; i++) client.say(`here ${i}`);
    for (let i = 0; i < 8; i++) tab.say(`there ${i}`);
    await client.caughtUp(16);
    for (let i = 0; i < 4; i++) {
      const { status } = await rest(client, 'POST', '/support/chat/messages/{orgId}', { body: `rest ${i}` });
      expect(status).toBe(202);
    }
    tab.say('one too many', 'last');
    expect((await tab.ended()).code).toBe(4429);
    const error = await tab.frame('error');
    expect([error.code, error.client_message_id]).toEqual(['RATE_LIMITED', 'last']);
    expect(error.retry_after).toBeGreaterThan(0);
    const { status, headers } = await rest(client, 'POST', '/support/chat/messages/{orgId}', { body: 'again' }, other);
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await messagesOf(client.convId!)).toHaveLength(20);
  });

  it('a flood of frames other than messages closes the socket with 4429', async () => {
    const client = await newClient();
    for (let i = 0; i < 400; i++) client.send({ type: 'typing' });
    expect((await client.ended()).code).toBe(4429);
  });

  it('an eleventh socket of one session is refused until another one closes', async () => {
    const first = await newClient();
    for (let i = 0; i < 9; i++) await tabOf(first, here.url);
    const eleventh = clientOf({ orgId: org.orgId, token: first.credentials['sessionToken']! });
    await eleventh.connect(here.url);
    expect((await eleventh.ended()).code).toBe(4429);
    clients[3]!.drop();
    await until(async () => {
      const again = clientOf({ orgId: org.orgId, token: first.credentials['sessionToken']! });
      await again.connect(here.url);
      // Wait for either outcome in one loop: of two separate waits, the losing one would go on for minutes.
      const seen = await until(async () => again.closed ?? again.all('welcome')[0], 'a welcome, or the end');
      return 'type' in seen;
    }, 'room for another one');
  });

  it('a process at its limit of sockets refuses the handshake with 503', async () => {
    const small = await startProcess('api/server.ts', { ...env, LIMITS: 'sockets=1' });
    spare.push(small);
    const first = await newClient({}, small.url);
    const { sessionToken } = first.credentials;
    const answer = await upgradeRaw(small.url, `/v1/support/chat/ws/${org.orgId}?sessionToken=${sessionToken}`);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('"code":"UNAVAILABLE"');
  });
});

/** Returns the start of the server's answer to an upgrade request, as a client without WebSocket support sees it. */
async function upgradeRaw(apiUrl: string, path: string, headers: string[] = []): Promise<string> {
  const { port } = new URL(apiUrl);
  const raw = connect(Number(port), '127.0.0.1');
  raws.push(raw);
  let text = '';
  raw.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  raw.on('error', () => undefined);
  const head = [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...headers,
  ];
  raw.write(`${head.join('\r\n')}\r\n\r\n`);
  return until(
    async () => text.includes('\r\n\r\n') && (text.startsWith('HTTP/1.1 101') || text.includes('}')) && text,
    'an answer',
  );
}

describe('who may connect', () => {
  it.each([
    ['no credential', {}],
    ['an invalid session token', { sessionToken: 'nonsense' }],
    ['an API key', { sessionToken: () => key }],
    ['a dashboard login', { sessionToken: () => org.owner.token }],
    ['a publishable key that does not exist', { pk: 'svc_pk_test_unknown', visitorId: 'visitor-0123456789' }],
  ] as [string, Record<string, string | (() => string)>][])(
    'the socket of a client with %s is closed with 4401',
    async (_, query) => {
      const given = Object.entries(query).map(([name, value]) => [name, typeof value === 'string' ? value : value()]);
      const client = new ChatClient(org.orgId, Object.fromEntries(given));
      clients.push(client);
      await client.connect(here.url);
      expect(await client.ended()).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
      expect(client.frames.map(({ type }) => type)).toEqual(['error']);
    },
  );

  it('a socket with a session of another organization is closed with 4404, as for an unknown organization', async () => {
    const foreign = await mint(api, await api.newOrg());
    for (const orgId of [org.orgId, 'org_00000000000000000000000000']) {
      const client = await clientOf({ orgId, token: foreign.token }).connect(here.url);
      expect(await client.ended()).toEqual({ code: 4404, reason: 'NOT_FOUND' });
      expect(client.frames.map(({ type }) => type)).toEqual(['error']);
    }
  });

  it('a customer reaches only their own conversations of the session’s mode, over the socket and REST', async () => {
    const mine = await newClient();
    mine.say('A secret');
    await mine.frame('ack');
    const foreignOrg = await api.newOrg();
    const foreign = clientOf(await mint(api, foreignOrg));
    await foreign.connect(here.url);
    await foreign.frame('history');
    foreign.say('Theirs');
    await foreign.frame('ack');
    const live = await api.newOrg();
    await api.goLive(live);
    const keys = { test: (await api.newKey(live)).token, live: (await api.newKey(live, { mode: 'live' })).token };
    const inTest = clientOf(await mint(api, live, { key: keys.test, customer: 'same' }));
    const inLive = clientOf(await mint(api, live, { key: keys.live, customer: 'same' }));
    await Promise.all([inTest.connect(here.url), inLive.connect(here.url)]);
    await Promise.all([inTest.frame('history'), inLive.frame('history')]);
    expect(inTest.convId).not.toBe(inLive.convId);
    const attempts: [ChatClient, string][] = [
      [await newClient(), mine.convId!],
      [mine, foreign.convId!],
      [inTest, inLive.convId!],
      [inLive, inTest.convId!],
      [mine, 'conv_00000000000000000000000000'],
    ];
    for (const [client, convId] of attempts) {
      const thief = await clientOf({ orgId: client.orgId, token: client.credentials['sessionToken']! }).connect(
        there.url,
        { conv_id: convId, resume_from: '0' },
      );
      expect(await thief.ended()).toEqual({ code: 4404, reason: 'NOT_FOUND' });
      expect(thief.frames.map(({ type }) => type)).toEqual(['error']);
      const cursor = Buffer.from(`${convId}:5`).toString('base64url');
      const replies = await Promise.all([
        rest(client, 'GET', `/support/chat/conversation/{orgId}/${convId}`),
        rest(client, 'POST', '/support/chat/messages/{orgId}', { body: 'x', conv_id: convId }),
        rest(client, 'GET', `/support/chat/history/{orgId}?cursor=${cursor}`),
      ]);
      expect(replies.map(({ status, body }) => [status, body.code])).toEqual(replies.map(() => [404, 'NOT_FOUND']));
    }
    expect(mine.all('ack')).toHaveLength(1);
  });

  it('a customer with a new session gets their previous conversation', async () => {
    const first = clientOf(await session({ customer: 'returning' }));
    await first.connect(here.url);
    first.say('Remember me');
    await first.frame('ack');
    const second = clientOf(await session({ customer: 'returning' }));
    await second.connect(there.url);
    expect((await second.frame('history')).messages.map(({ body }) => body)).toEqual(['Remember me']);
    expect(second.convId).toBe(first.convId);
  });

  it('a revoked session is closed with 4401 in every process, and cannot connect again', async () => {
    const minted = await session();
    const tabs = [clientOf(minted), clientOf(minted)] as const;
    await Promise.all([tabs[0].connect(here.url), tabs[1].connect(there.url)]);
    const bystander = await newClient({}, there.url);
    await Promise.all(tabs.map((tab) => tab.frame('history')));
    const path = `/support/sessions/orgs/${org.orgId}/${minted.sessionId}/revoke`;
    expect((await api.request('POST', path, { token: org.owner.token, body: {} })).status).toBe(200);
    expect(await Promise.all(tabs.map((tab) => tab.ended()))).toEqual([
      { code: 4401, reason: 'UNAUTHENTICATED' },
      { code: 4401, reason: 'UNAUTHENTICATED' },
    ]);
    // A new socket is refused too, even by a process that may still have the valid session cached for half a second.
    for (const url of [there.url, here.url]) {
      const late = await clientOf(minted).connect(url);
      expect((await late.ended()).code).toBe(4401);
    }
    bystander.send({ type: 'ping' });
    await bystander.frame('pong');
  });

  it('the sockets of a deleted session are closed with 4401', async () => {
    const minted = await session();
    const client = await clientOf(minted).connect(there.url);
    await client.frame('history');
    await db.collection<{ _id: string }>('sessions').deleteOne({ _id: minted.sessionId });
    expect((await client.ended()).code).toBe(4401);
  });

  it('the sockets of an expired session are closed with 4401, unless a new tab of the embedded chat prolongs the session', async () => {
    const minted = await session({ ttlSeconds: 60 });
    const pk = await publishable();
    const client = await clientOf(minted).connect(here.url);
    const embed = new ChatClient(org.orgId, { pk, visitorId: `visitor-${randomUUID()}` });
    clients.push(embed);
    await embed.connect(here.url);
    await Promise.all([client.frame('history'), embed.frame('history')]);
    try {
      await moveClock(here, 61_000);
      expect(await client.ended()).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
      expect(embed.isOpen).toBe(true);
      // Opening another tab of the visitor prolongs the session for both tabs.
      await moveClock(here, 23 * 3_600_000);
      const tab = new ChatClient(org.orgId, embed.credentials);
      clients.push(tab);
      await tab.connect(here.url);
      await tab.frame('history');
      await moveClock(here, 25 * 3_600_000);
      for (const one of [embed, tab]) {
        one.send({ type: 'ping' });
        await one.frame('pong');
      }
      await moveClock(here, 48 * 3_600_000);
      expect((await Promise.all([embed.ended(), tab.ended()])).map(({ code }) => code)).toEqual([4401, 4401]);
    } finally {
      await moveClock(here, 0);
    }
  });

  it('a WebSocket upgrade request to a path other than the chat’s is answered like an ordinary HTTP request', async () => {
    for (const path of [
      '/v1/support/chat/ws',
      '/v1/support/chat/ws/',
      '/v1/nowhere',
      '//nowhere',
      '/v1/support/chat/ws/a/b',
    ]) {
      expect([path, await upgradeRaw(here.url, path)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 404 /)]);
    }
    for (const path of ['/health/live', '//'])
      expect([path, await upgradeRaw(here.url, path)]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 200 /)]);
  });
});

async function publishable(): Promise<string> {
  const { body } = await api.request('GET', `/support/developer-keys/orgs/${org.orgId}/publishable-keys`, {
    token: org.owner.token,
  });
  return body.data.test.key;
}

describe('a client that does not read from its socket', () => {
  it('a client that does not read from its socket is disconnected, while other clients of the conversation get every frame', async () => {
    const reader = await newClient({}, there.url);
    const minted = { orgId: reader.orgId, token: reader.credentials['sessionToken']! };
    const { pathname, search } = new URL(chatUrl(there.url, minted.orgId, { sessionToken: minted.token }));
    const head = await upgradeRaw(there.url, pathname + search);
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    const raw = raws.at(-1)!;
    // The first frames may have arrived together with the response head.
    await until(async () => raw.bytesRead > head.indexOf('\r\n\r\n') + 4, 'the welcome');
    raw.pause();
    const before = closures(there);
    const writer = writerOf(reader.convId!);
    // More data than the operating system buffers for a connection, which is some megabytes.
    let seq = 0;
    for (let i = 0; i < 60; i++) {
      seq = await writer.append({ type: 'reply_chunk', body: { message_id: 'msg_big', body: 'x'.repeat(400_000) } });
      await reader.caughtUp(seq);
    }
    await until(async () => closures(there) > before, 'the slow reader to be cut off');
    expect(reader.isOpen).toBe(true);
    expect(reader.all('reply_chunk')).toHaveLength(60);
  });
});

describe('the monthly limit of test conversations', () => {
  it('a conversation counts towards the monthly limit of test mode from its first message on, and may continue at the limit', async () => {
    const limited = await startProcess('api/server.ts', { ...env, LIMITS: 'test_conversations_per_month=3' });
    spare.push(limited);
    const small = apiAt(limited.url);
    const messages = '/support/chat/messages/{orgId}';
    const fresh = await small.newOrg();
    const freshKey = (await small.newKey(fresh)).token;
    const visitors = await Promise.all(Array.from({ length: 8 }, async () => mint(small, fresh, { key: freshKey })));
    const send = (token: string, body: string) =>
      small.request('POST', messages.replace('{orgId}', fresh.orgId), { token, body: { body } });
    const first = await Promise.all(visitors.map(({ token }) => send(token, 'Good morning.')));
    expect(first.map(({ status }) => status).sort()).toEqual([202, 202, 202, 403, 403, 403, 403, 403]);
    const again = await Promise.all(visitors.map(({ token }) => send(token, 'And another question.')));
    expect(again.map(({ status }) => status)).toEqual(first.map(({ status }) => status));
    expect(again.find(({ status }) => status === 403)?.body.code).toBe('SANDBOX_LIMIT');

    const client = await clientOf(await mint(small, fresh, { key: freshKey })).connect(limited.url);
    client.send({ type: 'message', body: 'Good morning.', client_message_id: 'one' });
    expect(await client.frame('error')).toMatchObject({ code: 'SANDBOX_LIMIT', client_message_id: 'one' });
    expect(client.isOpen).toBe(true);
    const metrics = await (await fetch(`${small.url}/metrics`)).text();
    expect(metrics).toContain('quota_refusals_total{quota="test_conversations"} 11\n');
  });
});

describe('a connection that is dead without having been closed', () => {
  it('a dead connection is terminated when it does not answer pings, while connections that answer stay open', async () => {
    const pinging = await startProcess('test/kit/chatapi.ts', { ...env, PING_EVERY_MS: '5000' });
    spare.push(pinging);
    const client = await newClient({}, pinging.url);
    const query = new URLSearchParams(client.credentials);
    await upgradeRaw(pinging.url, `/v1/support/chat/ws/${org.orgId}?${query.toString()}`);
    const raw = raws.at(-1)!;
    await until(async () => raw.readableEnded || raw.destroyed, 'the silent one to be ended');
    await until(async () => closures(pinging) === 1, 'the end to be logged');
    client.send({ type: 'ping' });
    await client.frame('pong');
  });
});

/** The number of sockets that a process has seen end without a closing handshake. */
const closures = ({ output }: Running): number =>
  output()
    .split('\n')
    .filter((line) => line.includes('socket closed') && line.includes('"code":1006')).length;

describe('a process whose change stream breaks', () => {
  type Operation = { opid: number; cursor?: { cursorId: unknown; originatingCommand?: { pipeline?: unknown[] } } };
  /** The change streams that are open on this test's database. */
  async function changeStreams(): Promise<Operation[]> {
    return mongo
      .db('admin')
      .aggregate<Operation>(
        [
          { $currentOp: { idleCursors: true, allUsers: true } },
          { $match: { 'cursor.originatingCommand.pipeline.0.$changeStream': { $exists: true }, ns: /^chat\./ } },
        ],
        // MongoDB allows $currentOp with no other read concern.
        { readConcern: 'local' },
      )
      .toArray();
  }
  async function expectNothingLost(during: () => Promise<void>): Promise<void> {
    const tabs = [await newClient(), await newClient({}, there.url)];
    const writers = tabs.map((tab) => writerOf(tab.convId!));
    const state = { writing: true };
    const written = [0, 0];
    const work = Promise.all(
      writers.map(async (writer, i) => {
        while (state.writing || written[i]! < 100) {
          written[i] = await writer.append({
            type: 'reply_chunk',
            body: { message_id: 'm', body: String(written[i]) },
          });
          // The pause lets the change stream wait in MongoDB between frames. Only while it waits, it can be killed.
          await sleep(5);
        }
      }),
    );
    await during();
    state.writing = false;
    await work;
    await Promise.all(tabs.map((tab, i) => tab.caughtUp(written[i]!)));
    for (const [i, tab] of tabs.entries()) {
      expect(tab.all('reply_chunk').map(({ seq }) => seq)).toEqual(
        Array.from({ length: written[i]! }, (_, n) => n + 1),
      );
    }
  }

  it('a process whose change stream breaks resumes after its cursor is killed, without losing or repeating frames', async () => {
    await expectNothingLost(async () => {
      for (let round = 0; round < 4; round++) {
        const streams = await until(async () => {
          const found = await changeStreams();
          return found.length >= 2 && found;
        }, 'both change streams');
        // The driver reads a small 64-bit integer as a number, and would send that as a double.
        const cursors = streams.map(({ cursor }) => Long.fromString(String(cursor!.cursorId)));
        await db.command({ killCursors: '$cmd.aggregate', cursors });
      }
    });
  });

  it('a process whose change stream breaks opens a new one when it cannot resume, and reads the missed frames from the log', async () => {
    const broken = () =>
      [here, there].map(({ output }) => output().split('the change stream of the frame log broke').length - 1);
    const before = broken();
    await expectNothingLost(async () => {
      await until(async () => {
        for (const { opid } of await changeStreams())
          if (opid) await mongo.db('admin').command({ killOp: 1, op: opid });
        return broken().every((count, i) => count > before[i]!);
      }, 'both change streams to break');
    });
  });

  it('a process whose change stream breaks still notices a session that is revoked while the change stream is broken', async () => {
    const minted = await session();
    const client = await clientOf(minted).connect(there.url);
    await client.frame('history');
    const revoke = db
      .collection<{ _id: string }>('sessions')
      .updateOne({ _id: minted.sessionId }, { $set: { revoked_at: new Date() } });
    for (const { opid } of await changeStreams()) if (opid) await mongo.db('admin').command({ killOp: 1, op: opid });
    await revoke;
    expect((await client.ended()).code).toBe(4401);
  });
});

describe('a process that is shut down', () => {
  it('a process that shuts down sends the remaining frames, closes its sockets with 1012, and the clients resume at another process', async () => {
    const stopping = await startProcess('api/server.ts', env);
    const client = await newClient({}, stopping.url);
    client.say('Hello', 'a');
    client.say('Are you there?', 'b');
    const last = answer(client.convId!, 'msg_drained', ['one ', 'two']);
    await stopping.stop();
    expect(await client.ended()).toEqual({ code: 1012, reason: 'restart' });
    await last;
    await client.resume(there.url);
    client.say('Hello', 'a');
    client.say('Are you there?', 'b');
    await until(async () => new Set(client.all('ack').map(({ body }) => body)).size === 2, 'both messages');
    const stored = await framesOf(client.convId!);
    await client.caughtUp(stored.at(-1)!.seq);
    expect(await messagesOf(client.convId!)).toHaveLength(2);
    expect(client.shown.get('msg_drained')?.body).toBe('one two');
  });
});

describe('chat over REST', () => {
  it('the first message starts a conversation, which is listed with its last message', async () => {
    const client = clientOf(await session());
    const empty = await rest(client, 'GET', '/support/chat/history/{orgId}');
    expect([empty.status, empty.body]).toEqual([200, { conv_id: null, messages: [], cursor: null }]);
    const sent = await rest(client, 'POST', '/support/chat/messages/{orgId}', {
      body: 'By post',
      client_message_id: 'a',
    });
    expect(sent.status).toBe(202);
    const { conv_id: convId, message_id: messageId } = sent.body;
    expect(sent.body).toEqual({ conv_id: convId, message_id: messageId });
    const list = await rest(client, 'GET', '/support/chat/conversations/{orgId}', undefined, other);
    expect(list.body).toEqual({
      conversations: [
        {
          conv_id: convId,
          mode: 'test',
          status: 'open',
          preview: 'By post',
          last_message_at: expect.any(String),
          ticket_id: null,
          csat: null,
          created_at: expect.any(String),
        },
      ],
      cursor: null,
    });
    const one = await rest(client, 'GET', `/support/chat/conversation/{orgId}/${convId}`, undefined, other);
    expect(one.body.conversation).toEqual(list.body.conversations[0]);
    expect(one.body.messages.map(({ id, body }: { id: string; body: string }) => [id, body])).toEqual([
      [messageId, 'By post'],
    ]);
  });

  it('a message sent over REST is shown on the customer’s open sockets', async () => {
    const client = await newClient();
    const tab = await tabOf(client);
    const { body } = await rest(client, 'POST', '/support/chat/messages/{orgId}', { body: 'By post' });
    for (const one of [client, tab]) expect((await one.frame('ack')).message_id).toBe(body.message_id);
  });

  it('two first messages sent at the same time start one conversation', async () => {
    for (let round = 0; round < 5; round++) {
      const client = clientOf(await session());
      const sent = await Promise.all(
        [api, other, api, other].map((at, i) =>
          rest(client, 'POST', '/support/chat/messages/{orgId}', { body: `number ${i}` }, at),
        ),
      );
      expect(new Set(sent.map(({ body }) => body.conv_id)).size).toBe(1);
      const history = await rest(client, 'GET', '/support/chat/history/{orgId}');
      expect(history.body.messages).toHaveLength(4);
    }
  });

  it('conversations are listed page by page, newest first', async () => {
    const client = clientOf(await session());
    const begun: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { body } = await rest(client, 'POST', '/support/chat/messages/{orgId}', { body: `number ${i}` });
      begun.unshift(body.conv_id);
      await db
        .collection<Conversation>('conversations')
        .updateOne({ _id: body.conv_id }, { $set: { status: 'resolved' } });
    }
    const listed: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path: string = `/support/chat/conversations/{orgId}?limit=2${cursor ? `&cursor=${cursor}` : ''}`;
      const { body } = await rest(client, 'GET', path);
      listed.push(...body.conversations.map(({ conv_id }: { conv_id: string }) => conv_id));
      cursor = body.cursor;
    }
    expect(listed).toEqual(begun);
    // Without an open conversation, the last one counts as the current one.
    const history = await rest(client, 'GET', '/support/chat/history/{orgId}');
    expect(history.body.conv_id).toBe(begun[0]);
  });

  it('a cursor of another list or an invalid cursor is refused with 400', async () => {
    const client = await newClient();
    const foreign = Buffer.from('conv_00000000000000000000000000:5').toString('base64url');
    const replies = await Promise.all([
      rest(client, 'GET', '/support/chat/history/{orgId}?cursor=nonsense'),
      rest(client, 'GET', `/support/chat/conversation/{orgId}/${client.convId}?cursor=${foreign}`),
      rest(client, 'GET', `/support/chat/conversations/{orgId}?cursor=${foreign}`),
    ]);
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual(replies.map(() => [400, 'VALIDATION']));
  });

  it('a blank message, or one of more than 8,000 characters, is refused with 400', async () => {
    const client = await newClient();
    for (const body of ['', '  \n', 'x'.repeat(8_001)]) {
      const { status } = await rest(client, 'POST', '/support/chat/messages/{orgId}', { body });
      expect(status).toBe(400);
    }
  });
});
