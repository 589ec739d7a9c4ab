/**
 * Interviews in external calls, against a server that behaves like Recall.ai: bots that join, drop out, are refused,
 * never join or die, and webhooks that are signed, repeated or forged.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { FakeBot } from '../kit/botservice.ts';
import { until } from '../kit/harness.ts';
import { goodAnswer } from '../kit/interviewing.ts';
import { outsideCalls } from '../kit/outsidecalls.ts';
import { defined } from '../../models/rules/base/defined.ts';

const { service, kit, mine, close } = await outsideCalls('outsidecalls', ({ secret }) => ({
  MEETING_BOT_WEBHOOK_SECRET: secret,
}));
afterAll(close);

const post = (body: string, headers: Record<string, string>) =>
  kit.api.request('POST', '/webhooks/recall', { raw: body, headers });
/** The service changes a bot's status, and sends the webhook. */
async function report(bot: FakeBot, code: string, sub_code?: string): Promise<void> {
  bot.changes.push({ code, ...defined({ sub_code }) });
  const body = service.report(bot);
  expect((await post(body, service.signed(body))).status).toBe(200);
}
/** An interview with a meeting link, started, and the bot that was sent to the call. */
async function called(body: object = {}): Promise<{ id: string; bot: FakeBot }> {
  const id = await mine.create({ meeting_url: 'https://meet.example/1', candidate_name: 'Ada', ...body });
  expect((await mine.call('POST', `/${id}/start`)).status).toBe(200);
  return { id, bot: await sent(id) };
}
const sent = (id: string, after?: FakeBot) =>
  until(async () => {
    const bot = service.latest(id);
    const known = (await kit.db
      .collection<{ _id: string; state: { bot?: { id: string } } }>('interviews')
      .findOne({ _id: id }))!;
    return bot && bot !== after && known.state.bot?.id === bot.id ? bot : undefined;
  }, 'a bot to be sent');

