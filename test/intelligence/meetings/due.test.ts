import { describe, expect, it } from '@jest/globals';
import { findDue } from '../../../intelligence/offline/meetings/due.ts';

/** The start of the meeting, a Wednesday. */
const startedAt = new Date('2026-11-18T10:00:00Z');

describe('findDue', () => {
  it.each([
    ['by Friday', '2026-11-20'],
    ['today', '2026-11-18'],
    ['this afternoon', '2026-11-18'],
    ['EOD', '2026-11-18'],
    ['by the end of the week', '2026-11-20'],
    ['next week', '2026-11-27'],
    ['by the end of the month', '2026-11-30'],
    ['by the end of the year', '2026-12-31'],
    ['this week', '2026-11-20'],
    ['by the end of next week', '2026-11-27'],
    ['the week after next', '2026-12-04'],
    ['by close of business', '2026-11-18'],
    ['by the thirtieth', '2026-11-30'],
    ['before the 5th', '2026-12-05'],
    ['December the 3rd', '2026-12-03'],
    ['in a fortnight', '2026-12-02'],
    ['within three days', '2026-11-21'],
    ['in two weeks', '2026-12-02'],
    ['on December 3rd', '2026-12-03'],
    ['by 2026-12-24', '2026-12-24'],
    ['by Friday at 5 pm', '2026-11-20T16:00:00.000Z'],
    ['send Monday’s numbers by Thursday', '2026-11-19'],
    ['from Monday’s call, to be sent by Thursday', '2026-11-19'],
  ])('“%s” means %s in a meeting on a Wednesday in Berlin', (text, due) => {
    expect(findDue(text, startedAt, 'Europe/Berlin')?.due).toBe(due);
  });

  it.each([
    'every Friday',
    'the notes from Monday',
    "tomorrow's schedule",
    'last week',
    'not this week',
    'not before Monday',
    'in a minute',
    'on the third page',
    '3 pages for 10 people',
    'soon',
  ])('“%s” is not a due date', (text) => {
    expect(findDue(text, startedAt, 'UTC')).toBeUndefined();
  });
});

describe('a due date with an hour', () => {
  it.each([
    ['by Friday at 5 pm', 'America/Los_Angeles', '2026-11-21T01:00:00.000Z'],
    ['by Friday at 8 am', 'Asia/Tokyo', '2026-11-19T23:00:00.000Z'],
    ['by Friday at 5 pm PT', 'Asia/Tokyo', '2026-11-21T01:00:00.000Z'],
  ])('“%s”, said in a meeting in %s, means %s and is due on the Friday there', (text, zone, due) => {
    expect(findDue(text, startedAt, zone)).toMatchObject({ due, dueDay: '2026-11-20' });
  });
});

describe('relative dates', () => {
  it('a relative date is computed in the time zone of the meeting', () => {
    const late = new Date('2026-11-18T23:30:00Z');
    expect(findDue('by tomorrow', late, 'UTC')!.due).toBe('2026-11-19');
    expect(findDue('by tomorrow', late, 'Europe/Berlin')!.due).toBe('2026-11-20');
  });
});
