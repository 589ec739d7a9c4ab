/**
 * Limits of the chat for each client address and session, counted over two processes behind a proxy.
 * Further tests show that an embed's socket is closed when the key, origin or secret that admitted it is withdrawn.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { moveClock, removeDataDir, startProcess, systemEnv, type Running, type SystemEnv } from '../kit/processes.ts';
import { ChatClient, chatUrl, mint, type Minted, type Query } from '../kit/socket.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import { maxTicketEvents } from '../../models/rules/chat/conversation.ts';

let env: SystemEnv;
let here: Running;
let there: Running;
let api: Api;
let mongo: MongoClient;
let db: Db;
let org: TestOrg;
let key: string;
let pk: string;
const clients: ChatClient[] = [];

beforeAll(async () => {
  env = systemEnv('chatlimits', {
    TRUST_PROXY: 'true',
    LIMITS:
      'sockets_per_address=3,connects_per_minute=5,address_connects_per_minute=8,address_messages_per_minute=5,other_frames_per_minute=4',
  });
  mongo = await openClient(env['MONGODB_URI']!);
  db = mongo.db();
  [here, there] = await Promise.all([startProcess('test/kit/chatapi.ts', env), startProcess('api/server.ts', env)]);
  api = apiAt(here.url);
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  pk = await publishable(org);
});
afterEach(async () => {
  await moveClock(here, 0);
  const faults = clients.flatMap((client) => client.faults);
  for (const client of clients.splice(0)) client.drop();
  expect(faults).toEqual([]);
});
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()]);
  await mongo.close();
  await removeDataDir(env);
});

const page = 'https://www.example.com';
let addresses = 0;
/** A client address that no other test in this file uses. */
const newAddress = (): string => `198.51.100.${(addresses += 1)}`;

async function publishable(of: TestOrg): Promise<string> {
  const path = `/support/developer-keys/orgs/${of.orgId}/publishable-keys`;
  return (await api.request('GET', path, { token: of.owner.token })).body.data.test.key;
}
const clientOf = (orgId: string, credentials: Query, headers: Query = {}): ChatClient => {
  const client = new ChatClient(orgId, credentials, headers);
  clients.push(client);
  return client;
};
const session = (): Promise<Minted> => mint(api, org, { key });
const minted = ({ token }: Minted, address = newAddress()): ChatClient =>
  clientOf(org.orgId, { sessionToken: token }, { 'x-forwarded-for': address });
/** An embedded chat opened by a new visitor. */
const embed = (address: string, credentials: Query = {}, at: TestOrg = org): ChatClient =>
  clientOf(
    at.orgId,
    { pk, visitorId: randomUUID(), ...credentials },
    { 'x-forwarded-for': address, origin: 'http://localhost' },
  );
/** Connects, and waits for either the history or the refusal. */
async function tries(client: ChatClient, url = here.url): Promise<ChatClient> {
  await client.connect(url);
  await until(async () => client.all('history').length > 0 || client.closed, 'an answer to the connection');
  return client;
}
async function isOpen(client: ChatClient): Promise<void> {
  const before = client.all('pong').length;
  client.send({ type: 'ping' });
  await until(async () => {
    if (client.closed) throw new Error(`closed: ${JSON.stringify(client.closed)}`);
    return client.all('pong').length > before;
  }, 'a pong');
}
async function expectSlowed(client: ChatClient): Promise<void> {
  expect(await client.ended()).toEqual({ code: 4429, reason: 'RATE_LIMITED' });
  const error = client.all('error').at(-1);
  expect(error?.code).toBe('RATE_LIMITED');
  expect(error?.retry_after).toBeGreaterThan(0);
}

