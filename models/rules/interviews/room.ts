/**
 * The room of this platform, in which an interview takes place as text: who is in it, what the AI does in each mode, and what
 * it suggests to an interviewer. Pure. It suggests questions about what was said, in the candidate's own words; it judges
 * nobody.
 */
import type { InterviewMode } from './interview.ts';
import type { Question } from './questions.ts';
import { skillsIn } from './skills.ts';
import type { Said } from './transcript.ts';
import { sentences } from '../language/sentences.ts';
import { terms } from '../language/words.ts';

export const roomRoles = ['candidate', 'interviewer'] as const;
export type RoomRole = (typeof roomRoles)[number];

export const roomBounds = {
  /** Of a message, in characters. */
  message: 8_000,
  /** The questions that an AI asks in one interview, and the answers that are kept apart from each other. */
  answers: 200,
} as const;

/** What the page says before anything is recorded. */
export function noticeOf(mode: InterviewMode): string {
  const ai = {
    solo: 'An AI asks the questions in this interview; no person reads along unless an interviewer joins.',
    copilot: 'A person leads this interview, and an AI reads along and suggests questions to that person.',
    shadow: 'A person leads this interview, and an AI records it and evaluates it afterwards.',
  }[mode];
  return `${ai} Everything that is written here is recorded as text, with its time, and is evaluated with the help of an AI for the organization that invited you. Nothing is recorded before you agree, and you may leave at any time.`;
}

/** Why a room is over, as its members are told. */
export const endReasons = {
  all_answered: 'All questions are answered. Thank you for your time.',
  candidate_ended: 'The candidate ended the interview.',
  interviewer_ended: 'The interviewer ended the interview.',
  consent_refused:
    'The candidate did not agree to the recording, so the interview was cancelled. Nothing was recorded.',
  candidate_no_show: 'Nobody came, so the interview was cancelled.',
  maximum_length: 'The interview reached its longest length.',
  cancelled: 'The interview was cancelled.',
  ended: 'The interview has ended.',
} as const;
export type EndReason = keyof typeof endReasons;
export const endReasonOf = (cause: string | undefined, status: string): EndReason =>
  cause !== undefined && cause in endReasons ? (cause as EndReason) : status === 'cancelled' ? 'cancelled' : 'ended';

/** What people in a room ask of the interview, and who asks. */
export type RoomMove = { operation: 'join' | 'refuse' | 'end'; actor: 'candidate' | 'interviewer'; cause?: EndReason };

export const endMove = (cause: EndReason): RoomMove => ({
  operation: 'end',
  actor: cause === 'interviewer_ended' ? 'interviewer' : 'candidate',
  cause,
});
export const joinMove: RoomMove = { operation: 'join', actor: 'candidate' };
export const refuseMove: RoomMove = { operation: 'refuse', actor: 'candidate', cause: 'consent_refused' };

/** All that was asked for in a room, in its order; what was made already, the interview's state does not allow again. */
export function movesOf(room: { consented_at?: Date; refused_at?: Date; finished?: EndReason }): RoomMove[] {
  if (room.refused_at) return [refuseMove];
  if (!room.consented_at) return [];
  return [joinMove, ...(room.finished ? [endMove(room.finished)] : [])];
}

export type Suggestion = { kind: 'question' | 'follow_up'; body: string; question_id?: string };

/** How much of a question's subject somebody must say to have asked it. */
const askedShare = 0.5;

const subjectsOf = (text: string): string[] => [
  ...new Set(
    terms(text)
      .filter(({ weight }) => weight === 1)
      .map(({ stem }) => stem),
  ),
];

/** The questions that the interviewer has asked, whatever the exact words: of each message the one that it is most like. */
function askedIn(questions: readonly Question[], said: readonly Said[]): Set<string> {
  const subjects = new Map(questions.map(({ question_id, body }) => [question_id, subjectsOf(body)]));
  const asked = new Set<string>();
  for (const { text } of said.filter(({ role }) => role === 'interviewer')) {
    const words = new Set(subjectsOf(text));
    const shareOf = (stems: readonly string[]): number =>
      stems.length === 0 ? 0 : stems.filter((stem) => words.has(stem)).length / stems.length;
    const [best] = [...subjects]
      .filter(([id]) => !asked.has(id))
      .map(([id, stems]) => ({ id, share: shareOf(stems) }))
      .toSorted((one, other) => other.share - one.share);
    if (best && best.share >= askedShare) asked.add(best.id);
  }
  return asked;
}

/** What an interviewer might ask now: more about what was just said, and the next question that is still open. */
export function suggestionsFor(questions: readonly Question[], said: readonly Said[]): Suggestion[] {
  const asked = askedIn(questions, said);
  const open = questions.find(({ question_id }) => !asked.has(question_id));
  const last = said.findLast(({ role }) => role === 'candidate');
  const follow = last && said.at(-1) === last ? followUp(last.text) : undefined;
  return [
    ...(follow === undefined ? [] : [{ kind: 'follow_up' as const, body: follow }]),
    ...(open ? [{ kind: 'question' as const, body: open.body, question_id: open.question_id }] : []),
  ];
}

/** Shorter than an answer that says how something was done, in words. */
const shortWords = 15;
const quotable = 90;
const figure =
  /(?:\d[\d.,]*\s?(?:%|percent|million|thousand|ms|s|seconds?|minutes?|hours?|days?|weeks?|months?|people|users|customers|€|\$|euros?|dollars?))/iu;

/** A question about what somebody said, quoting it; undefined where it says too little to quote. */
export function followUp(answer: string): string | undefined {
  const words = answer.trim().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return undefined;
  if (words.length < shortWords) return 'Could you give a concrete example of that?';
  const measured = figure.exec(answer)?.[0];
  if (measured !== undefined)
    return `You mentioned “${measured.trim()}”. How did you measure that, and what was it before?`;
  if (/\bwe\b/iu.test(answer) && !/\bI\b/u.test(answer)) return 'You spoke of “we”. What was your own part in it?';
  const [skill] = skillsIn(answer);
  if (skill !== undefined) return `You mentioned ${skill}. Why that, and what else did you consider?`;
  const telling = sentences(answer)
    .filter((sentence) => sentence.length <= quotable)
    .toSorted((one, other) => subjectsOf(other).length - subjectsOf(one).length)[0];
  return telling === undefined
    ? 'What was the result, and what would you do differently today?'
    : `You said: “${telling}” What happened then?`;
}
