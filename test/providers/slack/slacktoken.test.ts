/**
 * Expiring Slack tokens used by many processes at once. Each token is renewed once, and no process gets an expired one.
 * Messages that are posted again or to another workspace, answers to commands, and late events, with a stand-in for the
 * client.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pino from 'pino';
import { modelsIn } from '../../kit/database.ts';
import { until } from '../../kit/harness.ts';
import { box } from '../../kit/inbound.ts';
import { slackApp, startSlackService, type Fault, type Sent, type Service } from '../../kit/services.ts';
import { withSlackToken, type SlackTokenDeps } from '../../../providers/slack/token.ts';
import { handleSlack, type SlackDeps } from '../../../providers/slack/receive.ts';
import { threadExternal } from '../../../providers/slack/rules.ts';
import { slack as slackSender } from '../../../providers/slack/send.ts';
import type { SenderDeps } from '../../../providers/base/sender.ts';
import { createHttp } from '../../../clients/http/http.ts';
import {
  createSlack,
  SlackError,
  type Slack,
  type SlackMessage,
  type SlackPost,
} from '../../../providers/slack/client.ts';
import { postOnce } from '../../../providers/slack/message.ts';
import { newId } from '../../../models/base/ids.ts';
import { takeLease } from '../../../models/base/lease.ts';
import type { Delivery } from '../../../models/events/delivery.ts';
import type { Inbound } from '../../../models/events/inbound.ts';
import { createLink } from '../../../models/events/link.ts';
import { connectIntegration, findIntegration, sealCredentials } from '../../../models/integrations/integration.ts';
import { HttpError } from '../../../models/rules/base/http.ts';

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
    slack: createSlack({ http, url: `${service.url}/api/` }),
    slackApp,
    secrets: box,
    clock: () => now,
    log: pino({ level: 'silent' }),
  };
  const use = () => withSlackToken(read!, deps, async ({ token }) => token);
  return () => Promise.all(Array.from({ length: count }, use));
}

describe('an expiring Slack token', () => {
  it('when a Slack token is due for renewal, one process renews the token, and the others do not wait', async () => {
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
    const lease = `renewal:${orgId}:slack`;
    expect(await takeLease(lease, 60_000, 'dead')).toBe(true);
    expect(await use()).toEqual(['token-0']);
    expect(await takeLease(lease, 0, 'dead')).toBe(true);
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
    'a retry posts a Slack message again when the bot may not read the channel to find the earlier post (%s)',
    async (code) => {
      const refusal = new SlackError(`Slack says: ${code}`, { code, permanent: true, status: 200 });
      expect(await posted(refusal)).toEqual(['A ticket']);
    },
  );

  it.each([
    ['the token is refused', new SlackError('Slack says: invalid_auth', { code: 'invalid_auth', permanent: true })],
    ['Slack does not answer', new SlackError('Slack could not be reached.')],
  ])(
    'a retry does not post a Slack message again when the search for the earlier post fails because %s',
    async (_, refusal) => {
      expect(await posted(refusal)).toEqual([]);
    },
  );

  const mine: SlackMessage = { ts: '1.5', user: 'U0BOT', text: 'Write your question.' };
  const markOf = (event_id: string) => ({ event_type: 'support_delivery', event_payload: { event_id } });
  it.each<[string, SlackMessage, string]>([
    ['a post that is marked with the same event is found', { ...mine, metadata: markOf('e2') }, '1.5'],
    ['an unmarked post with the same text is found', mine, '1.5'],
    ['the same text marked with another event is not found', { ...mine, metadata: markOf('e1') }, '2.0'],
    ['the same text of another person is not found', { ...mine, user: 'U1' }, '2.0'],
  ])(
    'a retry of a Slack post whose first attempt may have succeeded looks for that post before it posts again: %s',
    async (_, earlier, ts) => {
      const slack = {
        messages: async () => [earlier],
        post: async () => ({ channel: 'C1', ts: '2.0' }),
      } as unknown as Slack;
      const post = { channel: 'C1', thread_ts: '1.0', text: 'Write your question.', metadata: markOf('e2') };
      expect(await postOnce(slack, { token: 'xoxb-1', bot_user_id: 'U0BOT' }, post, start)).toBe(ts);
    },
  );
});

describe('a refusal of Slack', () => {
  const saying = (error: string): Fault => ({ body: { ok: false, error } });
  it.each<[string, Fault, Partial<SlackError>]>([
    [
      'status 429 asks to wait',
      { ...saying('ratelimited'), status: 429, headers: { 'retry-after': '7' } },
      { message: 'Slack asks to wait.', status: 429, retryAfterMs: 7_000, permanent: false },
    ],
    [
      'another status is temporary',
      { ...saying('x'), status: 500 },
      { message: 'Slack answered 500.', permanent: false },
    ],
    [
      'a reply that is no object is temporary',
      { body: 'maintenance' },
      { message: 'Slack answered 200.', permanent: false },
    ],
    [
      'an error code is permanent',
      saying('not_in_channel'),
      { message: 'Slack says: not_in_channel', permanent: true },
    ],
    [
      'an error code for a passing failure is temporary',
      saying('internal_error'),
      { code: 'internal_error', permanent: false },
    ],
    [
      'the error code token_revoked counts as a refused token',
      saying('token_revoked'),
      { code: 'token_revoked', unauthorized: true },
    ],
  ])('refusals by Slack are classified: %s', async (_, fault, refusal) => {
    service.fault(fault);
    const slack = createSlack({ http, url: `${service.url}/api/` });
    expect(await slack.whoami('xoxb-1').catch((error: unknown) => error)).toMatchObject(refusal);
    expect(service.sent.at(-1)!.headers['authorization']).toBe('Bearer xoxb-1');
  });
});

/** Connects Slack to this workspace, with a token that does not expire. */
function connect(team: string, at: Date) {
  const sealed = sealCredentials({ org_id: orgId, provider: 'slack' }, { token: team, bot_user_id: 'U0BOT' }, box);
  const settings = { team_id: team, channel_id: `C${team}`, channel_name: 'support' };
  return connectIntegration(orgId, 'slack', { account: 'Demo', settings, sealed, workspace: team }, at);
}

