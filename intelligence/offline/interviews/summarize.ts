/**
 * Summarizes an interview without a language model, as phase 1 of its evaluation: each question with its answer, and
 * the two most specific sentences.
 */
import { answersOf } from './recognizing.ts';
import { tellingLines } from './score.ts';
import { countsOf, wordsOf, type Interviewed, type QaSummary } from '../../../models/rules/interviews/evaluation.ts';

export function summarizeInterview(interviewed: Interviewed): Omit<QaSummary, 'generated_at' | 'generated_by'> {
  const items = answersOf(interviewed);
  const counts = countsOf(items);
  return { items, ...counts, summary: overviewOf(counts, interviewed) };
}

function overviewOf({ questions, answered }: ReturnType<typeof countsOf>, interviewed: Interviewed): string {
  if (wordsOf(interviewed).length === 0) return 'The interview ended before the candidate said anything.';
  const how =
    answered === questions
      ? `The candidate answered all ${questions} questions.`
      : `The interview ended early: the candidate answered ${answered} of ${questions} questions.`;
  if (answered === 0) return how;
  return [how, ...tellingLines(interviewed, 2).map((sentence) => `“${sentence}”`)].join(' ');
}