describe('an interview in an external call', () => {
  it('an interview in an external call is joined and recorded by a bot, and scored from the bot’s transcript', async () => {
    const { id, bot } = await called();
    const { questions } = await mine.get(id);
    await report(bot, 'in_waiting_room');
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    bot.transcript = questions.flatMap(({ body }, n) => [
      { speaker: 'Grace', text: body, startMs: n * 60_000 },
      { speaker: 'Ada', text: goodAnswer(n), startMs: n * 60_000 + 10_000 },
    ]);
    await report(bot, 'call_ended', 'timeout_exceeded_everyone_left');
    await mine.reached(id, 'evaluating');
    await report(bot, 'done');
    await until(async () => (await mine.call('GET', `/${id}`)).body.data.qa_summary ?? undefined, 'phase 1');
    const { body } = await mine.call('POST', `/${id}/generate-score`);
    expect(body.data).toMatchObject({
      status: 'completed',
      qa_summary: { answered: 3, ended_early: false },
      evaluation: { ended_early: false },
    });
    expect(body.data.transcript).toHaveLength(6);
    for (const { quote } of body.data.evaluation.evidence)
      expect(questions.map((_, n) => goodAnswer(n)).join(' ')).toContain(quote);
    expect(body.data.history.map((one: { operation: string; actor: string }) => [one.operation, one.actor])).toEqual([
      ['schedule', mine.org.owner.userId],
      ['start', mine.org.owner.userId],
      ['join', 'bot'],
      ['end', 'bot'],
      ['score', mine.org.owner.userId],
    ]);
  });

  it('an interview whose bot is not admitted shows the reason, and another bot can be sent', async () => {
    const { id, bot } = await called();
    await report(bot, 'fatal', 'bot_kicked_from_waiting_room');
    await until(async () => (await mine.get(id)).failure?.reason === 'not_admitted', 'the reason');
    // A member sends another bot at once instead of waiting for the retry.
    expect((await mine.call('POST', `/${id}/rejoin`)).status).toBe(200);
    const second = await sent(id, bot);
    await report(second, 'in_call_recording');
    expect((await mine.reached(id, 'in_progress')).failure).toBeNull();
    await mine.call('POST', `/${id}/cancel`);
  });

  it('an interview whose bot drops out continues with another bot, and both transcripts are kept', async () => {
    const { id, bot } = await called();
    const { questions } = await mine.get(id);
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    // The second bot may join within the same second; its transcript is ordered after the first bot's.
    bot.transcript = [
      { speaker: 'Grace', text: questions[0]!.body, startMs: 0 },
      { speaker: 'Ada', text: goodAnswer(0), startMs: 1 },
    ];
    await report(bot, 'fatal', 'bot_errored');
    await until(async () => (await mine.get(id)).failure?.reason === 'service', 'the loss to be seen');
    expect((await mine.get(id)).status).toBe('in_progress');
    await mine.call('POST', `/${id}/rejoin`);
    const second = await sent(id, bot);
    second.transcript = [
      { speaker: 'Grace', text: questions[1]!.body, startMs: 0 },
      { speaker: 'Ada', text: goodAnswer(1), startMs: 1 },
    ];
    bot.changes.push({ code: 'done' });
    await mine.call('POST', `/${id}/end`);
    await until(async () => second.left, 'the second bot to leave');
    await report(second, 'done', 'bot_received_leave_call');
    const summary = await until(
      async () => (await mine.call('GET', `/${id}`)).body.data.qa_summary ?? undefined,
      'phase 1',
    );
    expect(summary).toMatchObject({ answered: 2, ended_early: true });
    expect((await mine.call('POST', `/${id}/generate-score`)).body.data.evaluation.ended_early).toBe(true);
  });

  it('an interview is in progress at once even if its bot joins before the service answered the request for a bot', async () => {
    const answer = service.holdAnswers();
    const id = await mine.create({ meeting_url: 'https://meet.example/1' });
    await mine.call('POST', `/${id}/start`);
    const bot = await until(async () => service.latest(id), 'the order to be carried out');
    await report(bot, 'in_call_recording');
    answer();
    // Without the webhook, the first poll would come after a minute, which is longer than the test waits.
    await mine.reached(id, 'in_progress');
    await mine.call('POST', `/${id}/cancel`);
  });

  it('an interview in a call that nobody joins is cancelled', async () => {
    const { id, bot } = await called();
    await report(bot, 'in_call_not_recording');
    await mine.reached(id, 'in_progress');
    await report(bot, 'call_ended', 'timeout_exceeded_noone_joined');
    const { history } = await mine.reached(id, 'cancelled');
    expect(history.at(-1)).toMatchObject({ operation: 'no_show', actor: 'bot', cause: 'candidate_no_show' });
  });

  it('after the service has refused a bot, a request to rejoin sends another bot, which leaves when the interview is cancelled', async () => {
    service.refusals.push(507);
    const id = await mine.create({ meeting_url: 'https://meet.example/1' });
    await mine.call('POST', `/${id}/start`);
    await until(async () => (await mine.get(id)).failure?.reason === 'service', 'the refusal');
    await mine.call('POST', `/${id}/rejoin`);
    const bot = await sent(id);
    await mine.call('POST', `/${id}/cancel`);
    await until(async () => bot.left, 'the bot to leave');
  });

  it('an interview in an external call gets one bot even when the response to the first request was lost', async () => {
    service.loseAnswers(1);
    const { id, bot } = await called();
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    await mine.call('DELETE', `/${id}`);
    await until(async () => bot.left, 'the bot to leave');
    bot.changes.push({ code: 'done' });
  });
});

