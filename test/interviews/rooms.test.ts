/**
 * The interview room over real sockets: consent, questions and answers, an interviewer with suggestions, links, and
 * crashing processes.
 */
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { goodAnswer, interviewing } from '../kit/interviewing.ts';
import { until } from '../kit/harness.ts';
import { startProcess, systemEnv } from '../kit/processes.ts';
import { Guest } from '../kit/rooms.ts';
import { roomBounds } from '../../models/rules/interviews/room.ts';

const env = systemEnv('shared');
const kit = await interviewing(env);
const { api } = kit;
const org = await api.newOrg();
const mine = kit.of(org);
afterAll(() => kit.close());

const guests: Guest[] = [];
afterEach(() => {
  for (const guest of guests.splice(0)) {
    guest.drop();
    expect(guest.faults).toEqual([]);
  }
});
const enter = async (link: string, url = api.url): Promise<Guest> => {
  const guest = new Guest(link);
  guests.push(guest);
  return guest.connect(url);
};

type Links = { candidate_url: string; interviewer_url: string; ws_url: string };
/** Creates and starts an interview; returns its id and the links to its room. */
async function started(body: object = {}): Promise<{ id: string; room: Links }> {
  const id = await mine.create({ questions, ...body });
  const { body: reply, status } = await mine.call('POST', `/${id}/start`);
  expect(status).toBe(200);
  return { id, room: reply.data.room };
}
const questions = [1, 2, 3].map((n) => ({ category: 'technical', body: `What do you know about subject ${n}?` }));
const detail = async (id: string) => (await mine.call('GET', `/${id}`)).body.data;
const agree = { type: 'consent', accepted: true };

