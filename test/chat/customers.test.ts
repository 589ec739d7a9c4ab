/** A customer's data over the API: the export contains all of the data, and the deletion leaves none. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { sharedDatabase, tracesIn } from '../kit/database.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import type { z } from 'zod';
import type { exportReply } from '../../api/chat/contract/customers.ts';
import { newId } from '../../models/base/ids.ts';

const api = system();
const db = sharedDatabase();

let org: TestOrg;
let key: string;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});

type ExportPage = z.infer<typeof exportReply>;

const path = (orgId: string, customerId: string) => `/support/customers/orgs/${orgId}/${customerId}`;
const read = (customerId: string, query = '', token = org.owner.token, orgId = org.orgId) =>
  api.request('GET', `${path(orgId, customerId)}${query}`, { token });
/** All pages of an export, and the one export that results from joining their lists. */
async function readAll(customerId: string, limit?: number) {
  const pages: { body: ExportPage; bytes: number }[] = [];
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.body.cursor) {
    const query = new URLSearchParams({ ...(limit ? { limit: `${limit}` } : {}), ...(cursor ? { cursor } : {}) });
    const { status, body } = await read(customerId, `?${query.toString()}`);
    expect([status, body.success]).toEqual([200, true]);
    pages.push({ body: body.data, bytes: JSON.stringify(body).length });
  }
  const whole = {
    sessions: pages.flatMap(({ body }) => body.sessions),
    gaps: pages.flatMap(({ body }) => body.gaps),
    conversations: pages.flatMap(({ body }) => body.conversations),
    messages: pages.flatMap(({ body }) => body.messages),
  };
  return { pages, whole };
}
const erase = (customerId: string, token = org.owner.token, orgId = org.orgId) =>
  api.request('DELETE', path(orgId, customerId), { token });
const inbox = (convId: string, act: string, body: unknown = {}) =>
  api.request('POST', `/support/inbox/orgs/${org.orgId}/${convId}/${act}`, { token: org.owner.token, body });

/** A customer who writes words that no other test uses. */
async function newCustomer() {
  const [word, email] = [`w${randomUUID().replaceAll('-', '')}`, `${randomUUID()}@customer.example`];
  const customer = { email, name: `Ada ${word}`, externalCustomerId: `u-${word}` };
  const body = { customer, context: { plan: word }, stepUp: true };
  const session = await api.newSession(org, { key, body });
  const say = async (text: string) => {
    const said = { token: session.token, body: { body: text } };
    const sent = await api.request('POST', `/support/chat/messages/${org.orgId}`, said);
    return { status: sent.status, convId: sent.body.conv_id as string };
  };
  return { ...session, word, email, customer, say };
}
type Customer = Awaited<ReturnType<typeof newCustomer>>;
const answered = (convId: string) =>
  until(
    async () => (await db().collection('messages').countDocuments({ conv_id: convId, state: 'waiting' })) === 0,
    `${convId} to be answered`,
  );
/** Waits until replies and status are shown, so that no worker writes any more. */
const shown = (convId: string) =>
  until(async () => {
    const unshown = await db().collection('messages').countDocuments({ conv_id: convId, shown: false });
    const found = await db()
      .collection('conversations')
      .findOne({ _id: convId as never });
    return unshown === 0 && found?.['shown_version'] === found?.['status_version'];
  }, `${convId} to be shown`);

/** A customer with a conversation that was escalated and resolved, and a new one. */
async function withConversations() {
  const customer = await newCustomer();
  const { convId: first } = await customer.say(`Where is ${customer.word} one?`);
  await answered(first);
  await inbox(first, 'escalate', { reason: `${customer.word} called.` });
  await inbox(first, 'reply', { body: `It is there, ${customer.word}.` });
  await inbox(first, 'resolve');
  await shown(first);
  const { convId: second } = await api
    .request('POST', `/support/chat/messages/${org.orgId}`, {
      token: customer.token,
      body: { body: `And ${customer.word} two?` },
    })
    .then(({ body }) => ({ convId: body.conv_id as string }));
  await answered(second);
  return { ...customer, convIds: [first, second] };
}

const traces = (texts: readonly string[]): Promise<string[]> => tracesIn(db(), texts);

