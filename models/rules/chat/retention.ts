/**
 * How long the records of test mode are kept. All that are touched on one day end at one moment, so that a conversation, its
 * messages and its customer need not be updated with every message. Pure.
 */
import { testRetentionDays } from './conversation.ts';
import type { Mode } from '../access/keys.ts';

const dayMs = 86_400_000;

/** A customer outlives the conversations: its last session, which may last a day, may begin one that counts from then. */
export const customerDays = 2;
/** The log outlives its conversation, whose numbers must not begin again while it is there. */
export const logDays = 1;

/**
 * When a record that was touched now is forgotten: `testRetentionDays` after the end of this day (UTC), and `more` days.
 * Empty in live mode, where nothing is forgotten by itself.
 */
export function keptUntil(mode: Mode, now: Date, more = 0): { expires_at?: Date } {
  if (mode === 'live') return {};
  const day = Math.floor(now.getTime() / dayMs) + 1;
  return { expires_at: new Date((day + testRetentionDays + more) * dayMs) };
}

/** The end of what ends `more` days after this. */
export const daysAfter = (end: Date, more: number): Date => new Date(end.getTime() + more * dayMs);
