import { describe, expect, it } from '@jest/globals';
import { endReasonOf, noticeOf } from '../../../models/rules/interviews/room.ts';
import { endings, notices } from '../../../models/rules/interviews/roomsentences.ts';
import { interviewLanguages, languageOf } from '../../../models/rules/language/language.ts';
import type { RoomServerFrame } from '../../../api/interviews/contract/rooms.ts';
import { emptyRoom, receive } from '../../../web/room/state.ts';
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
});
