/**
 * POST /webhooks/linear: who may send, what is processed, which organization an event belongs to, and how an issue
 * changes a ticket.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { conversing } from '../../kit/conversing.ts';
import { system, until, type TestOrg } from '../../kit/harness.ts';
import { arrivedAt, box, connectLinear, hmac, linearEvent, linearSecret, sendLinear } from '../../kit/inbound.ts';
import { actOn } from '../../../models/chat/act.ts';
import { InboundModel, type Inbound } from '../../../models/events/inbound.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import { createLink, findLink, noteState } from '../../../models/events/link.ts';
import { everyRecord } from '../../../models/base/define.ts';
import { newId } from '../../../models/base/ids.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import type { Http } from '../../../clients/http/http.ts';
import type { Carrying } from '../../../providers/base/issue.ts';
import type { SenderDeps } from '../../../providers/base/sender.ts';
import type { StepCall } from '../../../providers/base/step.ts';
import { createLinear } from '../../../providers/linear/client.ts';
import { handleLinear, type IssuePort, type LinearDeps } from '../../../providers/linear/receive.ts';
import { linear } from '../../../providers/linear/send.ts';
import { linear as linearStep } from '../../../providers/linear/step.ts';
import { carryToLinear, taskIssuePort } from '../../../providers/linear/task.ts';

const api = system();
const { newCustomer } = conversing('shared');

let org: TestOrg;
const team = randomUUID();
beforeAll(async () => {
  org = await api.newOrg();
  await connectLinear(org.orgId, { team });
});

const states = {
  started: { id: 's-started', name: 'In Progress', type: 'started' },
  completed: { id: 's-done', name: 'Done', type: 'completed' },
  canceled: { id: 's-canceled', name: 'Canceled', type: 'canceled' },
};
const issueEvent = (issue: string, state: keyof typeof states, more: Record<string, unknown> = {}) => ({
  action: 'update',
  type: 'Issue',
  data: { id: issue, teamId: team, stateId: states[state].id, state: states[state] },
  updatedFrom: { stateId: 's-todo', updatedAt: '2026-01-01T00:00:00.000Z' },
  ...more,
});

/** A ticket of a new customer with its issue. */
async function ticket(of: TestOrg = org, body = 'Hello, where is my card?') {
  const customer = await newCustomer(of.orgId);
  await customer.answered(await customer.say(body));
  const escalated = await actOn(of.orgId, customer.convId, 'escalate', { now: new Date(), reason: 'member' });
  const issue = randomUUID();
  await createLink({
    org_id: of.orgId,
    mode: 'test',
    provider: 'linear',
    external: issue,
    kind: 'ticket',
    subject_id: escalated.ticket!.ticket_id,
    conv_id: customer.convId,
    created_at: new Date(),
  });
  return { ...customer, issue };
}
const settledOf = async (keyPart: string) =>
  InboundModel.findOne({ keys: new RegExp(keyPart) }, null, everyRecord).lean();

