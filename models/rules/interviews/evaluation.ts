/**
 * The evaluation of an interview: who the candidate is and how many questions were answered (phase 1), and what follows from
 * the scores of its criteria (phase 2). Pure. Reading what the words say is the part of intelligence/.
 */
import type { Decision } from './interview.ts';
import type { Question } from './questions.ts';
import type { Said } from './transcript.ts';
import { Problem } from '../base/errors.ts';

export type Answered = {
  question_id: string | null;
  category: string | null;
  question: string;
  answer: string;
  answered: boolean;
};
export type QaSummary = {
  items: Answered[];
  questions: number;
  answered: number;
  /** Whether questions were left when it ended. */
  ended_early: boolean;
  /** In a few sentences. */
  summary: string;
  generated_by: 'extractive' | 'model';
  generated_at: Date;
};

export type CriterionScore = { criterion: string; score: number; quote: string };
export type Evaluation = {
  overall_score: number;
  scores: CriterionScore[];
  recommendation: Decision;
  strengths: string[];
  concerns: string[];
  ended_early: boolean;
  /** `rules`: of words alone, which advise nobody. */
  generated_by: 'rules' | 'model';
  /** Of rules. */
  confidence?: 'low';
  generated_at: Date;
};

/** What one member gives a candidate; it says who that was also after they have left the organization. */
export type Scorecard = {
  user_id: string;
  name: string;
  scores: Omit<CriterionScore, 'quote'>[];
  notes: string | null;
  recommendation: Decision | null;
  updated_at: Date;
};

/** @throws Problem VALIDATION for a name that is no criterion of the interview. */
export function cardScores(given: Readonly<Record<string, number>>, criteria: readonly string[]): Scorecard['scores'] {
  const unknown = Object.keys(given).filter((name) => !criteria.includes(name));
  const message = `is no criterion of this interview; its criteria are ${criteria.join(', ')}`;
  const details = unknown.map((name) => ({ path: ['body', 'criteria', name], message }));
  if (details.length > 0) throw new Problem('VALIDATION', { details });
  return Object.entries(given).map(([criterion, score]) => ({ criterion, score }));
}

export type Interviewed = {
  questions: readonly Question[];
  criteria: readonly string[];
  said: readonly Said[];
  /** The candidate's name, by which a meeting bot knows who is who. */
  candidate?: string | undefined;
};

const same = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();

/**
 * Who speaks for the candidate: as the room says; in a call elsewhere the speaker of the candidate's name, or else the one
 * who says most and is no AI.
 */
export function isCandidate({ said, candidate }: Pick<Interviewed, 'said' | 'candidate'>): (one: Said) => boolean {
  if (said.some(({ role }) => role !== undefined)) return ({ role }) => role === 'candidate';
  const people = said.filter(({ is_ai }) => !is_ai);
  const named = people.find(({ speaker }) => candidate !== undefined && same(speaker, candidate))?.speaker;
  const length = new Map<string, number>();
  for (const { speaker, text } of people) length.set(speaker, (length.get(speaker) ?? 0) + text.length);
  const [most] = [...length].toSorted(([, a], [, b]) => b - a);
  const speaker = named ?? most?.[0];
  return (one) => !one.is_ai && one.speaker === speaker;
}

/** What the candidate said, in the order in which it was said. */
export const wordsOf = (interviewed: Interviewed): Said[] => interviewed.said.filter(isCandidate(interviewed));

/** What phase 1 counts. */
export function countsOf(items: readonly Answered[]): Pick<QaSummary, 'questions' | 'answered' | 'ended_early'> {
  const answered = items.filter((item) => item.answered).length;
  return { questions: items.length, answered, ended_early: answered < items.length };
}

const round = (score: number): number => Math.round(score * 10) / 10;

/** Of how many questions answers are needed to recommend anything. */
const enoughAnswers = 0.5;

/** What follows from scores, whoever gave them: the whole, and whether anything may be recommended. */
export function concluded(
  { scores, strengths, concerns }: Pick<Evaluation, 'scores' | 'strengths' | 'concerns'>,
  recommendation: Decision,
  items: readonly Answered[],
): Omit<Evaluation, 'generated_at' | 'generated_by'> {
  const { questions, answered, ended_early } = countsOf(items);
  const note = `The interview ended early: ${answered} of ${questions} questions were answered.`;
  const enough = questions === 0 || answered / questions >= enoughAnswers;
  return {
    overall_score: round(scores.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scores.length)),
    scores,
    recommendation: enough ? recommendation : 'undecided',
    strengths,
    concerns: ended_early ? [note, ...concerns] : concerns,
    ended_early,
  };
}
