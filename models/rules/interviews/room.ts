/** The platform's own room for interviews by text chat: its roles, limits, texts and end reasons. Pure. */
import { Problem } from '../base/errors.ts';
import type { InterviewMode } from './interview.ts';
import { endings, notices } from './roomsentences.ts';
import type { InterviewLanguage } from '../language/language.ts';

export const roomRoles = ['candidate', 'interviewer'] as const;
export type RoomRole = (typeof roomRoles)[number];

export const roomBounds = {
  /** The maximum length of a message, in characters. */
  message: 8_000,
  /**
   * The maximum number of messages and of characters in one room, for all people together. Two people who each write
   * one message a minute for 4 hours send a quarter of these messages. Speech of 4 hours has half of these characters.
   */
  messages: 2_000,
  characters: 500_000,
} as const;

/** The notice that the page shows before anything is recorded. */
export const noticeOf = (mode: InterviewMode, language: InterviewLanguage): string =>
  `${notices[mode][language]} ${notices.all[language]}`;

/** The message that tells the people in a room why the interview has ended. */
export const endMessage = (reason: EndReason, language: InterviewLanguage): string => endings[reason][language];
export type EndReason = keyof typeof endings;
export const endReasons = Object.keys(endings) as [EndReason, ...EndReason[]];
export const endReasonOf = (cause: string | undefined, status: string): EndReason =>
  cause !== undefined && cause in endings ? (cause as EndReason) : status === 'cancelled' ? 'cancelled' : 'ended';

/** A status change that a person in a room requests, and who requests it. */
export type RoomMove = { operation: 'join' | 'refuse' | 'end'; actor: 'candidate' | 'interviewer'; cause?: EndReason };

export const endMove = (cause: EndReason): RoomMove => ({
  operation: 'end',
  actor: cause === 'interviewer_ended' ? 'interviewer' : 'candidate',
  cause,
});
export const joinMove: RoomMove = { operation: 'join', actor: 'candidate' };
export const refuseMove: RoomMove = { operation: 'refuse', actor: 'candidate', cause: 'consent_refused' };

/**
 * All status changes that were requested in a room, in their order. Applying them again is safe, because the
 * interview's status does not allow the same change twice.
 */
export function movesOf(room: { consented_at?: Date; refused_at?: Date; finished?: EndReason }): RoomMove[] {
  if (room.refused_at) return [refuseMove];
  if (!room.consented_at) return [];
  return [joinMove, ...(room.finished ? [endMove(room.finished)] : [])];
}

export const roomFull = (): Problem =>
  new Problem('CONFLICT', {
    message: `This room takes no more: it holds at most ${roomBounds.messages} messages and ${roomBounds.characters} characters. What was said is kept; end the interview.`,
  });