describe('POST /webhooks/linear', () => {
  const body = linearEvent({ action: 'create', type: 'Issue', data: { id: 'i', teamId: 't' } });
  const right = hmac(linearSecret, body);
  const minutes = (n: number) => linearEvent({ type: 'Issue', webhookTimestamp: Date.now() + n * 60_000 });

  it.each<[string, string, Record<string, string>]>([
    ['without a signature', body, {}],
    ['with the signature of another body', body, { 'linear-signature': hmac(linearSecret, `${body} `) }],
    ['signed with another secret', body, { 'linear-signature': hmac('another', body) }],
    ['with a signature in upper-case letters', body, { 'linear-signature': right.toUpperCase() }],
    ['with a shortened signature', body, { 'linear-signature': right.slice(0, 62) }],
    ['with an empty signature', body, { 'linear-signature': '' }],
    [
      'whose two signature headers disagree',
      body,
      { 'linear-signature': right, 'x-linear-signature': hmac('b', body) },
    ],
    ['with two signature headers of which one is empty', body, { 'linear-signature': right, 'x-linear-signature': '' }],
    ...[null, 'now', String(Date.now()), [], {}].map((at): [string, string, Record<string, string>] => [
      `whose time is ${JSON.stringify(at)}`,
      linearEvent({ type: 'Issue', webhookTimestamp: at }),
      { 'linear-signature': '' },
    ]),
    ['that is no JSON', '{"type":', { 'linear-signature': '' }],
    ['that is null', 'null', { 'linear-signature': '' }],
    ['that is empty', '', { 'linear-signature': '' }],
  ])('a request %s is refused with 401', async (_, sent, headers) => {
    // In the cases about the body, the right signature replaces the empty one.
    const aboutBody = sent !== body && headers['linear-signature'] === '';
    const signed = aboutBody ? { 'linear-signature': hmac(linearSecret, sent) } : headers;
    const { status, body: said } = await sendLinear(api, sent, { headers: signed });
    expect([status, said.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it.each([-6, 6, 60 * 24 * 365])('a request dated %d minutes from now is refused with 401', async (n) => {
    expect((await sendLinear(api, minutes(n))).status).toBe(401);
  });

  it('a request with an altered time in the body is refused with 401', async () => {
    const event = linearEvent({ type: 'Issue', data: { id: 'x' } });
    const altered = event.replace(/"webhookTimestamp":\d+/, `"webhookTimestamp":${Date.now() + 1}`);
    expect((await sendLinear(api, event, { sent: altered })).status).toBe(401);
  });

  it('a request over a mebibyte is refused with 413', async () => {
    const long = linearEvent({ type: 'Issue', filler: 'x'.repeat(1024 * 1024) });
    expect((await sendLinear(api, long)).status).toBe(413);
  });

  it.each(['linear-signature', 'x-linear-signature'])('a signature in the header %s is accepted', async (name) => {
    const event = linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: team } });
    const { status, body: said } = await sendLinear(api, event, { headers: { [name]: hmac(linearSecret, event) } });
    expect([status, said]).toEqual([200, { received: true, repeated: false }]);
  });

  it('both signature headers are accepted when they agree', async () => {
    const event = linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: team } });
    const signed = hmac(linearSecret, event);
    const headers = { 'linear-signature': signed, 'x-linear-signature': signed };
    expect((await sendLinear(api, event, { headers })).status).toBe(200);
  });

  it('a repeated request is recognized by its delivery id, and a request that is replayed under another delivery id by its body', async () => {
    const delivery = randomUUID();
    const event = () => linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: team } });
    const first = event();
    expect((await sendLinear(api, first, { delivery })).body.repeated).toBe(false);
    expect((await sendLinear(api, first, { delivery })).body.repeated).toBe(true);
    expect((await sendLinear(api, event(), { delivery })).body.repeated).toBe(true);
    expect((await sendLinear(api, first, { delivery: randomUUID() })).body.repeated).toBe(true);
    expect(await InboundModel.countDocuments({ keys: new RegExp(delivery) }, everyRecord)).toBe(1);
  });

  it('an event of a team that is not connected is answered with 200 and stored without its body', async () => {
    const delivery = randomUUID();
    const event = linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: randomUUID() } });
    expect((await sendLinear(api, event, { delivery })).status).toBe(200);
    expect(await settledOf(delivery)).toMatchObject({
      org_id: '',
      body: '',
      status: 'ignored',
      reason: expect.stringContaining('No connected organization'),
    });
  });

  it('an event with 5,000 levels of nesting is refused with 400 when it is signed, otherwise with 401', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const event = linearEvent({ type: 'Issue', data: { id: randomUUID(), teamId: team } }).replace(
      /}$/,
      `,"x":${deep}}`,
    );
    const { status, body } = await sendLinear(api, event);
    expect([status, body.code]).toEqual([400, 'VALIDATION']);
    expect((await sendLinear(api, event, { secret: 'another' })).status).toBe(401);
  });
});