/** The server's answer to a handshake: 101, or a refusal with its headers and body. */
async function handshake(address: string, query: Query, url = here.url) {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.from(randomUUID().slice(0, 16)).toString('base64'),
    'x-forwarded-for': address,
  };
  const target = chatUrl(url, org.orgId, query).replace(/^ws/, 'http');
  return new Promise<{ status: number; retryAfter?: string | undefined; body?: string }>((resolve, reject) => {
    const asking = request(target, { headers });
    asking.on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve({ status: statusCode });
    });
    asking.on('response', (response) => {
      let body = '';
      response.on('data', (piece: Buffer) => (body += piece.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body }),
      );
    });
    asking.on('error', reject);
    asking.end();
  });
}

describe('one client address', () => {
  it('a client address at its limit of sockets per process gets 429 for further handshakes, and other addresses do not', async () => {
    const address = newAddress();
    const open = await Promise.all([1, 2, 3].map(async () => tries(minted(await session(), address))));
    expect(open.map((client) => client.isOpen)).toEqual([true, true, true]);
    const { token: sessionToken } = await session();
    // The client may send its own X-Forwarded-For, which comes before what the proxy adds.
    for (const said of [address, `192.0.2.1, ${address}`, `::ffff:${address}`]) {
      const refused = await handshake(said, { sessionToken });
      expect([said, refused.status, Number(refused.retryAfter) > 0]).toEqual([said, 429, true]);
      expect(JSON.parse(refused.body!)).toMatchObject({ code: 'RATE_LIMITED' });
    }
    expect((await handshake(newAddress(), { sessionToken })).status).toBe(101);
    expect((await handshake(address, { sessionToken }, there.url)).status).toBe(101);
    open[0]!.drop();
    await until(async () => (await handshake(address, { sessionToken })).status === 101, 'room for another one');
  });

  it('IPv6 clients of the same /64 network share one limit of sockets', async () => {
    const open = [1, 2, 3].map(async (host) => tries(minted(await session(), `2001:db8:7:7::${host}`)));
    await Promise.all(open);
    const { token: sessionToken } = await session();
    expect((await handshake('2001:db8:7:7:ffff::4', { sessionToken })).status).toBe(429);
    expect((await handshake('2001:db8:7:8::1', { sessionToken })).status).toBe(101);
  });

  it('failed sign-ins from all hosts of a /64 IPv6 network count towards one limit', async () => {
    const { email, password } = await api.newUser();
    const guess = async (address: string, given: string) =>
      (
        await api.request('POST', '/auth/login', {
          body: { email, password: given },
          headers: { 'x-forwarded-for': address },
        })
      ).status;
    // Some proxies add the port, which differs for every connection.
    for (const nearest of [
      '2001:db8:7:9::1',
      ...[2, 3, 4, 5].map((host) => `[2001:db8:7:9::${host}]:${50_000 + host}`),
    ])
      expect(await guess(nearest, 'not the password')).toBe(401);
    expect(await guess('2001:db8:7:9:ffff::6', password)).toBe(429);
    expect(await guess('2001:db8:7:a::1', password)).toBe(200);
  });

  it('a client address has a limit of connections per minute over both processes, whatever session or visitor it presents', async () => {
    const address = newAddress();
    for (let i = 0; i < 8; i += 1) {
      const client = await tries(
        i % 2 ? minted(await session(), address) : embed(address),
        i < 4 ? here.url : there.url,
      );
      expect([i, client.isOpen]).toEqual([i, true]);
      client.drop();
    }
    const visitors = await db.collection('customers').countDocuments();
    await expectSlowed(await tries(embed(address)));
    await expectSlowed(await tries(minted(await session(), address), there.url));
    await expectSlowed(await tries(clientOf(org.orgId, { pk: 'guessed' }, { 'x-forwarded-for': address })));
    // No customer was created for the refused visitors; the only new one belongs to the session.
    expect(await db.collection('customers').countDocuments()).toBe(visitors + 1);
    expect((await tries(embed(newAddress()))).isOpen).toBe(true);
  });

  it('a client address has a limit of embed messages per minute over all its visitors', async () => {
    const address = newAddress();
    const visitors = await Promise.all([tries(embed(address)), tries(embed(address), there.url)]);
    for (let i = 0; i < 5; i += 1) {
      visitors[i % 2]!.say(`number ${i}`, `id ${i}`);
      await visitors[i % 2]!.frame('ack', (ack) => ack.client_message_id === `id ${i}`);
    }
    const another = await tries(embed(address));
    for (const [i, visitor] of [...visitors, another].entries()) {
      visitor.say('one too many', `late ${i}`);
      await expectSlowed(visitor);
      expect(visitor.all('error').at(-1)?.client_message_id).toBe(`late ${i}`);
    }
    expect(await db.collection('messages').countDocuments({ body: 'one too many' })).toBe(0);
    const known = await tries(minted(await session(), address));
    known.say('I am known');
    await known.frame('ack');
    const elsewhere = await tries(embed(newAddress()));
    elsewhere.say('I am elsewhere');
    await elsewhere.frame('ack');
  });
});

