/** Tasks in a transcript, by rules: single lines that the rules were made with and others that they were not, and talks. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { findDue } from '../../../agent/tasks/due.ts';
import { extractTasks } from '../../../models/rules/tasks/extraction.ts';
import type { TaskPriority } from '../../../models/rules/tasks/task.ts';

/** A Wednesday. */
const startedAt = new Date('2026-11-18T10:00:00Z');
const members = [
  { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
  { userId: 'bob', name: 'Bob Miller', email: 'bob@example.com' },
  { userId: 'carol', name: 'Carol Danvers', email: 'carol@example.com' },
];
const days: Record<string, string> = {
  today: '2026-11-18',
  wed: '2026-11-18',
  tomorrow: '2026-11-19',
  thu: '2026-11-19',
  fri: '2026-11-20',
  eow: '2026-11-20',
  sat: '2026-11-21',
  '+3': '2026-11-21',
  mon: '2026-11-23',
  tue: '2026-11-24',
  eom: '2026-11-30',
};

const extract = (lines: readonly (readonly [speaker: string, text: string])[], zone = 'UTC') =>
  extractTasks(
    lines.map(([speaker, text], n) => ({ id: `s${n}`, speaker, text, at: new Date(n), is_ai: speaker === 'Lira' })),
    members,
    (text) => findDue(text, startedAt, zone),
  );

type Wanted = { who: string | null; has: string; due?: string; priority?: TaskPriority };
type Line = [speaker: string, text: string, wanted: Wanted | null];
const linesOf = (file: string): Line[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/tasks/${file}.json`, import.meta.url), 'utf8')) as Line[];

describe('a line of a transcript', () => {
  it.each(linesOf('lines'))('%s: %s %j', (speaker, text, wanted) => {
    // Others are in the room, so that nobody is meant by being the only one left.
    const found = extract([
      [speaker, text],
      ['Zoe', 'Hm.'],
      ['Yan', 'Hm.'],
    ]);
    if (wanted === null) {
      expect(found).toEqual([]);
      return;
    }
    expect(found).toMatchObject([{ segment: 's0', priority: wanted.priority ?? 'medium' }]);
    const [{ title, assignee, due, quote }] = found as [(typeof found)[number]];
    expect(title.toLowerCase()).toContain(wanted.has);
    expect(assignee ?? null).toEqual(wanted.who === null ? null : { userId: wanted.who });
    expect(due?.slice(0, 10)).toBe(wanted.due === undefined ? undefined : days[wanted.due]);
    expect(text).toContain(quote);
  });
});

describe('lines that the rules were not made with', () => {
  it('are read as well as docs/tasks.md says', () => {
    const read = linesOf('measured').map(([speaker, text, wanted]) => ({
      wanted,
      found: extract([
        [speaker, text],
        ['Zoe', 'Hm.'],
        ['Yan', 'Hm.'],
      ]),
    }));
    const right = read.filter(({ wanted, found: [first, ...more] }) => {
      if (wanted === null || first === undefined || more.length > 0) return false;
      const who = first.assignee && 'userId' in first.assignee ? first.assignee.userId : null;
      const due = wanted.due === undefined ? undefined : days[wanted.due];
      return who === wanted.who && first.title.toLowerCase().includes(wanted.has) && first.due?.slice(0, 10) === due;
    });
    const wrong = read.filter(({ wanted, found }) => wanted === null && found.length > 0);
    expect(right.length).toBeGreaterThanOrEqual(14);
    expect(wrong.length).toBeLessThanOrEqual(2);
  });
});

describe('a talk', () => {
  const titles = (found: ReturnType<typeof extract>) =>
    found.map(({ title, assignee }) => [title, assignee && 'userId' in assignee ? assignee.userId : null]);

  it('of two: whoever is asked is the other one', () => {
    const found = extract([
      ['Ada', 'Could you check the invoice?'],
      ['Bob', 'Hm, let me think.'],
    ]);
    expect(titles(found)).toEqual([['Check the invoice', 'bob']]);
  });

  it('a request is its taker’s, until the day the taker says', () => {
    const found = extract([
      ['Ada', 'Somebody has to renew the certificate.'],
      ['Carol', "Sure, I'll do that by Friday."],
      ['Bob', 'Good.'],
    ]);
    expect(titles(found)).toEqual([['Renew the certificate', 'carol']]);
    expect(found[0]!.due).toBe('2026-11-20');
  });

  it('a request that is handed over by name is theirs', () => {
    const found = extract([
      ['Ada', 'Someone needs to call the bank.'],
      ['Ada', 'Can you do that, Bob?'],
      ['Bob', 'Yes, will do.'],
      ['Carol', 'Nice.'],
    ]);
    expect(titles(found)).toEqual([['Call the bank', 'bob']]);
  });

  it('a request that is refused is no task', () => {
    const found = extract([
      ['Ada', 'Could you check the invoice?'],
      ['Bob', "Sorry, I can't."],
    ]);
    expect(found).toEqual([]);
  });

  it('what everybody is asked for is no single one’s, whoever agrees', () => {
    const found = extract([
      ['Carol', 'Everyone needs to fill in the survey by Friday.'],
      ['Bob', 'Okay, sure.'],
      ['Ada', 'Fine.'],
    ]);
    expect(titles(found)).toEqual([['Fill in the survey', null]]);
  });

  it('a promise that is said again is one task, with what the second time adds', () => {
    const found = extract([
      ['Bob', "I'll send the budget sheet."],
      ['Ada', 'Great.'],
      ['Ada', 'So Bob will send the budget sheet by Friday.'],
    ]);
    expect(found).toMatchObject([{ segment: 's0', assignee: { userId: 'bob' }, due: '2026-11-20' }]);
  });

  it('two promises in one sentence are two tasks, each with its words', () => {
    const found = extract([['Ada', 'I will send the agenda by Friday and Bob will book the room for Monday.']]);
    expect(found).toMatchObject([
      {
        title: 'Send the agenda',
        assignee: { userId: 'ada' },
        due: '2026-11-20',
        quote: 'I will send the agenda by Friday',
      },
      { title: 'Book the room', assignee: { userId: 'bob' }, due: '2026-11-23' },
    ]);
  });

  it('a sentence after it says until when and how urgent', () => {
    const found = extract([
      ['Bob', 'I will update the price list. The deadline is Friday.'],
      ['Ada', 'Carol will call legal. It is urgent!'],
    ]);
    expect(found).toMatchObject([{ due: '2026-11-20' }, { priority: 'urgent', assignee: { userId: 'carol' } }]);
  });

  it('what depends on an if is none, also in another part of the sentence', () => {
    expect(
      extract([
        ['Ada', "Let me know if they slip, I'll escalate it."],
        ['Bob', 'Unless it rains I will paint the fence.'],
      ]),
    ).toEqual([]);
  });

  it('of the assistant makes nothing, nor does who stands in no list of members get one', () => {
    const found = extract([
      ['Lira', 'I will send the notes by Friday.'],
      ['Eve Stranger', 'I will send the notes by Monday.'],
      ['eve@partner.example', 'I will sign the contract.'],
    ]);
    expect(found.map(({ assignee }) => assignee)).toEqual([undefined, { email: 'eve@partner.example' }]);
  });

  it('names what stands behind “it” in its context', () => {
    const found = extract([
      ['Bob', 'The licence ends in May. Someone has to renew it.'],
      ['Ada', 'True.'],
    ]);
    expect(found).toMatchObject([{ title: 'Renew it', context: 'The licence ends in May.' }]);
  });

  it('counts days in the zone of the meeting', () => {
    const late = new Date('2026-11-18T23:30:00Z');
    expect(findDue('by tomorrow', late, 'UTC')!.due).toBe('2026-11-19');
    expect(findDue('by tomorrow', late, 'Europe/Berlin')!.due).toBe('2026-11-20');
  });

  it('of any length and form is read in no time that grows with its square', () => {
    const long = `I will ${'send '.repeat(1_500)}it by ${'and Bob will '.repeat(200)}call`;
    const many = Array.from(
      { length: 3_000 },
      (_, n) => ['Ada', `I will send sheet number ${n} to team ${n} and please call ${n}.`] as const,
    );
    expect(
      extract([['Ada', long], ['Bob', 'please '.repeat(1_400)], ['Bob', `${'must be '.repeat(70)}x`], ...many]).length,
    ).toBeLessThanOrEqual(200);
  });
});

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
    ['within three days', '2026-11-21'],
    ['in two weeks', '2026-12-02'],
    ['on December 3rd', '2026-12-03'],
    ['by 2026-12-24', '2026-12-24'],
    ['by Friday at 5 pm', '2026-11-20T16:00:00.000Z'],
    ['send Monday’s numbers by Thursday', '2026-11-19'],
    ['from Monday’s call, to be sent by Thursday', '2026-11-19'],
  ])('%s is %s, of a meeting on a Wednesday in Berlin', (text, due) => {
    expect(findDue(text, startedAt, 'Europe/Berlin')?.due).toBe(due);
  });

  it.each([
    'every Friday',
    'the notes from Monday',
    "tomorrow's schedule",
    'last week',
    '3 pages for 10 people',
    'soon',
  ])('%s is no day that it is due', (text) => {
    expect(findDue(text, startedAt, 'UTC')).toBeUndefined();
  });
});
