/**
 * Connections to Slack, Linear and GitHub: credentials are checked first, a grant can be finished only in its own
 * browser, and refused credentials break a connection.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { MongoClient } from 'mongodb';
import pino from 'pino';
import { runCli } from '../kit/cli.ts';
import { openClient } from '../kit/database.ts';
import { box } from '../kit/inbound.ts';
import { until, type TestOrg } from '../kit/harness.ts';
import { systemEnv } from '../kit/processes.ts';
import { linearTeam, slackApp, slackCall, type Fault, type Sent } from '../kit/services.ts';
import { serviced, servicesEnv } from '../kit/serviced.ts';
import { createIntegrationActivities } from '../../activities/integrations/integration.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { createErrand, takeErrand } from '../../models/base/errand.ts';
import { newId } from '../../models/base/ids.ts';
import { credentialsOf, findIntegration } from '../../models/integrations/integration.ts';
import { endConnection } from '../../models/integrations/release.ts';
import type { Trial } from '../../models/rules/integrations/work.ts';
import { SlackError } from '../../providers/slack/client.ts';

const name = 'integrations';
const system = serviced((services) => systemEnv('integrations', servicesEnv(services)));
const { put, grant, list, connectLinear, connectSlack, connectGithub } = system;

let org: TestOrg;
beforeAll(async () => {
  org = await system.api().newOrg();
});
afterEach(() => {
  system.slack().heal();
  system.linear().heal();
  system.github().heal();
});

async function stored<T>(look: (db: ReturnType<MongoClient['db']>) => Promise<T>): Promise<T> {
  const client = await openClient(process.env['TEST_MONGODB_URI']!);
  try {
    return await look(client.db(name));
  } finally {
    await client.close();
  }
}
const channelOf = async (wanted: string): Promise<string> => {
  const { channels } = await slackCall(system.slack(), 'conversations.list');
  return (channels as { id: string; name: string }[]).find((channel) => channel.name === wanted)!.id;
};
/** Restores the state before the first connection: no account's events go to an organization. */
const nobodyConnected = () =>
  stored((db) => db.collection('integrations').updateMany({}, { $unset: { events_of: '', events_since: '' } }));
/** Slack's response to the grant of a new workspace. */
const granted = (token: string) => ({
  ok: true,
  access_token: token,
  bot_user_id: 'U0BOT',
  scope: 'chat:write',
  team: { id: `T${token.replace('xoxb-', '').toUpperCase()}`, name: 'Demo Bank' },
});
const revoked = (token: string): number =>
  system
    .slack()
    .sent.filter(({ path, headers }) => path === '/api/auth.revoke' && headers['authorization'] === `Bearer ${token}`)
    .length;
const repository = ({ path }: Sent): boolean => path.startsWith('/repos/');
const outbox = (of: TestOrg, providers: string[]) =>
  system.api().request('PUT', `/support/config/orgs/${of.orgId}`, {
    token: of.owner.token,
    body: { outbox_providers: providers },
  });
const remove = (of: TestOrg, provider: string) =>
  system.api().request('DELETE', `/orgs/${of.orgId}/integrations/${provider}`, { token: of.owner.token });
const test = (of: TestOrg, provider: string) =>
  system.api().request('POST', `/orgs/${of.orgId}/integrations/${provider}/test`, { token: of.owner.token });

