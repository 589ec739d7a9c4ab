/** Members see each change of the inbox as it happens, in any API process. A reconnect shows them what they missed. */
import { afterEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn, sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv } from '../kit/processes.ts';
import { ChatClient, mint } from '../kit/socket.ts';
import { address, StaffClient } from '../kit/staffsocket.ts';
import { createStaffStreams } from '../../api/chat/staffstream.ts';
import type { Context } from '../../api/context.ts';
import { createMetrics } from '../../api/http/metrics.ts';
import type { StreamSocket } from '../../api/live/stream.ts';
import { createErasure, settleErasure } from '../../models/chat/erasure.ts';
import { everyRecord } from '../../models/base/define.ts';
import { newId } from '../../models/base/ids.ts';
import { frameWriter } from '../../models/live/frame.ts';
import type { Problem } from '../../models/rules/base/errors.ts';

const api = system();
const db = sharedDatabase();
modelsIn('shared');

const clients: StaffClient[] = [];
async function opened({ orgId }: TestOrg, user: TestUser, query = ''): Promise<StaffClient> {
  const client = await StaffClient.open(api, orgId, user, query);
  clients.push(client);
  return client;
}
afterEach(async () => {
  const faults = clients.flatMap((client) => client.faults);
  await Promise.all(clients.splice(0).map((client) => client.close()));
  expect(faults).toEqual([]);
});

const inbox = (org: TestOrg, path: string, user: TestUser, body?: object) =>
  api.request(body ? 'POST' : 'GET', `/support/inbox/orgs/${org.orgId}/${path}`, {
    token: user.token,
    ...(body ? { body } : {}),
  });
/** A customer with a function that sends a message and returns the conversation's id. */
async function customer(org: TestOrg) {
  const { token } = await api.newSession(org);
  const say = async (text: string): Promise<string> => {
    const path = `/support/chat/messages/${org.orgId}`;
    const sent = await api.request('POST', path, { token, body: { body: text } });
    expect(sent.status).toBe(202);
    return sent.body.conv_id as string;
  };
  return { say };
}
const about = (convId: string) => (frame: { conversation: { conv_id: string } }) =>
  frame.conversation.conv_id === convId;

/** The streams of members in this process, and a socket that passes its frames to `tell`. */
function streamsWith(tell: StreamSocket['tell']) {
  const ctx = { config: {}, clock: () => new Date(), log: pino({ level: 'silent' }) } as unknown as Context;
  const refusals: Problem[] = [];
  const refuse = (problem: Problem) => void refusals.push(problem);
  const socket: StreamSocket = { seq: 0, network: '', tell, pass: () => undefined, refuse };
  return { streams: createStaffStreams(ctx, createMetrics().sockets.live), socket, refusals };
}
const pageOf = ({ orgId }: TestOrg, { userId }: TestUser, since: Date) => ({
  orgId,
  userId,
  epoch: 0,
  since,
  modes: ['test'] as const,
  until: new Date(Date.now() + 60_000),
  views: new Set<string>(),
});
/** Stores the request to erase a customer, and returns a function that ends a step of the erasure. */
async function erasing({ orgId, owner }: TestOrg, at: Date) {
  const customerId = newId('customer');
  await createErasure({
    _id: customerId,
    org_id: orgId,
    mode: 'test',
    status: 'erasing',
    conv_ids: [],
    found: { conversations: 0, messages: 0, frames: 0, sessions: 0, gaps: 0 },
    requested_by: owner.userId,
    requested_at: at,
  });
  return (status: 'erased' | 'verified', now: Date) => settleErasure(orgId, customerId, status, now);
}
const request = { params: {}, query: new URLSearchParams(), origin: undefined, address: '127.0.0.1' };

