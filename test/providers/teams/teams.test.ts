/** POST /webhooks/teams: who may send, which organization a tenant belongs to, and how a question is answered. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { appId, appPassword, startBotFramework, type BotFramework } from '../../kit/botframework.ts';
import { apiAt, until, type Api, type Reply, type TestOrg } from '../../kit/harness.ts';
import { startProcess, systemEnv, type Running } from '../../kit/processes.ts';
import { defined } from '../../../models/rules/base/defined.ts';

const secret = randomBytes(32).toString('base64');
let microsoft: BotFramework;
let api: Api;
let running: Running[];
let org: TestOrg;

beforeAll(async () => {
  microsoft = await startBotFramework();
  const env = systemEnv('teams', {
    FLEETS: 'inbound,documents,backlog',
    SERVICE_URLS: `teams_keys=${microsoft.url}/openid,teams_login=${microsoft.url}/token`,
    TEAMS_APP_ID: appId,
    TEAMS_APP_PASSWORD: appPassword,
    TEAMS_WEBHOOK_SECRET: secret,
  });
  running = await Promise.all([startProcess('api/server.ts', env), startProcess('workers/main.ts', env)]);
  api = apiAt(running[0]!.url);
  org = await connectable('# Gannet cards\nThe gannet card costs 12 EUR a year. It is free for students under 26.\n');
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.stop()));
  await microsoft.close();
});

/** A live organization with this document. */
async function connectable(content: string): Promise<TestOrg> {
  const made = await api.newOrg();
  await api.goLive(made);
  const { token } = await api.newKey(made, { mode: 'live' });
  const { body } = await api.upload(made.orgId, token, { name: 'help.md', content });
  await api.processed(made.orgId, token, body.document.doc_id);
  return made;
}

const service = () => `${microsoft.url}/emea/`;
const activity = (text: string, tenant: string, more: Record<string, unknown> = {}) => ({
  type: 'message',
  id: randomUUID(),
  serviceUrl: service(),
  channelId: 'msteams',
  text: `<at>Support</at> ${text}`,
  from: { id: '29:anna', name: 'Anna' },
  recipient: { id: '28:bot', name: 'Support' },
  conversation: { id: 'a:1', tenantId: tenant },
  channelData: { tenant: { id: tenant } },
  ...more,
});
const post = (body: string, authorization?: string): Promise<Reply> =>
  api.request('POST', '/webhooks/teams', {
    raw: body,
    headers: { 'content-type': 'application/json', ...defined({ authorization }) },
  });
const hmac = (body: string, by = secret) =>
  `HMAC ${createHmac('sha256', Buffer.from(by, 'base64')).update(body).digest('base64')}`;
const webhook = (sent: object): Promise<Reply> => post(JSON.stringify(sent), hmac(JSON.stringify(sent)));
async function bot(
  sent: object,
  options: Parameters<BotFramework['token']>[1] = {},
  claims: Record<string, unknown> = {},
) {
  return post(JSON.stringify(sent), `Bearer ${await microsoft.token({ serviceurl: service(), ...claims }, options)}`);
}

/** Connects a tenant by sending the code from that tenant. */
async function connect(of: TestOrg, tenant: string): Promise<Reply> {
  const { status, body } = await api.request('PUT', `/orgs/${of.orgId}/integrations/teams`, { token: of.owner.token });
  expect(status).toBe(200);
  return webhook(activity(`connect ${body.data.connect_code}`, tenant));
}
const stands = async (of: TestOrg) => {
  const { body } = await api.request('GET', `/orgs/${of.orgId}/integrations`, { token: of.owner.token });
  return body.data.integrations.find((one: { provider: string }) => one.provider === 'teams');
};
const question = 'What does the gannet card cost?';