describe('GET /orgs/{orgId}/integrations', () => {
  it('the list of integrations has every provider, each disconnected until it is connected', async () => {
    expect(await list(await system.api().newOrg())).toEqual(
      ['linear', 'slack', 'github', 'email', 'teams'].map((provider) => ({
        provider,
        status: 'disconnected',
        account: null,
        settings: {},
        receives_events: false,
        connected_at: null,
      })),
    );
  });

  it('every member can read the integrations, and members who are no admins get 403 for changes', async () => {
    const person = await system.api().join(org);
    const path = `/orgs/${org.orgId}/integrations`;
    expect((await system.api().request('GET', path, { token: person.token })).status).toBe(200);
    const body = { api_key: 'lin_api_1', team_id: 'x' };
    const refused = await Promise.all([
      system.api().request('PUT', `${path}/linear`, { token: person.token, body }),
      system.api().request('PUT', `${path}/slack`, { token: person.token, body: {} }),
      system.api().request('DELETE', `${path}/linear`, { token: person.token }),
      system.api().request('POST', `${path}/linear/test`, { token: person.token }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('PUT /orgs/{orgId}/integrations/linear', () => {
  it('connecting Linear checks the key, stores it encrypted, and returns its account but never the key', async () => {
    const own = await system.api().newOrg();
    const secret = 'a webhook secret';
    const { status, body } = await connectLinear(own, { webhook_secret: secret });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        data: {
          integration: {
            provider: 'linear',
            status: 'connected',
            account: 'Demo Bank',
            settings: { team_id: linearTeam.id, team_key: 'SUP', team_name: 'Support' },
            receives_events: expect.any(Boolean),
            connected_at: expect.any(String),
          },
        },
      },
    ]);
    const record = await stored((db) => db.collection('integrations').findOne({ org_id: own.orgId }));
    expect(JSON.stringify(record)).not.toMatch(/lin_api_|webhook secret/);
    expect(await stored((db) => db.collection('errands').countDocuments({ org_id: own.orgId }))).toBe(0);
    expect(system.linear().sent.at(-1)!.headers['authorization']).toBe('lin_api_0123456789');
    expect(await test(own, 'linear')).toMatchObject({ status: 200, body: { data: { ok: true } } });
  });

  it.each<[string, { status?: number; body: unknown }, string]>([
    [
      '401',
      { status: 401, body: { errors: [{ message: 'Authentication required, not authenticated' }] } },
      'Authentication required',
    ],
    [
      'an error in its own words',
      { body: { errors: [{ message: 'x', extensions: { userPresentableMessage: 'You may not see this team.' } }] } },
      'You may not see this team.',
    ],
    ['no such team', { body: { data: { viewer: {}, organization: {}, team: null } } }, 'no such team'],
  ])(
    'connecting Linear answers 400 with the reason when Linear refuses (%s), and keeps the previous connection',
    async (_, fault, word) => {
      const own = await system.api().newOrg();
      await connectLinear(own);
      system.linear().fault(fault);
      const { status, body } = await connectLinear(own, { api_key: 'lin_api_wrong' });
      expect([status, body.code, body.error]).toEqual([400, 'PROVIDER_REFUSED', expect.stringContaining(word)]);
      expect(await list(own, 'linear')).toMatchObject([{ status: 'connected' }]);
      expect((await test(own, 'linear')).status).toBe(200);
    },
  );

  it('connecting Linear answers 503 when the service does not respond, and stores nothing', async () => {
    const own = await system.api().newOrg();
    system.linear().lasting({ lose: true });
    const { status, body } = await connectLinear(own);
    expect([status, body.code]).toEqual([503, 'UNAVAILABLE']);
    expect(await list(own, 'linear')).toMatchObject([{ status: 'disconnected' }]);
  });

  it('connecting Linear leaves no key or secret in a workflow or log', async () => {
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS']! });
    const own = await system.api().newOrg();
    await connectLinear(own, { api_key: 'lin_api_SECRET', webhook_secret: 'SECRET of a webhook' });
    await connectGithub(own, { token: 'ghp_SECRET' });
    const channel = await channelOf('support');
    await connectSlack(own, channel);
    const client = new Client({ connection });
    let seen = 0;
    const query = `Organization = '${own.orgId}'`;
    await until(async () => {
      seen = 0;
      for await (const { workflowId } of client.workflow.list({ query })) {
        if (!workflowId.startsWith('integration:')) continue;
        seen += 1;
        const history = JSON.stringify(
          await client.workflow.getHandle(workflowId).fetchHistory(),
          (_key, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value),
        );
        expect(history).toContain(own.orgId);
        expect(history).not.toMatch(/SECRET|xoxb-|lin_api_|ghp_/);
      }
      return seen >= 3;
    }, 'the workflows to be listed');
    await connection.close();
    for (const { output } of system.processes()) expect(output()).not.toMatch(/SECRET|xoxb-|lin_api_|ghp_/);
  });
});

describe('the integrations commands of the command-line tool', () => {
  it('the integrations commands of the command-line tool connect, test and disconnect a provider', async () => {
    const own = await system.api().newOrg();
    const folder = await mkdtemp(join(tmpdir(), 'support-integrations-'));
    const cli = async (args: string[], input?: string) => {
      const ended = await runCli(args, { HOME: folder, SUPPORT_URL: system.api().url }, input);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      return ended.stdout;
    };
    try {
      await cli(['login', '--email', own.owner.email, '--password-stdin'], own.owner.password);
      const connect = ['integrations', 'connect', 'linear', '--team-id', linearTeam.id, '--api-key', '-'];
      expect(await cli(connect, 'lin_api_0123456789\n')).toMatch(/^status: connected$/m);
      expect(await cli(['integrations', 'list'])).toMatch(/^linear +connected/m);
      expect(await cli(['integrations', 'test', 'linear'])).not.toBe('');
      const slack = ['integrations', 'connect', 'slack', '--json'];
      expect(JSON.parse(await cli(slack))).toMatchObject({ authorization_url: expect.stringContaining('http') });
      expect(await cli(['integrations', 'disconnect', 'linear'])).toBe('linear is disconnected\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('PUT /orgs/{orgId}/integrations/github', () => {
  it('connecting GitHub checks the token with the repository, stores it encrypted, and never returns it', async () => {
    const own = await system.api().newOrg();
    const { status, body } = await connectGithub(own);
    expect([status, body.data.integration]).toEqual([
      200,
      {
        provider: 'github',
        status: 'connected',
        account: 'demo-bank',
        settings: { repository: 'demo-bank/help' },
        receives_events: expect.any(Boolean),
        connected_at: expect.any(String),
      },
    ]);
    expect(system.github().sent.at(-1)!.headers).toMatchObject({
      authorization: 'Bearer ghp_0123456789',
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    });
    const record = await stored((db) => db.collection('integrations').findOne({ org_id: own.orgId }));
    expect(JSON.stringify(record)).not.toContain('ghp_');
    expect(await test(own, 'github')).toMatchObject({
      status: 200,
      body: { data: { message: 'GitHub takes the token of demo-bank for demo-bank/help.' } },
    });
  });

  it.each<[string, Fault, string]>([
    ['a token', { status: 401, body: { message: 'Bad credentials' } }, 'GitHub says: Bad credentials'],
    [
      'a repository without issues',
      { fits: repository, body: { id: 1, full_name: 'demo-bank/help', owner: {}, has_issues: false } },
      'issues are turned off',
    ],
    [
      'an archived repository',
      { fits: repository, body: { id: 1, full_name: 'demo-bank/help', owner: {}, has_issues: true, archived: true } },
      'archived',
    ],
    [
      'a repository that was renamed',
      { fits: repository, status: 301, body: { message: 'Moved Permanently' } },
      'the repository has moved',
    ],
  ])(
    'connecting GitHub answers 400 with the reason for %s that is refused, and keeps the previous connection',
    async (_, fault, word) => {
      const own = await system.api().newOrg();
      await connectGithub(own);
      system.github().fault(fault);
      const { status, body } = await connectGithub(own, { token: 'ghp_wrong' });
      expect([status, body.code, body.error]).toEqual([400, 'PROVIDER_REFUSED', expect.stringContaining(word)]);
      expect(await list(own, 'github')).toMatchObject([{ status: 'connected' }]);
    },
  );

  it('connecting GitHub answers 400 for an unknown repository, and for a name that is not `owner/name`', async () => {
    const own = await system.api().newOrg();
    const unknown = await connectGithub(own, { repository: 'demo-bank/nothing' });
    expect([unknown.status, unknown.body.error]).toEqual([400, 'GitHub says: Not Found']);
    for (const repository of ['help', 'a/b/c', '../x', 'a/..', 'a/b?c', '']) {
      const { status, body } = await connectGithub(own, { repository });
      expect([repository, status, body.code]).toEqual([repository, 400, 'VALIDATION']);
    }
  });

  it('connecting GitHub answers 503 when GitHub’s rate limit is reached', async () => {
    const own = await system.api().newOrg();
    const body = { message: 'API rate limit exceeded' };
    system.github().fault({ status: 403, headers: { 'x-ratelimit-remaining': '0' }, body });
    expect((await connectGithub(own)).status).toBe(503);
  });

  it('connecting GitHub shows the repository’s owner as the account when the token belongs to no user', async () => {
    const own = await system.api().newOrg();
    const body = { message: 'Resource not accessible by integration' };
    system.github().fault({ fits: ({ path }) => path === '/user', status: 403, body });
    expect((await connectGithub(own)).body.data.integration.account).toBe('demo-bank');
  });
});

describe('PUT /orgs/{orgId}/integrations/slack', () => {
  it('connecting Slack returns the consent URL until the workspace is connected, and then changes the channel', async () => {
    const own = await system.api().newOrg();
    const [support, elsewhere] = [await channelOf('support'), await channelOf('elsewhere')];
    const begun = await put(own, 'slack', { channel_id: support });
    const url = new URL(begun.body.data.authorization_url);
    expect([begun.status, url.origin + url.pathname]).toEqual([200, `${system.slack().url}/oauth/v2/authorize`]);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: '111.222',
      redirect_uri: 'http://127.0.0.1:3000/v1/integrations/slack/callback',
      scope: expect.stringContaining('chat:write'),
    });
    expect(begun.headers.get('set-cookie')).toMatch(/^connect_[0-9a-f]{16}=.*; httponly/i);
    const finished = await grant(begun);
    expect([finished.status, finished.headers.get('location')]).toEqual([302, '/connections/slack?outcome=connected']);
    const standing = {
      provider: 'slack',
      status: 'connected',
      account: 'Demo Bank',
      settings: { team_id: 'T000000001', channel_id: support, channel_name: 'support' },
    };
    expect(await list(own, 'slack')).toMatchObject([standing]);
    const changed = await put(own, 'slack', { channel_id: elsewhere });
    expect(changed.body.data).toEqual({
      integration: expect.objectContaining({
        settings: { team_id: 'T000000001', channel_id: elsewhere, channel_name: 'elsewhere' },
      }),
    });
    const record = await stored((db) => db.collection('integrations').findOne({ org_id: own.orgId }));
    expect(JSON.stringify(record)).not.toMatch(/xoxb-/);
    expect(await test(own, 'slack')).toMatchObject({ status: 200, body: { data: { message: /#elsewhere/ } } });
    const refused = await put(own, 'slack', { channel_id: 'C0NOTHERE' });
    expect([refused.status, refused.body.error]).toEqual([400, 'Slack says: channel_not_found']);
  });

  it('a Slack channel that is chosen while Slack is being disconnected does not connect Slack again', async () => {
    const own = await system.api().newOrg();
    await connectSlack(own, await channelOf('support'));
    // The emulator does not implement auth.revoke.
    system.slack().lasting({ fits: ({ path }) => path === '/api/auth.revoke', body: { ok: true, revoked: true } });
    const gate = Promise.withResolvers<void>();
    const isJoin = ({ path }: Sent): boolean => path === '/api/conversations.join';
    const joins = (): number => system.slack().sent.filter(isJoin).length;
    const before = joins();
    system.slack().fault({ fits: isJoin, until: gate.promise });
    const changing = put(own, 'slack', { channel_id: await channelOf('elsewhere') });
    await until(async () => joins() > before, 'the new channel to be joined');
    expect((await remove(own, 'slack')).status).toBe(200);
    gate.resolve();
    const { status, body } = await changing;
    expect([status, body.code, body.error]).toEqual([400, 'PROVIDER_REFUSED', expect.stringContaining('meanwhile')]);
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected', receives_events: false }]);
  });

  it.each<[string, { keepCookie?: boolean; answer?: Record<string, string> }, string]>([
    ['access denied at Slack', { answer: { error: 'access_denied' } }, 'access_denied'],
    ['another browser', { keepCookie: false }, 'unknown_state'],
    ['another state', { answer: { state: 'made-up', code: 'c' } }, 'unknown_state'],
    ['no code', { answer: { nothing: '1' } }, 'no_code'],
    ['a code that Slack does not know', { answer: { code: 'made-up' } }, 'Slack says: invalid_code'],
  ])('a Slack grant with %s connects nothing, and ends on a page with the reason', async (_, options, outcome) => {
    const own = await system.api().newOrg();
    const finished = await grant(await put(own, 'slack', {}), options);
    const location = finished.headers.get('location')!;
    expect([finished.status, new URLSearchParams(location.split('?')[1]).get('outcome')]).toEqual([302, outcome]);
    const page = await fetch(`${system.api().url}${location}`);
    const text = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(outcome);
    expect(text).toContain('was not connected');
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
  });

  it('the OAuth state of a Slack grant is accepted once, and the final page runs no script from its address', async () => {
    const own = await system.api().newOrg();
    const begun = await put(own, 'slack', {});
    expect((await grant(begun)).headers.get('location')).toContain('connected');
    await remove(own, 'slack');
    expect((await grant(begun)).headers.get('location')).toContain('unknown_state');
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
    const page = await fetch(
      `${system.api().url}/connections/slack?outcome=${encodeURIComponent('<script>1</script>')}`,
    );
    expect(await page.text()).not.toContain('<script>');
  });

  it('a Slack grant by a user who is no longer an admin connects nothing', async () => {
    const own = await system.api().newOrg();
    const person = await system.api().join(own, 'admin');
    const begun = await put(own, 'slack', {}, person.token);
    await system.api().request('DELETE', `/orgs/${own.orgId}/members/${person.userId}`, { token: own.owner.token });
    expect((await grant(begun)).headers.get('location')).toContain('no_longer_admin');
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
  });

  it('a second organization can connect to the same Slack workspace, and does not receive its events', async () => {
    const [first, second] = [await system.api().newOrg(), await system.api().newOrg()];
    await nobodyConnected();
    await connectSlack(first);
    await connectSlack(second);
    expect(await list(first, 'slack')).toMatchObject([{ status: 'connected', receives_events: true }]);
    expect(await list(second, 'slack')).toMatchObject([{ status: 'connected', receives_events: false }]);
  });

  it('when Slack refuses the chosen channel, connecting Slack connects nothing, and the token of the grant is revoked', async () => {
    const own = await system.api().newOrg();
    system.slack().fault({ fits: ({ path }) => path === '/api/oauth.v2.access', body: granted('xoxb-refused') });
    const path = '/api/conversations.info';
    system.slack().fault({ fits: (sent) => sent.path === path, body: { ok: false, error: 'channel_not_found' } });
    const { headers } = await connectSlack(own, 'C000000404');
    expect(headers.get('location')).toContain('channel_not_found');
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
    await until(() => Promise.resolve(revoked('xoxb-refused') > 0), 'the token to be revoked');
  });

  it('a Slack grant that is answered after the request has ended connects nothing, and its token is revoked', async () => {
    const own = await system.api().newOrg();
    const gate = Promise.withResolvers<void>();
    const isExchange = ({ path }: Sent): boolean => path === '/api/oauth.v2.access';
    const exchanges = (): number => system.slack().sent.filter(isExchange).length;
    const before = exchanges();
    system.slack().fault({ fits: isExchange, until: gate.promise, body: granted('xoxb-late') });
    const connecting = connectSlack(own);
    await until(async () => exchanges() > before, 'the grant to be exchanged');
    // The API deletes the errand when the time of a request is over.
    await stored((db) => db.collection('errands').deleteMany({ org_id: own.orgId }));
    gate.resolve();
    expect((await connecting).headers.get('location')).toContain('unavailable');
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
    await until(() => Promise.resolve(revoked('xoxb-late') > 0), 'the token to be revoked');
  });

  it.each(['before', 'after'] as const)(
    'when a worker dies %s the connection to Slack is stored, the next attempt connects Slack without a second code',
    async (when) => {
      const orgId = newId('org');
      const death = Promise.withResolvers<void>();
      /** The first worker dies here: its attempt never goes on. */
      let isFirst = true;
      const dying = async (): Promise<void> => {
        if (!isFirst) return;
        isFirst = false;
        death.resolve();
        await new Promise(() => undefined);
      };
      const codes = new Set(['code']);
      const enabled: string[] = [];
      const deps = {
        secrets: box,
        clock: () => new Date(),
        log: pino({ level: 'silent' }),
        slackApp,
        slack: {
          exchange: async (_app: unknown, code: string) => {
            if (!codes.delete(code))
              throw new SlackError('Slack says: invalid_code', { code: 'invalid_code', permanent: true });
            return { token: 'xoxb-once', team: { id: 'T1', name: 'Demo Bank' }, botUserId: 'U1', scopes: [] };
          },
          channel: async (_token: string, id: string) => {
            if (when === 'before') await dying();
            return { id, name: 'support' };
          },
          join: async () => undefined,
        },
        connected: async (of: string) => {
          if (when === 'after') await dying();
          enabled.push(of);
        },
      } as unknown as Parameters<typeof createIntegrationActivities>[0];
      const { tryConnection } = createIntegrationActivities(deps);
      await connectMongo(system.env()['MONGODB_URI']!);
      try {
        const asked = { credentials: { code: 'code', redirect_uri: 'http://x.test' }, settings: { channel_id: 'C1' } };
        const candidateId = await createErrand(orgId, asked, { secrets: box, now: new Date() });
        const trial: Trial = { orgId, provider: 'slack', what: 'connect', candidateId };
        const attempt = () => new MockActivityEnvironment().run(tryConnection, trial);
        void attempt();
        await death.promise;
        expect(await attempt()).toBe('said');
        expect(enabled).toEqual([orgId]);
        expect(await takeErrand(orgId, candidateId, box)).toEqual({ outcome: { said: 'Connected to Demo Bank.' } });
        const { status, sealed, settings } = (await findIntegration(orgId, 'slack'))!;
        expect([status, settings]).toEqual(['connected', { team_id: 'T1', channel_id: 'C1', channel_name: 'support' }]);
        expect(credentialsOf({ org_id: orgId, provider: 'slack', sealed: sealed! }, box)).toEqual({
          token: 'xoxb-once',
          bot_user_id: 'U1',
        });
      } finally {
        await disconnectMongo();
      }
    },
  );

  it('connecting Slack refuses an app installed for a whole Enterprise Grid, with the reason', async () => {
    const own = await system.api().newOrg();
    const body = { ...granted('xoxb-grid'), team: null, enterprise: { id: 'E1' }, is_enterprise_install: true };
    system.slack().fault({ fits: ({ path }) => path === '/api/oauth.v2.access', body });
    expect(decodeURIComponent((await connectSlack(own)).headers.get('location')!)).toContain('whole organization');
  });
});

describe('DELETE /orgs/{orgId}/integrations/{provider}', () => {
  it('disconnecting a provider deletes its credentials, and disconnecting the provider again also gets 200', async () => {
    const own = await system.api().newOrg();
    await connectLinear(own);
    for (const _ of [1, 2]) {
      const { status, body } = await remove(own, 'linear');
      expect([status, body.data.integration.status]).toEqual([200, 'disconnected']);
    }
    const record = await stored((db) => db.collection('integrations').findOne({ org_id: own.orgId }));
    expect(Object.keys(record!)).not.toEqual(expect.arrayContaining(['sealed']));
    const { status, body } = await test(own, 'linear');
    expect([status, body.code]).toEqual([400, 'PROVIDER_NOT_CONNECTED']);
  });
});

describe.each([
  ['slack', connectSlack, async (of: TestOrg) => put(of, 'slack', { channel_id: await channelOf('elsewhere') })],
  ['linear', connectLinear, connectLinear],
] as const)('organizations that share an account of %s', (provider, connect, again) => {
  it('of organizations that share a provider’s account, only the one that connected first gets the account’s events', async () => {
    await nobodyConnected();
    const orgs = [await system.api().newOrg(), await system.api().newOrg(), await system.api().newOrg()] as const;
    for (const one of orgs) await connect(one);
    const who = async () => {
      const found = await Promise.all(orgs.map((one) => list(one, provider)));
      const receiving = found.map(([one]) => (one as unknown as { receives_events: boolean }).receives_events);
      expect(receiving.filter(Boolean)).toHaveLength(1);
      return receiving.indexOf(true);
    };
    expect(await who()).toBe(0);
    // The organization that connected first receives the events. Changing its connection keeps its position.
    expect((await again(orgs[0])).status).toBe(200);
    expect(await who()).toBe(0);
    await remove(orgs[0], provider);
    expect(await who()).toBe(1);
    // A new connection puts the organization last.
    await connect(orgs[0]);
    expect(await who()).toBe(1);
    await remove(orgs[1], provider);
    expect(await who()).toBe(2);
    await remove(orgs[2], provider);
    expect(await who()).toBe(0);
  });
});

describe('the token of a disconnected Slack workspace', () => {
  const connectAs = async (token: string) => {
    const own = await system.api().newOrg();
    system.slack().fault({ fits: ({ path }) => path === '/api/oauth.v2.access', body: granted(token) });
    await connectSlack(own);
    // The emulator does not implement auth.revoke.
    system.slack().lasting({ fits: ({ path }) => path === '/api/auth.revoke', body: { ok: true, revoked: true } });
    return own;
  };
  const release = (orgId: string) => stored((db) => db.collection('releases').findOne({ org_id: orgId }));

  it('the token of a disconnected Slack workspace is revoked even when Slack is unavailable at first, and then deleted', async () => {
    const own = await connectAs('xoxb-away');
    const isAsked = ({ path, headers }: Sent): boolean =>
      path === '/api/auth.revoke' && headers['authorization'] === 'Bearer xoxb-away';
    const away = { fits: isAsked, status: 502, body: {} };
    system.slack().fault(away, away);
    await remove(own, 'slack');
    await until(async () => (await release(own.orgId)) === null, 'the token to be given back');
    expect(revoked('xoxb-away')).toBe(3);
  });

  it('the token of a disconnected Slack workspace is still revoked when the process died right after disconnecting', async () => {
    const own = await connectAs('xoxb-died');
    await connectMongo(system.env()['MONGODB_URI']!);
    // Does only the first write of the request, as if the process had died after it.
    await endConnection(own.orgId, 'slack', { secrets: box, now: new Date(Date.now() - 60_000) });
    await disconnectMongo();
    await until(async () => (await release(own.orgId)) === null, 'the token to be given back');
    expect(revoked('xoxb-died')).toBe(1);
    expect(await list(own, 'slack')).toMatchObject([{ status: 'disconnected' }]);
  });

  it('a token that Slack no longer accepts is not revoked again', async () => {
    const own = await connectAs('xoxb-gone');
    system.slack().fault({
      fits: ({ path, headers }) => path === '/api/auth.revoke' && headers['authorization'] === 'Bearer xoxb-gone',
      body: { ok: false, error: 'token_revoked' },
    });
    await remove(own, 'slack');
    await until(async () => (await release(own.orgId)) === null, 'the record to go');
    expect(revoked('xoxb-gone')).toBe(1);
  });
});

describe('outbox_providers', () => {
  it('the setting outbox_providers accepts slack and linear only once they are connected', async () => {
    const own = await system.api().newOrg();
    const refused = await outbox(own, ['slack', 'linear']);
    expect([refused.status, refused.body.code]).toEqual([400, 'PROVIDER_NOT_CONNECTED']);
    await connectLinear(own);
    const half = await outbox(own, ['slack', 'linear']);
    expect(half.body.error).toContain('Not connected: slack.');
    await connectSlack(own);
    expect((await outbox(own, ['slack', 'linear'])).body.outbox_providers).toEqual(['slack', 'linear']);
    await remove(own, 'slack');
    expect((await outbox(own, ['slack'])).status).toBe(400);
  });

  it('disconnecting a provider removes it from the setting outbox_providers, and reconnecting does not restore it', async () => {
    const own = await system.api().newOrg();
    const path = `/support/config/orgs/${own.orgId}`;
    const names = async () =>
      (await system.api().request('GET', path, { token: own.owner.token })).body.outbox_providers as string[];
    await connectLinear(own);
    await connectSlack(own);
    await outbox(own, ['slack', 'linear']);
    await remove(own, 'slack');
    expect(await names()).toEqual(['linear']);
    // Other settings can still be saved.
    const body = { outbox_webhook_url: `${system.linear().url}/hook` };
    expect((await system.api().request('PUT', path, { token: own.owner.token, body })).status).toBe(200);
    await connectSlack(own);
    expect(await names()).toEqual(['linear']);
  });

  it('the setting outbox_providers never names a provider that was disconnected while the setting was saved', async () => {
    const own = await system.api().newOrg();
    await outbox(own, []);
    for (let n = 0; n < 10; n += 1) {
      await connectLinear(own);
      const [saved] = await Promise.all([outbox(own, ['linear']), remove(own, 'linear')]);
      expect([200, 400]).toContain(saved.status);
      const record = await stored((db) => db.collection('support_configs').findOne({ _id: own.orgId as never }));
      expect([n, record!['outbox_providers']]).toEqual([n, []]);
    }
  });
});

describe('a credential that is refused after it was connected', () => {
  it.each<['linear' | 'slack' | 'github', { status?: number; body: unknown }, string]>([
    ['linear', { status: 401, body: { errors: [{ message: 'Authentication required' }] } }, 'Authentication required'],
    ['slack', { body: { ok: false, error: 'token_revoked' } }, 'token_revoked'],
    ['github', { status: 401, body: { message: 'Bad credentials' } }, 'Bad credentials'],
  ])(
    'a refused credential of %s breaks the connection, notifies each member once, and is repaired by connecting again',
    async (provider, fault, word) => {
      const own = await system.api().newOrg();
      const connects = { linear: connectLinear, slack: connectSlack, github: connectGithub };
      const connect = () => connects[provider](own);
      await connect();
      system[provider]().lasting(fault);
      for (const _ of [1, 2]) {
        const { status, body } = await test(own, provider);
        expect([status, body.code, body.error]).toEqual([400, 'PROVIDER_REFUSED', expect.stringContaining(word)]);
      }
      expect(await list(own, provider)).toMatchObject([
        { status: 'broken', broken_reason: expect.stringContaining(word) },
      ]);
      const told = () => stored((db) => db.collection('notifications').find({ org_id: own.orgId }).toArray());
      expect(await told()).toMatchObject([{ user_id: own.owner.userId, kind: 'integration_broken' }]);
      system[provider]().heal();
      await connect();
      expect(await list(own, provider)).toMatchObject([{ status: 'connected' }]);
      expect(await told()).toHaveLength(1);
    },
  );
});

describe('a Slack app with token rotation', () => {
  const isGrant = ({ path, body }: Sent): boolean => path === '/api/oauth.v2.access' && body.includes('code=');
  const isRenewal = ({ path, body }: Sent): boolean =>
    path === '/api/oauth.v2.access' && body.includes('grant_type=refresh_token');
  const given = (n: number, seconds: number, team = 'T000000001') => ({
    ok: true,
    access_token: `xoxe.xoxb-${n}`,
    refresh_token: `xoxe-1-${n}`,
    expires_in: seconds,
    bot_user_id: 'U0BOT',
    scope: 'chat:write',
    team: { id: team, name: 'Demo Bank' },
  });
  /** A connected organization whose token has already expired. */
  async function rotating(): Promise<TestOrg> {
    const own = await system.api().newOrg();
    system.slack().fault({ fits: isGrant, body: given(1, 0) });
    expect((await connectSlack(own)).headers.get('location')).toContain('connected');
    return own;
  }
  const renewals = () => system.slack().sent.filter(isRenewal);

  it('the expired token of a Slack app with token rotation is renewed before use, and the new token is stored encrypted', async () => {
    const own = await rotating();
    const before = renewals().length;
    system.slack().fault({ fits: isRenewal, body: given(2, 43_200) });
    for (const _ of [1, 2]) expect((await test(own, 'slack')).status).toBe(200);
    const [renewal, ...more] = renewals().slice(before);
    expect(Object.fromEntries(new URLSearchParams(renewal!.body))).toMatchObject({
      grant_type: 'refresh_token',
      refresh_token: 'xoxe-1-1',
      client_id: '111.222',
    });
    expect(more).toEqual([]);
    // Tokens of earlier connections may be revoked at the same time.
    const asked = system.slack().sent.filter(({ path }) => path === '/api/auth.test');
    expect(asked.at(-1)!.headers['authorization']).toBe('Bearer xoxe.xoxb-2');
    const record = await stored((db) => db.collection('integrations').findOne({ org_id: own.orgId }));
    expect(JSON.stringify(record)).not.toMatch(/xoxe|xoxb/);
    // Another channel is chosen with the current credential.
    const changed = await put(own, 'slack', { channel_id: await channelOf('elsewhere') });
    expect(changed.status).toBe(200);
    expect((await test(own, 'slack')).status).toBe(200);
    for (const { output } of system.processes()) expect(output()).not.toContain('xoxe');
  });

  it('a Slack app with token rotation retries with a new token when Slack reports that the used one has expired', async () => {
    const own = await rotating();
    system.slack().fault({ fits: isRenewal, body: given(2, 43_200) });
    expect((await test(own, 'slack')).status).toBe(200);
    const isAsked = ({ path }: Sent): boolean => path === '/api/auth.test';
    system.slack().fault({ fits: isAsked, body: { ok: false, error: 'token_expired' } });
    system.slack().fault({ fits: isRenewal, body: given(3, 43_200) });
    expect((await test(own, 'slack')).status).toBe(200);
    const asked = system.slack().sent.filter(isAsked).slice(-2);
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual(['Bearer xoxe.xoxb-2', 'Bearer xoxe.xoxb-3']);
  });

  it('disconnecting a Slack app with an expired token renews the token, and then revokes the new one', async () => {
    const own = await system.api().newOrg();
    system.slack().fault({ fits: isGrant, body: given(1, 0, 'T000000009') });
    await connectSlack(own);
    system.slack().fault({ fits: isRenewal, body: given(9, 43_200) });
    await remove(own, 'slack');
    const isGivenBack = ({ path, headers }: Sent): boolean =>
      path === '/api/auth.revoke' && headers['authorization'] === 'Bearer xoxe.xoxb-9';
    await until(async () => system.slack().sent.some(isGivenBack), 'the token to be revoked');
  });

  it('a refused token renewal breaks the connection to Slack, and notifies each member once', async () => {
    const own = await rotating();
    system.slack().fault({ fits: isRenewal, status: 503, body: {} });
    expect((await test(own, 'slack')).status).toBe(503);
    expect(await list(own, 'slack')).toMatchObject([{ status: 'connected' }]);
    system.slack().lasting({ fits: isRenewal, body: { ok: false, error: 'invalid_refresh_token' } });
    for (const _ of [1, 2]) {
      const { status, body } = await test(own, 'slack');
      expect([status, body.error]).toEqual([400, expect.stringContaining('invalid_refresh_token')]);
    }
    expect(await list(own, 'slack')).toMatchObject([
      { status: 'broken', broken_reason: 'Slack says: invalid_refresh_token' },
    ]);
    const told = await stored((db) => db.collection('notifications').find({ org_id: own.orgId }).toArray());
    expect(told).toMatchObject([{ user_id: own.owner.userId, kind: 'integration_broken' }]);
  });
});