describe('the organization of an event', () => {
  it('an event that is signed with an organization’s own secret counts only for that organization, whatever team the event names', async () => {
    const [mine, other] = await Promise.all([api.newOrg(), api.newOrg()]);
    const [myTeam, otherTeam, workspace] = [randomUUID(), randomUUID(), randomUUID()];
    await connectLinear(mine.orgId, { team: myTeam, workspace, secret: 'secret of mine' });
    await connectLinear(other.orgId, { team: otherTeam, workspace, secret: 'secret of the other' });
    const { issue, conversation } = await ticket(mine);
    const event = linearEvent({
      ...issueEvent(issue, 'completed', { organizationId: workspace }),
      data: { id: issue, teamId: myTeam, state: states.completed },
    });
    expect((await sendLinear(api, event, { secret: 'secret of the other' })).status).toBe(200);
    const [theirs] = await arrivedAt(api, other.orgId, other.owner.token, 1);
    expect(theirs).toMatchObject({ status: 'ignored', reason: 'Nothing here is linked to this issue.' });
    expect((await conversation()).status).toBe('escalated');
    const seen = await api.request('GET', `/support/inbound/orgs/${mine.orgId}`, { token: mine.owner.token });
    expect(seen.body.inbound).toEqual([]);
    // An earlier copy signed by the other organization does not make the true event a repeat.
    expect((await sendLinear(api, event, { secret: 'secret of mine' })).body.repeated).toBe(false);
    await arrivedAt(api, mine.orgId, mine.owner.token, 1);
    expect((await conversation()).status).toBe('resolved');
  });

  it('an event is verified with an organization’s own secret even when it refers to no known team or issue', async () => {
    const mine = await api.newOrg();
    await connectLinear(mine.orgId, { team: randomUUID(), secret: 'a secret of its own' });
    const event = linearEvent({ type: 'Issue', action: 'update', data: { id: 'unknown', teamId: 'unknown' } });
    // An API process remembers the secrets that it has read for half a second.
    const taken = async () => (await sendLinear(api, event, { secret: 'a secret of its own' })).status === 200;
    await until(taken, 'the secret to be read');
    expect(await arrivedAt(api, mine.orgId, mine.owner.token, 1)).toMatchObject([{ status: 'ignored' }]);
  });

  it('the events of a team go to the organization that connected the team first', async () => {
    const [first, second] = await Promise.all([api.newOrg(), api.newOrg()]);
    const shared = randomUUID();
    await connectLinear(first.orgId, { team: shared });
    await connectLinear(second.orgId, { team: shared });
    await sendLinear(api, linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: shared } }));
    await arrivedAt(api, first.orgId, first.owner.token, 1);
    const seen = await api.request('GET', `/support/inbound/orgs/${second.orgId}`, { token: second.owner.token });
    expect(seen.body.inbound).toEqual([]);
  });
});

