/** Both meeting-bot services behind one interface, against a server with their APIs. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startBotService, type BotService, type FakeBot } from '../../kit/botservice.ts';
import { BotRefused, type Bot } from '../../../providers/recall/bot.ts';
import { openBots, type OpenBots } from '../../../providers/recall/open.ts';
import { canonicalJson } from '../../../providers/recall/canonical.ts';
import { attendeeId, readAttendeeReport, readReport, verifiedId } from '../../../providers/recall/verify.ts';
import { attendeeSecret, canonicalByPython, signedByAttendee } from '../../kit/attendee.ts';
import { defined } from '../../../models/rules/base/defined.ts';

let service: BotService;
const opened: OpenBots[] = [];
beforeAll(async () => {
  service = await startBotService();
});
afterAll(() => service.close());
afterEach(async () => {
  for (const bots of opened.splice(0)) await bots.close();
  service.bots.clear();
  service.requests.length = 0;
  service.refusals.length = 0;
  service.leaveRefusals.length = 0;
});

const open = (kind: 'recall' | 'attendee', apiKey = 'key-1'): Bot => {
  const bots = openBots({ service: kind, apiKey, apiUrl: service.url }, []);
  opened.push(bots);
  return bots.outside!;
};
const order = (key = 'int_1:1', again = false) => ({
  meetingUrl: 'https://meet.example/1',
  name: 'Interview assistant (AI)',
  metadata: { org_id: 'org_1', interview_id: 'int_1' },
  key,
  order: again ? 2 : 1,
  again,
});
const only = (): FakeBot => {
  expect(service.bots.size).toBe(1);
  return [...service.bots.values()][0]!;
};

/** The names that each service uses for the states of a bot. */
const words = {
  recall: { waiting: 'in_waiting_room', recording: 'in_call_recording', done: 'done', failed: 'fatal', ready: 'ready' },
  attendee: {
    waiting: 'waiting_room',
    recording: 'joined_recording',
    done: 'ended',
    failed: 'fatal_error',
    ready: 'scheduled',
  },
};