describe('GET /support/customers/orgs/{orgId}/{customerId}', () => {
  it('the export of a customer returns all data of the customer page by page, without tokens or step-up secrets', async () => {
    const customer = await withConversations();
    const stranger = await newCustomer();
    await stranger.say('Somebody else.');
    const { pages, whole } = await readAll(customer.customerId, 1);
    expect(pages).toHaveLength(1 + 2 + 2 + 5);
    expect(pages[0]!.body.customer).toMatchObject({
      customer_id: customer.customerId,
      email: customer.email,
      name: customer.customer.name,
      external_id: customer.customer.externalCustomerId,
      mode: 'test',
      verified: true,
    });
    expect(whole.sessions).toMatchObject([
      { session_id: customer.sessionId, kind: 'minted', context: { plan: customer.word }, revoked_at: null },
    ]);
    const asked = [`And ${customer.word} two?`, `Where is ${customer.word} one?`];
    expect(whole.gaps.toSorted((one, two) => one.question.localeCompare(two.question))).toEqual(
      asked.map((question) => ({
        gap_id: expect.stringMatching(/^gap_/),
        question,
        count: 1,
        why_missing: 'nothing_found',
      })),
    );
    expect(whole.conversations.map(({ conv_id }) => conv_id)).toEqual(customer.convIds.toReversed());
    const first = whole.conversations[1]!;
    expect(first).toMatchObject({ ticket: { status: 'resolved', description: `${customer.word} called.` } });
    expect(first.events.map(({ type }) => type)).toEqual(['ticket.created', 'ticket.escalated', 'ticket.resolved']);
    const roles = (convId: string) => whole.messages.filter((m) => m.conv_id === convId).map(({ role }) => role);
    expect(customer.convIds.map(roles)).toEqual([
      ['customer', 'ai', 'agent'],
      ['customer', 'ai'],
    ]);
    const text = JSON.stringify(pages);
    expect(text).not.toContain(customer.token);
    expect(text).not.toContain('step_up');
    expect(text).not.toContain(stranger.customerId);
    expect(text).not.toContain('Somebody else.');
  });

  it('the export of a customer returns the same data whatever the page size', async () => {
    const customer = await withConversations();
    const [{ whole }, ...others] = [
      await readAll(customer.customerId),
      await readAll(customer.customerId, 2),
      await readAll(customer.customerId, 3),
    ];
    for (const other of others) expect(other.whole).toEqual(whole);
  });

  it('the export of a customer limits a page to half a megabyte plus one record, and returns each message once', async () => {
    const customer = await newCustomer();
    const { convId } = await customer.say('Hello.');
    await answered(convId);
    const body = 'ä'.repeat(4_000);
    const written = Array.from({ length: 500 }, (_, index) => ({
      _id: newId('message') as never,
      org_id: org.orgId,
      conv_id: convId,
      mode: 'test',
      role: 'customer',
      state: 'left',
      body,
      at: new Date(),
      position: 1_000 + index,
    }));
    await db().collection('messages').insertMany(written);
    const { pages, whole } = await readAll(customer.customerId);
    expect(whole.messages).toHaveLength(502);
    expect(whole.messages.slice(2).map(({ id }) => id)).toEqual(written.map(({ _id }) => _id));
    for (const { body: page, bytes } of pages) {
      // The limit counts only the stored size of the records. The JSON adds a few hundred bytes per record.
      expect(bytes).toBeLessThan(600 * 1024);
      expect(page.messages.length).toBeLessThanOrEqual(100);
    }
  });

  it('the export of a customer shows no data of another customer, even with a cursor into the other’s conversation', async () => {
    const [one, two] = [await newCustomer(), await newCustomer()];
    const { convId } = await two.say('Nobody else’s.');
    const cursorAt = (place: string) => Buffer.from(place).toString('base64url');
    const { status, body } = await read(one.customerId, `?cursor=${cursorAt(`messages ${convId} 0`)}`);
    expect([status, body.data.messages, body.data.conversations]).toEqual([200, [], []]);
    for (const place of ['messages conv_1', `messages ${convId}`, `conversations ${convId} 1`, 'frames 1']) {
      expect((await read(one.customerId, `?cursor=${cursorAt(place)}`)).status).toBe(400);
    }
  });

  it('the export of a customer states its rate limit in a header', async () => {
    const { customerId } = await newCustomer();
    const { headers } = await read(customerId);
    expect(headers.get('ratelimit-policy')).toBe('"exports";q=300;w=60');
  });

  it('the export of a customer is for members: 401 for an API key, 404 for another organization’s or an unknown customer', async () => {
    const { customerId } = await newCustomer();
    expect((await read(customerId, '', key)).status).toBe(401);
    const other = await api.newOrg();
    expect((await read(customerId, '', other.owner.token, other.orgId)).status).toBe(404);
    expect((await read('cus_nobody')).status).toBe(404);
  });
});

