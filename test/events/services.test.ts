/**
 * Ticket events in Slack and Linear: one thread and one issue, whatever is lost on the way, and how a refused
 * credential is handled.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { until, type TestOrg } from '../kit/harness.ts';
import { linearEvent, linearSecret, sendLinear } from '../kit/inbound.ts';
import { systemEnv } from '../kit/processes.ts';
import { linearCall, linearStates, linearTeam, slackCall } from '../kit/services.ts';
import { serviced, servicesEnv } from '../kit/serviced.ts';

const system = serviced((services) => systemEnv('services', servicesEnv(services)));
let client: MongoClient;
let db: Db;
let org: TestOrg;
let channel: string;

beforeAll(async () => {
  client = await openClient(process.env['TEST_MONGODB_URI']!);
  db = client.db('services');
  const { channels } = await slackCall(system.slack(), 'conversations.list');
  channel = (channels as { id: string; name: string }[]).find(({ name }) => name === 'support')!.id;
  org = await connected(['slack', 'linear']);
});
afterAll(() => client.close());
beforeEach(async () => {
  system.slack().heal();
  system.linear().heal();
  // A delivery left over from the previous test would consume the fault meant for the next one.
  await until(
    async () =>
      (await db
        .collection('deliveries')
        .countDocuments({ org_id: org.orgId, status: { $in: ['pending', 'retrying'] } })) === 0,
    'everything of the shared organization to be sent',
  );
});

/** A live organization that is connected to these providers and sends its ticket events there. */
async function connected(providers: string[], { live = true } = {}): Promise<TestOrg> {
  const own = await system.api().newOrg();
  if (live) await system.api().goLive(own);
  await system.connectSlack(own, channel);
  await system.connectLinear(own);
  const set = await system.api().request('PUT', `/support/config/orgs/${own.orgId}`, {
    token: own.owner.token,
    body: { outbox_providers: providers },
  });
  expect(set.status).toBe(200);
  return own;
}

const act = (of: TestOrg, convId: string, what: string) =>
  system.api().request('POST', `/support/inbox/orgs/${of.orgId}/${convId}/${what}`, { token: of.owner.token });

/** A customer whose conversation is escalated. */
async function ticket(of: TestOrg, mode: 'live' | 'test' = 'live') {
  const email = `${randomUUID()}@c.example`;
  const session = await system.api().newSession(of, { mode, body: { customer: { email, name: 'Ada @everyone' } } });
  const said = await system.api().request('POST', `/support/chat/messages/${of.orgId}`, {
    token: session.token,
    body: { body: 'I want to talk to a human. ```\n# heading [a](https://evil.example)' },
  });
  const convId = said.body.conv_id as string;
  const { ticket_id: ticketId } = await until(async () => {
    const found = await db.collection('conversations').findOne({ _id: convId as never });
    return (found?.['ticket'] as { ticket_id: string } | undefined) ?? undefined;
  }, 'the ticket');
  const deliveries = () =>
    db.collection('deliveries').find({ 'subject.ticket_id': ticketId }).sort({ _id: 1 }).toArray();
  const all = (kind: string, status: string, count: number) =>
    until(async () => {
      const found = (await deliveries()).filter((one) => one['kind'] === kind && one['status'] === status);
      return found.length >= count && found;
    }, `${count} deliveries to ${kind} to be ${status}`);
  return { convId, ticketId, email, all };
}
type Issue = {
  id: string;
  title: string;
  description: string;
  state: { id: string; type: string };
  comments: { nodes: { body: string }[] };
};
const issuesOf = async (ticketId: string): Promise<Issue[]> => {
  const query =
    'query { issues(first: 100) { nodes { id title description state { id type } comments(first: 50) { nodes { body } } } } }';
  const { data } = await linearCall(system.linear(), query);
  return (data.issues.nodes as Issue[]).filter(({ description }) => description?.includes(ticketId));
};
const messagesOf = async (ticketId: string): Promise<{ text: string; thread_ts?: string; ts: string }[]> => {
  const { messages } = await slackCall(system.slack(), 'conversations.history', { channel, limit: 200 });
  const heads = (messages as { text: string; ts: string }[]).filter(({ text }) => text.includes(ticketId));
  const threads = heads.map(
    async ({ ts }) => (await slackCall(system.slack(), 'conversations.replies', { channel, ts })).messages,
  );
  return (await Promise.all(threads)).flat();
};

