/** POST /webhooks/slack: signatures, immediate answers, and the effects of messages, mentions and commands. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHmac, randomUUID } from 'node:crypto';
import type { MongoClient, Db } from 'mongodb';
import { openClient } from '../../kit/database.ts';
import { until, type TestOrg } from '../../kit/harness.ts';
import { arrivedAt } from '../../kit/inbound.ts';
import { systemEnv } from '../../kit/processes.ts';
import { receiversOfTest } from '../../kit/receivers.ts';
import { slackCall } from '../../kit/services.ts';
import { serviced, servicesEnv, slackSecret } from '../../kit/serviced.ts';

const system = serviced((services) =>
  systemEnv('slackin', {
    ...servicesEnv(services),
    FLEETS: 'documents,backlog,sources,conversations,inbound,deliveries,slowdeliveries',
  }),
);
let client: MongoClient;
let db: Db;
let org: TestOrg;
let channel: string;
let bot: string;
const team = 'T000000001';
const members: Record<string, string> = {};

beforeAll(async () => {
  client = await openClient(process.env['TEST_MONGODB_URI']!);
  db = client.db('slackin');
  const { channels } = await slackCall(system.slack(), 'conversations.list');
  channel = (channels as { id: string; name: string }[]).find(({ name }) => name === 'support')!.id;
  org = await system.api().newOrg();
  await system.api().goLive(org);
  expect((await system.connectSlack(org, channel)).headers.get('location')).toContain('connected');
  const { members: found } = await slackCall(system.slack(), 'users.list');
  for (const { id, name, is_bot } of found as { id: string; name: string; is_bot: boolean }[]) {
    members[name] = id;
    if (is_bot) bot = id;
  }
  const key = (await system.api().newKey(org, { mode: 'live' })).token;
  const sent = await system.api().upload(org.orgId, key, {
    name: 'cards.md',
    content: '# Cards\n\n## Gannet card\n\nThe gannet card costs 12 euros a year.\n',
  });
  await system.api().processed(org.orgId, key, sent.body.document.doc_id);
});
afterAll(() => client.close());
beforeEach(() => {
  system.slack().heal();
  system.slack().sent.length = 0;
});

type Options = {
  at?: number | string;
  secret?: string;
  headers?: Record<string, string>;
  sent?: string;
  type?: string;
};
function send(body: string, options: Options = {}) {
  const { at = Math.floor(Date.now() / 1000), secret = slackSecret, sent = body, type = 'application/json' } = options;
  const signature = `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`;
  return system.api().request('POST', '/webhooks/slack', {
    raw: sent,
    headers: {
      'content-type': type,
      ...(options.headers ?? { 'x-slack-request-timestamp': String(at), 'x-slack-signature': signature }),
    },
  });
}
const form = (fields: Record<string, string>, options: Options = {}) =>
  send(new URLSearchParams(fields).toString(), {
    type: 'application/x-www-form-urlencoded; charset=utf-8',
    ...options,
  });
const event = (inner: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    type: 'event_callback',
    team_id: team,
    api_app_id: 'A1',
    event_id: `Ev${randomUUID()}`,
    event_time: Math.floor(Date.now() / 1000),
    event: { channel, channel_type: 'channel', ...inner },
    ...more,
  });
const ts = () => `${Math.floor(Date.now() / 1000)}.${String(Math.floor(Math.random() * 1e6)).padStart(6, '0')}`;
const command = (fields: Record<string, string> = {}) => ({
  token: 'x',
  command: '/ask',
  text: 'What does the gannet card cost?',
  user_id: members['kim']!,
  team_id: team,
  channel_id: channel,
  trigger_id: randomUUID(),
  ...fields,
});
const commandAnswers = receiversOfTest();
/** The answer to a command: the reply, or the later message when two seconds were not enough on this machine. */
async function answerTo(fields: Record<string, string>) {
  const { url, received } = await commandAnswers();
  const { status, body } = await form({ ...fields, response_url: url });
  const atOnce = body.text !== 'Looking for an answer …';
  const answer = atOnce ? body : await until(async () => received[0]?.event, 'the answer that is sent afterwards');
  return { status, atOnce, body: answer as { response_type: string; text: string } };
}
/** Waits until the status of an event is no longer `stored`; returns its record. */
const settled = (eventId: string) =>
  until(async () => {
    const found = await db.collection('inbound').findOne({ keys: `slack ${eventId}` });
    return found && found['status'] !== 'stored' && found;
  }, `event ${eventId} to be processed`);