describe('DELETE /support/customers/orgs/{orgId}/{customerId}', () => {
  it('deleting a customer leaves nothing in the database but the record of the deletion', async () => {
    const customer = await withConversations();
    const texts = [customer.word, customer.email, customer.customerId, ...customer.convIds, customer.sessionId];
    expect(await traces(texts)).toEqual(
      expect.arrayContaining(['conversations', 'customers', 'frames', 'gaps', 'messages', 'sessions']),
    );
    const ordered = await erase(customer.customerId);
    expect([ordered.status, ordered.body.data]).toEqual([
      202,
      expect.objectContaining({ customer_id: customer.customerId, requested_by: org.owner.userId, verified_at: null }),
    ]);
    const done = await until(async () => {
      const { body } = await erase(customer.customerId);
      return body.data.status !== 'erasing' && body.data;
    }, 'the customer to be removed');
    expect(done).toMatchObject({ status: 'erased', found: { conversations: 2, messages: 5, sessions: 1, gaps: 2 } });
    expect(done.erased_at >= done.requested_at).toBe(true);
    // The rate limit counters of the last minute contain the session's id.
    const left = new Set(await traces(texts));
    left.delete('rate_limits');
    expect([...left]).toEqual(['erasures']);
    expect(await traces([customer.word, customer.email])).toEqual([]);
    expect((await read(customer.customerId)).status).toBe(404);
  });

  it('deleting a customer ends the customer’s sessions, and the same person who returns is a new customer', async () => {
    const customer = await newCustomer();
    await customer.say('Hello.');
    await erase(customer.customerId);
    expect((await read(customer.customerId)).status).toBe(404);
    const again = await api.newSession(org, { key, body: { customer: customer.customer } });
    expect(again.customerId).not.toBe(customer.customerId);
    // A session may stay in the cache for half a second.
    await until(async () => (await customer.say('Still here?')).status === 401, 'the session to end');
    const said = { token: again.token, body: { body: 'Hello again.' } };
    const { body } = await api.request('POST', `/support/chat/messages/${org.orgId}`, said);
    await until(async () => (await erase(customer.customerId)).body.data.status === 'erased', 'the removal');
    const history = await api.request('GET', `/support/chat/conversation/${org.orgId}/${body.conv_id}`, {
      token: again.token,
    });
    expect(history.body.messages[0].body).toBe('Hello again.');
  });

  it('deleting a customer keeps an unanswered question while another customer who asked it exists, and keeps other customers', async () => {
    const [one, two]: [Customer, Customer] = [await newCustomer(), await newCustomer()];
    const shared = `Where do ${one.word} park?`;
    for (const customer of [one, two]) await answered((await customer.say(shared)).convId);
    await erase(one.customerId);
    await until(async () => (await erase(one.customerId)).body.data.status === 'erased', 'the removal');
    expect(await db().collection('gaps').countDocuments({ org_id: org.orgId, question: shared })).toBe(1);
    const { whole } = await readAll(two.customerId);
    expect([whole.messages[0]?.body, whole.gaps]).toEqual([shared, [expect.objectContaining({ question: shared })]]);
    await erase(two.customerId);
    await until(async () => (await erase(two.customerId)).body.data.status === 'erased', 'the removal');
    expect(await db().collection('gaps').countDocuments({ org_id: org.orgId, question: shared })).toBe(0);
  });

  it('only an admin of the organization can delete a customer, and a refused request deletes nothing', async () => {
    const { customerId } = await newCustomer();
    const { token } = await api.join(org);
    const other = await api.newOrg();
    expect((await erase(customerId, token)).status).toBe(403);
    expect((await erase(customerId, key)).status).toBe(401);
    expect((await erase(customerId, other.owner.token, other.orgId)).status).toBe(404);
    expect((await erase('cus_nobody')).status).toBe(404);
    expect((await read(customerId, '', token)).status).toBe(200);
  });

  it('ten concurrent requests to delete a customer delete the customer once', async () => {
    const { customerId } = await newCustomer();
    const replies = await Promise.all(Array.from({ length: 10 }, () => erase(customerId)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(replies.map(({ body }) => body.data.requested_at)).size).toBe(1);
  });
});
