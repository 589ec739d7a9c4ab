import { describe, expect, it } from '@jest/globals';
import { concluded, type Answered } from '../../../models/rules/interviews/evaluation.ts';

const given = {
  scores: [
    { criterion: 'SQL', score: 6, quote: 'I migrated our billing.' },
    { criterion: 'Communication', score: 8, quote: 'I wrote down both designs.' },
  ],
  strengths: [],
  concerns: [],
};
/** An interview with `questions` questions, of which the first `answered` have answers. */
const items = (questions: number, answered: number): Answered[] =>
  Array.from({ length: questions }, (_, at) => ({
    question_id: `q_${at}`,
    category: 'technical',
    question: 'What did you do?',
    answer: at < answered ? 'This and that.' : '',
    answered: at < answered,
  }));

describe('concluded', () => {
  it('an interview evaluation keeps its recommendation when at least half of the questions were answered', () => {
    expect(concluded(given, 'hire', items(2, 2))).toMatchObject({ overall_score: 7, recommendation: 'hire' });
    expect(concluded(given, 'hire', items(2, 1)).recommendation).toBe('hire');
  });
  it('an interview that ended early gets the recommendation “undecided” and a concern that says why', () => {
    const made = concluded(given, 'hire', items(6, 1));
    expect(made).toMatchObject({ ended_early: true, recommendation: 'undecided' });
    expect(made.concerns[0]).toContain('1 of 6 questions');
  });
});