const threadOf = async (head: string) =>
  (await slackCall(system.slack(), 'conversations.replies', { channel, ts: head })).messages as {
    text: string;
    ts: string;
  }[];

describe('POST /webhooks/slack', () => {
  it('the signature scheme of these tests reproduces the example signature in Slack’s documentation', () => {
    // The test vector of Slack's documentation of request signing.
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
    const made = createHmac('sha256', '8f742231b10e8888abcd99yyyzzz85a5').update(`v0:1531420618:${body}`).digest('hex');
    expect(made).toBe('a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503');
  });

  const now = () => Math.floor(Date.now() / 1000);
  it.each<[string, () => Options]>([
    ['without headers', () => ({ headers: {} })],
    ['signed with another secret', () => ({ secret: 'another' })],
    ['six minutes old', () => ({ at: now() - 360 })],
    ['dated six minutes ahead', () => ({ at: now() + 360 })],
    ['dated in the far future', () => ({ at: now() + 10 ** 9 })],
    ['whose time is no number', () => ({ at: 'abc' })],
    ['whose time has a fraction', () => ({ at: `${now()}.5` })],
    ['whose body was altered', () => ({ sent: event({ type: 'message' }) })],
    [
      'whose time was altered',
      () => {
        const signature = `v0=${createHmac('sha256', slackSecret).update(`v0:${now()}:{}`).digest('hex')}`;
        return { headers: { 'x-slack-request-timestamp': String(now() + 1), 'x-slack-signature': signature } };
      },
    ],
    [
      'whose signature lacks its version',
      () => ({ headers: { 'x-slack-request-timestamp': String(now()), 'x-slack-signature': 'ab' } }),
    ],
  ])('a request %s is refused with 401', async (_, options) => {
    const { status, body } = await send('{}', options());
    expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('a request over a mebibyte is refused with 413', async () => {
    expect((await send(event({ type: 'message', text: 'x'.repeat(1024 * 1024) }))).status).toBe(413);
  });

  it('Slack’s URL verification is answered with the challenge alone, and only when the request is signed', async () => {
    const challenge = JSON.stringify({ token: 't', challenge: '3eZbrw1a', type: 'url_verification' });
    expect(await send(challenge)).toMatchObject({ status: 200, body: { challenge: '3eZbrw1a' } });
    expect((await send(challenge, { headers: {} })).status).toBe(401);
  });

  it('an ssl_check request without a signature is answered, and has no other effect', async () => {
    const before = await db.collection('inbound').countDocuments();
    const fields = { ssl_check: '1', ...command() };
    expect(await form(fields, { headers: {} })).toMatchObject({ status: 200, body: {} });
    expect(await db.collection('inbound').countDocuments()).toBe(before);
  });

  it('an interaction without a response address is acknowledged, and its record says that it was ignored', async () => {
    const trigger = randomUUID();
    const payload = JSON.stringify({ type: 'shortcut', team: { id: team }, trigger_id: trigger });
    expect(await form({ payload })).toMatchObject({ status: 200, body: {} });
    expect(await settled(trigger)).toMatchObject({ type: 'interaction', status: 'ignored', org_id: org.orgId });
  });

  it('an event of a workspace that is not connected is answered with 200, and stored as ignored without its body', async () => {
    const id = `Ev${randomUUID()}`;
    const sent = event({ type: 'app_mention', text: 'hi', ts: ts() }, { team_id: 'T0STRANGE', event_id: id });
    expect((await send(sent)).status).toBe(200);
    expect(await settled(id)).toMatchObject({ org_id: '', status: 'ignored', body: '' });
    expect((await form(command({ team_id: 'T0STRANGE' }))).body.text).toContain('not connected');
  });

  it.each(['null', '[]', '1', '"x"', '{}', '{"event":null}', '{"type":"event_callback","event":[]}', 'not json'])(
    'a signed request with the invalid body %s is answered with 200',
    async (body) => {
      expect((await send(body)).status).toBe(200);
    },
  );
});

describe('signed bodies of undocumented form', () => {
  const fields = ['text', 'user', 'channel', 'ts', 'thread_ts', 'subtype', 'bot_id'] as const;
  const odd: [string, Record<string, unknown>][] = fields.flatMap((name) => [
    [`${name}: null`, { [name]: null }],
    [`${name}: 42`, { [name]: 42 }],
    [`${name}: {}`, { [name]: {} }],
  ]);

  it('a signed event of an undocumented form is ignored, its record says why, and the next message of the thread is processed', async () => {
    const { head, history } = await ticket();
    const ids: string[] = [];
    const sendOdd = async (body: (id: string) => string): Promise<void> => {
      const id = `Ev${randomUUID()}`;
      ids.push(id);
      expect((await send(body(id))).status).toBe(200);
    };
    for (const [, inner] of odd.filter(([name]) => !/^(?:subtype|bot_id|thread_ts): null/.test(name)))
      await sendOdd((id) =>
        event(
          { type: 'message', user: members['kim'], text: 'odd', ts: ts(), thread_ts: head, ...inner },
          { event_id: id },
        ),
      );
    for (const inner of [{ type: 42 }, { type: null }, { type: 'app_mention', text: 42, user: 'U1', ts: ts() }, {}])
      await sendOdd((id) => event(inner, { event_id: id }));
    await sendOdd((id) => event({}, { event_id: id, event: null }));
    await sendOdd((id) => event({}, { event_id: id, event: 'x' }));
    const after = `Ev${randomUUID()}`;
    await send(
      event(
        { type: 'message', user: members['kim'], text: 'The next one.', ts: ts(), thread_ts: head },
        { event_id: after },
      ),
    );
    expect(await settled(after)).toMatchObject({ status: 'processed' });
    for (const id of ids)
      expect(await settled(id)).toMatchObject({ status: 'ignored', reason: expect.stringMatching(/\.$/), body: '' });
    expect((await history()).filter(({ role }) => role === 'agent').map(({ body }) => body)).toEqual(['The next one.']);
    const told = await db.collection('inbound').findOne({ keys: `slack ${ids[1]}` });
    expect(told!['reason']).toContain('`event.text`');
  });

  it.each([
    { response_url: 42 },
    { type: 42, response_url: 'https://hooks.slack.com/x' },
    { message: 'x', type: 'message_action' },
  ])('a signed interaction with the undocumented form %j is ignored, and its record says why', async (inner) => {
    const trigger = randomUUID();
    const payload = JSON.stringify({ type: 'block_actions', team: { id: team }, trigger_id: trigger, ...inner });
    expect((await form({ payload })).status).toBe(200);
    expect(await settled(trigger)).toMatchObject({
      status: 'ignored',
      reason: expect.stringContaining('cannot be understood'),
    });
  });

  it('a body with 5,000 levels of nesting is refused with 400, also inside a form', async () => {
    const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
    const sent = [
      await send(deep),
      await send(event({ type: 'message', blocks: 'HERE' }).replace('"HERE"', deep)),
      await form({ payload: `{"type":"block_actions","team":{"id":"${team}"},"x":${deep}}` }),
    ];
    expect(sent.map(({ status, body }) => [status, body.code])).toEqual(sent.map(() => [400, 'VALIDATION']));
    expect((await send(deep, { secret: 'another' })).status).toBe(401);
  });
});

describe('a workspace that shares channels, or belongs to an Enterprise Grid', () => {
  it('an event goes to the workspace that is authorized for it, even when the author belongs to another workspace', async () => {
    const id = `Ev${randomUUID()}`;
    const inner = { type: 'app_mention', user: 'U0ELSEWHERE', text: `<@${bot}> gannet card?`, ts: ts() };
    const shared = { team_id: 'T0PARTNER', authorizations: [{ enterprise_id: null, team_id: team, is_bot: true }] };
    await send(event(inner, { event_id: id, ...shared }));
    expect(await settled(id)).toMatchObject({ org_id: org.orgId, status: 'processed' });
    const grid = `Ev${randomUUID()}`;
    const whole = { authorizations: [{ enterprise_id: 'E1', team_id: null }] };
    await send(event({ ...inner, ts: ts() }, { event_id: grid, ...whole }));
    expect(await settled(grid)).toMatchObject({ org_id: org.orgId, status: 'processed' });
  });

  it('an interaction with `team: null` belongs to the workspace of the user who started it', async () => {
    const trigger = randomUUID();
    const user = { id: members['kim'], team_id: team };
    const payload = { type: 'shortcut', team: null, user, trigger_id: trigger, is_enterprise_install: true };
    expect((await form({ payload: JSON.stringify(payload) })).status).toBe(200);
    expect(await settled(trigger)).toMatchObject({ org_id: org.orgId, status: 'ignored' });
  });
});

describe('tokens_revoked', () => {
  const status = async () =>
    (await db.collection('integrations').findOne({ org_id: org.orgId, provider: 'slack' }))!['status'];
  it('revoked user tokens change nothing, and a revoked bot token marks the connection as broken', async () => {
    const revoke = async (tokens: unknown) => {
      const id = `Ev${randomUUID()}`;
      await send(event({ type: 'tokens_revoked', tokens }, { event_id: id }));
      return settled(id);
    };
    const record = { _id: `${org.orgId}:slack` as never };
    for (const tokens of [{ oauth: [members['kim']] }, { oauth: ['U1'], bot: [] }, { bot: ['U0OTHER'] }, null, 42])
      expect([tokens, (await revoke(tokens))!['status'], await status()]).toEqual([tokens, 'ignored', 'connected']);
    // `bot` is the emulator's bot user, which a connection made by consent has.
    expect((await revoke({ oauth: [], bot: [bot] }))!['status']).toBe('processed');
    expect(await status()).toBe('broken');
    await db.collection('integrations').updateOne(record, { $set: { status: 'connected' } });
  });
});

describe('a slash command', () => {
  it('a slash command is answered at once from the knowledge base, and only once for each trigger id', async () => {
    let fields = command();
    const { status, body } = await until(async () => {
      fields = command();
      const answer = await answerTo(fields);
      return answer.atOnce && answer;
    }, 'a command to be answered at once');
    expect([status, body.response_type]).toEqual([200, 'in_channel']);
    expect(body.text).toContain('The gannet card costs 12 euros a year.');
    expect(body.text).toContain('Sources: cards.md');
    expect(await settled(fields.trigger_id)).toMatchObject({ status: 'processed', org_id: org.orgId });
    expect((await form(fields)).body).toEqual({ response_type: 'ephemeral', text: 'This command was taken before.' });
  });

  it('a slash command without a question is answered with instructions', async () => {
    expect((await form(command({ text: '  ' }))).body.text).toContain('Write your question');
  });

  it('a slash command about an unknown topic gets no invented answer', async () => {
    const { body } = await answerTo(command({ text: 'Do zeppelins land here?' }));
    expect(body.text).not.toContain('gannet');
    expect(body.text).not.toContain('Sources');
  });
});

describe('an interaction', () => {
  const answers = receiversOfTest();
  /** Sends an interaction and returns the message that Slack gets for this person. */
  async function interact(what: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { url, received } = await answers();
    const trigger_id = randomUUID();
    const payload = JSON.stringify({ team: { id: team }, trigger_id, response_url: url, ...what });
    expect(await form({ payload })).toMatchObject({ status: 200, body: {} });
    expect(await settled(trigger_id)).toMatchObject({ status: 'processed', body: '' });
    await until(async () => received.length > 0, 'the answer');
    return received[0]!.event as Record<string, unknown>;
  }

  it('an unsupported interaction is answered only to its user and changes no message', async () => {
    expect(await interact({ type: 'block_actions', actions: [{ action_id: 'approve' }] })).toEqual({
      response_type: 'ephemeral',
      replace_original: false,
      text: expect.stringContaining('nothing to press'),
    });
  });

  it('a message shortcut answers the question in the message from the knowledge base', async () => {
    const message = { text: `<@${bot}> What does the gannet card cost?`, ts: ts() };
    const answer = await interact({ type: 'message_action', callback_id: 'ask', message });
    expect(answer).toMatchObject({ response_type: 'ephemeral' });
    expect(answer['text']).toContain('The gannet card costs 12 euros a year.');
  });
});

describe('a mention', () => {
  it('a mention is answered in its thread, once for any number of repeats', async () => {
    const head = (await slackCall(system.slack(), 'chat.postMessage', { channel, text: 'a question' })).ts as string;
    const id = `Ev${randomUUID()}`;
    const body = event(
      { type: 'app_mention', user: members['kim'], text: `<@${bot}> What does the gannet card cost?`, ts: head },
      { event_id: id },
    );
    const replies = await Promise.all(Array.from({ length: 20 }, () => send(body)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    await until(async () => (await threadOf(head)).length > 1, 'the answer in the thread');
    expect(await settled(id)).toMatchObject({ status: 'processed' });
    const thread = await threadOf(head);
    expect(thread.map(({ text }) => text)).toEqual(['a question', expect.stringContaining('costs 12 euros a year')]);
  });

  it('a mention cannot make the answer notify everybody', async () => {
    const id = `Ev${randomUUID()}`;
    const asked = `<@${bot}> <!channel> <!everyone> what does the gannet card cost?`;
    await send(event({ type: 'app_mention', user: members['kim'], text: asked, ts: ts() }, { event_id: id }));
    await settled(id);
    const [delivery] = await db.collection('deliveries').find({ kind: 'slack' }).sort({ _id: -1 }).toArray();
    expect(JSON.stringify(delivery!['payload'])).not.toMatch(/<[!@]/);
  });
});

/** A customer in live mode who waits for a person, with a ticket in the channel. */
async function ticket() {
  const set = await system.api().request('PUT', `/support/config/orgs/${org.orgId}`, {
    token: org.owner.token,
    body: { outbox_providers: ['slack'] },
  });
  expect(set.status).toBe(200);
  const session = await system
    .api()
    .newSession(org, { mode: 'live', body: { customer: { email: `${randomUUID()}@c.example`, name: 'Ada' } } });
  const said = await system.api().request('POST', `/support/chat/messages/${org.orgId}`, {
    token: session.token,
    body: { body: 'I want to talk to a human <!channel>' },
  });
  const convId = said.body.conv_id as string;
  const link = await until(
    async () => (await db.collection('links').findOne({ conv_id: convId, provider: 'slack' })) ?? undefined,
    'the ticket’s thread',
  );
  const head = (link['external'] as string).split(':')[2]!;
  const history = async () =>
    (await system.api().request('GET', `/support/chat/conversation/${org.orgId}/${convId}`, { token: session.token }))
      .body.messages as { role: string; body: string; sender_name?: string }[];
  return { convId, head, history, customerId: session.customerId };
}

describe('the thread of a ticket', () => {
  it('the thread of a ticket opens with the customer’s words without markup, and events follow in order', async () => {
    const { head, convId } = await ticket();
    const thread = await until(async () => {
      const seen = await threadOf(head);
      return seen.length >= 2 && seen;
    }, 'both events');
    expect(thread[0]!.text).toMatch(/^\*New ticket\* of Ada/);
    expect(thread[0]!.text).toContain('I want to talk to a human &lt;!channel&gt;');
    expect(thread[1]!.text).toContain('Escalated');
    await system
      .api()
      .request('POST', `/support/inbox/orgs/${org.orgId}/${convId}/resolve`, { token: org.owner.token });
    await until(async () => (await threadOf(head)).at(-1)!.text.startsWith('Resolved.'), 'the end in the thread');
  });

  it('a person’s message in the Slack thread of a ticket reaches the customer once, under the person’s name', async () => {
    const { head, history } = await ticket();
    const [at, id] = [ts(), `Ev${randomUUID()}`];
    const text = 'Hello &amp; welcome, see <https://example.com/a|our page>.';
    const inner = { type: 'message', user: members['kim'], text, ts: at, thread_ts: head };
    await Promise.all(Array.from({ length: 20 }, () => send(event(inner, { event_id: id }))));
    // The same message in another event is the same reply.
    const again = `Ev${randomUUID()}`;
    await send(event(inner, { event_id: again }));
    await Promise.all([settled(id), settled(again)]);
    const replies = (await history()).filter(({ role }) => role === 'agent');
    expect(replies).toMatchObject([
      { body: 'Hello & welcome, see our page (https://example.com/a).', sender_name: 'kim' },
    ]);
  });

  it('a Slack user is matched to the member with the same e-mail address', async () => {
    const person = await system.api().join(org);
    const { head, history } = await ticket();
    const profile = { display_name: 'robin', email: person.email.toUpperCase() };
    system.slack().lasting({
      fits: ({ path }) => path === '/api/users.info',
      body: { ok: true, user: { name: 'robin', profile } },
    });
    const id = `Ev${randomUUID()}`;
    const inner = { type: 'message', user: members['robin'], text: 'On it.', ts: ts(), thread_ts: head };
    await send(event(inner, { event_id: id }));
    await settled(id);
    expect((await history()).at(-1)).toMatchObject({ role: 'agent', body: 'On it.', sender_name: 'Test Person' });
  });

  it.each<[string, () => Record<string, unknown>, string]>([
    ['the bot’s own message', () => ({ user: bot, text: 'me' }), 'bots'],
    ['a message of another bot', () => ({ user: 'U0OTHER', bot_id: 'B1', text: 'beep' }), 'bots'],
    ['the edit of a message', () => ({ subtype: 'message_changed', message: { text: 'changed' } }), 'edits'],
    ['the removal of a message', () => ({ subtype: 'message_deleted', deleted_ts: '1.1' }), 'removals'],
    ['a message to the bot', () => ({ user: members['kim'], text: `<@${bot}> what now?` }), 'speaks to the bot'],
    ['an empty message', () => ({ user: members['kim'], text: '' }), 'no text'],
  ])('the Slack thread of a ticket does not pass %s on to the customer', async (_, inner, reason) => {
    const { head, history } = await ticket();
    const id = `Ev${randomUUID()}`;
    await send(event({ type: 'message', ts: ts(), thread_ts: head, ...inner() }, { event_id: id }));
    expect(await settled(id)).toMatchObject({ status: 'ignored', reason: expect.stringContaining(reason) });
    expect((await history()).filter(({ role }) => role === 'agent')).toEqual([]);
  });

  it('a message outside of ticket threads reaches nobody and is not stored', async () => {
    const id = `Ev${randomUUID()}`;
    const inner = { type: 'message', user: members['kim'], text: 'lunch?', ts: ts(), thread_ts: '1.000001' };
    await send(event(inner, { event_id: id }));
    expect(await settled(id)).toMatchObject({ status: 'ignored', body: '' });
  });
});

describe('another organization of the same workspace', () => {
  it('another organization that connects the same workspace gets none of its events', async () => {
    const other = await system.api().newOrg();
    await system.connectSlack(other, channel);
    const id = `Ev${randomUUID()}`;
    await send(
      event({ type: 'app_mention', user: members['kim'], text: `<@${bot}> gannet card?`, ts: ts() }, { event_id: id }),
    );
    expect(await settled(id)).toMatchObject({ org_id: org.orgId });
    expect((await answerTo(command())).body.text).toContain('12 euros');
    expect(await arrivedAt(system.api(), other.orgId, other.owner.token, 0)).toEqual([]);
  });
});

describe('test mode', () => {
  it('in test mode the answer to a mention is not sent, and is stored as a suppressed delivery with the exact request', async () => {
    const own = await system.api().newOrg();
    // During this test the workspace belongs to the new organization.
    await db.collection('integrations').updateMany({ provider: 'slack' }, { $unset: { events_of: '' } });
    await system.connectSlack(own, channel);
    const [id, at] = [`Ev${randomUUID()}`, ts()];
    await send(
      event({ type: 'app_mention', user: members['kim'], text: `<@${bot}> hello?`, ts: at }, { event_id: id }),
    );
    await settled(id);
    const suppressed = await until(
      async () => (await db.collection('deliveries').findOne({ org_id: own.orgId, status: 'suppressed' })) ?? undefined,
      'the suppressed delivery',
    );
    expect(suppressed['request']).toMatchObject({
      method: 'POST',
      url: `${system.slack().url}/api/chat.postMessage`,
      headers: { authorization: '***' },
      body: expect.stringContaining(`channel=${channel}`),
    });
    expect(suppressed['request'].body).toContain(at);
    expect(system.slack().sent.filter(({ body }) => body.includes(at))).toEqual([]);
    await db
      .collection('integrations')
      .updateOne({ org_id: own.orgId, provider: 'slack' }, { $unset: { events_of: '' } });
    await db
      .collection('integrations')
      .updateOne({ org_id: org.orgId, provider: 'slack' }, { $set: { events_of: `team:${team}` } });
  });
});

describe('the removal of a customer', () => {
  it('the removal of a customer deletes the links to the customer’s Slack threads and the events received from them', async () => {
    const { head, customerId } = await ticket();
    const id = `Ev${randomUUID()}`;
    await send(
      event({ type: 'message', user: members['kim'], text: 'Hi Ada.', ts: ts(), thread_ts: head }, { event_id: id }),
    );
    await settled(id);
    const path = `/support/customers/orgs/${org.orgId}/${customerId}`;
    expect((await system.api().request('DELETE', path, { token: org.owner.token })).status).toBe(202);
    await until(async () => {
      const left = await Promise.all(
        ['links', 'inbound'].map((name) => db.collection(name).countDocuments({ customer_id: customerId })),
      );
      return left.every((n) => n === 0);
    }, 'everything to be removed');
  });
});