describe('DELETE /orgs/{orgId}/interviews/{interviewId}', () => {
  const records = (id: string) => kit.db.collection<{ _id: string }>('interviews').countDocuments({ _id: id });

  it('deleting an interview removes the recordings of all bots at the service, even when the service is unavailable at first', async () => {
    const { id, bot } = await called();
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    await report(bot, 'fatal', 'bot_errored');
    await until(async () => (await mine.get(id)).failure?.reason === 'service', 'the loss to be seen');
    await mine.call('POST', `/${id}/rejoin`);
    const second = await sent(id, bot);
    await report(second, 'in_call_recording');
    service.away(true);
    const before = service.requests.length;
    expect((await mine.call('DELETE', `/${id}`)).status).toBe(200);
    expect((await mine.call('GET', `/${id}`)).status).toBe(404);
    await until(async () => service.requests.length > before + 1, 'the service to be asked in vain');
    service.away(false);
    await until(async () => second.left, 'the second bot to leave');
    second.changes.push({ code: 'call_ended' }, { code: 'done' });
    await until(async () => bot.erased && second.erased, 'the recordings to be deleted');
    await until(async () => (await records(id)) === 0, 'the record to be forgotten');
  });

  it('deleting an interview removes the recording of each bot as soon as the service allows the deletion', async () => {
    const { id, bot } = await called();
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    await report(bot, 'fatal', 'bot_errored');
    await until(async () => (await mine.get(id)).failure?.reason === 'service', 'the loss to be seen');
    await mine.call('POST', `/${id}/rejoin`);
    const second = await sent(id, bot);
    second.changes.push({ code: 'done' });
    // The first bot is in the call again.
    bot.changes.push({ code: 'in_call_recording' });
    service.leaveRefusals.push(...Array.from({ length: 10 }, () => 400));
    expect((await mine.call('DELETE', `/${id}`)).status).toBe(200);
    await until(async () => second.erased, 'the recording of the second bot to be deleted');
    expect(bot).toMatchObject({ left: false, erased: false });
    service.leaveRefusals.length = 0;
    bot.changes.push({ code: 'done' });
    await until(async () => bot.erased, 'the recording of the first bot to be deleted');
    await until(async () => (await records(id)) === 0, 'the record to be forgotten');
  });

  it('deleting an interview that ended long ago also removes its recording', async () => {
    const { id, bot } = await called();
    await report(bot, 'in_call_recording');
    await mine.reached(id, 'in_progress');
    await mine.call('POST', `/${id}/cancel`);
    await until(async () => bot.left, 'the bot to leave');
    bot.changes.push({ code: 'done' });
    await kit.handle(id).result();
    await mine.call('DELETE', `/${id}`);
    await until(async () => bot.erased, 'the recordings to be deleted');
    await until(async () => (await records(id)) === 0, 'the record to be forgotten');
  });
});

describe('POST /webhooks/recall', () => {
  it('a webhook of Recall.ai is refused with 401 when its signature is missing, invalid or too old', async () => {
    const { id, bot } = await called();
    const body = service.report(bot);
    const good = service.signed(body);
    const refused = [
      post(body, { 'content-type': 'application/json' }),
      post(body.replace('joining_call', 'fatal'), good),
      post(body, service.signed(body, { at: Date.now() / 1_000 - 400 })),
      post(body, { ...good, 'webhook-signature': 'v1,AAAA' }),
    ];
    for (const { status } of await Promise.all(refused)) expect(status).toBe(401);
    await mine.call('POST', `/${id}/cancel`);
  });

  it('a webhook of Recall.ai takes effect once, however often it arrives, and is ignored for an unknown bot', async () => {
    const { id, bot } = await called();
    bot.changes.push({ code: 'in_call_recording' });
    const body = service.report(bot);
    const headers = service.signed(body, { prefix: 'svix', id: 'msg_once' });
    const replies = await Promise.all([1, 2, 3].map(() => post(body, headers)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    await mine.reached(id, 'in_progress');
    expect(await kit.db.collection<{ _id: string }>('interviews').findOne({ _id: id })).toMatchObject({
      reports: ['recall:msg_once'],
    });
    const unknown = JSON.stringify({ event: 'bot.done', data: { bot: { id: 'nobody', metadata: {} } } });
    expect((await post(unknown, service.signed(unknown))).status).toBe(200);
    const other = JSON.stringify({ event: 'account.changed', data: {} });
    expect((await post(other, service.signed(other))).status).toBe(200);
    await mine.call('POST', `/${id}/cancel`);
  });
});
