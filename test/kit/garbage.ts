/**
 * Requests to the inbound routes that no service would send: random bytes, halves of events, invalid tokens and
 * signatures. Each request is determined by its number, so that a failure can be reproduced.
 */
import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { appId, appPassword, type BotFramework } from './botframework.ts';
import type { Api, Reply } from './harness.ts';

/** The environment in which an API verifies the signatures of every inbound route. */
export const verifyingEnv = (microsoft: BotFramework): Record<string, string> => ({
  SLACK_SIGNING_SECRET: 'slack-signing-secret',
  SERVICE_URLS: `teams_keys=${microsoft.url}/openid,teams_login=${microsoft.url}/token`,
  TEAMS_APP_ID: appId,
  TEAMS_APP_PASSWORD: appPassword,
  TEAMS_WEBHOOK_SECRET: 'c2VjcmV0LW9mLXRoZS10ZWFt',
  SNS_TOPIC_ARNS: 'arn:aws:sns:eu-central-1:123456789012:mail',
  MEETING_BOT_API_KEY: 'recall-key',
  MEETING_BOT_WEBHOOK_SECRET: 'whsec_cmVjYWxsLXNpZ25pbmctc2VjcmV0',
});

const paths = ['linear', 'slack', 'teams', 'email/inbound', 'recall', 'attendee'].map((name) => `/webhooks/${name}`);

/** Random numbers determined by a seed and a purpose. */
const pickerOf =
  (seed: number) =>
  (purpose: string, below: number): number =>
    createHash('sha256').update(`${seed} ${purpose}`).digest().readUInt32BE() % below;
type Pick = ReturnType<typeof pickerOf>;

const events: readonly object[] = [
  { action: 'update', type: 'Issue', data: { id: 'x', teamId: 1 }, webhookTimestamp: 1 },
  { type: 'event_callback', team_id: 'T1', event_id: 'E1', event: { type: 'app_mention', text: '<@U1> hi' } },
  {
    type: 'message',
    text: 'hi',
    serviceUrl: 'http://127.0.0.1:1/',
    channelId: 'msteams',
    conversation: { tenantId: 'x' },
  },
  {
    Type: 'Notification',
    MessageId: 'm',
    TopicArn: 'arn:aws:sns:eu-central-1:123456789012:mail',
    Message: '{"notificationType":"Received"}',
    Timestamp: new Date().toISOString(),
    SignatureVersion: '2',
    Signature: 'AAAA',
    SigningCertURL: 'https://sns.evil.example/a.pem',
  },
  { event: 'bot.status_change', data: { bot: { id: 'b' }, data: { code: 'done' } } },
];

function bodyOf(pick: Pick): string | Uint8Array<ArrayBuffer> {
  const event = JSON.stringify(events[pick('event', events.length)]);
  const at = pick('cut', event.length);
  const bodies = [
    () => '',
    () => event,
    () => event.slice(0, at),
    () => `${event.slice(0, at)}\u0000${event.slice(at)}`,
    () => `[${event},${event}]`,
    () => 'null',
    () => '{"a":'.repeat(pick('depth', 2_000)),
    () => '"'.repeat(pick('quotes', 5_000)),
    () => JSON.stringify({ data: 'x'.repeat(pick('length', 50_000)) }),
    () => `payload=${encodeURIComponent(event)}`,
    () => `command=%2Fask&text=${'%'.repeat(pick('percents', 50))}`,
    () => Uint8Array.from({ length: pick('bytes', 2_000) }, (_, n) => pick(`byte ${n % 7}`, 256)),
  ];
  return bodies[pick('body', bodies.length)]!();
}

async function tokenOf(pick: Pick): Promise<string> {
  const claims = { iss: 'https://api.botframework.example', aud: appId, serviceurl: 'http://127.0.0.1:1/' };
  const signed = () =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'teams' })
      .setExpirationTime('1h')
      .sign(Buffer.alloc(32, pick('key', 256)));
  const tokens = [() => '', () => 'a.b.c', () => 'x'.repeat(pick('token', 3_000)), signed];
  return tokens[pick('token kind', tokens.length)]!();
}

async function headersOf(pick: Pick): Promise<Record<string, string>> {
  const hex = pick('hex', 2 ** 31)
    .toString(16)
    .repeat(9)
    .slice(0, 64);
  const now = String(Math.floor(Date.now() / 1_000) - pick('age', 200));
  const types = [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'nonsense',
    'application/json; charset=x',
  ];
  const kinds: (() => Record<string, string> | Promise<Record<string, string>>)[] = [
    () => ({}),
    () => ({ 'linear-signature': hex, 'linear-delivery': randomUUID() }),
    () => ({ 'linear-signature': 'zz', 'x-linear-signature': hex }),
    () => ({ 'x-slack-signature': `v0=${hex}`, 'x-slack-request-timestamp': now }),
    () => ({ 'x-slack-signature': 'v0=', 'x-slack-request-timestamp': 'soon' }),
    async () => ({ authorization: `Bearer ${await tokenOf(pick)}` }),
    () => ({ authorization: `HMAC ${Buffer.from(hex, 'hex').toString('base64')}` }),
    () => ({ 'x-amz-sns-message-type': 'Notification', 'x-amz-sns-topic-arn': 'arn' }),
    () => ({ 'webhook-id': 'msg_1', 'webhook-timestamp': now, 'webhook-signature': `v1,${hex}` }),
    () => ({ 'svix-id': 'msg_1', 'svix-timestamp': now, 'svix-signature': hex.repeat(20) }),
  ];
  const chosen = await kinds[pick('headers', kinds.length)]!();
  return { 'content-type': types[pick('type', types.length)]!, ...chosen };
}

/**
 * Sends `count` requests, spread over the routes, and counts the statuses of the answers. `first` is the number of the
 * first request.
 */
export async function sendGarbage(api: Api, count: number, first = 0): Promise<Record<number, number>> {
  const seen: Record<number, number> = {};
  let next = first;
  const lane = async (): Promise<void> => {
    while (next < first + count) {
      const seed = next++;
      const pick = pickerOf(seed);
      const path = paths[seed % paths.length]!;
      const reply: Reply = await api.request('POST', path, { raw: bodyOf(pick), headers: await headersOf(pick) });
      if (reply.status >= 500 || reply.status < 400)
        throw new Error(`garbage ${seed} to ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
      seen[reply.status] = (seen[reply.status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  return seen;
}