describe('Issue.update', () => {
  it.each(['completed', 'canceled'] as const)(
    'an issue update to a state of type %s resolves the ticket once',
    async (state) => {
      const { issue, convId, conversation, messages, settled } = await ticket();
      const twenty = linearEvent(issueEvent(issue, state));
      const delivery = randomUUID();
      const replies = await Promise.all(Array.from({ length: 20 }, () => sendLinear(api, twenty, { delivery })));
      expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
      expect(replies.filter(({ body: { repeated } }) => repeated === false)).toHaveLength(1);
      await settledIn(convId, 'resolved', conversation);
      await settled();
      // After the customer came back, another event about the same state changes nothing.
      await actOn(org.orgId, convId, 'reopen', { now: new Date() });
      const again = randomUUID();
      await sendLinear(
        api,
        linearEvent(issueEvent(issue, state, { data: { ...eventData(issue, state), title: 'New' } })),
        {
          delivery: again,
        },
      );
      await processed(again);
      expect((await conversation()).status).toBe('open');
      const { events } = await conversation();
      expect(events.filter(({ type }) => type === 'ticket.resolved')).toHaveLength(1);
      const told = (await messages()).filter(({ sender_id }) => sender_id === 'linear');
      expect(told.map(({ role, sender_name }) => [role, sender_name])).toEqual([['agent', 'Test Organization']]);
      expect(told[0]!.body).toContain(state === 'completed' ? 'has finished' : 'has closed');
    },
  );

  it('a resolution in Linear is announced to the customer in the customer’s language', async () => {
    const { issue, convId, conversation, messages, frames, settled } = await ticket(org, 'Hallo, wo ist meine Karte?');
    await sendLinear(api, linearEvent(issueEvent(issue, 'completed')));
    await settledIn(convId, 'resolved', conversation);
    await settled();
    expect((await messages()).at(-1)!.body).toContain('Unser Team hat Ihr Anliegen erledigt.');
    const types = (await frames()).map(({ type, body: said }) => (type === 'status' ? said['status'] : type));
    // Between these two frames the conversation is pending. A client gets a frame about that only when the workflow
    // reads the conversation at that moment.
    expect(types.filter((type) => type !== 'pending').slice(-2)).toEqual(['agent_reply', 'resolved']);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['to another state', {}, 'does not change a ticket'],
    ['of other fields', { updatedFrom: { title: 'Old' } }, 'did not change'],
    ['whose old and new state are the same', { updatedFrom: { stateId: 's-started' } }, 'did not change'],
  ])('an issue update %s leaves the ticket unchanged, and stores the reason', async (_, more, reason) => {
    const { issue, conversation } = await ticket();
    const delivery = randomUUID();
    await sendLinear(api, linearEvent(issueEvent(issue, 'started', more)), { delivery });
    expect(await processed(delivery)).toMatchObject({ status: 'ignored', reason: expect.stringContaining(reason) });
    expect((await conversation()).status).toBe('escalated');
  });

  it('an event about a change that this system made changes nothing, even while the next change is in flight', async () => {
    const { issue, conversation } = await ticket();
    const updatedAt = '2026-02-01T00:00:00.000Z';
    // The change to `completed` was made here. The change to `started` is noted and about to be sent.
    await noteState(`linear:${issue}`, { stateId: states.started.id, seenAt: new Date(updatedAt) });
    const delivery = randomUUID();
    const data = { ...eventData(issue, 'completed'), updatedAt };
    await sendLinear(api, linearEvent(issueEvent(issue, 'completed', { data })), { delivery });
    expect(await processed(delivery)).toMatchObject({ reason: expect.stringContaining('known already') });
    expect((await conversation()).status).toBe('escalated');
  });

  it('an event that is older than a processed event of the same issue changes nothing', async () => {
    const { issue, conversation } = await ticket();
    const at = (updatedAt: string, state: keyof typeof states) =>
      linearEvent(issueEvent(issue, state, { data: { ...eventData(issue, state), updatedAt } }));
    const deliveries = [randomUUID(), randomUUID()];
    await sendLinear(api, at('2026-02-02T00:00:00.000Z', 'started'), { delivery: deliveries[0]! });
    await processed(deliveries[0]!);
    await sendLinear(api, at('2026-02-01T00:00:00.000Z', 'completed'), { delivery: deliveries[1]! });
    expect(await processed(deliveries[1]!)).toMatchObject({ reason: expect.stringContaining('known already') });
    expect((await conversation()).status).toBe('escalated');
  });
});

const eventData = (issue: string, state: keyof typeof states) => ({
  id: issue,
  teamId: team,
  stateId: states[state].id,
  state: states[state],
});

describe.each(['remove', 'delete'])('the Linear event Issue.%s does not resolve the ticket', (action) => {
  it('the deletion of an issue in Linear leaves its ticket escalated', async () => {
    const { issue, conversation } = await ticket();
    const deliveries = [randomUUID(), randomUUID()];
    await sendLinear(api, linearEvent({ action, type: 'Issue', data: { id: issue, teamId: team } }), {
      delivery: deliveries[0]!,
    });
    expect(await processed(deliveries[0]!)).toMatchObject({ status: 'processed', type: 'Issue.remove' });
    expect((await conversation()).status).toBe('escalated');
  });
});