describe('the socket of a member', () => {
  it('a member’s socket shows a customer’s request for a person, the notification about it, and the acts of colleagues', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const [ada, other] = [await opened(org, org.owner), await opened(org, bob)];
    expect((await ada.frame('welcome')).members).toHaveLength(2);
    const { say } = await customer(org);
    const convId = await say('I want to talk to a human');
    for (const client of [ada, other]) {
      await client.frame('conversation', (one) => about(convId)(one) && one.conversation.status === 'escalated');
      const { notification } = await client.frame('notification');
      expect(notification).toMatchObject({ kind: 'conversation_escalated', conv_id: convId, read: false });
    }
    expect((await inbox(org, `${convId}/assign`, bob, { user_id: bob.userId })).status).toBe(200);
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.assigned_to === bob.userId);
    expect((await inbox(org, convId, bob)).status).toBe(200);
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.unread === 0);
    expect((await inbox(org, `${convId}/reply`, bob, { body: 'Hello, I am Bob.' })).status).toBe(201);
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.status === 'pending');
  });

  it('a member’s socket shows an address given in the chat, and a rating of a conversation that is already resolved', async () => {
    const org = await api.newOrg();
    const ada = await opened(org, org.owner);
    const { token } = await mint(api, org);
    const socket = await new ChatClient(org.orgId, { sessionToken: token }).connect(api.url);
    const convId = await until(async () => socket.convId, 'the conversation');
    socket.say('Hello?');
    await socket.frame('reply_end');
    expect((await inbox(org, `${convId}/resolve`, org.owner, {})).status).toBe(200);
    await socket.frame('status', ({ status }) => status === 'resolved');
    // The frames about the earlier changes come before the one about this assignment, so they cannot show the address.
    const { userId } = org.owner;
    expect((await inbox(org, `${convId}/assign`, org.owner, { user_id: userId })).status).toBe(200);
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.assigned_to === userId);
    const email = 'ada@customer.example';
    socket.send({ type: 'contact', email });
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.customer.contact_email === email);
    socket.send({ type: 'end', body: '4' });
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.csat === 4);
    await socket.close();
  });

  it('a member sees which colleagues read or write in a conversation, until those colleagues close their page', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const convId = await (await customer(org)).say('Hello?');
    const [ada, other] = [await opened(org, org.owner), await opened(org, bob)];
    const doing = (what: string) => ada.frame('viewing', (one) => one.doing === what);
    other.send({ type: 'viewing', conv_id: convId, doing: 'reading' });
    expect(await doing('reading')).toMatchObject({ conv_id: convId, user_id: bob.userId });
    other.send({ type: 'viewing', conv_id: convId, doing: 'writing' });
    await doing('writing');
    // A member who connects later learns from the welcome frame who is writing.
    const late = await opened(org, org.owner);
    expect((await late.frame('welcome')).viewing).toEqual([{ conv_id: convId, user_id: bob.userId, doing: 'writing' }]);
    await other.close();
    await doing('gone');
    expect(other.all('viewing')).toEqual([]);
  });

  it('a member who looks at a conversation sees the answer while it is written, and sees when the customer is typing', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const key = (await api.newKey(org)).token;
    const content = 'The gannet card costs 12 EUR a year.';
    const { body } = await api.upload(org.orgId, key, { name: 'gannets.md', content });
    expect((await api.processed(org.orgId, key, body.document.doc_id)).status).toBe('indexed');
    const { token } = await mint(api, org);
    const socket = await new ChatClient(org.orgId, { sessionToken: token }).connect(api.url);
    const convId = await until(async () => socket.convId, 'the conversation');
    const [ada, other] = [await opened(org, org.owner), await opened(org, bob)];
    ada.send({ type: 'viewing', conv_id: convId, doing: 'reading' });
    await other.frame('viewing');
    socket.say('How much is the gannet card?');
    const { message_id } = await ada.frame('answer', ({ body: text }) => text.includes('12 EUR'));
    await ada.frame('conversation', about(convId));
    const pieces = ada.all('answer').map(({ body: text }) => text);
    for (const [at, piece] of pieces.slice(1).entries()) expect(piece.startsWith(pieces[at]!)).toBe(true);
    const { messages } = (await inbox(org, convId, org.owner)).body;
    expect(messages.map(({ id }: { id: string }) => id)).toContain(message_id);
    // While the agent is in charge, members are not shown that the customer types, because none of them waits for it.
    socket.send({ type: 'typing' });
    socket.say('I want to talk to a human');
    await ada.frame('conversation', (one) => about(convId)(one) && one.conversation.status === 'escalated');
    expect(ada.all('typing')).toEqual([]);
    const typed = setInterval(() => socket.send({ type: 'typing' }), 500);
    await ada.frame('typing', ({ conv_id }) => conv_id === convId);
    clearInterval(typed);
    expect([other.all('answer'), other.all('typing')]).toEqual([[], []]);
    await socket.close();
  });

  it('a member who looks at a conversation still sees an answer being written after the customer has sent another message', async () => {
    const org = await api.newOrg();
    const { token } = await mint(api, org);
    const socket = await new ChatClient(org.orgId, { sessionToken: token }).connect(api.url);
    const convId = await until(async () => socket.convId, 'the conversation');
    const [ada, other] = [await opened(org, org.owner), await opened(org, await api.join(org))];
    ada.send({ type: 'viewing', conv_id: convId, doing: 'reading' });
    await other.frame('viewing');
    const log = frameWriter({ orgId: org.orgId, stream: convId, keptUntil: () => ({}) }, () => new Date());
    const message_id = newId('message');
    await log.append({ type: 'reply_start', body: { message_id } });
    await log.append({ type: 'reply_chunk', body: { message_id, body: 'The card ' } });
    await log.append({ type: 'ack', body: { message_id: newId('message'), body: 'Hello?', timestamp: '2026-01-01' } });
    await log.append({ type: 'reply_chunk', body: { message_id, body: 'is free.' } });
    await ada.frame('answer', ({ body }) => body === 'The card is free.');
    await socket.close();
  });

  it('a member sees which colleagues are connected, and which have set themselves to away', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const ada = await opened(org, org.owner);
    const shown = (state: string) => ada.frame('member', (one) => one.user_id === bob.userId && one.state === state);
    const other = await opened(org, bob);
    await shown('here');
    const members = await api.request('GET', `/orgs/${org.orgId}/members`, { token: org.owner.token });
    expect(members.body.data.members.map(({ state }: { state: string }) => state)).toEqual(['here', 'here']);
    const set = (state: string) =>
      api.request('PUT', '/me/availability', { token: bob.token, body: { org_id: org.orgId, state } });
    expect((await set('away')).status).toBe(200);
    await shown('away');
    ada.frames.length = 0;
    expect((await set('here')).status).toBe(200);
    await shown('here');
    await other.close();
    await shown('away');
    const strange = await api.newUser();
    const refused = await api.request('PUT', '/me/availability', {
      token: strange.token,
      body: { org_id: org.orgId, state: 'away' },
    });
    expect(refused.status).toBe(404);
  });

  it('a member who reconnects gets the missed changes, or a request to reload the inbox when too many changes were missed', async () => {
    const org = await api.newOrg();
    const early = await (await customer(org)).say('Hello?');
    const first = await opened(org, org.owner);
    await first.frame('conversation', about(early));
    const { at } = await first.frame('welcome');
    await first.close();
    const convId = await (await customer(org)).say('Is anybody there?');
    const again = await opened(org, org.owner, `&since=${at}`);
    await again.frame('conversation', about(convId));
    const now = new Date();
    const conversations = db().collection<{ _id: string }>('conversations');
    const standing = (await conversations.findOne({ _id: convId }))!;
    await conversations.insertMany(
      Array.from({ length: 200 }, (_, index) => ({
        ...standing,
        _id: newId('conversation'),
        ordinal: index + 100,
        updated_at: now,
        pending: [],
      })),
    );
    const late = await opened(org, org.owner, `&since=${at}`);
    await late.frame('reload');
    // Changes that happen meanwhile may come, too.
    expect(late.all('conversation').length).toBeLessThan(10);
  });

  it('a member who reconnects after a customer was erased is told to reload the inbox, at each step of the erasure', async () => {
    const org = await api.newOrg();
    const at = new Date();
    const minutes = (count: number) => new Date(at.getTime() + count * 60_000);
    /** The frames that a page gets when it reconnects after it was connected until this time. */
    const resumed = async (since: Date): Promise<string[]> => {
      const told: string[] = [];
      const { streams, socket } = streamsWith((type) => void told.push(type));
      const page = pageOf(org, org.owner, since);
      await streams.open(socket, page, request);
      streams.came!(page);
      await until(async () => page.since === undefined, 'what was missed to be sent');
      streams.left!(page);
      await streams.close!();
      return told;
    };
    expect(await resumed(minutes(-1))).toEqual(['welcome']);
    const settle = await erasing(org, at);
    expect(await resumed(minutes(1))).toEqual(['welcome', 'reload']);
    await settle('erased', at);
    expect(await resumed(minutes(-1))).toEqual(['welcome', 'reload']);
    expect(await resumed(minutes(1))).toEqual(['welcome', 'reload']);
    await settle('verified', minutes(15));
    expect(await resumed(minutes(1))).toEqual(['welcome', 'reload']);
    expect(await resumed(minutes(16))).toEqual(['welcome']);
  });

  it('a page whose API process misses frames again and again is told to reload only once for each step of an erasure', async () => {
    const org = await api.newOrg();
    const told: string[] = [];
    const { streams, socket } = streamsWith((type) => void told.push(type));
    const page = pageOf(org, org.owner, new Date());
    const caughtUp = () => until(async () => page.since === undefined, 'what was missed to be sent');
    /** How often the page is told to reload, when its process misses frames twice. */
    const reloads = async (): Promise<number> => {
      told.length = 0;
      for (let times = 0; times < 2; times += 1) {
        streams.missed!();
        await caughtUp();
      }
      return told.filter((type) => type === 'reload').length;
    };
    await streams.open(socket, page, request);
    streams.came!(page);
    await caughtUp();
    expect(await reloads()).toBe(0);
    const settle = await erasing(org, new Date());
    expect(await reloads()).toBe(1);
    await settle('erased', new Date());
    expect(await reloads()).toBe(1);
    await settle('verified', new Date());
    expect(await reloads()).toBe(1);
    await erasing(org, new Date());
    expect(await reloads()).toBe(1);
    streams.left!(page);
    await streams.close!();
  });

  it('a page is told to reload at each step of an erasure, also after a thousand other customers were erased', async () => {
    const org = await api.newOrg();
    const at = new Date();
    const later = (ms: number) => new Date(at.getTime() + ms);
    const told: string[] = [];
    const { streams, socket } = streamsWith((type) => void told.push(type));
    const page = pageOf(org, org.owner, at);
    const caughtUp = () => until(async () => page.since === undefined, 'what was missed to be sent');
    /** How often the page is told to reload, when its process misses frames. */
    const reloads = async (): Promise<number> => {
      told.length = 0;
      streams.missed!();
      await caughtUp();
      return told.filter((type) => type === 'reload').length;
    };
    const settleFirst = await erasing(org, at);
    await settleFirst('verified', later(60_000));
    const erasures = db().collection<{ _id: string; org_id: string }>('erasures');
    const standing = (await erasures.findOne({ org_id: org.orgId }))!;
    await erasures.insertMany(
      Array.from({ length: 1_000 }, (_, index) => ({
        ...standing,
        _id: newId('customer'),
        verified_at: later(60_001 + index),
      })),
    );
    await streams.open(socket, page, request);
    streams.came!(page);
    await caughtUp();
    expect(told).toEqual(['welcome', 'reload']);
    expect(await reloads()).toBe(0);
    const settle = await erasing(org, at);
    expect(await reloads()).toBe(1);
    await settle('verified', later(120_000));
    expect(await reloads()).toBe(1);
    streams.left!(page);
    await streams.close!();
  });

  it('a reconnecting page whose missed changes cannot be read is disconnected, and later resumes from the same time', async () => {
    const org = await api.newOrg();
    await (await customer(org)).say('Is anybody there?');
    const since = new Date(Date.now() - 60_000);
    const told: [type: string, at: unknown][] = [];
    let fails = true;
    const { streams, socket, refusals } = streamsWith((type, body) => {
      if (fails && type === 'conversation') throw new Error('a failed read');
      told.push([type, body?.['at']]);
    });
    const ping = (client: ReturnType<typeof pageOf>) => streams.take(socket, client, { type: 'ping' });
    const [first, again] = [pageOf(org, org.owner, since), pageOf(org, org.owner, since)];
    await streams.open(socket, first, request);
    streams.came!(first);
    expect((await until(async () => refusals[0], 'the refusal')).status).toBe(503);
    await ping(first);
    streams.left!(first);
    const before = since.toISOString();
    expect(told.splice(0)).toEqual([
      ['welcome', before],
      ['pong', before],
    ]);
    fails = false;
    await streams.open(socket, again, request);
    streams.came!(again);
    await until(async () => {
      await ping(again);
      return String(told.at(-1)![1]) > before;
    }, 'what was missed to be sent');
    expect(told.filter(([type]) => type !== 'pong')).toEqual([
      ['welcome', before],
      ['conversation', before],
    ]);
    streams.left!(again);
    await streams.close!();
  });

  it('an API process that missed frames sends each page the missed changes, and disconnects the page when reading them fails', async () => {
    const org = await api.newOrg();
    await (await customer(org)).say('Is anybody there?');
    const told: [type: string, at: unknown][] = [];
    let during = (): void => undefined;
    const { streams, socket, refusals } = streamsWith((type, body) => {
      if (type === 'conversation') during();
      told.push([type, body?.['at']]);
    });
    const client = pageOf(org, org.owner, new Date());
    const ping = () => streams.take(socket, client, { type: 'ping' });
    const caughtUp = (from: string) =>
      until(async () => {
        await ping();
        return String(told.at(-1)![1]) > from;
      }, 'what was missed to be sent');
    const gapAt = (at: Date): string => {
      const frame = { _id: 'other:1', org_id: newId('org'), stream: 'other', seq: 1, type: 'ack', body: {}, at };
      streams.hears!(frame);
      return at.toISOString();
    };
    const first = client.since.toISOString();
    await streams.open(socket, client, request);
    streams.came!(client);
    await caughtUp(first);

    const before = gapAt(new Date(Date.now() - 60_000));
    told.length = 0;
    streams.missed!();
    expect(told).toEqual([['pong', before]]);
    await caughtUp(before);
    expect(told.filter(([type]) => type === 'conversation')).toEqual([['conversation', before]]);
    expect(refusals).toEqual([]);

    // Another gap is found while the changes of the first gap are sent, and the read for it fails.
    const again = gapAt(new Date(Date.now() - 30_000));
    told.length = 0;
    during = () => {
      during = () => {
        throw new Error('a failed read');
      };
      streams.missed!();
    };
    streams.missed!();
    expect((await until(async () => refusals[0], 'the refusal')).status).toBe(503);
    await ping();
    // The page knew the time before the second gap. The last pong answers the ping.
    expect(told.map(([type]) => type)).toEqual(['pong', 'conversation', 'pong']);
    expect(new Set(told.map(([, at]) => at))).toEqual(new Set([again]));
    streams.left!(client);
    await streams.close!();
  });

  it('a member’s socket shows changes made at another API process, and continues at another process when its own is killed', async () => {
    const org = await api.newOrg();
    const env = systemEnv('shared');
    const second = await startProcess('api/server.ts', env);
    const ada = await StaffClient.open(api, org.orgId, org.owner, '', second.url);
    const [one, two] = [await customer(org), await customer(org)];
    await ada.frame('conversation', about(await one.say('I want to talk to a human')));
    const { at } = await ada.frame('welcome');
    await second.kill();
    await ada.ended();
    const convId = await two.say('I want to talk to a human');
    const again = await opened(org, org.owner, `&since=${at}`);
    await again.frame('conversation', (frame) => about(convId)(frame) && frame.conversation.status === 'escalated');
    expect(ada.faults).toEqual([]);
    await removeDataDir(env);
  });

  it('a removed customer’s conversation is removed from the pages of members', async () => {
    const org = await api.newOrg();
    const ada = await opened(org, org.owner);
    const { say } = await customer(org);
    const convId = await say('Hello?');
    const { conversation } = await ada.frame('conversation', about(convId));
    const path = `/support/customers/orgs/${org.orgId}/${conversation.customer.customer_id}`;
    await api.request('DELETE', path, { token: org.owner.token });
    await ada.frame('removed', (one) => one.conv_id === convId);
  });

  it('a member’s socket shows nothing of other organizations and nothing of the other mode (test or live)', async () => {
    const [org, foreign] = [await api.newOrg(), await api.newOrg()];
    const bob = await api.join(org);
    const [live, strange, other] = [
      await opened(org, org.owner, '&mode=live'),
      await opened(foreign, foreign.owner),
      await opened(org, bob, '&mode=test'),
    ];
    const convId = await (await customer(org)).say('I want to talk to a human');
    expect((await inbox(org, `${convId}/assign`, org.owner, { user_id: bob.userId })).status).toBe(200);
    await other.frame('notification', ({ notification }) => notification.kind === 'conversation_assigned');
    await other.frame('conversation', (one) => about(convId)(one) && one.conversation.assigned_to === bob.userId);
    strange.send({ type: 'viewing', conv_id: convId, doing: 'reading' });
    expect((await strange.frame('error')).code).toBe('NOT_FOUND');
    expect([live.all('conversation'), strange.all('conversation'), strange.all('notification')]).toEqual([[], [], []]);
    expect(live.all('notification').map(({ notification }) => notification.kind)).not.toContain(
      'conversation_assigned',
    );
    expect(other.all('viewing')).toEqual([]);
  });

  it('a frame that only members may see is not written to the customer’s log', async () => {
    const org = await api.newOrg();
    const ada = await opened(org, org.owner);
    const convId = await (await customer(org)).say('Hello?');
    ada.send({ type: 'viewing', conv_id: convId, doing: 'writing' });
    expect((await inbox(org, `${convId}/assign`, org.owner, { user_id: org.owner.userId })).status).toBe(200);
    const frames = () => db().collection<{ _id: string; stream: string; type: string }>('frames');
    await until(
      async () => (await frames().countDocuments({ stream: new RegExp(`^staff:.*:${convId}$`) }, everyRecord)) >= 2,
      'the staff’s frames',
    );
    const own = await frames().find({ stream: convId }, everyRecord).toArray();
    expect(own.map(({ type }) => type).filter((type) => ['changed', 'viewing'].includes(type))).toEqual([]);
  });
});

