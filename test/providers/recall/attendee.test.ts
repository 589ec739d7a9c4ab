/**
 * Interviews in external calls with bots of Attendee, against a server with its API. Reports are signed as Attendee
 * signs them (by Python), altered, signed with another secret, repeated, too late, or about foreign interviews.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { attendeeSecret, signedByAttendee } from '../../kit/attendee.ts';
import type { FakeBot } from '../../kit/botservice.ts';
import { until } from '../../kit/harness.ts';
import { goodAnswer } from '../../kit/interviewing.ts';
import { outsideCalls } from '../../kit/outsidecalls.ts';
import { defined } from '../../../models/rules/base/defined.ts';
import { interviewSignals } from '../../../models/rules/interviews/work.ts';

const { service, kit, mine, close } = await outsideCalls('attendee', () => ({
  MEETING_BOT_SERVICE: 'attendee',
  MEETING_BOT_WEBHOOK_SECRET: attendeeSecret,
}));
afterAll(close);

const post = (body: string, headers: Record<string, string> = signedByAttendee(body)) =>
  kit.api.request('POST', '/webhooks/attendee', { raw: body, headers });
const move = (bot: FakeBot, code: string, sub_code?: string) =>
  void bot.changes.push({ code, ...defined({ sub_code }) });
/** Changes the state of a bot at the service and reports it. */
async function report(bot: FakeBot, code: string, sub_code?: string): Promise<void> {
  move(bot, code, sub_code);
  expect((await post(service.attendeeReport(bot))).status).toBe(200);
}
/** The number of reports that the interview's workflow was told of. */
async function reportsOf(id: string): Promise<number> {
  const { events } = await kit.handle(id).fetchHistory();
  const signals = events!.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName);
  return signals.filter((name) => name === interviewSignals.reported).length;
}
/** An interview in a call with the bot that was sent. */
async function called(member = mine): Promise<{ id: string; bot: FakeBot }> {
  const id = await member.create({ meeting_url: 'https://meet.example/1', candidate_name: 'Ada' });
  expect((await member.call('POST', `/${id}/start`)).status).toBe(200);
  const bot = await until(async () => service.latest(id), 'a bot to be sent');
  const has = { _id: id, 'state.bot.id': bot.id };
  await until(
    async () => (await kit.db.collection<{ _id: string }>('interviews').countDocuments(has)) === 1,
    'the bot to be known',
  );
  return { id, bot };
}

describe('an interview in a call of Attendee', () => {
  it('the reports of the meeting-bot service Attendee start and end an interview, which is scored from the call’s transcript', async () => {
    const { id, bot } = await called();
    const { questions } = await mine.get(id);
    await report(bot, 'waiting_room');
    await report(bot, 'joined_recording');
    await mine.reached(id, 'in_progress');
    bot.transcript = questions.flatMap(({ body }, n) => [
      { speaker: 'Grace', text: body, startMs: n * 60_000 },
      { speaker: 'Ada', text: goodAnswer(n), startMs: n * 60_000 + 10_000 },
    ]);
    await report(bot, 'post_processing');
    await mine.reached(id, 'evaluating');
    await report(bot, 'ended');
    await until(async () => (await mine.call('GET', `/${id}`)).body.data.qa_summary ?? undefined, 'phase 1');
    const { body } = await mine.call('POST', `/${id}/generate-score`);
    expect(body.data).toMatchObject({ status: 'completed', qa_summary: { answered: 3, ended_early: false } });
  });

  it('an interview shows why its bot is not in the call when the bot was not admitted', async () => {
    const { id, bot } = await called();
    await report(bot, 'fatal_error', 'request_to_join_denied');
    await until(async () => (await mine.get(id)).failure?.reason === 'not_admitted', 'the reason');
    await mine.call('POST', `/${id}/cancel`);
  });
});

describe('POST /webhooks/attendee', () => {
  it('a report of Attendee that is altered, wrongly signed, unsigned or old is refused with 401 and has no effect', async () => {
    const { id, bot } = await called();
    move(bot, 'joined_recording');
    const body = service.attendeeReport(bot);
    const altered = body.replace(bot.id, 'bot_of_others');
    const old = service.attendeeReport(bot, 'old', new Date(Date.now() - 2 * 86_400_000));
    const another = Buffer.from('a secret of somebody else').toString('base64');
    const refused = [
      post(altered, signedByAttendee(body)),
      post(`${body} {}`, signedByAttendee(body)),
      post(body, signedByAttendee(body, another)),
      post(body, { 'content-type': 'application/json' }),
      post(old),
      // Signed by the scheme of the other meeting-bot service.
      post(body, service.signed(body)),
    ];
    for (const { status, body: reply } of await Promise.all(refused))
      expect([status, reply.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect([await reportsOf(id), (await mine.get(id)).status]).toEqual([0, 'bot_deployed']);
    await mine.call('POST', `/${id}/cancel`);
  });

  it('the webhook of the meeting-bot service that is not chosen refuses every request with 401, whoever signed it', async () => {
    const { bot } = await called();
    const body = service.attendeeReport(bot);
    for (const headers of [signedByAttendee(body), service.signed(body, { by: attendeeSecret })])
      expect((await kit.api.request('POST', '/webhooks/recall', { raw: body, headers })).status).toBe(401);
  });

  it('a report of Attendee takes effect once, however often it is sent and however it is formatted', async () => {
    const { id, bot } = await called();
    move(bot, 'joined_recording');
    const body = service.attendeeReport(bot, 'once');
    const spelled = JSON.stringify(JSON.parse(body), undefined, 2);
    const replies = await Promise.all([post(body), post(body), post(spelled)]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    await mine.reached(id, 'in_progress');
    expect(await reportsOf(id)).toBe(1);
    await mine.call('POST', `/${id}/cancel`);
  });

  it('a report of Attendee about an unknown bot or interview, or about one of another organization, has no effect', async () => {
    const other = kit.of(await kit.api.newOrg());
    const theirs = await called(other);
    const { id, bot } = await called();
    move(theirs.bot, 'joined_recording');
    move(bot, 'joined_recording');
    // An unknown bot in a report that names an interview with a bot, under either organization.
    const stray = (orgId: string, interviewId: string): FakeBot => ({
      ...bot,
      id: 'bot_of_nobody',
      metadata: { org_id: orgId, interview_id: interviewId, key: `${interviewId}:1` },
    });
    for (const body of [
      service.attendeeReport(stray(mine.org.orgId, theirs.id)),
      service.attendeeReport(stray(other.org.orgId, theirs.id)),
      service.attendeeReport(stray(mine.org.orgId, id)),
      service.attendeeReport({ ...bot, id: 'bot_of_nobody', metadata: {} }),
      JSON.stringify({ idempotency_key: 'c1', calendar_id: 'cal_1', trigger: 'calendar.state_change', data: {} }),
    ])
      expect((await post(body)).status).toBe(200);
    expect([await reportsOf(id), await reportsOf(theirs.id)]).toEqual([0, 0]);
    // A report about a bot of the other organization changes only that organization.
    expect((await post(service.attendeeReport(theirs.bot))).status).toBe(200);
    await other.reached(theirs.id, 'in_progress');
    expect((await mine.get(id)).status).toBe('bot_deployed');
    await Promise.all([mine.call('POST', `/${id}/cancel`), other.call('POST', `/${theirs.id}/cancel`)]);
  });
});