describe('a token of the Bot Framework', () => {
  type Case = [string, Record<string, unknown>, Parameters<BotFramework['token']>[1], Record<string, unknown>?];
  it.each<Case>([
    ['of another issuer', {}, { issuer: 'https://login.evil.example' }],
    ['signed with another key', {}, { foreign: true }],
    ['with an unknown key', {}, { kid: 'other' }],
    ['whose key is not endorsed for the channel', {}, { kid: 'skype' }],
    ['that expired six minutes ago', {}, { seconds: -360 }],
    ['for another bot', { aud: randomUUID() }, {}],
    ['for another service', { serviceurl: 'https://evil.example/' }, {}],
    ['for no service', { serviceurl: undefined }, {}],
    ['on a channel for which the key is not endorsed', {}, {}, { channelId: 'directline' }],
    ['on another channel for which the key is endorsed', {}, {}, { channelId: 'webchat' }],
    ['whose message names another service', {}, {}, { serviceUrl: 'https://evil.example/' }],
  ])('a Bot Framework token %s is refused with 401', async (_, claims, options, more = {}) => {
    const { status, body } = await bot(activity(question, 'x', more), options, claims);
    expect([status, body.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('a Bot Framework token without a complete signature is refused with 401', async () => {
    const body = JSON.stringify(activity(question, 'x'));
    const [head = '', payload = ''] = (await microsoft.token({ serviceurl: service() })).split('.');
    const none = Buffer.from('{"alg":"none","kid":"teams"}').toString('base64url');
    const wrong = [
      'Bearer',
      'Bearer x',
      'Bearer a.b.c',
      `Bearer ${head}.${payload}.`,
      `Bearer ${none}.${payload}.`,
      'Basic x',
    ];
    for (const authorization of [undefined, ...wrong]) expect((await post(body, authorization)).status).toBe(401);
  });

  it('a Bot Framework token that expired four minutes ago is accepted, because clocks differ', async () => {
    expect((await bot(activity(question, randomUUID()), { seconds: -240 })).status).toBe(200);
  });
});

describe('an HMAC', () => {
  it('a request whose HMAC was made for another body or with another secret is refused with 401', async () => {
    const body = JSON.stringify(activity(question, 'x'));
    const other = randomBytes(32).toString('base64');
    for (const authorization of [
      hmac(`${body} `),
      hmac(body, other),
      'HMAC',
      'HMAC x',
      hmac(body).replace('HMAC', 'Bearer'),
    ])
      expect((await post(body, authorization)).status).toBe(401);
    for (const raw of ['', 'null', '[]', '{']) expect((await post(raw, hmac(raw))).status).toBe(401);
  });

  it('a request over 256 KiB is refused with 413', async () => {
    const body = JSON.stringify(activity('x'.repeat(300_000), 'x'));
    expect((await post(body, hmac(body))).status).toBe(413);
  });
});

describe('a tenant', () => {
  it('a Teams tenant is connected by a code that is sent from that tenant, and each code works once', async () => {
    const tenant = randomUUID();
    const other = await api.newOrg();
    const { body } = await api.request('PUT', `/orgs/${other.orgId}/integrations/teams`, { token: other.owner.token });
    const { connect_code: code } = body.data;
    expect((await webhook(activity('connect aaaaaaaaaaaaaaaa', tenant))).body.text).toMatch(/unknown/);
    expect((await webhook(activity(`connect ${code}`, tenant))).body).toEqual({
      type: 'message',
      text: 'This Microsoft Teams is connected. Ask me a question.',
    });
    expect(await stands(other)).toMatchObject({ status: 'connected', account: tenant, receives_events: true });
    expect((await webhook(activity(`connect ${code}`, randomUUID()))).body.text).toMatch(/was used/);
    // The organization that comes second does not get the tenant.
    expect((await connect(org, tenant)).body.text).toMatch(/Another organization/);
    expect((await stands(org)).status).toBe('disconnected');
  });

  it('a Teams tenant is not connected when the person who requested the code is no longer an admin', async () => {
    const admin = await api.join(org, 'admin');
    const begun = async () =>
      (await api.request('PUT', `/orgs/${org.orgId}/integrations/teams`, { token: admin.token })).body.data
        .connect_code;
    const [first, second] = [await begun(), await begun()];
    const path = `/orgs/${org.orgId}/members/${admin.userId}`;
    await api.request('PATCH', path, { token: org.owner.token, body: { role: 'member' } });
    const before = await stands(org);
    expect((await webhook(activity(`connect ${first}`, randomUUID()))).body.text).toMatch(
      /no longer an owner or admin/,
    );
    await api.request('DELETE', path, { token: org.owner.token });
    expect((await webhook(activity(`connect ${second}`, randomUUID()))).body.text).toMatch(
      /no longer an owner or admin/,
    );
    expect(await stands(org)).toEqual(before);
  });

  it('a question from a tenant that is not connected gets the answer that the tenant is not connected', async () => {
    const { status, body } = await webhook(activity(question, randomUUID()));
    expect([status, body]).toEqual([
      200,
      { type: 'message', text: 'This Microsoft Teams is not connected to the support platform.' },
    ]);
  });
});

describe('a question', () => {
  const tenant = randomUUID();
  beforeAll(async () => {
    await connect(org, tenant);
  });
  /** Asks again when the answer says so, because this machine may take longer than Teams waits. */
  const asks = (from: string): Promise<Reply> =>
    until(async () => {
      const reply = await webhook(activity(question, from));
      return reply.body.text !== 'This took too long; please ask again.' && reply;
    }, 'an answer within four seconds');

  it('a question from a Teams outgoing webhook is answered at once, from the documents of the tenant’s organization only', async () => {
    const { status, body } = await asks(tenant);
    expect([status, body.type]).toEqual([200, 'message']);
    expect(body.text).toMatch(/^The gannet card costs 12 EUR a year\.[^]*\n\nhelp\.md$/);
    const stranger = await connectable('# Puffins\nPuffins live on cliffs.\n');
    const theirs = randomUUID();
    await connect(stranger, theirs);
    expect((await asks(theirs)).body.text).not.toContain('12 EUR');
  });

  it('a question to the bot is answered once in its conversation, with the token of the bot', async () => {
    const asked = activity(question, tenant);
    expect((await bot(asked)).body).toEqual({});
    expect((await bot(asked)).status).toBe(200);
    const answered = () => microsoft.answers.filter(({ activity: { replyToId } }) => replyToId === asked.id);
    await until(async () => answered().length > 0, 'the answer');
    const inbound = await until(async () => {
      const { body } = await api.request('GET', `/support/inbound/orgs/${org.orgId}?provider=teams`, {
        token: org.owner.token,
      });
      return body.inbound.find((one: { outcome: string }) => one.outcome === 'Answered.');
    }, 'the record');
    expect(inbound).toMatchObject({ provider: 'teams', type: 'message', status: 'processed', mode: 'live' });
    expect(answered()).toHaveLength(1);
    expect(answered()[0]).toMatchObject({
      path: `/emea/v3/conversations/a%3A1/activities/${asked.id}`,
      authorization: 'Bearer bot-token',
      activity: { type: 'message', text: expect.stringContaining('12 EUR'), recipient: { id: '29:anna' } },
    });
  });

  it('an activity that is not a message changes nothing, and a message without a question gets instructions', async () => {
    expect((await bot(activity('', tenant, { type: 'conversationUpdate' }))).status).toBe(200);
    const { body } = await webhook(activity('', tenant));
    expect(body.text).toBe('Write your question behind my name.');
  });
});