describe('a ticket whose thread is in another workspace', () => {
  it('after Slack is connected to another workspace, the events of a ticket open one thread there', async () => {
    await connect('T2', start);
    const ticketId = newId('ticket');
    const link = { org_id: orgId, mode: 'live', provider: 'slack', kind: 'ticket', subject_id: ticketId } as const;
    await createLink({ ...link, external: threadExternal('T1', 'CT1', '1.0'), created_at: new Date(0) });
    const posts: SlackPost[] = [];
    const slack = {
      request: ({ channel }: SlackPost) => ({ url: 'https://slack.com/', body: channel }),
      post: async (_token: string, post: SlackPost) => {
        posts.push(post);
        return { channel: post.channel, ts: `${orgId}.${posts.length}` };
      },
    } as unknown as Slack;
    const deps = { slack, secrets: box, clock: () => now, log: pino({ level: 'silent' }) } as unknown as SenderDeps;
    const deliveryOf = (event_id: string) => {
      const payload = { ticket: true, text: 'Resolved.' };
      const subject = { ticket_id: ticketId };
      return { org_id: orgId, mode: 'live', event_id, subject, payload, attempts: [] } as unknown as Delivery;
    };
    expect((await slackSender.preview(deliveryOf('e1'), deps)).body).toBe('CT2');
    for (const id of ['e1', 'e2']) await slackSender.send(deliveryOf(id), deps, new AbortController().signal);
    expect(posts.map(({ channel, thread_ts }) => [channel, thread_ts])).toEqual([
      ['CT2', undefined],
      ['CT2', `${orgId}.1`],
    ]);
  });
});

describe('the answer to a command', () => {
  it('a timeout at the response URL of a Slack command does not count as a timeout of the destination Slack', async () => {
    const url = 'https://hooks.slack.com/commands/1';
    const http = { request: () => Promise.reject(new HttpError('timed_out', { url })) };
    const deps = { http, clock: () => now, egressAllow: [] } as unknown as SenderDeps;
    const delivery = { payload: { response_url: url, text: 'Five francs.' } } as unknown as Delivery;
    const sent = slackSender.send(delivery, deps, new AbortController().signal);
    await expect(sent).rejects.toMatchObject({ refusal: { timedOut: false, request: { url } } });
  });
});

describe('an event about the end of a connection', () => {
  const seconds = start.getTime() / 1000;
  const late = new Date(start.getTime() + hours(1));
  it.each<[string, string, number | undefined, Date, string]>([
    ['an earlier app_uninstalled is ignored', 'app_uninstalled', seconds - 60, late, 'connected'],
    ['an earlier tokens_revoked is ignored', 'tokens_revoked', seconds - 60, late, 'connected'],
    ['a later app_uninstalled breaks the connection', 'app_uninstalled', seconds + 60, late, 'broken'],
    ['a later tokens_revoked breaks the connection', 'tokens_revoked', seconds + 60, late, 'broken'],
    ['an event without a time that arrived before is ignored', 'app_uninstalled', undefined, new Date(0), 'connected'],
    ['an event without a time that arrives later breaks the connection', 'app_uninstalled', undefined, late, 'broken'],
  ])(
    'an event about the end of a connection counts only when it is newer than the connection: %s',
    async (_, type, event_time, received_at, status) => {
      await connect('T1', new Date(start.getTime() - hours(1)));
      await connect('T1', start);
      const payload = { event: { type, tokens: { bot: ['U0BOT'] } }, event_time };
      const body = JSON.stringify({ kind: 'event', team: 'T1', payload });
      const inbound = { _id: newId('inbound'), org_id: orgId, mode: 'live', body, received_at } as Inbound;
      const deps = { secrets: box, clock: () => now, log: pino({ level: 'silent' }) } as unknown as SlackDeps;
      const handled = await handleSlack(inbound, deps);
      expect('ignored' in handled).toBe(status === 'connected');
      expect((await findIntegration(orgId, 'slack'))!.status).toBe(status);
    },
  );
});
