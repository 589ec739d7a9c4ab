import { describe, expect, it } from '@jest/globals';
import { endReasonOf, noticeOf } from '../../../models/rules/interviews/room.ts';
import { endings, notices } from '../../../models/rules/interviews/roomsentences.ts';
import { interviewLanguages, languageOf } from '../../../models/rules/language/language.ts';
import type { RoomServerFrame } from '../../../api/interviews/contract/rooms.ts';
import { emptyRoom, receive, say } from '../../../web/room/state.ts';
import { texts } from '../../../web/room/texts.ts';

describe('the texts of a room', () => {
  it.each(interviewLanguages)('all texts of an interview room exist in %s and differ from each other', (language) => {
    const said = [notices, endings]
      .flatMap((kind) => Object.values<Record<string, string>>(kind))
      .map((one) => one[language]!);
    expect(new Set(said).size).toBe(said.length);
    for (const text of said) expect([text, languageOf(`${text} ${notices.all[language]}`)]).toEqual([text, language]);
  });
  it.each(['solo', 'copilot', 'shadow'] as const)(
    'the English notice of a %s interview mentions an AI and a recording',
    (mode) => {
      expect(noticeOf(mode, 'en')).toMatch(/\bAI\b[^]*recorded/u);
    },
  );
  it.each([
    ['all_answered', 'evaluating', 'all_answered'],
    ['something', 'cancelled', 'cancelled'],
    [undefined, 'evaluating', 'ended'],
  ])('an interview that ended by the cause %s in the state %s has the end reason %s', (cause, status, reason) =>
    expect(endReasonOf(cause, status)).toBe(reason),
  );
});

describe('the page of a room', () => {
  const error = (code: string, more: { not_begun?: true } = {}): RoomServerFrame => ({
    type: 'error',
    seq: 0,
    code,
    message: 'An English sentence.',
    ...more,
  });
  const welcome: RoomServerFrame = {
    type: 'welcome',
    seq: 0,
    role: 'candidate',
    mode: 'solo',
    language: 'de',
    role_title: 'Baker',
    question_count: 1,
    status: 'bot_deployed',
    ai_notice: 'An AI takes part.',
  };

  it('the page of a room that is not open yet has the state `early` and a text in each language', () => {
    const early = receive(emptyRoom, error('UNAVAILABLE', { not_begun: true }));
    expect(early).toMatchObject({ early: true, fault: undefined });
    expect(receive(early, welcome)).toMatchObject({ early: false });
    expect(receive(early, error('UNAVAILABLE'))).toMatchObject({ early: false });
    const said = Object.values(texts).map(({ notOpenYet }) => notOpenYet);
    expect(new Set(said).size).toBe(interviewLanguages.length);
  });

  it('an outage before the server’s welcome is not shown as a room that is not open yet', () => {
    for (const code of ['RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL'])
      expect(receive(emptyRoom, error(code))).toMatchObject({ early: false, fault: undefined });
  });

  it('the room page shows the server’s English sentence for a permanent refusal, and not for a temporary failure', () => {
    const open = receive(emptyRoom, welcome);
    for (const code of ['RATE_LIMITED', 'UNAVAILABLE', 'INTERNAL'])
      expect(receive(open, error(code))).toMatchObject({ early: false, fault: undefined });
    expect(receive(open, error('CONFLICT')).fault).toBe('An English sentence.');
  });

  it('an answer that the server stored but could not acknowledge before a reload is shown once, where the server has it', () => {
    const message = (message_id: string, role: 'candidate' | 'ai', body: string) => ({
      message_id,
      role,
      body,
      timestamp: '2026-01-01T12:00:00.000Z',
    });
    const messages = [message('msg_1', 'candidate', 'Bread.'), message('question:q2', 'ai', 'And what else?')];
    const reloaded = receive(say(receive(emptyRoom, welcome), 'c1', 'candidate', 'Bread.'), {
      type: 'history',
      seq: 3,
      messages,
    });
    const ack: RoomServerFrame = {
      type: 'ack',
      seq: 3,
      client_message_id: 'c1',
      message_id: 'msg_1',
      to: 'candidate',
    };
    const room = receive(reloaded, ack);
    expect(room.entries).toEqual([
      { id: 'msg_1', clientId: 'c1', by: 'candidate', body: 'Bread.', state: 'there' },
      { id: 'question:q2', by: 'ai', body: 'And what else?', state: 'there' },
    ]);
    expect(receive(room, ack).entries).toEqual(room.entries);
  });
});
