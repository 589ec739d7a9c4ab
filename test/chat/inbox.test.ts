/** The inbox API: what members and API keys see, how they act, and that the customer is shown the result. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { ChatClient } from '../kit/socket.ts';
import type { Conversation } from '../../models/chat/conversation.ts';
import type { Frame } from '../../models/live/frame.ts';
import { everyRecord } from '../../models/base/define.ts';

const api = system();
const db = sharedDatabase();

let org: TestOrg;
let key: string;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});

const inbox = (of: TestOrg, rest = '') => `/support/inbox/orgs/${of.orgId}${rest}`;
const get = (of: TestOrg, rest = '', token = of.owner.token) => api.request('GET', inbox(of, rest), { token });
const post = (of: TestOrg, rest: string, body: unknown = {}, token = of.owner.token) =>
  api.request('POST', inbox(of, rest), { token, body });

type Talk = { convId: string; token: string; customerId: string; say(body: string, id?: string): Promise<string> };

/** A customer with a session minted by this key, who has sent a message. */
async function talk(of: TestOrg, secret: string, first = 'Hello, is anybody there?', name?: string): Promise<Talk> {
  const customer = { email: `${randomUUID()}@customer.example`, ...(name ? { name } : {}) };
  const { token, customerId } = await api.newSession(of, { key: secret, body: { customer } });
  const say = async (body: string, id?: string): Promise<string> => {
    const sent = await api.request('POST', `/support/chat/messages/${of.orgId}`, {
      token,
      body: { body, ...(id ? { client_message_id: id } : {}) },
    });
    expect(sent.status).toBe(202);
    return sent.body.conv_id;
  };
  return { convId: await say(first), token, customerId, say };
}

/** The conversation as the customer can read it. */
async function history(of: TestOrg, { token, convId }: Talk) {
  const { status, body } = await api.request('GET', `/support/chat/conversation/${of.orgId}/${convId}`, { token });
  expect(status).toBe(200);
  return body as { conversation: { status: string }; messages: { role: string; body: string; sender_name?: string }[] };
}

const stored = async (convId: string) =>
  (await db().collection<Conversation>('conversations').findOne({ _id: convId }))!;
/** Waits until no worker has work left, so that nothing changes any more. */
async function settled({ convId }: Talk): Promise<Conversation> {
  return until(async () => {
    const waiting = await db().collection('messages').countDocuments({ conv_id: convId, state: 'waiting' });
    const conversation = await stored(convId);
    const shown = conversation.status_version === conversation.shown_version;
    const unshown = await db().collection('messages').countDocuments({ conv_id: convId, shown: false });
    return waiting === 0 && unshown === 0 && shown && conversation;
  }, `conversation ${convId} to be attended to`);
}
const range = (n: number) => Array.from({ length: n }, (_, i) => i);
/** Writes what a process writes for a customer's message when it dies before the message is stored. */
const actDead = (convId: string) =>
  db()
    .collection<Conversation>('conversations')
    .updateOne({ _id: convId }, { $inc: { position: 1, unread: 1 } });
const frames = async (convId: string) =>
  db()
    .collection<Frame>('frames')
    .find({ stream: convId }, { sort: { seq: 1 }, ...everyRecord })
    .toArray();