describe('GET /support/inbound/orgs/{orgId}', () => {
  it('the list of inbound events shows provider and status page by page, without the event bodies', async () => {
    const own = await api.newOrg();
    const ownTeam = randomUUID();
    await connectLinear(own.orgId, { team: ownTeam });
    for (let n = 0; n < 3; n += 1)
      await sendLinear(
        api,
        linearEvent({ type: 'Issue', action: 'create', data: { id: randomUUID(), teamId: ownTeam } }),
      );
    await arrivedAt(api, own.orgId, own.owner.token, 3);
    const list = (query: string) =>
      api.request('GET', `/support/inbound/orgs/${own.orgId}?${query}`, { token: own.owner.token });
    const first = (await list('limit=2')).body;
    const rest = (await list(`limit=2&cursor=${first.cursor}`)).body;
    expect([first.inbound.length, rest.inbound.length, rest.cursor]).toEqual([2, 1, null]);
    expect(first.inbound[0]).toEqual({
      inbound_id: expect.stringMatching(/^inb_/),
      org_id: own.orgId,
      mode: 'test',
      provider: 'linear',
      type: 'Issue.create',
      status: 'ignored',
      reason: 'Nothing here is linked to this issue.',
      outcome: null,
      attempts: 1,
      received_at: expect.any(String),
      settled_at: expect.any(String),
      next_attempt_at: null,
    });
    expect((await list('provider=slack')).body.inbound).toEqual([]);
    expect((await list('status=processed')).body.inbound).toEqual([]);
    expect((await list('mode=live')).body.inbound).toEqual([]);
  });
});