describe('a ticket', () => {
  it('a ticket has one Linear issue, which is closed when the ticket is resolved, and reopened when the ticket is escalated again', async () => {
    const { convId, ticketId, email, all } = await ticket(org);
    const sent = await all('linear', 'delivered', 2);
    const [issue, ...others] = await issuesOf(ticketId);
    expect(others).toEqual([]);
    expect(issue).toMatchObject({
      title: expect.stringMatching(/^Support: I want to talk/),
      state: { type: 'unstarted' },
    });
    expect(issue!.description).toContain(email.split('@')[0]);
    // The customer's words are in a code block that they cannot close.
    expect(issue!.description).toContain('````\nI want to talk to a human. ```');
    expect(issue!.comments.nodes).toHaveLength(1);
    expect(sent[0]!['result']).toMatchObject({ id: expect.stringMatching(/^SUP-\d+$/), url: expect.any(String) });
    await act(org, convId, 'resolve');
    await all('linear', 'delivered', 3);
    expect((await issuesOf(ticketId))[0]!.state.id).toBe(linearStates.done);
    await act(org, convId, 'escalate');
    await all('linear', 'delivered', 4);
    const [end] = await issuesOf(ticketId);
    expect([end!.state.id, end!.comments.nodes.length]).toEqual([linearStates.todo, 3]);
  });

  it('all Slack messages about a ticket are in one thread', async () => {
    const { convId, ticketId, all } = await ticket(org);
    await act(org, convId, 'resolve');
    await all('slack', 'delivered', 3);
    const messages = await messagesOf(ticketId);
    expect(messages.map(({ text }) => text.split(/[ :]/)[0])).toEqual(['*New', 'Escalated', 'Resolved.']);
    expect(new Set(messages.slice(1).map(({ thread_ts }) => thread_ts))).toEqual(new Set([messages[0]!.ts]));
  });

  it('when responses of Linear or Slack are lost, a ticket gets no second issue, comment or message', async () => {
    // The emulated Linear ignores ids chosen by the client. So the request without an id is lost, and the retry finds
    // issue and comment by their marker.
    const lost = (path: string, has: RegExp) => ({
      fits: (sent: { path: string; body: string }) =>
        sent.path === path && has.test(sent.body) && !sent.body.includes('"input":{"id"'),
      lose: true as const,
    });
    system.linear().fault(lost('/graphql', /issueCreate/), lost('/graphql', /commentCreate/));
    system.slack().fault(lost('/api/chat.postMessage', /New(?:\+|%20)ticket/));
    const { ticketId, all } = await ticket(org);
    const [created] = await all('linear', 'delivered', 2);
    await all('slack', 'delivered', 2);
    expect(created!['attempts'].length).toBeGreaterThan(1);
    const [issue, ...others] = await issuesOf(ticketId);
    expect([others.length, issue!.comments.nodes.length]).toEqual([0, 1]);
    expect(await messagesOf(ticketId)).toHaveLength(2);
  });

  it('the request that creates a ticket’s issue in Linear contains an id that this system chose', async () => {
    const { ticketId, all } = await ticket(org);
    await all('linear', 'delivered', 2);
    const inputs = system
      .linear()
      .sent.filter(({ body }) => body.includes('issueCreate') && body.includes(ticketId))
      .map(({ body }) => (JSON.parse(body) as { variables: { input: { id?: string } } }).variables.input.id);
    expect(inputs[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('a ticket is resolved when its issue is completed in Linear, but not by webhooks about this system’s own changes', async () => {
    const { convId, ticketId, all } = await ticket(org);
    await all('linear', 'delivered', 2);
    const webhook = `${system.api().url}/v1/webhooks/linear`;
    const made = await linearCall(
      system.linear(),
      'mutation($input: WebhookCreateInput!) { webhookCreate(input: $input) { success } }',
      { input: { url: webhook, secret: linearSecret, resourceTypes: ['Issue'], allPublicTeams: true, label: 'ours' } },
    );
    expect(made.errors).toBeUndefined();
    const [issue] = await issuesOf(ticketId);
    // The emulated Linear reports only the id of the state, so the state is looked up.
    await linearCall(
      system.linear(),
      'mutation($id: String!, $s: String!) { issueUpdate(id: $id, input: { stateId: $s }) { success } }',
      {
        id: issue!.id,
        s: linearStates.done,
      },
    );
    const standing = () => db.collection('conversations').findOne({ _id: convId as never });
    await until(async () => (await standing())?.['status'] === 'resolved', 'the ticket to be resolved');
    await all('linear', 'delivered', 3);
    const events = async () => ((await standing())!['events'] as { type: string }[]).map(({ type }) => type);
    expect((await events()).filter((type) => type === 'ticket.resolved')).toHaveLength(1);
    // The new escalation moves the issue; Linear reports that change, which has no further effect.
    await act(org, convId, 'escalate');
    await all('linear', 'delivered', 4);
    await act(org, convId, 'resolve');
    await all('linear', 'delivered', 5);
    await act(org, convId, 'reopen');
    await until(async () => {
      const echoes = await db
        .collection('inbound')
        .find({ org_id: org.orgId, lane: `linear:${issue!.id}` })
        .toArray();
      return echoes.length >= 3 && echoes.every((one) => one['status'] !== 'stored');
    }, 'the echoes to be processed');
    const link = await db.collection('links').findOne({ external: issue!.id });
    expect([link!['state_id'], (await standing())!['status']]).toEqual([linearStates.done, 'open']);
  });

  it('a ticket is not resolved by late webhooks about status changes that this system made', async () => {
    const { convId, ticketId, all } = await ticket(org);
    await all('linear', 'delivered', 2);
    const [issue] = await issuesOf(ticketId);
    const move = async (verb: string, delivered: number) => {
      await act(org, convId, verb);
      await all('linear', 'delivered', delivered);
      const query = 'query Q($id: String!) { issue(id: $id) { id updatedAt state { id } } }';
      const { updatedAt, state } = (await linearCall(system.linear(), query, { id: issue!.id })).data.issue;
      const data = { id: issue!.id, teamId: linearTeam.id, stateId: state.id as string, updatedAt };
      return { type: 'Issue', action: 'update', data, updatedFrom: { stateId: 'another' } };
    };
    await move('resolve', 3);
    const opened = await move('escalate', 4);
    const closed = await move('resolve', 5);
    await act(org, convId, 'reopen');
    for (const late of [opened, closed]) {
      const delivery = randomUUID();
      expect((await sendLinear(system.api(), linearEvent(late), { delivery })).body).toMatchObject({ repeated: false });
      await until(async () => {
        const inbound = await db.collection('inbound').findOne({ keys: `deployment ${delivery}` });
        return inbound !== null && inbound['status'] !== 'stored';
      }, 'the event to be processed');
    }
    const { status } = (await db.collection('conversations').findOne({ _id: convId as never }))!;
    expect(status).toBe('open');
  });
});

describe('a credential that is refused while sending', () => {
  it.each<['slack' | 'linear', { status?: number; body: unknown }]>([
    ['slack', { body: { ok: false, error: 'invalid_auth' } }],
    ['linear', { status: 401, body: { errors: [{ message: 'Authentication required' }] } }],
  ])(
    'a refused credential of %s marks the connection as broken, notifies members once, and stops all requests to that service',
    async (provider, fault) => {
      const own = await connected([provider]);
      const service = system[provider]();
      service.lasting(fault);
      const [first, second] = [await ticket(own), await ticket(own)];
      await first.all(provider, 'retrying', 1);
      await second.all(provider, 'retrying', 1);
      expect(await system.list(own, provider)).toMatchObject([{ status: 'broken' }]);
      // Notifications about the conversations are not part of this test.
      const about = { org_id: own.orgId, conv_id: { $exists: false } };
      const told = await db.collection('notifications').find(about).toArray();
      expect(told.map(({ kind }) => kind as string)).toEqual(['integration_broken']);
      const asked = service.sent.length;
      await act(own, first.convId, 'resolve');
      const outbox = `/support/outbox/orgs/${own.orgId}/deliveries`;
      for (const { all } of [first, second]) {
        const [{ _id }] = (await all(provider, 'retrying', 1)) as [{ _id: unknown }];
        await system.api().request('POST', `${outbox}/${String(_id)}/redeliver`, { token: own.owner.token, body: {} });
        await until(async () => (await all(provider, 'retrying', 1))[0]!['attempts'].length > 1, 'the next attempt');
      }
      expect(service.sent.length).toBe(asked);
    },
  );
});

describe('test mode', () => {
  it('test mode sends nothing to Slack and Linear, and stores the exact requests without secrets', async () => {
    const own = await connected(['slack', 'linear'], { live: false });
    const [slackSent, linearSent] = [system.slack().sent.length, system.linear().sent.length];
    const { ticketId, all } = await ticket(own, 'test');
    const [post] = await all('slack', 'suppressed', 2);
    const [create, escalated] = await all('linear', 'suppressed', 2);
    expect([system.slack().sent.length, system.linear().sent.length]).toEqual([slackSent, linearSent]);
    expect(post!['request']).toMatchObject({
      url: `${system.slack().url}/api/chat.postMessage`,
      headers: { authorization: '***' },
    });
    const form = new URLSearchParams((post!['request'] as { body: string }).body);
    expect([form.get('channel'), form.get('text')]).toEqual([channel, expect.stringContaining(ticketId)]);
    const input = (
      JSON.parse((create!['request'] as { body: string }).body) as { variables: { input: { id: string } } }
    ).variables.input;
    const comment = JSON.parse((escalated!['request'] as { body: string }).body) as {
      variables: { input: { issueId: string } };
    };
    expect(comment.variables.input.issueId).toBe(input.id);
    expect(JSON.stringify([post, create])).not.toMatch(/xoxb-|lin_api_/);
  });
});