describe('an interview room', () => {
  it('the links of an interview room exist from the start on, and are stored only as hashes and encrypted copies', async () => {
    const { id, room } = await started();
    expect(room.ws_url).toMatch(/^wss?:\/\/.*\/v1\/rooms\/ws\/[\w-]{32}$/u);
    expect(room.candidate_url.split('/').at(-1)).toBe(room.ws_url.split('/').at(-1));
    expect(room.interviewer_url).not.toBe(room.candidate_url);
    expect((await detail(id)).room).toEqual(room);
    await mine.reached(id, 'bot_deployed');
    expect((await detail(id)).room).toEqual(room);
    const stored = JSON.stringify(await kit.db.collection<{ _id: string }>('rooms').findOne({ _id: id }));
    for (const link of [room.candidate_url, room.interviewer_url]) expect(stored).not.toContain(link.split('/').at(-1));
  });

  it('an interview room does not exist while the interview is a draft', async () => {
    expect(await detail(await mine.create())).not.toHaveProperty('room');
  });

  it('the room links of a scheduled interview work only between the interview’s start and end', async () => {
    const at = { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() };
    const made = (await mine.call('POST', '', { role_title: 'Baker', questions, ...at })).body.data;
    const { interview_id: id, room } = made as { interview_id: string; room: Links };
    const page = (await fetch(`${api.url}/rooms/${room.candidate_url.split('/').at(-1)}`)).status;
    expect([page, (await detail(id)).room]).toEqual([200, room]);
    const shown = await until(async () => {
      const seen = await kit.handle(id).query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      return seen.currentDetails?.includes('scheduled') && seen.currentDetails;
    }, 'the workflow to show where it stands');
    expect(shown).toContain(`Scheduled for ${at.scheduled_at}.`);
    const early = new Guest(room.candidate_url);
    await early.connect(api.url);
    expect(await early.frame('error')).toMatchObject({
      code: 'UNAVAILABLE',
      not_begun: true,
      message: expect.stringContaining('not begun'),
    });
    await mine.call('PUT', `/${id}`, { role_title: 'Head baker' });
    expect((await mine.call('POST', `/${id}/start`)).body.data.room).toEqual(room);
    const guest = await new Guest(room.candidate_url).connect(api.url);
    expect(await guest.frame('welcome')).toMatchObject({ role_title: 'Head baker', status: 'bot_deployed' });
    guest.drop();
    const { interview_id: other, room: gone } = (await mine.call('POST', '', { role_title: 'Baker', questions, ...at }))
      .body.data as { interview_id: string; room: Links };
    await mine.call('POST', `/${other}/cancel`);
    expect(await detail(other)).not.toHaveProperty('room');
    const late = new Guest(gone.candidate_url);
    await late.connect(api.url);
    expect(await late.frame('error')).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('when the candidate’s address is replaced, the candidate gets a new room link, and the old link lets nobody in', async () => {
    const at = { scheduled_at: new Date(Date.now() + 3_600_000).toISOString() };
    const wrong = { role_title: 'Baker', questions, ...at, candidate_email: 'typo@candidate.example' };
    const { interview_id: id, room } = (await mine.call('POST', '', wrong)).body.data as {
      interview_id: string;
      room: Links;
    };
    const put = async (body: object): Promise<Links> => (await mine.call('PUT', `/${id}`, body)).body.data.room;
    // A change that keeps the address keeps the link.
    expect(await put({ candidate_email: wrong.candidate_email, candidate_name: 'Ada' })).toEqual(room);
    const replaced = await put({ candidate_email: 'right@candidate.example' });
    expect(replaced.candidate_url).not.toBe(room.candidate_url);
    expect(replaced.interviewer_url).toBe(room.interviewer_url);
    expect((await mine.call('POST', `/${id}/start`)).body.data.room).toEqual(replaced);
    const late = new Guest(room.candidate_url);
    await late.connect(api.url);
    expect(await late.frame('error')).toMatchObject({ code: 'UNAUTHENTICATED' });
    const candidate = await enter(replaced.candidate_url);
    expect(await candidate.frame('welcome')).toMatchObject({ role: 'candidate' });
  });

  it('a wrong link to an interview room gets 404 with an HTML page', async () => {
    const reply = await fetch(`${api.url}/rooms/${'a'.repeat(32)}`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')]);
  });
});

describe('a solo interview', () => {
  it('a solo interview asks one question after the other, and goes to evaluation when all are answered', async () => {
    const { id, room } = await started({ candidate_name: 'Ada Lovelace' });
    const candidate = await enter(room.candidate_url);
    expect(await candidate.frame('welcome')).toMatchObject({
      role: 'candidate',
      mode: 'solo',
      role_title: 'Data Engineer',
      question_count: 3,
      status: 'bot_deployed',
      ai_notice: expect.stringMatching(/AI.*recorded/u),
    });
    candidate.say('Too early.');
    expect(await candidate.frame('error')).toMatchObject({ code: 'CONFLICT' });
    expect((await detail(id)).transcript).toEqual([]);
    candidate.send(agree);
    await candidate.frame('question', ({ index }) => index === 1);
    await mine.reached(id, 'in_progress');
    for (const n of [1, 2, 3]) {
      expect(await candidate.frame('question', ({ index }) => index === n)).toMatchObject({
        total: 3,
        body: questions[n - 1]!.body,
      });
      candidate.say(goodAnswer(n), `answer-${n}`);
      const ack = await candidate.frame('ack', (frame) => frame.client_message_id === `answer-${n}`);
      expect(await candidate.frame('message', (frame) => frame.message_id === ack.message_id)).toMatchObject({
        role: 'candidate',
        body: goodAnswer(n),
      });
    }
    expect(await candidate.frame('ended')).toMatchObject({ reason: 'all_answered' });
    await mine.reached(id, 'evaluating');
    const { transcript, history } = await detail(id);
    expect(
      transcript.map((one: { speaker: string }) => one.speaker).filter((name: string) => name === 'Ada Lovelace'),
    ).toHaveLength(3);
    expect(transcript.map((one: { text: string }) => one.text)).toEqual(
      [1, 2, 3].flatMap((n) => [questions[n - 1]!.body, goodAnswer(n)]),
    );
    expect(
      history.map((move: { operation: string; actor: string }) => `${move.operation} ${move.actor}`).slice(-2),
    ).toEqual(['join candidate', 'end candidate']);
    expect(await candidate.ended()).toMatchObject({ code: 4401 });
    expect(await detail(id)).not.toHaveProperty('room');
  });

  it('a solo interview stores an answer once, however often it is sent', async () => {
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    for (let n = 0; n < 3; n += 1) candidate.say('The same answer.', 'once');
    await until(async () => candidate.all('ack').length === 3, 'three acknowledgements');
    await candidate.frame('question', ({ index }) => index === 2);
    expect(candidate.all('question').map(({ index }) => index)).toEqual([1, 2]);
    expect(new Set(candidate.all('ack').map(({ message_id }) => message_id)).size).toBe(1);
    expect((await detail(id)).transcript).toHaveLength(3);
  });

  it('a solo interview sends the missed frames to a client that resumes, and the history to a new client', async () => {
    const { room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    candidate.drop();
    const second = await enter(room.candidate_url);
    expect((await second.frame('history')).messages).toHaveLength(1);
    second.say('From another tab.');
    await second.frame('question', ({ index }) => index === 2);
    await candidate.resume(api.url);
    await candidate.frame('question', ({ index }) => index === 2);
    expect(candidate.all('message').map(({ body }) => body)).toEqual(['From another tab.']);
  });

  it('a solo interview loses no answer when the API dies, and continues in another process', async () => {
    const other = await startProcess('api/server.ts', { ...env, PORT: '0' });
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url, other.url);
    candidate.send(agree);
    await candidate.frame('question');
    candidate.say('An answer that is on its way.', 'first');
    await candidate.frame('ack');
    await other.kill();
    await candidate.resume(api.url);
    candidate.say('An answer that is on its way.', 'first');
    await candidate.frame('question', ({ index }) => index === 2);
    candidate.say('Second.');
    await candidate.frame('question', ({ index }) => index === 3);
    const { transcript } = await detail(id);
    expect(transcript.filter((one: { is_ai: boolean }) => !one.is_ai).map((one: { text: string }) => one.text)).toEqual(
      ['An answer that is on its way.', 'Second.'],
    );
  });

  it('a solo interview whose process died after storing an answer continues when any client connects', async () => {
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    candidate.say('Stored, and never shown.', 'lost');
    await candidate.frame('question', ({ index }) => index === 2);
    candidate.drop();
    // The state after a process died right after storing the answer: no frame after the first question exists.
    const shown = kit.db.collection<{ _id: string; seq: number }>('frames');
    const first = await shown.findOne({ _id: { $regex: `^${id}:` }, type: 'question' } as never);
    await shown.deleteMany({ org_id: org.orgId, stream: id, seq: { $gt: first!.seq } });
    const again = await enter(room.candidate_url);
    await again.frame('question', ({ index }) => index === 2);
    again.say('Stored, and never shown.', 'lost');
    await again.frame('ack');
    expect((await detail(id)).transcript.filter((one: { is_ai: boolean }) => !one.is_ai)).toHaveLength(1);
  });

  it('a solo interview can be ended early by the candidate, and is evaluated on the answers so far', async () => {
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    candidate.say(goodAnswer(1));
    await candidate.frame('question', ({ index }) => index === 2);
    candidate.send({ type: 'end' });
    expect(await candidate.frame('ended')).toMatchObject({ reason: 'candidate_ended' });
    await mine.reached(id, 'evaluating');
    const summary = await until(async () => (await detail(id)).qa_summary ?? undefined, 'the summary');
    expect(summary).toMatchObject({ questions: 3, answered: 1, ended_early: true });
  });

  it('a solo interview can be followed and ended by an interviewer, who cannot send messages in it', async () => {
    const { id, room } = await started();
    const [candidate, interviewer] = [await enter(room.candidate_url), await enter(room.interviewer_url)];
    interviewer.send({ type: 'end' });
    expect(await interviewer.frame('error')).toMatchObject({ code: 'CONFLICT' });
    candidate.send(agree);
    await interviewer.frame('question');
    interviewer.say('Hello?');
    await until(async () => interviewer.all('error').length === 2, 'the refusal');
    interviewer.send({ type: 'end' });
    expect(await candidate.frame('ended')).toMatchObject({ reason: 'interviewer_ended' });
    await mine.reached(id, 'evaluating');
  });
});

describe('consent to the recording', () => {
  it('a refused consent cancels the interview, and nothing is recorded', async () => {
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url);
    await candidate.frame('welcome');
    candidate.send({ type: 'consent', accepted: false });
    expect(await candidate.frame('ended')).toMatchObject({ reason: 'consent_refused' });
    const { transcript, history } = await mine.reached(id, 'cancelled').then(() => detail(id));
    expect(transcript).toEqual([]);
    expect(history.at(-1)).toMatchObject({ operation: 'refuse', actor: 'candidate', cause: 'consent_refused' });
  });
  it('consent to the recording can only be given by the candidate', async () => {
    const { id, room } = await started();
    const interviewer = await enter(room.interviewer_url);
    await interviewer.frame('welcome');
    interviewer.send(agree);
    interviewer.send({ type: 'ping' });
    await interviewer.frame('pong');
    expect((await detail(id)).status).toBe('bot_deployed');
  });
});

describe('the metrics of rooms', () => {
  it('the metrics of rooms count sockets and frames separately from those of the chat', async () => {
    const counted = async (name: string): Promise<number> => {
      const body = await (await fetch(`${api.url}/metrics`)).text();
      const line = body
        .split('\n')
        .find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{type="question"}`));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    const before = await counted('room_frames_sent_total');
    const { room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    expect(await counted('room_sockets_open')).toBeGreaterThan(0);
    expect(await counted('room_frames_sent_total')).toBeGreaterThan(before);
    expect(await counted('chat_frames_sent_total')).toBe(0);
  });
});

describe('a link to a room', () => {
  it.each(['', 'x', 'A'.repeat(32)])('a socket with the invalid link %j is closed with 4401', async (token) => {
    const guest = new Guest(`/${token || 'none'}`);
    await guest.connect(api.url);
    expect(await guest.ended()).toMatchObject({ code: 4401 });
    expect(guest.all('welcome')).toEqual([]);
  });
  it('a link to a room opens only its own room, and no room once the interview is over', async () => {
    const [one, other] = [await started(), await started({ role_title: 'Another' })];
    const guest = await enter(one.room.candidate_url);
    expect(await guest.frame('welcome')).toMatchObject({ role: 'candidate', role_title: 'Data Engineer' });
    const elsewhere = await enter(other.room.candidate_url);
    elsewhere.send(agree);
    await elsewhere.frame('question');
    await mine.call('POST', `/${one.id}/cancel`);
    expect(await guest.frame('ended')).toMatchObject({ reason: 'cancelled' });
    expect(await guest.ended()).toMatchObject({ code: 4401 });
    for (const link of [one.room.candidate_url, one.room.interviewer_url]) {
      const late = await enter(link);
      expect(await late.ended()).toMatchObject({ code: 4401 });
      expect(late.all('welcome')).toEqual([]);
    }
    expect(guest.all('question')).toEqual([]);
    expect((await detail(one.id)).transcript).toEqual([]);
  });
});

describe('a copilot interview', () => {
  it('a copilot interview sends suggestions only to the interviewer, and everything else also to the candidate', async () => {
    const { id, room } = await started({ mode: 'copilot' });
    const [candidate, interviewer] = [await enter(room.candidate_url), await enter(room.interviewer_url)];
    await interviewer.frame('welcome');
    candidate.send(agree);
    expect(await interviewer.frame('suggestion')).toMatchObject({ kind: 'question', body: questions[0]!.body });
    interviewer.say('Hello! What do you know about subject 1?');
    await candidate.frame('message', ({ role }) => role === 'interviewer');
    candidate.say(
      'We reduced the run time of the reports by 40 % in one year, with new indexes and a cache in front of them.',
    );
    const follow = await interviewer.frame('suggestion', ({ kind }) => kind === 'follow_up');
    expect(follow.body).toContain('40 %');
    await interviewer.frame('suggestion', ({ body }) => body === questions[1]!.body);
    candidate.send({ type: 'ping' });
    await candidate.frame('pong');
    expect([candidate.all('suggestion'), candidate.all('question')]).toEqual([[], []]);
    const late = await enter(room.candidate_url);
    expect(JSON.stringify(await late.frame('history'))).not.toContain('suggestion');
    interviewer.send({ type: 'end' });
    await mine.reached(id, 'evaluating');
    expect((await detail(id)).transcript.map((one: { text: string }) => one.text.slice(0, 9))).toEqual([
      'Hello! Wh',
      'We reduce',
    ]);
  });
});

describe('a full room', () => {
  const bounds = roomBounds;
  it.each([
    ['messages', { 'size.messages': bounds.messages - 1 }],
    ['characters', { 'size.characters': bounds.characters - 'The last one.'.length }],
  ])('a room at its limit of %s refuses messages, keeps the transcript, and can be ended', async (_, size) => {
    const { id, room } = await started({ mode: 'copilot' });
    const [candidate, interviewer] = [await enter(room.candidate_url), await enter(room.interviewer_url)];
    candidate.send(agree);
    await interviewer.frame('joined');
    await kit.db.collection<{ _id: string }>('rooms').updateOne({ _id: id }, { $set: size });
    candidate.say('The last one.', 'last');
    await interviewer.frame('message');
    candidate.say('One more.', 'more');
    expect(await candidate.frame('error')).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('2000 messages'),
      client_message_id: 'more',
    });
    // A stored message is acknowledged again.
    candidate.say('The last one.', 'last');
    await until(async () => candidate.all('ack').length === 2, 'the second ack');
    interviewer.send({ type: 'end' });
    await mine.reached(id, 'evaluating');
    expect((await detail(id)).transcript.map(({ text }: { text: string }) => text)).toEqual(['The last one.']);
  });

  it('an interview room reads at most 30 stored messages for each new message, however long the transcript is', async () => {
    const { id, room } = await started({ mode: 'copilot' });
    const [candidate, interviewer] = [await enter(room.candidate_url), await enter(room.interviewer_url)];
    candidate.send(agree);
    await interviewer.frame('joined');
    const long = Array.from({ length: 500 }, (_, n) => ({
      _id: `${id}:p${n}`,
      stream: id,
      id: `p${n}`,
      speaker: 'Ada',
      text: 'Before.',
      at: new Date(n),
      is_ai: false,
      role: 'candidate',
      place: String(n),
    }));
    await kit.db.collection<{ _id: string }>('transcript_segments').insertMany(long);
    const reads = { 'command.find': 'transcript_segments', 'command.filter.stream': id };
    await kit.db.command({ profile: 1, slowms: 0, filter: reads });
    candidate.say('We cut the costs by 40 % with a cache in front of the reports, after months of measuring them all.');
    await interviewer.frame('suggestion', ({ kind }) => kind === 'follow_up');
    await kit.db.command({ profile: 0, filter: 'unset' });
    // A read that MongoDB interrupted has no count.
    const seen = await kit.db.command({ find: 'system.profile', filter: { docsExamined: { $exists: true } } });
    const examined = (seen['cursor'].firstBatch as { docsExamined: number }[]).map(({ docsExamined }) => docsExamined);
    await kit.db.collection('system.profile').drop();
    expect(examined.length).toBeGreaterThan(0);
    expect(Math.max(...examined)).toBeLessThanOrEqual(30);
    await mine.call('POST', `/${id}/cancel`);
  });
});

describe('a shadow interview', () => {
  it('a shadow interview records both participants, and the AI says nothing', async () => {
    const { id, room } = await started({ mode: 'shadow' });
    const [candidate, interviewer] = [await enter(room.candidate_url), await enter(room.interviewer_url)];
    candidate.send(agree);
    await interviewer.frame('joined');
    interviewer.say('Why us?');
    await candidate.frame('message');
    candidate.say('Because of the work that you do.');
    await interviewer.frame('message', ({ role }) => role === 'candidate');
    expect([...interviewer.all('suggestion'), ...interviewer.all('question')]).toEqual([]);
    candidate.send({ type: 'end' });
    await mine.reached(id, 'evaluating');
    expect((await detail(id)).transcript).toHaveLength(2);
  });
});

describe('deleting an interview', () => {
  it('deleting an interview deletes its room and frames, and disconnects everybody in the room', async () => {
    const { id, room } = await started();
    const candidate = await enter(room.candidate_url);
    candidate.send(agree);
    await candidate.frame('question');
    candidate.say('Personal words.');
    await candidate.frame('question', ({ index }) => index === 2);
    expect((await mine.call('DELETE', `/${id}`)).status).toBe(200);
    expect(await candidate.ended()).toMatchObject({ code: 4401 });
    for (const [name, field] of [
      ['rooms', '_id'],
      ['frames', 'stream'],
      ['transcript_segments', 'stream'],
    ] as const)
      expect(await kit.db.collection(name).countDocuments({ [field]: id })).toBe(0);
  });
});