describe('an issue that Linear does not show', () => {
  /**
   * A task's link to an issue. Linear answers each request with the error. `workspace`: the issue's workspace, which is
   * not the connected one.
   */
  async function linked(
    error: object,
    status: number,
    { created = true, workspace }: { created?: boolean; workspace?: string } = {},
  ) {
    const [orgId, taskId, external] = [newId('org'), newId('task'), randomUUID()];
    await connectLinear(orgId, { team: randomUUID() });
    const id = await createLink({
      org_id: orgId,
      mode: 'live',
      provider: 'linear',
      external,
      ...defined({ workspace }),
      kind: 'task',
      subject_id: taskId,
      created_at: new Date(),
    });
    if (created) await noteState(id, { stateId: states.started.id });
    const body = Buffer.from(JSON.stringify({ data: null, errors: [error] }));
    const http = { request: async () => ({ status, headers: {}, body }) } as unknown as Http;
    const deps = {
      linear: createLinear({ http, url: 'http://linear.test/graphql' }),
      secrets: box,
      clock: () => new Date(),
    } as unknown as Carrying['deps'] & LinearDeps;
    const port = { moved: async () => ({ outcome: 'The task follows.' }) } as unknown as IssuePort;
    const { signal } = new AbortController();
    const link = async () => (await findLink('linear', external))!;
    return {
      link,
      async carry() {
        const task = { _id: taskId, org_id: orgId, status: 'pending' } as Carrying['task'];
        const told = { task_id: taskId, title: 'Call the bank', priority: 'low' } as const;
        return carryToLinear({ link: await link(), known: undefined, task, told, deps, signal });
      },
      /** Handles Linear's event about a change of the issue at this time. */
      async changed(at: Date) {
        const data = { ...eventData(external, 'completed'), updatedAt: at.toISOString() };
        const inbound = {
          _id: newId('inbound'),
          org_id: orgId,
          body: JSON.stringify({ ...issueEvent(external, 'completed'), data }),
        };
        return handleLinear({ ticket: port, task: port }, inbound as Inbound, deps, signal);
      },
    };
  }
  const missing = {
    message: 'Entity not found: Issue',
    extensions: { code: 'INPUT_ERROR', userPresentableMessage: 'Could not find referenced Issue.' },
  };
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);

  it.each<[string, object, number]>([
    ['the key has no right to it', { message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }, 403],
    ['Linear refuses the request', { message: 'Argument Validation Error', extensions: { code: 'INPUT_ERROR' } }, 400],
  ])('an issue does not count as removed when %s: its task stays linked', async (_, error, status) => {
    const { carry, link } = await linked(error, status);
    await expect(carry()).rejects.toThrow('Linear says');
    expect((await link()).removed_at).toBeUndefined();
  });

  it('an issue that Linear reports as not found counts as removed, until Linear reports a later change of it', async () => {
    const { carry, link, changed } = await linked(missing, 200);
    expect(await carry()).toBe(false);
    expect((await link()).removed_at).toBeInstanceOf(Date);
    await changed(ago(5));
    expect((await link()).removed_at).toBeInstanceOf(Date);
    await changed(ago(-5));
    expect((await link()).removed_at).toBeUndefined();
  });

  it('an issue that is not created yet does not count as removed when Linear reports it as not found', async () => {
    const { carry, link } = await linked(missing, 200, { created: false });
    expect(await carry()).toBe(false);
    expect((await link()).removed_at).toBeUndefined();
  });

  it('an issue in a workspace that is no longer connected does not count as removed when its task changes', async () => {
    const { carry, link } = await linked(missing, 200, { workspace: randomUUID() });
    expect(await carry()).toBe(false);
    expect((await link()).removed_at).toBeUndefined();
  });

  it('an event of an issue in a workspace that is no longer connected changes nothing', async () => {
    const { link, changed } = await linked(missing, 200, { workspace: randomUUID() });
    const before = await link();
    expect(await changed(new Date())).toEqual({ ignored: 'The issue is in a workspace that is not connected.' });
    expect(await link()).toEqual(before);
  });

  it('after another workspace of Linear was connected, a ticket gets one issue there, which gets the later events and those that are redelivered', async () => {
    const [orgId, ticketId] = [newId('org'), newId('ticket')];
    /** The issues of all workspaces, each with the key of its workspace, and the issues that got comments. */
    const issues = new Map<string, string>();
    const commented: string[] = [];
    /** The ids of the comments in all workspaces. Linear takes each id once. */
    const commentIds = new Set<string>();
    const issueOf = (id: string) => ({
      id,
      identifier: 'SUP-1',
      updatedAt: new Date().toISOString(),
      state: { id: 's-todo', name: 'Todo', type: 'unstarted' },
      comments: { nodes: [] },
    });
    type Asked = { query: string; variables: { id?: string; input?: { id: string; issueId?: string } } };
    const answered = ({ query, variables: { id, input } }: Asked, key: string): object | null => {
      if (query.includes('issueCreate')) {
        issues.set(input!.id, key);
        return { issueCreate: { issue: issueOf(input!.id) } };
      }
      if (query.includes('commentCreate')) {
        if (commentIds.has(input!.id)) return null;
        commentIds.add(input!.id);
        commented.push(input!.issueId!);
        return { commentCreate: { comment: { id: input!.id } } };
      }
      return issues.get(id!) === key ? { issue: issueOf(id!) } : null;
    };
    const http = {
      request: async (_: string, { headers, body }: { headers: Record<string, string>; body: string }) => {
        const data = answered(JSON.parse(body) as Asked, headers['authorization']!);
        const said = data ? { data } : { data, errors: [missing] };
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(said)) };
      },
    } as unknown as Http;
    const deps = {
      linear: createLinear({ http, url: 'http://linear.test/graphql' }),
      secrets: box,
      clock: () => new Date(),
    } as unknown as SenderDeps;
    const connect = (name: string) => connectLinear(orgId, { team: randomUUID(), workspace: name, apiKey: name });
    const happens = (event_type: string, event_id = newId('event'), attempts: object[] = []) => {
      const delivery = {
        org_id: orgId,
        mode: 'live',
        event_id,
        event_type,
        subject: { ticket_id: ticketId },
        attempts,
        payload: { title: 'Support: a card', description: 'Where is it?', comment: 'Escalated.' },
      };
      return linear.send(delivery as unknown as Delivery, deps, new AbortController().signal);
    };
    await connect('one');
    await happens('ticket.created');
    const redelivered = newId('event');
    await happens('ticket.escalated', redelivered);
    await connect('two');
    await happens('ticket.escalated', redelivered, [{ at: new Date() }]);
    await happens('ticket.escalated');
    await connect('one');
    await happens('ticket.escalated');
    expect([...issues.values()]).toEqual(['one', 'two']);
    const [first, second] = issues.keys();
    expect(commented).toEqual([first, second, second, first]);
  });
});

