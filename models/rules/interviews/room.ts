/** The room of this platform, in which an interview takes place as text: who is in it, what it says, and how it ends. Pure. */
import { Problem } from '../base/errors.ts';
import type { InterviewMode } from './interview.ts';
import { endings, notices } from './roomsentences.ts';
import type { InterviewLanguage } from '../language/language.ts';

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

export const roomFull = (): Problem =>
  new Problem('CONFLICT', {
    message: `This room takes no more: it holds at most ${roomBounds.messages} messages and ${roomBounds.characters} characters. What was said is kept; end the interview.`,
  });
