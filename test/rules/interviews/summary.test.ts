/** Summaries and titles that are made of a transcript's own sentences. */
import { describe, expect, it } from '@jest/globals';
import { actionItems, titleOf, utterancesOf } from '../../../models/rules/interviews/digest.ts';
import { extractSummary, summaryProblem } from '../../../models/rules/interviews/summary.ts';
import { participantsOf, type Said } from '../../../models/rules/interviews/transcript.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';

const startedAt = new Date('2026-11-20T09:00:00.000Z');
export const transcript = (text: string): Said[] =>
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
    ['of a German one', german],
    ['of two sentences', budget.slice(3, 5)],
    ['of a single word', [{ ...budget[0]!, text: 'Yes' }]],
    ['of nothing but small talk', [budget[0]!, budget[1]!, budget.at(-1)!]],
    ['of one endless sentence', [{ ...budget[0]!, text: 'and then we went on '.repeat(400) }]],
    ['of signs', [{ ...budget[0]!, text: '… ??? !!!' }]],
    ['of a speaker with full stops', [{ ...budget[0]!, speaker: 'Dr. A. B. Smith' }]],
    ['of hours', Array.from({ length: 400 }, () => budget).flat()],
  ])('%s has 4 to 6 sentences, however they are counted', (_, said) => {
    const { summary } = extractSummary('short', { startedAt, said });
    expect(summaryProblem('short', { summary, key_points: [], action_items: [] })).toBeUndefined();
    const counted = summary.split(/[.!?…]+["'”)]*\s+/u).length;
    expect(counted).toBeGreaterThanOrEqual(4);
    expect(counted).toBeLessThanOrEqual(6);
  });

  it('is made of the transcript’s own words, and never of a greeting where there is more', () => {
    for (const said of [budget, german]) {
      const spoken = normal(said.map(({ text }) => text).join(' '));
      const { summary } = extractSummary('short', { startedAt, said });
      for (const sentence of sentences(summary)) expect(spoken).toContain(normal(sentence));
      expect(summary).not.toMatch(/Good morning|Guten Morgen|bye/);
    }
  });

  it('of fewer than four sentences goes on with what the record knows', () => {
    const { summary } = extractSummary('short', { startedAt, said: budget.slice(3, 4) });
    expect(summary).toBe(
      'The marketing budget is at 120,000 euros, and we have spent 80,000 of it. Ben spoke. The transcript has 1 segment. The meeting began on 2026-11-20.',
    );
  });
});

describe('summaryProblem', () => {
  const of = (summary: string) => summaryProblem('short', { summary, key_points: [], action_items: [] });

  it('counts the sentences of a short one', () => {
    expect(of('One. Two. Three.')).toContain('3 sentences');
    expect(of('One. Two. Three. Four.')).toBeUndefined();
    expect(of('One. Two. Three. Four. Five. Six. Seven.')).toContain('7 sentences');
    expect(of('  ')).toContain('empty');
  });
  it('takes a long one of any length', () => {
    expect(summaryProblem('long', { summary: 'One.', key_points: [], action_items: [] })).toBeUndefined();
  });
});

describe('a long summary', () => {
  it('says part by part who said what', () => {
    const said = [...budget, ...german];
    const { summary } = extractSummary('long', { startedAt, said });
    expect(summary).toMatch(/^Ann, Ben, Cara and 2 others spoke\./);
    expect(summary).toContain('- Ben: The marketing budget is at 120,000 euros');
    expect(summary).toMatch(/\n\n2\. .*\n(?:- .*\n)*- Eva: /);
  });
});

describe('action items', () => {
  it('are what people promise, with their names, and not what is done already', () => {
    expect(actionItems(utterancesOf(budget))).toEqual([
      'Ben: I will send the updated budget sheet by Friday.',
      "Cara: i'll write the job descriptions until Tuesday",
    ]);
    expect(actionItems(utterancesOf(german))).toEqual([
      'Jan: Ich werde die Firma für den Umzug bis Freitag beauftragen.',
    ]);
  });
});

describe('a title', () => {
  it.each([
    [budget, 'Quarterly marketing budget'],
    [german, /Umzug/],
  ])('is a phrase of the transcript', (said, expected) => {
    const title = titleOf(utterancesOf(said))!;
    expect(title).toMatch(expected);
    const spoken = normal(said.map(({ text }) => text).join(' '));
    for (const part of title.split(', ')) expect(spoken).toContain(normal(part));
  });
  it('is not made of small talk', () => expect(titleOf(utterancesOf([budget[1]!]))).toBeUndefined());
});

describe('participants', () => {
  it('are the speakers in the order in which they first spoke', () => {
    expect(participantsOf(budget).map(({ name, segments }) => [name, segments])).toEqual([
      ['Ann', 5],
      ['Ben', 3],
      ['Cara', 3],
    ]);
  });
});