describe.each(['recall', 'attendee'] as const)('%s', (kind) => {
  const word = words[kind];

  it('a meeting bot is sent to the call with its name and the ids of the organization and the interview', async () => {
    const bot = await open(kind).schedule(order());
    expect(bot).toEqual({ kind, id: only().id });
    expect(only()).toMatchObject({
      meeting_url: 'https://meet.example/1',
      name: 'Interview assistant (AI)',
      metadata: { org_id: 'org_1', interview_id: 'int_1', key: 'int_1:1' },
      key: 'int_1:1',
    });
    expect(service.requests.every(({ authorization }) => authorization === 'Token key-1')).toBe(true);
  });

  it('no second bot is created when the response to the first request for a bot was lost', async () => {
    const bot = open(kind);
    service.loseAnswers(1);
    await expect(bot.schedule(order())).rejects.toMatchObject({ name: 'BotRefused', reason: 'service' });
    expect((await bot.schedule(order('int_1:1', true))).id).toBe(only().id);
  });

  it.each([
    [400, 'refused'],
    [402, 'refused'],
    [503, 'service'],
    [507, 'service'],
    [429, 'service'],
  ])(
    'when the meeting-bot service answers %i, the request for a bot fails with the reason %s',
    async (status, reason) => {
      service.refusals.push(status);
      const refused = await open(kind)
        .schedule(order())
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(BotRefused);
      expect((refused as BotRefused).reason).toBe(reason);
      expect(service.bots.size).toBe(0);
    },
  );

  it('the state of a bot says where the bot is, and why it is not in the call', async () => {
    const bot = open(kind);
    const { id } = await bot.schedule(order());
    const seen = async (code: string, sub_code?: string) => {
      only().changes.push({ code, ...defined({ sub_code }) });
      return bot.get(id);
    };
    expect((await bot.get(id)).phase).toBe('joining');
    expect(await seen(word.waiting)).toEqual({ phase: 'waiting' });
    expect(await seen(word.recording)).toEqual({ phase: 'recording' });
    expect(await seen('a_new_word')).toEqual({ phase: 'joining' });
    expect((await seen(word.done)).phase).toBe('done');
    const denied = kind === 'recall' ? 'bot_kicked_from_waiting_room' : 'request_to_join_denied';
    expect(await seen(word.failed, denied)).toEqual({ phase: 'failed', reason: 'not_admitted' });
    expect(await seen(word.failed, 'meeting_not_found')).toEqual({ phase: 'failed', reason: 'bad_link' });
    expect(await seen(word.failed, 'something_new')).toEqual({ phase: 'failed', reason: 'unknown' });
    expect(await seen(word.failed)).toEqual({ phase: 'failed', reason: 'unknown' });
    service.bots.clear();
    expect(await bot.get(id)).toEqual({ phase: 'failed', reason: 'gone' });
  });

  it('a bot is removed from the call in every state, and a missing bot counts as removed', async () => {
    const bot = open(kind);
    const { id } = await bot.schedule(order());
    await bot.cancel(id);
    expect(only().left).toBe(true);
    only().left = false;
    only().changes.push({ code: word.ready });
    await bot.cancel(id);
    expect(only().left).toBe(true);
    service.bots.clear();
    await bot.cancel(id);
  });

  it('a bot whose removal the service refuses does not count as removed, unless the bot has left already', async () => {
    const bot = open(kind);
    const { id } = await bot.schedule(order());
    service.leaveRefusals.push(400);
    await expect(bot.cancel(id)).rejects.toMatchObject({ name: 'ServiceAway' });
    expect(only().left).toBe(false);
    only().changes.push({ code: word.done });
    service.leaveRefusals.push(400);
    await bot.cancel(id);
  });

  it('requests about a bot with a wrong API key fail, so that the bot does not count as removed', async () => {
    const { id } = await open(kind).schedule(order());
    only().changes.push({ code: word.ready });
    const wrong = open(kind, 'wrong');
    for (const ask of [() => wrong.cancel(id), () => wrong.get(id), () => wrong.transcript(id)])
      await expect(ask()).rejects.toMatchObject({ name: 'ServiceAway' });
    expect(only().left).toBe(false);
  });

  it('the recording of a bot is deleted only once the bot has ended', async () => {
    const bot = open(kind);
    const { id } = await bot.schedule(order());
    expect([await bot.sent('int_1:1'), await bot.sent('int_2:1')]).toEqual([[id], []]);
    only().changes.push({ code: word.recording });
    expect([await bot.erase(id), only().erased]).toEqual([false, false]);
    only().changes.push({ code: word.done });
    expect([await bot.erase(id), only().erased]).toEqual([true, true]);
    expect(await bot.erase(id)).toBe(true);
    service.away(true);
    await expect(bot.erase(id)).rejects.toThrow('503');
    service.away(false);
    service.bots.clear();
    expect(await bot.erase(id)).toBe(true);
    // When the service refuses the key, it is unknown which bots exist.
    await expect(open(kind, 'another key').sent('int_1:1')).rejects.toThrow('does not list');
  });

  it('the transcript of a bot is returned once the service has finished the transcript', async () => {
    const bot = open(kind);
    const { id } = await bot.schedule(order());
    expect(await bot.transcript(id)).toBeUndefined();
    only().changes.push({ code: kind === 'recall' ? 'call_ended' : 'post_processing' });
    expect(await bot.transcript(id)).toBeUndefined();
    only().changes.push({ code: word.done });
    only().transcript = [{ speaker: 'Ada', text: 'I have used SQL.', startMs: 1_500 }];
    expect(await bot.transcript(id)).toEqual([
      { speaker: 'Ada', startMs: 1_500, text: 'I have used SQL.', ...(kind === 'attendee' ? { endMs: 2_500 } : {}) },
    ]);
    // The API key is not sent to a pre-signed link.
    expect(service.requests.filter(({ path }) => path.startsWith('/files/')).map((one) => one.authorization)).toEqual(
      kind === 'recall' ? [undefined] : [],
    );
    service.bots.clear();
    expect(await bot.transcript(id)).toEqual([]);
  });

  it('the meeting-bot service refuses a wrong API key', async () => {
    await expect(open(kind, 'wrong').schedule(order())).rejects.toMatchObject({ reason: 'refused' });
  });
});