describe('GET /support/inbox/orgs/{orgId}', () => {
  it('the inbox shows customer, status, ticket and unread count of each conversation', async () => {
    const own = await api.newOrg();
    const secret = (await api.newKey(own)).token;
    const one = await talk(own, secret, 'Where is\nmy card?', 'Ada Example');
    await settled(one);
    await post(own, `/${one.convId}/escalate`, { reason: 'She called, too.' });
    const { status, body } = await get(own);
    expect([status, body.count, body.unread, body.cursor]).toEqual([200, 1, 1, null]);
    const [entry] = body.conversations;
    expect(entry).toMatchObject({
      conv_id: one.convId,
      org_id: own.orgId,
      mode: 'test',
      status: 'escalated',
      customer: { customer_id: one.customerId, name: 'Ada Example', verified: true },
      unread: 1,
      assigned_to: null,
      ticket: { status: 'escalated', reason: 'member', description: 'She called, too.' },
      csat: null,
    });
    expect(entry.customer.email).toMatch(/@customer\.example$/);
    expect(entry.preview).toBe('Where is my card?');
    expect(entry).not.toHaveProperty('events');
    expect(entry).not.toHaveProperty('pending');
  });

  it('the inbox previews the customer’s last message rather than replies, and names the customer’s e-mail', async () => {
    const own = await api.newOrg();
    const secret = (await api.newKey(own)).token;
    const one = await talk(own, secret, 'Where is my card?');
    await settled(one);
    await post(own, `/${one.convId}/reply`, { body: 'It is on its way.' });
    const previewed = async () => (await get(own)).body.conversations[0].preview;
    expect(await previewed()).toBe('Where is my card?');
    await one.say('Since when?');
    const [entry] = (await get(own)).body.conversations;
    expect([entry.preview, entry.customer.email]).toEqual([
      'Since when?',
      expect.stringMatching(/@customer\.example$/),
    ]);
  });

  it('the inbox lists the latest activity first, filters by status and assignee, and its totals follow the filter', async () => {
    const own = await api.newOrg();
    const secret = (await api.newKey(own)).token;
    // The conversations begin one after the other, because an answer counts as activity too.
    const talks: Talk[] = [];
    for (const _ of range(3)) {
      talks.push(await talk(own, secret));
      await settled(talks.at(-1)!);
    }
    const [first, second, third] = talks as [Talk, Talk, Talk];
    await post(own, `/${second.convId}/escalate`);
    await post(own, `/${third.convId}/assign`, { user_id: own.owner.userId });
    await post(own, `/${first.convId}/reply`, { body: 'A moment, please.' });
    const ids = async (query: string) => {
      const { status, body } = await get(own, `?${query}`);
      expect(status).toBe(200);
      return [body.conversations.map((c: { conv_id: string }) => c.conv_id), body.count, body.unread];
    };
    expect(await ids('')).toEqual([[first.convId, third.convId, second.convId], 3, 3]);
    expect(await ids('status=escalated')).toEqual([[second.convId], 1, 1]);
    expect(await ids('status=resolved')).toEqual([[], 0, 0]);
    expect(await ids('assigned_to=me')).toEqual([[third.convId], 1, 1]);
    expect(await ids(`assigned_to=${own.owner.userId}&status=open`)).toEqual([[third.convId], 1, 1]);
    expect(await ids('status=pending&assigned_to=none')).toEqual([[first.convId], 1, 1]);
    expect(await ids('assigned_to=none')).toEqual([[first.convId, second.convId], 2, 2]);
    const asKey = await get(own, '?assigned_to=me', secret);
    expect([asKey.status, asKey.body.details[0].path]).toEqual([400, ['query', 'assigned_to']]);
    expect((await get(own, '?status=closed')).status).toBe(400);
  });

  it('the inbox is paged without repeating an entry while conversations are created and change', async () => {
    const own = await api.newOrg();
    const secret = (await api.newKey(own)).token;
    const talks: Talk[] = [];
    for (let i = 0; i < 5; i++) {
      talks.push(await talk(own, secret));
      // An answer counts as activity too.
      await settled(talks[i]!);
    }
    const [oldest, , , , newest] = talks;
    const page1 = (await get(own, '?limit=2')).body;
    // Between the pages, the newest conversation and one of a later page become active again, and a new one starts.
    await newest!.say('One more.');
    await oldest!.say('I am still waiting.');
    const begun = await talk(own, secret);
    for (const one of [newest!, oldest!, begun]) await settled(one);
    const page2 = (await get(own, `?limit=2&cursor=${page1.cursor}`)).body;
    const shown = [...page1.conversations, ...page2.conversations].map((c: { conv_id: string }) => c.conv_id);
    expect(shown).toEqual([4, 3, 2, 1].map((i) => talks[i]!.convId));
    expect([page2.cursor, page2.count]).toEqual([null, 6]);
    const anew = (await get(own, '?limit=3')).body.conversations.map((c: { conv_id: string }) => c.conv_id);
    expect(new Set(anew)).toEqual(new Set([begun.convId, oldest!.convId, newest!.convId]));
    for (const cursor of ['nonsense', page1.cursor.slice(1), Buffer.from('9 conv_1').toString('base64url')])
      expect((await get(own, `?cursor=${cursor}`)).status).toBe(400);
  });

  it('a key sees the inbox of its own mode only, and a member sees the requested mode or both modes', async () => {
    const own = await api.newOrg();
    await api.goLive(own);
    const keys = { test: (await api.newKey(own)).token, live: (await api.newKey(own, { mode: 'live' })).token };
    const talks = { test: await talk(own, keys.test), live: await talk(own, keys.live) };
    for (const mode of ['test', 'live'] as const) {
      for (const [rest, token] of [
        ['', keys[mode]],
        [`?mode=${mode}`, own.owner.token],
        [`?environment=${mode}`, own.owner.token],
      ] as const) {
        const { body } = await get(own, rest, token);
        expect([body.conversations.map((c: { conv_id: string }) => c.conv_id), body.count, body.unread]).toEqual([
          [talks[mode].convId],
          1,
          1,
        ]);
      }
      const other = talks[mode === 'test' ? 'live' : 'test'].convId;
      expect((await get(own, `/${other}`, keys[mode])).status).toBe(404);
      expect((await get(own, `/${other}?mode=${mode}`)).status).toBe(404);
      for (const [act, body] of [
        ['reply', { body: 'Hi' }],
        ['assign', { user_id: null }],
        ['resolve', {}],
        ['escalate', {}],
        ['reopen', {}],
      ] as const)
        expect([act, (await post(own, `/${other}/${act}`, body, keys[mode])).status]).toEqual([act, 404]);
    }
    const both = await get(own);
    expect([both.body.count, both.body.unread]).toEqual([2, 2]);
  });

  it('the inbox omits conversations without messages', async () => {
    const own = await api.newOrg();
    const secret = (await api.newKey(own)).token;
    const one = await talk(own, secret);
    const { _id, last_message_at: _, ...rest } = await stored(one.convId);
    await db()
      .collection('conversations')
      .insertOne({ ...rest, customer_id: 'cus_other', _id: `${_id.slice(0, -1)}_` as never });
    expect((await get(own)).body.count).toBe(1);
  });
});

