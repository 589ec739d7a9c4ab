import { describe, expect, it } from '@jest/globals';
import { findDate } from '../../../intelligence/offline/dates.ts';
import { draftWords } from '../../../intelligence/offline/interviews/draft.ts';

const now = new Date('2026-11-18T10:00:00Z');

describe('draftWords', () => {
  it('draftWords reads every field of an interview that a prompt states', () => {
    const prompt =
      'Schedule a copilot interview for a senior backend engineer with Go and PostgreSQL next Tuesday at 3pm with Ana Gomez (ana@example.com), 6 questions, evaluate communication and system design. https://meet.example.com/abc-def.';
    expect(draftWords(prompt)).toEqual({
      role_title: 'Senior backend engineer',
      skills: ['Go', 'PostgreSQL'],
      evaluation_criteria: ['Communication', 'System design'],
      question_count: 6,
      mode: 'copilot',
      meeting_url: 'https://meet.example.com/abc-def',
      candidate_email: 'ana@example.com',
      candidate_name: 'Ana Gomez',
    });
  });
  it('draftWords leaves out the interview fields that a prompt does not state', () => {
    expect(draftWords('Please create an interview')).toEqual({ skills: [], evaluation_criteria: [] });
  });
  it.each([
    ['I want to hire a Product Manager.', 'Product Manager'],
    ['Interview for the position of Head of Customer Success on Monday', 'Head of Customer Success'],
    ['We need someone for our React frontend developer role.', 'React frontend developer'],
    ['Set up a data scientist screening', 'Data scientist'],
    ['Ein Interview für einen Softwareentwickler mit Java', 'Softwareentwickler'],
    ['Role: QA Lead', 'QA Lead'],
    ['Tell the hiring manager that we interview a Nurse', 'Nurse'],
    ['Interview for the falconry keeper position tomorrow', 'Falconry keeper'],
  ])('draftWords finds in the prompt %j the role title %j', (prompt, role) =>
    expect(draftWords(prompt).role_title).toBe(role),
  );
  it.each([
    ['The AI should run it autonomously', 'solo'],
    ['let the bot assist me', 'copilot'],
    ['silently observe', 'shadow'],
    ['just talk', undefined],
  ])('draftWords finds in the prompt %j the interview mode %s', (prompt, mode) =>
    expect(draftWords(prompt).mode).toBe(mode),
  );
  it.each([
    ['10 questions', 10],
    ['five technical questions', 5],
    ['999 questions', 50],
    ['0 questions', 1],
    ['5 years of experience', undefined],
  ])('draftWords reads the prompt %j as a request for %s questions', (prompt, count) =>
    expect(draftWords(prompt).question_count).toBe(count),
  );
  it('a hostile prompt is read in linear time', () => {
    for (const part of ['a ', 'for a ', 'skills in x, ', 'a@', 'https://', 'Aa ', 'head of ', 'criteria '])
      // A regular expression that backtracks over every split would not end.
      expect(draftWords(part.repeat(4_000)).candidate_email).toBeUndefined();
  });
});

describe('findDate', () => {
  it.each([
    ['next Tuesday at 3pm', 'UTC', '2026-11-24T15:00:00.000Z', true],
    ['tomorrow 14:30', 'America/Los_Angeles', '2026-11-19T22:30:00.000Z', true],
    // Daylight saving time begins on the day before.
    ['29 March 2027 at 9am', 'Europe/Berlin', '2027-03-29T07:00:00.000Z', true],
    ['December 3rd', 'UTC', '2026-12-03T09:00:00.000Z', false],
    ['Wednesday', 'UTC', '2026-11-25T09:00:00.000Z', false],
    ['03/04/2027', 'UTC', '2027-04-03T09:00:00.000Z', false],
    ['in 30 minutes', 'Asia/Tokyo', '2026-11-18T10:30:00.000Z', true],
    ['Call it X. Then on 2026-12-01 at 09:00 UTC.', 'Europe/Berlin', '2026-12-01T09:00:00.000Z', true],
    // A place or time zone after the time sets the zone, including its daylight saving time. Zone abbreviations and
    // offsets are read, too.
    ['tomorrow at 10:30 Berlin time', 'UTC', '2026-11-19T09:30:00.000Z', true],
    ['10:30 Berlin time tomorrow', 'America/New_York', '2026-11-19T09:30:00.000Z', true],
    ['on 1 July 2027 at 10:30 (berlin time), 5 questions', 'UTC', '2027-07-01T08:30:00.000Z', true],
    ['2026-12-01 at 9:00 Europe/Zürich', 'Europe/Berlin', '2026-12-01T08:00:00.000Z', true],
    ['next Tuesday at 3pm in New York', 'Europe/Berlin', '2026-11-24T20:00:00.000Z', true],
    ['next Tuesday 3pm US Pacific time', 'Europe/Berlin', '2026-11-24T23:00:00.000Z', true],
    ['tomorrow 9:30 Mumbai time / 5:00 London time', 'UTC', '2026-11-19T04:00:00.000Z', true],
    ['tomorrow at 10:30 CET', 'UTC', '2026-11-19T09:30:00.000Z', true],
    // Later today in New York, although 9:00 has already passed in the caller's zone.
    ['at 9:00 New York time', 'UTC', '2026-11-18T14:00:00.000Z', true],
    ['tomorrow at 10:30 our time', 'Europe/Berlin', '2026-11-19T09:30:00.000Z', true],
    ['tomorrow at 10:30 at the Berlin office', 'UTC', '2026-11-19T10:30:00.000Z', true],
  ])('the date %j in the time zone %s is read as %s', (text, zone, at, timed) =>
    expect(findDate(text, now, zone, 9)).toMatchObject({ at: new Date(at), timed }),
  );
  it('the name of today’s weekday means today while the default hour is still to come', () => {
    expect(findDate('on Wednesday', now, 'UTC', 17)?.at).toEqual(new Date('2026-11-18T17:00:00Z'));
  });
  it.each([
    'every Monday',
    'every Monday at 9:00 Berlin time',
    'tomorrow at 9:00 Springfield time',
    'the Friday after Christmas',
    'a 45 minute interview',
    '5 years',
    'yesterday',
    'soon',
    '',
  ])('no date is found in %j', (text) => expect(findDate(text, now, 'UTC', 9)).toBeUndefined());
  it('a text of many blanks and weekday names is read in linear time', () => {
    expect(findDate(`mon${' '.repeat(100_000)}x ${'mon '.repeat(5_000)}`, now, 'UTC', 9)).toBeDefined();
  });
});