it('without an API key no meeting-bot service is available', () => {
  expect(openBots({ service: 'recall', apiKey: undefined, apiUrl: service.url }, []).outside).toBeUndefined();
});

describe('verifiedId', () => {
  const now = new Date('2026-11-20T09:00:00.000Z');
  const at = now.getTime() / 1_000;
  const body = '{"event":"bot.done"}';
  const check = (headers: Record<string, string>, text = body) =>
    verifiedId(headers, Buffer.from(text), service.secret, now);

  it.each(['webhook', 'svix'])('a webhook request with a valid signature in the headers %s-* is accepted', (prefix) => {
    expect(check(service.signed(body, { id: 'msg_1', at, prefix }))).toBe('msg_1');
  });
  it('a webhook request with one valid signature among several is accepted', () => {
    const headers = service.signed(body, { id: 'msg_1', at });
    const several = { ...headers, 'webhook-signature': `v1a,abc v1,AAAA ${headers['webhook-signature']}` };
    expect(check(several)).toBe('msg_1');
  });
  it('a webhook request that was changed, is dated more than five minutes off, or lacks a header is refused', () => {
    const good = service.signed(body, { id: 'msg_1', at });
    expect(check(good, `${body} `)).toBeUndefined();
    expect(check({ ...good, 'webhook-id': 'msg_2' })).toBeUndefined();
    expect(check({ ...good, 'webhook-timestamp': String(at + 1) })).toBeUndefined();
    for (const away of [-301, 301]) expect(check(service.signed(body, { at: at + away }))).toBeUndefined();
    for (const near of [-299, 299]) expect(check(service.signed(body, { id: 'x', at: at + near }))).toBe('x');
    for (const name of Object.keys(good).filter((one) => one.startsWith('webhook')))
      expect(check({ ...good, [name]: '' })).toBeUndefined();
    expect(check({ ...good, 'webhook-timestamp': 'soon' })).toBeUndefined();
  });
});

describe('readReport', () => {
  it.each([
    ['{"event":"bot.done","data":{"bot":{"id":"b1","metadata":{}},"data":{"code":"done"}}}', { botId: 'b1' }],
    [
      '{"event":"bot.done","data":{"bot":{"id":"b1","metadata":{"org_id":"o","interview_id":"i","key":"i:1"}}}}',
      { botId: 'b1', sentWith: { org_id: 'o', interview_id: 'i', key: 'i:1' } },
    ],
    ['{"event":"bot.status_change","data":{"bot_id":"b2","status":{"code":"done"}}}', { botId: 'b2' }],
    ['{"event":"account.note","data":{}}', undefined],
    ['[]', undefined],
    ['not json', undefined],
  ])('a report of Recall.ai names its bot, or is ignored when it is about no bot: %s', (text, expected) =>
    expect(readReport(Buffer.from(text))).toEqual(expected),
  );
});

describe('canonicalJson', () => {
  const samples = [
    '{"b":1,"a":[true,null,{"z":2.0,"y":-0.5e-7}],"ab":{},"":[]}',
    '{ "name" : "José \\u00e9 😀 \\"quoted\\" \\\\ \\n \\u0007 \\u007f", "big": 12345678901234567890, "f": 1e16 }',
    '{"\\ud83d\\ude00":1,"\\uffe6":2,"a😀":3,"a":4,"A":5,"_":6}',
    '[1,2.50,"\u2028"]',
  ];
  it('canonicalJson produces the same text as Python’s JSON, which Attendee signs', () => {
    for (const text of samples.filter((one) => !/2\.50|e-7|1e16/.test(one)))
      expect(canonicalJson(text)).toBe(canonicalByPython(text));
    // Python never writes such numbers. They stay as they were written.
    expect(canonicalJson('[2.50,1e16,-0.5e-7]')).toBe('[2.50,1e16,-0.5e-7]');
  });
  it('canonicalJson keeps property names that are special in JavaScript', () => {
    expect(canonicalJson('{"__proto__":{"b":1},"10":1,"9":2}')).toBe('{"10":1,"9":2,"__proto__":{"b":1}}');
  });
});