describe('GET /support/inbox/orgs/{orgId}/{convId}', () => {
  it('reading a conversation returns the messages page by page back in time, with records of the answers that customers do not see', async () => {
    const one = await talk(org, key, 'first');
    for (const body of ['second', 'third']) await one.say(body);
    await settled(one);
    const all = (await get(org, `/${one.convId}?limit=100`)).body;
    const said = all.messages
      .filter((m: { role: string }) => m.role === 'customer')
      .map((m: { body: string }) => m.body);
    expect(said).toEqual(['first', 'second', 'third']);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await get(org, `/${one.convId}?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      seen.unshift(...body.messages.map((m: { id: string }) => m.id));
      cursor = body.cursor;
    }
    expect(seen).toEqual(all.messages.map((m: { id: string }) => m.id));
    const answers = all.messages.filter((m: { role: string }) => m.role === 'ai');
    expect(answers.length).toBeGreaterThan(0);
    for (const answer of answers) expect(answer).toMatchObject({ has_context: expect.any(Boolean), record: {} });
    expect((await history(org, one)).messages.some((m) => 'record' in m)).toBe(false);
    expect((await get(org, `/${one.convId}?cursor=LTE`)).status).toBe(400);
  });

  it('a conversation is marked as read when a member opens it, but not when an API key reads it', async () => {
    const one = await talk(org, key, 'first');
    await one.say('second');
    await settled(one);
    const unread = async () => (await stored(one.convId)).unread;
    await get(org, `/${one.convId}`, key);
    expect(await unread()).toBe(2);
    const { body } = await get(org, `/${one.convId}?limit=1`, key);
    await get(org, `/${one.convId}?limit=1&cursor=${body.cursor}`);
    expect(await unread()).toBe(2);
    expect((await get(org, `/${one.convId}`)).body.conversation.unread).toBe(2);
    expect(await unread()).toBe(0);
    await one.say('third');
    expect(await unread()).toBe(1);
  });

  it('opening a conversation sets its unread count to 0, even when the count includes duplicates and messages that were never stored', async () => {
    const one = await talk(org, key, 'A real person, please');
    await settled(one);
    const said = range(15).map((i) => (i < 8 ? one.say('Same.', 'same') : one.say(`${i}`, `${i}`)));
    await Promise.all(said);
    expect((await get(org, `/${one.convId}`)).status).toBe(200);
    expect((await stored(one.convId)).unread).toBe(0);
    await actDead(one.convId);
    expect((await stored(one.convId)).unread).toBe(1);
    await get(org, `/${one.convId}`);
    expect((await stored(one.convId)).unread).toBe(0);
  });

  it('reading a conversation marks only the returned messages as read, even when new messages arrive at the same time', async () => {
    const one = await talk(org, key, 'A real person, please');
    await settled(one);
    const shown = new Set<string>();
    const look = async () => (await get(org, `/${one.convId}?limit=100`)).body.messages;
    const reading = range(2).map(async () => {
      for (const _ of range(12)) for (const { id } of await look()) shown.add(id);
    });
    const saying = range(6).map(async (of) => {
      for (const i of range(3)) await one.say(`${of} ${i}`);
    });
    await Promise.all([...reading, ...saying]);
    const asked = await db().collection('messages').find({ conv_id: one.convId, role: 'customer' }).toArray();
    expect(asked).toHaveLength(19);
    const unseen = asked.filter(({ _id }) => !shown.has(String(_id)));
    expect((await stored(one.convId)).unread).toBeGreaterThanOrEqual(unseen.length);
    await get(org, `/${one.convId}`);
    expect((await stored(one.convId)).unread).toBe(0);
  });

  it('reading a conversation returns the page’s context and the backend’s context, even of a revoked session', async () => {
    const customer = { email: `${randomUUID()}@customer.example` };
    const context = { productType: 'retail', plan: 'gold' };
    const { token, sessionId } = await api.newSession(org, { key, body: { customer, context } });
    const sent = await api.request('POST', `/support/chat/messages/${org.orgId}`, { token, body: { body: 'Hello' } });
    const { conv_id: convId } = sent.body;
    await db()
      .collection<Conversation>('conversations')
      .updateOne({ _id: convId }, { $set: { refinement: { plan: 'none' } } });
    await api.request('POST', `/support/sessions/orgs/${org.orgId}/${sessionId}/revoke`, { token: org.owner.token });
    const { body } = await get(org, `/${convId}`);
    expect(body.context).toEqual({ session: context, page: { plan: 'none' } });
    const exported = await api.request(
      'GET',
      `/support/customers/orgs/${org.orgId}/${body.conversation.customer.customer_id}`,
      {
        token: org.owner.token,
      },
    );
    expect(exported.body.data.conversations[0].session_context).toEqual({ session_id: sessionId, context });
    const one = await talk(org, key);
    expect((await get(org, `/${one.convId}`)).body.context).toEqual({ session: {}, page: {} });
  });

  it('reading a conversation returns the ticket’s events and the customer’s rating', async () => {
    const one = await talk(org, key);
    await settled(one);
    expect((await get(org, `/${one.convId}`)).body).toMatchObject({ conversation: { ticket: null }, events: [] });
    await post(org, `/${one.convId}/escalate`);
    await post(org, `/${one.convId}/resolve`);
    await db()
      .collection<Conversation>('conversations')
      .updateOne({ _id: one.convId }, { $set: { csat: 4 } });
    const { body } = await get(org, `/${one.convId}`);
    expect(body.conversation).toMatchObject({ csat: 4, ticket: { description: 'A member took it over.' } });
    expect(body.events).toMatchObject([
      { seq: 1, type: 'ticket.created', ticket_status: 'escalated' },
      { seq: 2, type: 'ticket.escalated', ticket_status: 'escalated' },
      { seq: 3, type: 'ticket.resolved', ticket_status: 'resolved' },
    ]);
  });
});

describe('POST …/{convId}/reply', () => {
  it('a reply sends the customer one message under the member’s name, after which the agent stays silent', async () => {
    const one = await talk(org, key);
    await settled(one);
    const sent = await post(org, `/${one.convId}/reply`, { body: 'I am looking into it.' });
    expect([sent.status, Object.keys(sent.body)]).toEqual([201, ['message_id']]);
    await settled(one);
    const seen = await history(org, one);
    expect(seen.conversation.status).toBe('pending');
    expect(seen.messages.at(-1)).toMatchObject({
      id: sent.body.message_id,
      role: 'agent',
      body: 'I am looking into it.',
      sender_name: 'Test Person',
    });
    expect(seen.messages.at(-1)).not.toHaveProperty('sender_id');
    const shown = (await frames(one.convId)).filter(({ type }) => ['agent_reply', 'status'].includes(type));
    expect(shown.map(({ type, body }) => [type, body['message_id'] ?? body['status']])).toEqual([
      ['agent_reply', sent.body.message_id],
      ['status', 'pending'],
    ]);
    await one.say('Thank you!');
    expect((await settled(one)).status).toBe('escalated');
    expect((await history(org, one)).messages.at(-1)).toMatchObject({ role: 'customer', body: 'Thank you!' });
    const { body } = await get(org, `/${one.convId}`);
    expect(body.conversation.ticket).toMatchObject({
      status: 'escalated',
      reason: 'replied',
      description: 'The customer wrote back after a member had answered.',
    });
    expect(body.events.map(({ type }: { type: string }) => type)).toEqual(['ticket.created', 'ticket.escalated']);
    const told = (await frames(one.convId)).slice(-3);
    expect(told.map((frame) => frame.body['ticket_id'] ?? frame.body['status'] ?? frame.type).toSorted()).toEqual(
      ['ack', body.conversation.ticket.ticket_id, 'escalated'].toSorted(),
    );
  });

  it('a reply by an API key is shown under the name in the request, or else under the organization’s name', async () => {
    const one = await talk(org, key);
    await post(org, `/${one.convId}/reply`, { body: 'One' }, key);
    await post(org, `/${one.convId}/reply`, { body: 'Two', sender_name: 'Anna' }, key);
    const refused = await post(org, `/${one.convId}/reply`, { body: 'Three', sender_name: 'Anna' });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, ['body', 'sender_name']]);
    const names = (await history(org, one)).messages.flatMap(({ role, sender_name }) =>
      role === 'agent' ? [sender_name] : [],
    );
    expect(names).toEqual(['Test Organization', 'Anna']);
  });

  it('a reply repeated with the same client_message_id or Idempotency-Key is stored and shown once, even when sent concurrently', async () => {
    const one = await talk(org, key);
    await settled(one);
    const again = { body: 'Once.', client_message_id: 'mine' };
    const results = await Promise.all(Array.from({ length: 10 }, () => post(org, `/${one.convId}/reply`, again)));
    expect(results.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 9 }, () => 200), 201]);
    expect(new Set(results.map(({ body }) => body.message_id)).size).toBe(1);
    expect(results.filter(({ body }) => body.duplicate === true)).toHaveLength(9);
    const headers = { 'idempotency-key': randomUUID() };
    for (const _ of [1, 2]) {
      const path = inbox(org, `/${one.convId}/reply`);
      const { status } = await api.request('POST', path, { token: org.owner.token, body: { body: 'Twice.' }, headers });
      expect(status).toBe(201);
    }
    await settled(one);
    const bodies = (await history(org, one)).messages.flatMap((m) => (m.role === 'agent' ? [m.body] : []));
    expect(bodies).toEqual(['Once.', 'Twice.']);
    const shown = (await frames(one.convId)).filter(({ type }) => type === 'agent_reply');
    expect(shown.map(({ body }) => body['body'])).toEqual(['Once.', 'Twice.']);
    await until(async () => !(await stored(one.convId)).pending?.length, 'no intent to be left');
  });

  it('a reply that is repeated with its Idempotency-Key is stored once even when the API died before it kept the answer', async () => {
    const one = await talk(org, key);
    await settled(one);
    const request = { token: key, body: { body: 'Once.' }, headers: { 'idempotency-key': randomUUID() } };
    const send = () => api.request('POST', inbox(org, `/${one.convId}/reply`), request);
    const first = await send();
    expect(first.status).toBe(201);
    // A process that dies before it stores the reply leaves the record of the key in this state.
    const left = { $unset: { reply: 1 }, $set: { running_until: new Date(0) } } as const;
    const { modifiedCount } = await db().collection('idempotency').updateMany({ about: one.convId }, left);
    expect(modifiedCount).toBe(1);
    const again = await send();
    expect([again.status, again.body]).toEqual([200, { message_id: first.body.message_id, duplicate: true }]);
    const bodies = (await history(org, one)).messages.flatMap((m) => (m.role === 'agent' ? [m.body] : []));
    expect(bodies).toEqual(['Once.']);
  });

  it('a reply is stored even when the customer used the same client_message_id', async () => {
    const one = await talk(org, key);
    await one.say('Mine.', 'same');
    const { status } = await post(org, `/${one.convId}/reply`, { body: 'Ours.', client_message_id: 'same' });
    expect(status).toBe(201);
    await one.say('Mine again.', 'same');
    const bodies = (await history(org, one)).messages.filter(({ role }) => role !== 'ai').map(({ body }) => body);
    expect(bodies).toEqual(['Hello, is anybody there?', 'Mine.', 'Ours.']);
  });

  it('a reply reopens a resolved conversation and its ticket', async () => {
    const one = await talk(org, key);
    await settled(one);
    await post(org, `/${one.convId}/escalate`);
    await post(org, `/${one.convId}/resolve`);
    await post(org, `/${one.convId}/reply`, { body: 'One more thing.' });
    expect((await get(org, `/${one.convId}`)).body.conversation).toMatchObject({
      status: 'pending',
      ticket: { status: 'pending' },
    });
  });

  it.each([
    ['nothing', {}, 'body'],
    ['blanks', { body: ' \n ' }, 'body'],
    ['more than a message may have', { body: 'x'.repeat(8001) }, 'body'],
  ])('a reply with a body of %s is refused', async (_, body, field) => {
    const one = await talk(org, key);
    const reply = await post(org, `/${one.convId}/reply`, body);
    expect([reply.status, reply.body.details[0].path]).toEqual([400, ['body', field]]);
  });
});

describe('a member’s act on a resolved conversation', () => {
  it.each([
    ['reply', { body: 'One more thing.' }],
    ['reopen', {}],
  ])(
    'a member’s %s on a resolved conversation is shown to a customer who has since got a new, empty conversation',
    async (act, body) => {
      const one = await talk(org, key);
      await settled(one);
      await post(org, `/${one.convId}/resolve`);
      await settled(one);
      const client = new ChatClient(org.orgId, { sessionToken: one.token });
      await client.connect(api.url);
      const { conv_id: empty } = await client.frame('welcome');
      expect(empty).not.toBe(one.convId);
      await post(org, `/${one.convId}/${act}`, body);
      expect(await client.ended()).toEqual({ code: 4404, reason: 'NOT_FOUND' });
      await client.connect(api.url);
      await client.frame('welcome', ({ conv_id }) => conv_id === one.convId);
      await client.frame('history', ({ messages }) =>
        messages.some((m) => m.body === (act === 'reply' ? 'One more thing.' : 'Hello, is anybody there?')),
      );
      await client.close();
      expect(client.faults).toEqual([]);
      expect(await db().collection<Conversation>('conversations').findOne({ _id: empty })).toBeNull();
    },
  );
});

describe('a reply by a member or key who has not read the conversation', () => {
  it('a reply by somebody who has not read the conversation leaves the customer’s messages unread', async () => {
    const one = await talk(org, key, 'My card was stolen!');
    await settled(one);
    for (const credential of [org.owner.token, key])
      await post(org, `/${one.convId}/reply`, { body: 'Hello.' }, credential);
    expect((await get(org, `/${one.convId}`, key)).body.conversation.unread).toBe(1);
  });
});

describe('POST …/{convId}/assign', () => {
  it('a conversation can be assigned or unassigned, and its ticket is in progress while it is assigned', async () => {
    const one = await talk(org, key);
    await settled(one);
    await post(org, `/${one.convId}/escalate`);
    const given = await post(org, `/${one.convId}/assign`, { user_id: org.owner.userId });
    expect(given.body.conversation).toMatchObject({
      assigned_to: org.owner.userId,
      status: 'escalated',
      ticket: { status: 'in_progress' },
    });
    const taken = await post(org, `/${one.convId}/assign`, { user_id: null });
    expect(taken.body.conversation).toMatchObject({ assigned_to: null, ticket: { status: 'open' } });
    await settled(one);
    // The customer gets no frame for the assignment.
    const shown = (await frames(one.convId)).filter(({ type }) => ['escalated', 'status'].includes(type));
    expect(shown.map(({ type }) => type)).toEqual(['escalated', 'status']);
  });

  it('assigning a conversation refuses a user who is not a member, naming the field', async () => {
    const one = await talk(org, key);
    const other = await api.newOrg();
    for (const user_id of [other.owner.userId, 'usr_nobody']) {
      const { status, body } = await post(org, `/${one.convId}/assign`, { user_id });
      expect([status, body.details]).toEqual([
        400,
        [{ path: ['body', 'user_id'], message: 'is not a member of this organization' }],
      ]);
    }
    expect((await post(org, `/${one.convId}/assign`, {})).status).toBe(400);
  });
});

describe('POST …/{convId}/resolve, escalate and reopen', () => {
  it('resolve, escalate and reopen change the status, and a change that the current status forbids gets 409', async () => {
    const one = await talk(org, key);
    await settled(one);
    const steps = [
      ['reopen', 409, 'open'],
      ['escalate', 200, 'escalated'],
      ['escalate', 409, 'escalated'],
      ['resolve', 200, 'resolved'],
      ['resolve', 409, 'resolved'],
      ['reopen', 200, 'open'],
    ] as const;
    for (const [act, status, then] of steps) {
      const done = await post(org, `/${one.convId}/${act}`);
      expect([act, done.status]).toEqual([act, status]);
      if (status === 409)
        expect([done.body.code, done.body.error]).toEqual(['CONFLICT', expect.stringContaining(then)]);
      else expect(done.body.conversation.status).toBe(then);
      expect((await settled(one)).status).toBe(then);
    }
    const shown = (await frames(one.convId)).filter(({ type }) => ['escalated', 'status'].includes(type));
    expect(shown.map(({ type, body }) => [type, body['status'] ?? body['ticket_id']])).toEqual([
      ['escalated', (await stored(one.convId)).ticket!.ticket_id],
      ['status', 'escalated'],
      ['status', 'resolved'],
      ['status', 'open'],
    ]);
  });

  it('a status change reaches the customer even when the process dies right after storing the change', async () => {
    const one = await talk(org, key);
    await settled(one);
    const { pending: _, ...dead } = await stored(one.convId);
    const intent = {
      key: randomUUID(),
      signal: 'attend',
      workflow: 'conversation',
      workflow_id: `conversation:${one.convId}`,
      queue: 'conversations',
      args: [{ orgId: org.orgId, convId: one.convId }],
      since: new Date(),
      next_at: new Date(),
      tries: 0,
    };
    // This record is what an escalation stores, without the signal that follows.
    const left: Conversation = {
      ...dead,
      status: 'escalated',
      status_version: dead.status_version + 1,
      pending: [intent],
    };
    await db().collection<Conversation>('conversations').replaceOne({ _id: one.convId }, left);
    await settled(one);
    expect((await frames(one.convId)).at(-1)).toMatchObject({ type: 'status', body: { status: 'escalated' } });
    await until(async () => !(await stored(one.convId)).pending?.length, 'the intent to be settled');
  });

  it('status changes are allowed to keys with support:write and to every member', async () => {
    const { token } = await api.join(org);
    for (const credential of [key, token]) {
      const one = await talk(org, key);
      await settled(one);
      const acts = ['escalate', 'resolve', 'reopen'];
      for (const act of acts) expect((await post(org, `/${one.convId}/${act}`, {}, credential)).status).toBe(200);
    }
  });

  it('the reason of an escalation is limited to 500 characters', async () => {
    const one = await talk(org, key);
    for (const reason of ['x'.repeat(501), '  ', 7]) {
      const { status, body } = await post(org, `/${one.convId}/escalate`, { reason });
      expect([status, body.details[0].path]).toEqual([400, ['body', 'reason']]);
    }
  });
});

describe('a conversation of another organization', () => {
  it('a conversation of another organization is not found on any route (404), and stays unchanged', async () => {
    const one = await talk(org, key);
    const before = await settled(one);
    const other = await api.newOrg();
    const theirKey = (await api.newKey(other)).token;
    for (const token of [other.owner.token, theirKey]) {
      expect((await get(other, `/${one.convId}`, token)).status).toBe(404);
      for (const [act, body] of [
        ['reply', { body: 'Hi' }],
        ['assign', { user_id: other.owner.userId }],
        ['resolve', {}],
        ['escalate', {}],
        ['reopen', {}],
      ] as const)
        expect([act, (await post(other, `/${one.convId}/${act}`, body, token)).status]).toEqual([act, 404]);
    }
    expect(await stored(one.convId)).toEqual(before);
  });
});
