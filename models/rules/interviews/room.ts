/**
 * The room of this platform, in which an interview takes place as text: who is in it, what the AI does in each mode, and what
 * it suggests to an interviewer. Pure. It suggests questions about what was said, in the candidate's own words; it judges
 * nobody.
 */
import { Problem } from '../base/errors.ts';
import type { InterviewMode } from './interview.ts';
import type { Question } from './questions.ts';
import { endings, followUps, notices } from './roomsentences.ts';
import { skillsIn } from './skills.ts';
import type { Said } from './transcript.ts';
import type { InterviewLanguage } from '../language/language.ts';
import { sentences } from '../language/sentences.ts';
import { terms } from '../language/words.ts';

export const roomRoles = ['candidate', 'interviewer'] as const;
export type RoomRole = (typeof roomRoles)[number];

export const roomBounds = {
  /** Of a message, in characters. */
  message: 8_000,
  /**
   * Of everybody in one room. Two people who write for four hours, a message a minute each, need a quarter of the messages; what
   * is said aloud in that time has half of the characters.
   */
  messages: 2_000,
  characters: 500_000,
  /** The questions that an AI asks in one interview, and the answers that are kept apart from each other. */
  answers: 200,
} as const;

/** What the page says before anything is recorded. */
export const noticeOf = (mode: InterviewMode, language: InterviewLanguage = 'en'): string =>
  `${notices[mode][language]} ${notices.all[language]}`;

/** Why a room is over, as its members are told. */
export const endMessage = (reason: EndReason, language: InterviewLanguage = 'en'): string => endings[reason][language];
export type EndReason = keyof typeof endings;
export const endReasons = Object.keys(endings) as [EndReason, ...EndReason[]];
export const endReasonOf = (cause: string | undefined, status: string): EndReason =>
  cause !== undefined && cause in endings ? (cause as EndReason) : status === 'cancelled' ? 'cancelled' : 'ended';

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

export const roomFull = (): Problem =>
  new Problem('CONFLICT', {
    message: `This room takes no more: it holds at most ${roomBounds.messages} messages and ${roomBounds.characters} characters. What was said is kept; end the interview.`,
  });

/** How much of a question's subject somebody must say to have asked it. */
const askedShare = 0.5;

const subjectsOf = (text: string): string[] => [
  ...new Set(
    terms(text)
      .filter(({ weight }) => weight === 1)
      .map(({ stem }) => stem),
  ),
];

/** The question that an interviewer's message asks, whatever the exact words: of those not asked yet the one that it is most like. */
export function askedBy(questions: readonly Question[], asked: readonly string[], text: string): string | undefined {
  const words = new Set(subjectsOf(text));
  const shareOf = (stems: readonly string[]): number =>
    stems.length === 0 ? 0 : stems.filter((stem) => words.has(stem)).length / stems.length;
  const [best] = questions
    .filter(({ question_id }) => !asked.includes(question_id))
    .map(({ question_id, body }) => ({ id: question_id, share: shareOf(subjectsOf(body)) }))
    .toSorted((one, other) => other.share - one.share);
  return best && best.share >= askedShare ? best.id : undefined;
}

/**
 * What an interviewer might ask now: more about what was just said, and the next question that is still open. `asked`: the ids
 * of those that were asked; `last`: what was said last.
 */
export function suggestionsFor(
  questions: readonly Question[],
  asked: readonly string[],
  last: Pick<Said, 'role' | 'text'> | undefined,
  language: InterviewLanguage = 'en',
): Suggestion[] {
  const open = questions.find(({ question_id }) => !asked.includes(question_id));
  const follow = last?.role === 'candidate' ? followUp(last.text, language) : undefined;
  return [
    ...(follow === undefined ? [] : [{ kind: 'follow_up' as const, body: follow }]),
    ...(open ? [{ kind: 'question' as const, body: open.body, question_id: open.question_id }] : []),
  ];
}

/** Shorter than an answer that says how something was done, in words. */
const shortWords = 15;
const quotable = 90;
const figure =
  /(?:\d[\d.,]*\s?(?:%|percent|million|thousand|ms|s|seconds?|minutes?|hours?|days?|weeks?|months?|people|users|customers|€|\$|euros?|dollars?|prozent|tausend|millionen|sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|leuten?|kunden|pour cent|mille|millions?|secondes?|heures?|jours?|semaines?|mois|personnes?|clients?|por ciento|mil|millones|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|personas?|clientes?)(?![\p{L}]))/iu;

/** A question about what somebody said, quoting it; undefined where it says too little to quote. */
export function followUp(answer: string, language: InterviewLanguage = 'en'): string | undefined {
  const { example, measured, ownPart, skill: ofSkill, next, result, we, own } = followUps[language];
  const words = answer.trim().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return undefined;
  if (words.length < shortWords) return example;
  const quoted = (body: string, quote: string): string => body.replace('{quote}', () => quote);
  const number = figure.exec(answer)?.[0];
  if (number !== undefined) return quoted(measured, number.trim());
  if (we.test(answer) && !own.test(answer)) return ownPart;
  const [skill] = skillsIn(answer);
  if (skill !== undefined) return quoted(ofSkill, skill);
  const telling = sentences(answer)
    .filter((sentence) => sentence.length <= quotable)
    .toSorted((one, other) => subjectsOf(other).length - subjectsOf(one).length)[0];
  return telling === undefined ? result : quoted(next, telling);
}