describe('one session', () => {
  it('the limit of connections per minute of a session counts its connections to both API processes and from all client addresses', async () => {
    const one = await session();
    for (let i = 0; i < 5; i += 1) {
      const client = await tries(minted(one), i % 2 ? here.url : there.url);
      expect([i, client.isOpen]).toEqual([i, true]);
      client.drop();
    }
    for (const url of [here.url, there.url]) {
      const refused = await tries(minted(one), url);
      await expectSlowed(refused);
      // The refusal comes before the history is read, which is the most expensive step.
      expect(refused.frames.map(({ type }) => type)).toEqual(['error']);
    }
    expect((await tries(minted(await session()))).isOpen).toBe(true);
  });

  it.each([
    ['end', { type: 'end' }],
    ['context_update', { type: 'context_update', context: { page: 'Prices' } }],
    ['earlier', { type: 'earlier', cursor: Buffer.from('nothing').toString('base64url') }],
  ])(
    'a session has a limit of %s frames per minute, which is separate from the limit of messages',
    async (_, frame) => {
      const one = await session();
      const [client, tab] = await Promise.all([tries(minted(one)), tries(minted(one), there.url)]);
      for (const socket of [client, tab]) {
        for (let i = 0; i < 2; i += 1) socket.send(frame);
        // Frames are processed one after the other, so the answered ping shows that the earlier ones were processed.
        await isOpen(socket);
      }
      tab.send(frame);
      await expectSlowed(tab);
      // Messages are counted separately.
      client.say('And a question');
      await client.frame('ack');
      client.send(frame);
      await expectSlowed(client);
    },
  );
});

