/** What is asked of a meeting's summary, whoever makes it. Pure. */
import { sentences } from '../language/sentences.ts';

export const summaryModes = ['short', 'long'] as const;
export type SummaryMode = (typeof summaryModes)[number];

export type SummaryText = { summary: string; key_points: string[]; action_items: string[] };

/** A short summary has this many sentences and at most so many words. */
export const shortSentences = { min: 4, max: 6 } as const;
export const shortWords = 120;
export const maxKeyPoints = { short: 5, long: 12 } as const;

/** What is wrong with a summary, in a sentence for whoever wrote it; undefined when it is right. */
export function summaryProblem(mode: SummaryMode, { summary }: Pick<SummaryText, 'summary'>): string | undefined {
  const count = sentences(summary).length;
  if (count === 0) return 'the summary is empty.';
  if (mode === 'long') return undefined;
  const { min, max } = shortSentences;
  return count >= min && count <= max ? undefined : `the summary has ${count} sentences, not ${min} to ${max}.`;
}
