/**
 * Retention of test-mode records. Records that are used on one day expire at the same moment. So the expiry of a
 * conversation, its messages and its customer is updated at most once a day, and not with every message. Pure.
 */
import { dayMs, kept } from '../base/retention.ts';
import type { Mode } from '../access/keys.ts';

/**
 * Extra days for customers, who must not expire before their conversations. A customer's last session may last a day
 * and begin a conversation at its end.
 */
export const customerDays = 2;
/**
 * Extra days for a conversation's frames. The number of the next frame follows from the last stored frame. So the
 * frames must outlive the conversation, or the numbers would restart.
 */
export const logDays = 1;

/**
 * The expiry of a record touched now: the retention period of test conversations plus `more` days, counted from the end
 * of this day (UTC). Empty in live mode, where records do not expire.
 */
export function keptUntil(mode: Mode, now: Date, more = 0): { expires_at?: Date } {
  if (mode === 'live') return {};
  const day = Math.floor(now.getTime() / dayMs) + 1;
  return { expires_at: new Date((day + kept.conversations.days + more) * dayMs) };
}

export const daysAfter = (end: Date, more: number): Date => new Date(end.getTime() + more * dayMs);
