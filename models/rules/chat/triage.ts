/** How a team sorts its conversations: tags, priority, snooze and notes. Customers see none of it. Pure. */
import { invalid } from '../base/errors.ts';

export const maxTags = 20;
/** The maximum length of a tag, in characters. */
export const maxTagLength = 50;
export const maxNotes = 100;
/** The maximum length of a note, in characters. It is small because a conversation's record contains its notes. */
export const maxNoteBody = 2_000;
export const maxMentions = 20;
const maxSnoozeMs = 366 * 86_400_000;

/** The tags without surrounding blanks and without duplicates, in the given order. */
export const tidyTags = (tags: readonly string[]): string[] => [...new Set(tags.map((tag) => tag.trim()))];

/**
 * The end of a snooze; undefined for `reply`, a snooze that only the customer's next message ends.
 * @throws Problem VALIDATION
 */
export function snoozeEnd(until: string, now: Date): Date | undefined {
  if (until === 'reply') return undefined;
  const end = new Date(until);
  const ms = end.getTime() - now.getTime();
  if (ms > 0 && ms <= maxSnoozeMs) return end;
  throw invalid(['body', 'until'], 'is `reply`, or a time within the next year');
}
