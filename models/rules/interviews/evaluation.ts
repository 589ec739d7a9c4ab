/**
 * The evaluation of an interview. Phase 1 summarizes the questions and answers; phase 2 concludes from the scores of
 * the criteria. The code that interprets language is in intelligence/. Pure.
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
  /** Whether the interview ended before all questions were answered. */
  ended_early: boolean;
  /** The summary of the interview in a few sentences. */
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
  /** `rules`: made from patterns without a language model; the recommendation is then always `undecided`. */
  generated_by: 'rules' | 'model';
  /** Present when `generated_by` is `rules`. */
  confidence?: 'low';
  generated_at: Date;
};

/**
 * The scores that one member gives a candidate. The member's name is kept after the member has left the organization.
 */
export type Scorecard = {
  user_id: string;
  name: string;
  scores: Omit<CriterionScore, 'quote'>[];
  notes: string | null;
  recommendation: Decision | null;
  updated_at: Date;
};

/**
 * The scores of a scorecard by criterion. @throws Problem VALIDATION for a name that is no criterion of the interview.
 */
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
  /** The candidate's name, by which the candidate is found among the speakers of a call. */
  candidate?: string | undefined;
};

const same = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase();

/**
 * Returns a function that tells whether the candidate said a segment. In the room, each segment has a role. In an
 * external call, the candidate is the speaker with the candidate's name, or else the human who speaks most.
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

/** The candidate's segments, in the order of the transcript. */
export const wordsOf = (interviewed: Interviewed): Said[] => interviewed.said.filter(isCandidate(interviewed));

/** The counts of questions and answers in the phase 1 summary. */
export function countsOf(items: readonly Answered[]): Pick<QaSummary, 'questions' | 'answered' | 'ended_early'> {
  const answered = items.filter((item) => item.answered).length;
  return { questions: items.length, answered, ended_early: answered < items.length };
}

const round = (score: number): number => Math.round(score * 10) / 10;

/** The share of questions that must be answered before the evaluation recommends a decision. */
const enoughAnswers = 0.5;

/**
 * The overall score and the recommendation, from scores that rules or a model gave. The recommendation becomes
 * `undecided` when too few questions were answered.
 */
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