describe('an embed’s open socket', () => {
  /** An organization whose page may embed the chat, with a function that connects from that page. */
  async function bank() {
    const own = await api.newOrg();
    const token = own.owner.token;
    const allow = async (allowed_origins: string[]) =>
      api.request('PUT', `/support/config/orgs/${own.orgId}`, { token, body: { allowed_origins } });
    expect((await allow([page])).status).toBe(200);
    const ownPk = await publishable(own);
    const open = async (origin: string, credentials: Query = {}) => {
      const query = { pk: ownPk, visitorId: randomUUID(), ...credentials };
      const client = await tries(clientOf(own.orgId, query, { origin, 'x-forwarded-for': newAddress() }));
      expect(client.closed).toBeUndefined();
      return client;
    };
    const secret = async (body = {}): Promise<string> => {
      const path = `/support/sessions/orgs/${own.orgId}/embed-secret?mode=test`;
      return (await api.request('POST', path, { token, body })).body.embed_secret;
    };
    return { ...own, allow, open, secret };
  }
  const signed = (secret: string, email: string): Query => ({
    email,
    sig: createHmac('sha256', secret).update(email).digest('hex'),
  });
  /** Moves the clock of the process that holds the sockets. */
  const minutesLater = (minutes: number) => moveClock(here, minutes * 60_000 + 1_000);

  it('a rotation of the publishable key closes an embed’s open socket with 4401, and leaves a minted session’s socket open', async () => {
    const own = await bank();
    const [visitor, bystander] = [await own.open(page), await tries(minted(await session()))];
    const path = `/support/developer-keys/orgs/${own.orgId}/publishable-keys/test/rotate`;
    expect((await api.request('POST', path, { token: own.owner.token, body: {} })).status).toBe(200);
    await minutesLater(1);
    expect(await visitor.ended()).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
    expect(visitor.all('error').at(-1)?.code).toBe('UNAUTHENTICATED');
    await isOpen(bystander);
  });

  it('an embed’s open socket is closed with 4403 after the page’s origin was removed from the allowlist', async () => {
    const own = await bank();
    const [visitor, bystander] = [await own.open(page), await own.open('http://localhost:8080')];
    await own.allow([]);
    await minutesLater(1);
    expect(await visitor.ended()).toEqual({ code: 4403, reason: 'ORIGIN_NOT_ALLOWED' });
    await isOpen(bystander);
  });

  it('an embed’s open socket is closed with 4401 after the secret that signed the customer’s e-mail was replaced', async () => {
    const own = await bank();
    const visitor = await own.open(page, signed(await own.secret(), 'ada@example.com'));
    const bystander = await own.open(page);
    await own.secret();
    await minutesLater(1);
    expect(await visitor.ended()).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
    await isOpen(bystander);
  });

  it('an embed’s open socket stays open while the previous signing secret is still accepted, and is closed afterwards', async () => {
    const own = await bank();
    const old = await own.open(page, signed(await own.secret(), 'ada@example.com'));
    const next = await own.open(page, signed(await own.secret({ overlap_seconds: 600 }), 'eve@example.com'));
    const other = 'https://other.example';
    await own.allow([page, other]);
    const gone = await own.open(other);
    await own.allow([page]);
    await minutesLater(5);
    // When this socket is closed, the check of all sockets is complete.
    expect((await gone.ended()).code).toBe(4403);
    await isOpen(old);
    await minutesLater(11);
    expect(await old.ended()).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
    await isOpen(next);
  });
});

describe('a conversation with the maximum number of ticket events', () => {
  it('a conversation with the maximum number of ticket events takes no further message, and the customer continues in a new one', async () => {
    const one = await session();
    const client = await tries(minted(one));
    client.say('A human, please');
    await client.frame('ack');
    const convId = client.convId!;
    // Builds the state after fifty escalations, each of which was resolved.
    const at = new Date();
    const ticket = { ticket_id: 'tkt_1', status: 'closed', reason: 'asked', created_at: at, updated_at: at } as const;
    const events = Array.from({ length: maxTicketEvents }, (_, i) => ({
      event_id: `evt_${i}`,
      seq: i + 1,
      type: 'ticket.escalated' as const,
      ticket_status: 'closed' as const,
      at,
    }));
    await db
      .collection<Conversation>('conversations')
      .updateOne({ _id: convId }, { $set: { status: 'resolved', ticket, events } });
    client.say('A human, please', 'again');
    expect(await client.ended()).toEqual({ code: 4404, reason: 'NOT_FOUND' });
    const send = (conv_id?: string) =>
      api.request('POST', `/support/chat/messages/${org.orgId}`, {
        token: one.token,
        body: { body: 'A human, please', client_message_id: 'again', ...(conv_id ? { conv_id } : {}) },
      });
    expect((await send(convId)).status).toBe(404);
    const inbox = `/support/inbox/orgs/${org.orgId}/${convId}`;
    for (const act of ['reopen', 'escalate']) {
      const { status } = await api.request('POST', `${inbox}/${act}`, { token: org.owner.token, body: {} });
      expect([act, status]).toEqual([act, 409]);
    }
    const { status, body } = await send();
    expect(status).toBe(202);
    expect(body.conv_id).not.toBe(convId);
    const stored = await db.collection<Conversation>('conversations').findOne({ _id: convId });
    expect([stored?.status, stored?.events.length]).toEqual(['resolved', maxTicketEvents]);
  });
});
