/** Tags, priority, snooze and notes: members see them and customers never do. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { sharedDatabase } from '../kit/database.ts';
import { system, until, type TestOrg, type TestUser } from '../kit/harness.ts';
import { everyRecord } from '../../models/base/define.ts';

const api = system();
const db = sharedDatabase();
let org: TestOrg;
let key: string;
let bob: TestUser;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  bob = await api.join(org);
});

async function customer(of = org) {
  const session = await api.newSession(of);
  const say = async (body: string): Promise<string> => {
    const path = `/support/chat/messages/${of.orgId}`;
    const sent = await api.request('POST', path, { token: session.token, body: { body } });
    expect(sent.status).toBe(202);
    return sent.body.conv_id as string;
  };
  return { ...session, say };
}
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
const call = (method: Method, path: string, body?: object, token = org.owner.token) =>
  api.request(method, `/support/inbox/orgs/${org.orgId}${path}`, { token, ...(body ? { body } : {}) });
const listed = async (query: string, of = org): Promise<string[]> => {
  const path = `/support/inbox/orgs/${of.orgId}?${query}`;
  const { status, body } = await api.request('GET', path, { token: of.owner.token });
  expect(status).toBe(200);
  expect(body.count).toBe(body.conversations.length);
  return body.conversations.map(({ conv_id }: { conv_id: string }) => conv_id);
};
const kindsOf = async ({ token }: TestUser, convId: string): Promise<string[]> => {
  const { body } = await api.request('GET', '/me/notifications', { token });
  const about = body.data.notifications.filter(({ conv_id }: { conv_id?: string }) => conv_id === convId);
  return about.map(({ kind }: { kind: string }) => kind);
};

describe('tags and priority', () => {
  it('setting tags replaces the conversation’s tags and drops duplicates, and lists can be filtered by a tag', async () => {
    const [one, two] = [await (await customer()).say('Hello?'), await (await customer()).say('Hello?')];
    const tagged = await call('PUT', `/${one}/tags`, { tags: [' cards ', 'refund', 'cards'] }, key);
    expect(tagged.body.conversation.tags).toEqual(['cards', 'refund']);
    expect((await call('PUT', `/${two}/tags`, { tags: ['refund'] })).status).toBe(200);
    expect(await listed('tag=cards')).toEqual([one]);
    // The agent's answers may come in either order, and the list shows the latest message first.
    expect((await listed('tag=refund')).sort()).toEqual([one, two].sort());
    expect((await call('PUT', `/${one}/tags`, { tags: [] })).body.conversation.tags).toEqual([]);
    expect(await listed('tag=refund')).toEqual([two]);
    const many = Array.from({ length: 21 }, (_, index) => `tag ${index}`);
    expect((await call('PUT', `/${one}/tags`, { tags: many })).status).toBe(400);
    expect((await call('PUT', `/${one}/tags`, { tags: ['x'.repeat(51)] })).status).toBe(400);
  });

  it('the priority of a conversation can be set and removed, and lists can be filtered by priority and by customer', async () => {
    const { say, customerId } = await customer();
    const convId = await say('Hello?');
    expect((await call('PUT', `/${convId}/priority`, { priority: 'urgent' })).body.conversation.priority).toBe(
      'urgent',
    );
    expect(await listed('priority=urgent')).toEqual([convId]);
    expect(await listed(`customer_id=${customerId}`)).toEqual([convId]);
    expect((await call('PUT', `/${convId}/priority`, { priority: null })).body.conversation.priority).toBeNull();
    expect(await listed('priority=urgent')).toEqual([]);
    expect((await call('PUT', `/${convId}/priority`, { priority: 'now' })).status).toBe(400);
  });

  it('lists of conversations can be filtered by the time of the last message', async () => {
    const began = new Date();
    const convId = await (await customer()).say('Hello?');
    const { last_message_at: last } = (await call('GET', `/${convId}`)).body.conversation;
    const later = new Date(Date.parse(last) + 86_400_000).toISOString();
    // The answer to an earlier test’s message may come meanwhile.
    expect(await listed(`from=${began.toISOString()}`)).toContain(convId);
    expect(await listed(`from=${later}`)).toEqual([]);
    expect(await listed(`until=${began.toISOString()}`)).not.toContain(convId);
    expect(await listed(`until=${later}`)).toContain(convId);
    expect((await call('GET', '?from=yesterday')).status).toBe(400);
  });

  it('each member has their own read position, which only moves forward until the member marks the conversation as unread', async () => {
    const bob = await api.join(org);
    const convId = await (await customer()).say('Hello?');
    const readings = async (of: TestUser) => {
      const { body } = await api.request('GET', `/support/inbox/orgs/${org.orgId}?limit=1`, { token: of.token });
      const { conv_id, read_position } = body.conversations[0];
      return [conv_id, read_position];
    };
    expect(await readings(bob)).toEqual([convId, null]);
    const { position } = (await call('GET', `/${convId}`, undefined, bob.token)).body.conversation;
    expect([await readings(bob), await readings(org.owner)]).toEqual([
      [convId, position],
      [convId, null],
    ]);
    const read = async (at: number, token = bob.token) =>
      (await call('PUT', `/${convId}/read`, { position: at }, token)).body.conversation.read_position;
    // A read position beyond the last message is not stored.
    expect([await read(0), await read(10_000, org.owner.token)]).toEqual([position, expect.any(Number)]);
    expect((await readings(org.owner))[1]).toBeLessThan(10_000);
    const unread = await call('DELETE', `/${convId}/read`, undefined, bob.token);
    expect(unread.body.conversation.read_position).toBe(0);
    expect((await call('PUT', `/${convId}/read`, { position: 1 }, key)).body.code).toBe('WRONG_CREDENTIAL_KIND');
    expect((await call('GET', `/${convId}`, undefined, key)).body.conversation.read_position).toBeNull();
  });

  it('another organization’s conversation gets no tags, priority, snooze or notes: 404', async () => {
    const foreign = await api.newOrg();
    const convId = await (await customer(foreign)).say('Hello?');
    for (const [method, path, body] of [
      ['PUT', 'tags', { tags: ['x'] }],
      ['PUT', 'priority', { priority: 'low' }],
      ['POST', 'snooze', { until: 'reply' }],
      ['DELETE', 'snooze', undefined],
      ['POST', 'notes', { body: 'x' }],
      ['DELETE', 'notes/note_1', undefined],
    ] as const)
      expect([path, (await call(method, `/${convId}/${path}`, body)).status]).toEqual([path, 404]);
  });
});

describe('the list of waiting customers', () => {
  it('customers who wait for a person are listed page by page, the longest waiting first, until they are answered', async () => {
    const own = await api.newOrg();
    const waiting: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const convId = await (await customer(own)).say('I want to talk to a human');
      const path = `/support/inbox/orgs/${own.orgId}/${convId}`;
      await until(async () => {
        const { body } = await api.request('GET', path, { token: own.owner.token });
        return body.conversation.waiting_since !== null;
      }, 'the customer to wait');
      waiting.push(convId);
    }
    const answered = await (await customer(own)).say('Hello?');
    expect(await listed('sort=waiting', own)).toEqual(waiting);
    const page = (query: string) =>
      api.request('GET', `/support/inbox/orgs/${own.orgId}?sort=waiting&limit=2${query}`, { token: own.owner.token });
    const first = (await page('')).body;
    const second = (await page(`&cursor=${first.cursor}`)).body;
    const ids = [...first.conversations, ...second.conversations].map(({ conv_id }) => conv_id as string);
    expect([ids, second.cursor]).toEqual([waiting, null]);
    const reply = `/support/inbox/orgs/${own.orgId}/${waiting[0]}/reply`;
    await api.request('POST', reply, { token: own.owner.token, body: { body: 'Here I am.' } });
    expect(await listed('sort=waiting', own)).toEqual(waiting.slice(1));
    await api.request('GET', `/support/inbox/orgs/${own.orgId}/${answered}`, { token: own.owner.token });
    expect(await listed('unread=true', own)).not.toContain(answered);
  });
});

describe('a snoozed conversation', () => {
  it('the snooze of a conversation ends when the customer writes', async () => {
    const { say } = await customer();
    const convId = await say('Hello?');
    const { conversation } = (await call('POST', `/${convId}/snooze`, { until: 'reply' })).body;
    expect(conversation.snoozed).toEqual({ until: null, by: org.owner.userId });
    expect([await listed('snoozed=true'), (await listed('snoozed=false')).includes(convId)]).toEqual([[convId], false]);
    await say('Are you there?');
    expect(await listed('snoozed=true')).toEqual([]);
    await call('POST', `/${convId}/snooze`, { until: 'reply' });
    expect((await call('DELETE', `/${convId}/snooze`)).body.conversation.snoozed).toBeNull();
  });

  it('the snooze of a conversation ends at the time that was set, and the assignee is notified', async () => {
    const convId = await (await customer()).say('Hello?');
    await call('POST', `/${convId}/assign`, { user_id: bob.userId }, bob.token);
    const end = new Date(Date.now() + 1_500).toISOString();
    // The snooze first gets a later time, so the workflow that waits for that time must learn of the earlier one.
    await call('POST', `/${convId}/snooze`, { until: new Date(Date.now() + 3_600_000).toISOString() });
    const { conversation } = (await call('POST', `/${convId}/snooze`, { until: end })).body;
    expect(conversation.snoozed.until).toBe(end);
    await until(async () => (await kindsOf(bob, convId)).includes('snooze_over'), 'the assignee to be told');
    expect((await call('GET', `/${convId}`, undefined, key)).body.conversation.snoozed).toBeNull();
    expect(await kindsOf(org.owner, convId)).toEqual([]);
  });

  it.each(['2020-01-01T00:00:00Z', '2090-01-01T00:00:00Z', 'tomorrow'])(
    'a request to snooze a conversation until %s is refused',
    async (time) => {
      const convId = await (await customer()).say('Hello?');
      expect((await call('POST', `/${convId}/snooze`, { until: time })).status).toBe(400);
    },
  );
});

describe('a note', () => {
  it('a note is for members only: mentioned members are notified, and the customer sees nothing of the note', async () => {
    const { say, token, customerId } = await customer();
    const convId = await say('Hello?');
    const body = { body: 'He called about the gannet card.', mentions: [bob.userId, org.owner.userId, bob.userId] };
    const added = await call('POST', `/${convId}/notes`, body);
    expect([added.status, added.body.note]).toMatchObject([
      201,
      { author: org.owner.userId, body: body.body, mentions: [bob.userId] },
    ]);
    await until(async () => (await kindsOf(bob, convId)).includes('mentioned'), 'the member to be told');
    const told = (await api.request('GET', '/me/notifications', { token: bob.token })).body.data.notifications[0];
    expect(told).toMatchObject({ body: `Test Person wrote a note for you.\nConversation ${convId}`, read: false });
    const seen = (await call('GET', `/${convId}`, undefined, bob.token)).body;
    expect([seen.notes, seen.conversation.note_count]).toEqual([[added.body.note], 1]);
    // Looking at the conversation counts as reading.
    const after = (await api.request('GET', '/me/notifications?unread=true', { token: bob.token })).body.data;
    expect(after.notifications.map(({ conv_id }: { conv_id?: string }) => conv_id)).not.toContain(convId);
    const history = await api.request('GET', `/support/chat/messages/${org.orgId}`, { token });
    const frames = await db()
      .collection<{ _id: string; stream: string }>('frames')
      .find({ stream: convId }, everyRecord)
      .toArray();
    const stored = await db().collection('deliveries').find({ org_id: org.orgId }).toArray();
    expect(JSON.stringify([history.body, frames, stored, told])).not.toContain('gannet');
    // The note is part of the data held about the customer.
    const path = `/support/customers/orgs/${org.orgId}/${customerId}`;
    const held = (await api.request('GET', path, { token: org.owner.token })).body.data;
    expect(held.conversations[0].notes).toEqual([added.body.note]);
  });

  it('a note is removed by its author or an admin, and by nobody else', async () => {
    const convId = await (await customer()).say('Hello?');
    const write = async (token: string) =>
      (await call('POST', `/${convId}/notes`, { body: 'Look here.' }, token)).body.note.note_id as string;
    const [owners, bobs] = [await write(org.owner.token), await write(bob.token)];
    const remove = async (noteId: string, token: string) =>
      (await call('DELETE', `/${convId}/notes/${noteId}`, undefined, token)).status;
    expect(await remove(owners, bob.token)).toBe(403);
    expect(await remove(bobs, org.owner.token)).toBe(200);
    expect(await remove(owners, org.owner.token)).toBe(200);
    expect(await remove(owners, org.owner.token)).toBe(404);
    expect((await call('GET', `/${convId}`)).body.notes).toEqual([]);
  });

  it('a note is refused when it comes from a key, mentions a non-member, is empty, or is the 101st note', async () => {
    const convId = await (await customer()).say('Hello?');
    const stranger = await api.newUser();
    const status = async (body: object, token = org.owner.token) =>
      (await call('POST', `/${convId}/notes`, body, token)).status;
    expect(await status({ body: 'Look here.' }, key)).toBe(401);
    expect(await status({ body: 'Look here.', mentions: [stranger.userId] })).toBe(400);
    expect(await status({ body: ' ' })).toBe(400);
    const at = new Date();
    const notes = Array.from({ length: 100 }, (_, index) => {
      return { note_id: `note_${index}`, author: bob.userId, body: 'x', mentions: [], at };
    });
    await db().collection<{ _id: string }>('conversations').updateOne({ _id: convId }, { $set: { notes } });
    expect(await status({ body: 'Look here.' })).toBe(409);
  });
});

describe('GET and PUT /orgs/{orgId}/tags', () => {
  const tags = (method: Method, of: TestOrg, token: string, body?: object) =>
    api.request(method, `/orgs/${of.orgId}/tags`, { token, ...(body ? { body } : {}) });

  it('admins set the list of the team’s tags and their colours, and members read the list', async () => {
    const list = {
      tags: [
        { name: ' refund ', colour: 'orange' },
        { name: 'cards', colour: 'blue' },
      ],
    };
    expect((await tags('GET', org, bob.token)).body.data).toEqual({ tags: [] });
    const set = await tags('PUT', org, org.owner.token, list);
    const tidy = {
      tags: [
        { name: 'refund', colour: 'orange' },
        { name: 'cards', colour: 'blue' },
      ],
    };
    expect([set.status, set.body.data]).toEqual([200, tidy]);
    expect((await tags('GET', org, bob.token)).body.data).toEqual(tidy);
    expect((await tags('PUT', org, bob.token, list)).status).toBe(403);
    const stranger = await api.newOrg();
    expect((await tags('GET', org, stranger.owner.token)).status).toBe(404);
  });

  it('a list of tags with a repeated or empty name, an unknown colour or too many tags is refused', async () => {
    const one = (name: string, colour = 'red') => ({ name, colour });
    for (const wrong of [
      [one('a'), one(' a')],
      [one('a', 'mauve')],
      [one('')],
      Array.from({ length: 201 }, (_, at) => one(`t${at}`)),
    ])
      expect((await tags('PUT', org, org.owner.token, { tags: wrong })).status).toBe(400);
  });
});
