import { describe, expect, it } from '@jest/globals';
import { endReasonOf, noticeOf } from '../../../models/rules/interviews/room.ts';
import { endings, notices } from '../../../models/rules/interviews/roomsentences.ts';
import { interviewLanguages, languageOf } from '../../../models/rules/language/language.ts';

describe('the texts of a room', () => {
  it.each(interviewLanguages)('all texts of an interview room exist in %s and differ from each other', (language) => {
    const said = [notices, endings]
      .flatMap((kind) => Object.values<Record<string, string>>(kind))
      .map((one) => one[language]!);
    expect(new Set(said).size).toBe(said.length);
    for (const text of said) expect([text, languageOf(`${text} ${notices.all[language]}`)]).toEqual([text, language]);
  });
  it.each(['solo', 'copilot', 'shadow'] as const)(
    'the notice of a %s interview says that an AI takes part and what is recorded',
    (mode) => {
      expect(noticeOf(mode)).toMatch(/\bAI\b[^]*recorded/u);
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