describe('the address of a member’s socket', () => {
  it('the address of a member’s socket works once and only for its organization, and only members get such an address', async () => {
    const org = await api.newOrg();
    const url = await address(api, org.orgId, org.owner.token);
    const first = StaffClient.to(url);
    await first.frame('welcome');
    expect(await StaffClient.to(url).ended()).toMatchObject({ code: 4401 });
    await first.close();
    const other = await api.newOrg();
    const wrong = (await address(api, org.orgId, org.owner.token)).replace(org.orgId, other.orgId);
    expect(await StaffClient.to(wrong).ended()).toMatchObject({ code: 4401 });
    const refused = await api.request('POST', `/support/live/orgs/${org.orgId}`, {
      token: other.owner.token,
      body: {},
    });
    expect(refused.status).toBe(404);
    for (const query of ['&since=yesterday', '&mode=both'])
      expect(await StaffClient.to(`${await address(api, org.orgId, org.owner.token)}${query}`).ended()).toMatchObject({
        code: 4400,
      });
  });

  it('a member who is removed while the socket is being opened is disconnected', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const told: string[] = [];
    const { streams, socket, refusals } = streamsWith((type) => void told.push(type));
    const client = pageOf(org, bob, new Date());
    await streams.open(socket, client, request);
    expect(told).toEqual(['welcome']);
    // The socket does not follow the organization yet, so the change of the members does not close it.
    const path = `/orgs/${org.orgId}/members/${bob.userId}`;
    expect((await api.request('DELETE', path, { token: org.owner.token })).status).toBe(200);
    streams.came!(client);
    expect((await until(async () => refusals[0], 'the refusal')).status).toBe(401);
    streams.left!(client);
    await streams.close!();
  });

  it('a member who is removed, or signed out everywhere, is disconnected', async () => {
    const org = await api.newOrg();
    const bob = await api.join(org);
    const [ada, other] = [
      await StaffClient.open(api, org.orgId, org.owner),
      await StaffClient.open(api, org.orgId, bob),
    ];
    await api.request('DELETE', `/orgs/${org.orgId}/members/${bob.userId}`, { token: org.owner.token });
    expect((await Promise.all([ada.ended(), other.ended()])).map(({ code }) => code)).toEqual([4401, 4401]);
    const again = await StaffClient.open(api, org.orgId, org.owner);
    expect(
      (await api.request('POST', '/auth/logout-everywhere', { token: org.owner.token, body: {} })).status,
    ).toBeLessThan(300);
    expect(await again.ended()).toMatchObject({ code: 4401 });
  });
});
