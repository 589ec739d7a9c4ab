import { describe, expect, it } from '@jest/globals';
import { titleOf, utterancesOf } from '../../../intelligence/offline/meetings/digest.ts';
import { summarizeMeeting } from '../../../intelligence/offline/meetings/summary.ts';
import { findTasks } from '../../../intelligence/offline/meetings/tasks.ts';
import { summaryProblem } from '../../../intelligence/model/interviews/summary.ts';
import { shortWords } from '../../../models/rules/interviews/summary.ts';
import { actionItemOf } from '../../../models/rules/interviews/found.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';

const startedAt = new Date('2026-11-20T09:00:00.000Z');
const meeting = { members: [], startedAt, zone: 'UTC' };
const transcript = (text: string): Said[] =>
  text
    .trim()
    .split('\n')
    .map((line, index) => {
      const [speaker = '', ...words] = line.split(': ');
      const at = new Date(startedAt.getTime() + index * 10_000);
      return { id: String(index), speaker, text: words.join(': '), at, is_ai: false };
    });

const budget = transcript(`Ann: Good morning everyone, thanks for joining.
Ben: Hi Ann.
Ann: Today we talk about the quarterly marketing budget and the hiring plan.
Ben: The marketing budget is at 120,000 euros, and we have spent 80,000 of it
Cara: I think the hiring plan should come first, because two engineers leave in March.
Ann: We agreed last week that the marketing budget stays as it is.
Ben: I will send the updated budget sheet by Friday.
Cara: So the decision is to hire two engineers before April?
Ann: Yes, we decided to hire two engineers before April. I already told Dr. Smith, e.g. about the dates.
Cara: i'll write the job descriptions until Tuesday
Ann: Great, thanks, bye.`);
const german = transcript(`Eva: Guten Morgen zusammen.
Jan: Der Umzug in das neue Büro ist für den 3. März geplant.
Eva: Die Kosten für den Umzug liegen bei 14.000 Euro.
Jan: Ich werde die Firma für den Umzug bis Freitag beauftragen.
Eva: Wir haben beschlossen, dass alle Schreibtische mitkommen.
Jan: Dann fehlt nur noch der Vertrag für die Küche.`);

const normal = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