it('the title that a task got before a second attempt found its Linear issue is sent there, the older title does not come back, and a description that a person writes there stays', async () => {
  const [orgId, taskId] = [newId('org'), newId('task')];
  await connectLinear(orgId, { team: randomUUID() });
  /** The issue, from the first request that creates it. The response to this request is lost. */
  let issue: { id: string; updatedAt: string; description: string } | undefined;
  const changes: object[] = [];
  type Asked = { query: string; variables: { input?: { id: string; description: string } } };
  const http = {
    request: async (_: string, { body }: { body: string }) => {
      const { query, variables } = JSON.parse(body) as Asked;
      const { input } = variables;
      if (query.includes('issueCreate')) {
        const state = { id: 's-todo', name: 'Todo', type: 'unstarted' };
        const made = { identifier: 'SUP-1', url: 'http://linear.test/SUP-1', dueDate: null, state };
        issue = { ...made, updatedAt: new Date().toISOString(), ...input! };
        throw new Error('The response was lost.');
      }
      if (input) {
        changes.push(input);
        issue = { ...issue!, ...input };
      }
      const data = input ? { issueUpdate: { issue } } : { issue };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ data })) };
    },
  } as unknown as Http;
  const deps = {
    linear: createLinear({ http, url: 'http://linear.test/graphql' }),
    secrets: box,
    clock: () => new Date(),
  } as unknown as Carrying['deps'] & LinearDeps;
  const { signal } = new AbortController();
  const task = { _id: taskId, org_id: orgId, status: 'pending' } as Carrying['task'];
  const toldWith = (title: string) => ({ task_id: taskId, title, priority: 'low' }) as const;
  const attempt = (title: string, again: boolean) => {
    const call = { task, told: toldWith(title), mode: 'live', again } as unknown as StepCall;
    return linearStep.send(call, deps, signal);
  };
  await expect(attempt('Call the bank', false)).rejects.toThrow('The response was lost.');
  expect((await attempt('Call the insurer', true)).result?.id).toBe('SUP-1');
  const { id, updatedAt } = issue!;
  const link = async () => (await findLink('linear', id))!;
  const text = expect.stringContaining(taskId);
  expect((await link()).known).toEqual({ title: 'Call the bank', text, priority: 4, due: null, status: 'pending' });
  issue = { ...issue!, description: 'What a person wrote' };
  const event = { action: 'update', type: 'Issue', data: { id, title: 'Call the bank', updatedAt } };
  const body = JSON.stringify({ ...event, updatedFrom: { title: 'Call' } });
  const inbound = { _id: newId('inbound'), org_id: orgId, body } as Inbound;
  expect(await handleLinear({ ticket: taskIssuePort, task: taskIssuePort }, inbound, deps, signal)).toEqual({
    ignored: 'What changed of the issue is known already.',
  });
  const { known } = await link();
  const told = toldWith('Call the insurer');
  expect(await carryToLinear({ link: await link(), known, task, told, deps, signal })).toBe(false);
  expect(changes).toEqual([{ title: 'Call the insurer' }]);
});

it.each<[string, number, string, boolean]>([
  ['an HTML page with status 200 is temporary', 200, '<html></html>', false],
  ['an empty body is temporary', 200, '', false],
  ['an HTML page with status 401 is temporary and refuses no key', 401, '<html>Sign in</html>', false],
  ['an HTML page with status 403 is temporary', 403, '<html>Checking your browser</html>', false],
  [
    'an error inside Linear is temporary',
    200,
    '{"errors":[{"message":"Internal server error","extensions":{"code":"INTERNAL_SERVER_ERROR"}}]}',
    false,
  ],
  ['a request that took too long is temporary', 408, '{"errors":[{"message":"Request Timeout"}]}', false],
  [
    'a refusal in Linear’s own words is permanent',
    200,
    '{"errors":[{"message":"Argument Validation Error","extensions":{"code":"INPUT_ERROR"}}]}',
    true,
  ],
])(
  'an unsuccessful response of Linear becomes a temporary or a permanent error: %s',
  async (_, status, body, permanent) => {
    const http = { request: async () => ({ status, headers: {}, body: Buffer.from(body) }) } as unknown as Http;
    const asked = createLinear({ http, url: 'http://linear.test/graphql' }).issue('lin_api_test', 'issue');
    await expect(asked).rejects.toMatchObject({ name: 'LinearError', status, permanent, unauthorized: false });
  },
);

/** Waits until the status of a delivery is no longer `stored`; returns its record. */
async function processed(delivery: string) {
  return until(async () => {
    const found = await settledOf(delivery);
    return found && found.status !== 'stored' && found;
  }, `delivery ${delivery} to be processed`);
}

async function settledIn(convId: string, status: string, conversation: () => Promise<{ status: string }>) {
  await until(async () => (await conversation()).status === status, `conversation ${convId} to be ${status}`);
}
