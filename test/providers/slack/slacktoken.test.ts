/**
 * Expiring Slack tokens used by many processes at once. Each token is renewed once, and no process gets an expired one.
 * And a message that is posted again, with a stand-in for the client.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn } from '../../kit/database.ts';
import { until } from '../../kit/harness.ts';
import { box } from '../../kit/inbound.ts';
import { slackApp, startSlackService, type Sent, type Service } from '../../kit/services.ts';
import { withSlackToken, type SlackTokenDeps } from '../../../providers/slack/token.ts';
import { createHttp } from '../../../clients/http/http.ts';
import { createSlack, SlackError, type Slack } from '../../../providers/slack/client.ts';
import { postOnce } from '../../../providers/slack/message.ts';
import { newId } from '../../../models/base/ids.ts';
import {
  connectIntegration,
  findIntegration,
  integrationTurns,
  sealCredentials,
} from '../../../models/integrations/integration.ts';

const http = createHttp({ userAgent: 'Test/1.0', egressAllow: ['127.0.0.1'] });
let service: Service;
modelsIn('slacktoken');
beforeAll(async () => {
  service = await startSlackService();
});
afterAll(async () => {
  await Promise.all([http.close(), service.close()]);
});

const start = new Date('2096-01-02T03:04:05Z');
const hours = (n: number): number => n * 3_600_000;
let now: Date;
let orgId: string;
let renewals: Sent[];
beforeEach(async () => {
  now = start;
  orgId = newId('org');
  renewals = [];
  // Each renewal returns the next token and accepts each refresh token once.
  service.choosing((sent) => {
    if (sent.path !== '/api/oauth.v2.access') return undefined;
    renewals.push(sent);
    const used = new URLSearchParams(sent.body).get('refresh_token');
    const n = renewals.length;
    if (used !== `refresh-${n - 1}`) return { body: { ok: false, error: 'invalid_refresh_token' } };
    const given = { access_token: `token-${n}`, refresh_token: `refresh-${n}`, expires_in: hours(12) / 1000 };
    return { body: { ok: true, ...given } };
  });
  const credentials = {
    token: 'token-0',
    bot_user_id: 'U0BOT',
    refresh_token: 'refresh-0',
    renew_at: new Date(start.getTime() + hours(10)).toISOString(),
    expires_at: new Date(start.getTime() + hours(12)).toISOString(),
  };
  const sealed = sealCredentials({ org_id: orgId, provider: 'slack' }, credentials, box);
  await connectIntegration(orgId, 'slack', { account: 'Demo', settings: {}, sealed }, start);
});

/** Simulates separate processes that have read the connection long before. */
async function processes(count: number): Promise<() => Promise<string[]>> {
  const read = await findIntegration(orgId, 'slack');
  const deps: SlackTokenDeps = {
    slack: createSlack({ http, respond: http, url: `${service.url}/api/` }),
    slackApp,
    secrets: box,
    clock: () => now,
    log: pino({ level: 'silent' }),
  };
  const use = () => withSlackToken(read!, deps, async ({ token }) => token);
  return () => Promise.all(Array.from({ length: count }, use));
}

describe('an expiring Slack token', () => {
  it('a Slack token is used until it is due for renewal; then one process renews it, and the others do not wait', async () => {
    const use = await processes(6);
    now = new Date(start.getTime() + hours(10) - 1);
    expect(new Set(await use())).toEqual(new Set(['token-0']));
    expect(renewals).toHaveLength(0);
    now = new Date(start.getTime() + hours(10));
    const used = await use();
    expect(used).toContain('token-1');
    expect(used.every((token) => token === 'token-0' || token === 'token-1')).toBe(true);
    expect(renewals).toHaveLength(1);
    expect(new Set(await use())).toEqual(new Set(['token-1']));
  });

  it('while one process renews an expired Slack token, all others wait for it', async () => {
    const use = await processes(6);
    now = new Date(start.getTime() + hours(13));
    expect(new Set(await use())).toEqual(new Set(['token-1']));
    now = new Date(now.getTime() + hours(13));
    expect(new Set(await use())).toEqual(new Set(['token-2']));
    expect(renewals).toHaveLength(2);
  });

  it('when a process dies while it renews a token, another one renews it after the lease ends', async () => {
    const use = await processes(1);
    now = new Date(start.getTime() + hours(11));
    expect(await integrationTurns(`${orgId}:slack`, () => now).claim()).toBe(true);
    expect(await use()).toEqual(['token-0']);
    now = new Date(now.getTime() + 20_000);
    expect(await use()).toEqual(['token-1']);
  });

  it('a renewed token does not overwrite a connection that was made meanwhile', async () => {
    const use = await processes(1);
    const sealed = sealCredentials(
      { org_id: orgId, provider: 'slack' },
      { token: 'another', bot_user_id: 'U0BOT' },
      box,
    );
    const connected = Promise.withResolvers<void>();
    const isRenewal = ({ path }: Sent): boolean => path === '/api/oauth.v2.access';
    const before = service.sent.filter(isRenewal).length;
    service.fault({
      fits: isRenewal,
      until: connected.promise,
      body: { ok: true, access_token: 'late', refresh_token: 'late', expires_in: 60 },
    });
    now = new Date(start.getTime() + hours(13));
    const using = use();
    await until(async () => service.sent.filter(isRenewal).length > before, 'the renewal to be asked for');
    await connectIntegration(orgId, 'slack', { account: 'Demo', settings: {}, sealed }, now);
    connected.resolve();
    await using;
    expect((await findIntegration(orgId, 'slack'))!.sealed).toBe(sealed);
    expect(await use()).toEqual(['another']);
  });
});

describe('a message that is posted again', () => {
  /** Posts for the second time in a channel whose history Slack refuses with this error; returns what was posted. */
  async function posted(refusal: SlackError): Promise<string[]> {
    const texts: string[] = [];
    const slack = {
      messages: () => Promise.reject(refusal),
      post: async (_token: string, { channel, text }: { channel: string; text: string }) => {
        texts.push(text);
        return { channel, ts: '2.0' };
      },
    } as unknown as Slack;
    const post = { channel: 'C1', text: 'A ticket' };
    await postOnce(slack, { token: 'xoxb-1', bot_user_id: 'U0BOT' }, post, start).catch((error: unknown) => {
      expect(error).toBe(refusal);
    });
    return texts;
  }

  it.each(['not_in_channel', 'missing_scope'])(
    'a message is posted again when the bot may not read the channel (%s)',
    async (code) => {
      const refusal = new SlackError(`Slack says: ${code}`, { code, permanent: true, status: 200 });
      expect(await posted(refusal)).toEqual(['A ticket']);
    },
  );

  it.each([
    ['the token is refused', new SlackError('Slack says: invalid_auth', { code: 'invalid_auth', permanent: true })],
    ['Slack does not answer', new SlackError('Slack could not be reached.')],
  ])('a message is not posted again unseen when %s', async (_, refusal) => {
    expect(await posted(refusal)).toEqual([]);
  });
});