describe('a short summary', () => {
  it.each([
    ['of a meeting', budget],
    ['of a German meeting', german],
    ['of two sentences', budget.slice(3, 5)],
    ['of a single word', [{ ...budget[0]!, text: 'Yes' }]],
    ['of nothing but small talk', [budget[0]!, budget[1]!, budget.at(-1)!]],
    ['of one endless sentence', [{ ...budget[0]!, text: 'and then we went on '.repeat(400) }]],
    ['of punctuation marks alone', [{ ...budget[0]!, text: '… ??? !!!' }]],
    ['of a speaker with full stops', [{ ...budget[0]!, speaker: 'Dr. A. B. Smith' }]],
    ['of several hours', Array.from({ length: 400 }, () => budget).flat()],
  ])('a transcript %s gets a short summary of 4 to 6 sentences, however full stops are counted', (_, said) => {
    const { summary: short } = summarizeMeeting(said, meeting, 'short');
    expect(summaryProblem('short', { summary: short })).toBeUndefined();
    const counted = short.split(/[.!?…]+["'”)]*\s+/u).length;
    expect(counted).toBeGreaterThanOrEqual(4);
    expect(counted).toBeLessThanOrEqual(6);
    expect(short.split(/\s+/u).length).toBeLessThanOrEqual(shortWords);
  });

  it('a short summary quotes only what was said, and leaves out greetings when more was said', () => {
    for (const said of [budget, german]) {
      const spoken = normal(said.map(({ text }) => text).join(' '));
      const { summary: short } = summarizeMeeting(said, meeting, 'short');
      const quotes = sentences(short).flatMap((line) =>
        line.split(';').map((part) => part.replace(/^\s*\p{L}+: /u, '')),
      );
      for (const quote of quotes.filter((one) => !/ spoke\.$|^The transcript has/u.test(one)))
        expect(spoken).toContain(normal(quote));
      expect(short).not.toMatch(/Good morning|Guten Morgen|bye/);
    }
    expect(summarizeMeeting(budget, meeting, 'short').summary).toContain(
      'Ben: The marketing budget is at 120,000 euros, and we have spent 80,000 of it',
    );
  });

  it('a short summary of a long talk says for each part who spoke and about what', () => {
    const about = (speaker: string, thing: string, other: string) =>
      Array.from(
        { length: 60 },
        () => `${speaker}: We looked at the ${thing} again and compared it with the ${other} of the former years.`,
      );
    const said = transcript(
      [
        ...about('Ann', 'rent', 'heating'),
        ...about('Ben', 'vans', 'drivers'),
        ...about('Cara', 'catalogue', 'photos'),
        ...about('Ann', 'printer', 'paper'),
      ].join('\n'),
    );
    const { summary: short } = summarizeMeeting(said, meeting, 'short');
    expect(short).toMatch(
      /^Ann discussed the rent and the heating\b.*\. Then Ben discussed the vans and the drivers\b.*\. Then Cara discussed/,
    );
  });

  it('a short summary of fewer than four sentences is completed with facts about the meeting', () => {
    expect(summarizeMeeting(budget.slice(3, 4), meeting, 'short').summary).toBe(
      'Ben: The marketing budget is at 120,000 euros, and we have spent 80,000 of it. Ben spoke. The transcript has 1 segment. The meeting began on 2026-11-20.',
    );
  });
});

describe('summaryProblem', () => {
  const of = (summary: string) => summaryProblem('short', { summary });

  it('summaryProblem accepts a short summary of four sentences, and refuses an empty one and those of three or seven sentences', () => {
    expect(of('One. Two. Three.')).toContain('3 sentences');
    expect(of('One. Two. Three. Four.')).toBeUndefined();
    expect(of('One. Two. Three. Four. Five. Six. Seven.')).toContain('7 sentences');
    expect(of('  ')).toContain('empty');
  });
  it('summaryProblem accepts a long summary of any length', () => {
    expect(summaryProblem('long', { summary: 'One.' })).toBeUndefined();
  });
});

describe('a long summary', () => {
  it('a long summary says part by part who said what', () => {
    const said = [...budget, ...german];
    const { summary } = summarizeMeeting(said, meeting, 'long');
    expect(summary).toMatch(/^Ann, Ben, Cara and 2 others spoke\./);
    expect(summary).toContain('- Ben: The marketing budget is at 120,000 euros');
    expect(summary).toMatch(/\n\n2\. .*\n(?:- .*\n)*- Eva: /);
  });
});

describe('action items', () => {
  it('action items are the tasks found in the meeting, in order, with assignee and due date', () => {
    const { action_items } = summarizeMeeting(budget, meeting, 'short');
    expect(action_items).toEqual(findTasks(budget, meeting).tasks.map(actionItemOf));
    expect(action_items).toEqual([
      'Ben: Send the updated budget sheet (by 2026-11-20)',
      'Cara: Write the job descriptions (by 2026-11-24)',
    ]);
  });

  it.each([
    ['America/Los_Angeles', '2026-11-21T01:00:00.000Z'],
    ['Asia/Tokyo', '2026-11-19T23:00:00.000Z'],
  ])('an action item of a meeting in %s names the day there of the due date %s', (_, due) => {
    const task = { owner: 'Ben', title: 'Send the contract', due, dueDay: '2026-11-20' };
    expect(actionItemOf(task)).toBe('Ben: Send the contract (by 2026-11-20)');
  });

  it('a meeting in another language than English has no action items', () => {
    expect(summarizeMeeting(german, meeting, 'short').action_items).toEqual([]);
  });
});

describe('a title', () => {
  it.each([
    [budget, 'Quarterly marketing budget'],
    [german, /Umzug/],
  ])('the title of a meeting consists of phrases of its transcript', (said, expected) => {
    const title = titleOf(utterancesOf(said))!;
    expect(title).toMatch(expected);
    const spoken = normal(said.map(({ text }) => text).join(' '));
    for (const part of title.split(', ')) expect(spoken).toContain(normal(part));
  });
  it('the title of a meeting is not made of small talk', () =>
    expect(titleOf(utterancesOf([budget[1]!]))).toBeUndefined());
});

describe('participants', () => {
  it('participants are listed in the order in which they first spoke', () => {
    expect(participantsOf(budget).map(({ name, segments }) => [name, segments])).toEqual([
      ['Ann', 5],
      ['Ben', 3],
      ['Cara', 3],
    ]);
  });
});