describe('attendeeId', () => {
  const now = new Date('2026-11-20T09:00:00.000Z');
  const body = JSON.stringify({
    idempotency_key: 'k1',
    bot_id: 'bot_1',
    bot_metadata: { org_id: 'org_1', name: 'José 😀' },
    trigger: 'bot.state_change',
    data: { new_state: 'ended', created_at: '2026-11-20T08:59:58.123456Z', score: 2 },
  }).replace('"score":2', '"score":2.0');
  const check = (text: string, headers = signedByAttendee(body), secret = attendeeSecret) =>
    attendeeId(headers, Buffer.from(text), secret, now);

  it('a signed report of Attendee is accepted however its JSON is formatted', () => {
    expect(check(body)).toBe('k1');
    expect(check(body.replaceAll(',', ', ').replace('é', '\\u00e9'))).toBe('k1');
  });
  it('a report of Attendee with any changed part is refused', () => {
    expect(check(body.replace('ended', 'joining'))).toBeUndefined();
    expect(check(body.replace('2.0', '2.1'))).toBeUndefined();
    expect(check(body.replace('2.0', '2'))).toBeUndefined();
    expect(check(body.replace('"k1"', '"k2"'))).toBeUndefined();
    expect(check(`${body}{}`)).toBeUndefined();
    expect(check('')).toBeUndefined();
  });
  it('a report of Attendee without a signature or with that of another secret is refused', () => {
    expect(check(body, {} as never)).toBeUndefined();
    expect(check(body, { 'x-webhook-signature': '' } as never)).toBeUndefined();
    expect(check(body, { 'x-webhook-signature': 'AAAA' } as never)).toBeUndefined();
    expect(
      check(body, signedByAttendee(body), Buffer.from('another secret of ours').toString('base64')),
    ).toBeUndefined();
  });
  it('a report of Attendee that is older than a day or has no id is refused', () => {
    const later = new Date(now.getTime() + 86_400_001);
    expect(attendeeId(signedByAttendee(body), Buffer.from(body), attendeeSecret, later)).toBeUndefined();
    const nameless = '{"bot_id":"bot_1","data":{}}';
    expect(check(nameless, signedByAttendee(nameless))).toBeUndefined();
  });
  it('a report of Attendee with endless nesting is refused without a stack overflow', () => {
    expect(check('['.repeat(200_000))).toBeUndefined();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(check(deep)).toBeUndefined();
  });
});

describe('readAttendeeReport', () => {
  it.each([
    [
      '{"trigger":"bot.state_change","bot_id":"b1","data":{"new_state":"ended"},"bot_metadata":{"org_id":"o","interview_id":"i","key":"i:1"}}',
      { botId: 'b1', sentWith: { org_id: 'o', interview_id: 'i', key: 'i:1' } },
    ],
    ['{"trigger":"bot.state_change","bot_id":"b1","data":{"new_state":"ended"},"bot_metadata":null}', { botId: 'b1' }],
    ['{"trigger":"transcript.update","bot_id":"b1","data":{}}', undefined],
    ['{"trigger":"calendar.state_change","calendar_id":"c1","data":{}}', undefined],
    ['null', undefined],
  ])(
    'a report of Attendee about the state of a bot names the bot, and any other report is ignored: %s',
    (text, expected) => expect(readAttendeeReport(Buffer.from(text))).toEqual(expected),
  );
});
