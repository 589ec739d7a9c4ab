/** Decides whether a reconnecting client gets the frames that it missed from the frame log. */
import { countFrames, type Stream } from '../../models/live/frame.ts';

/** With more missed frames than this, sending a summary (such as the chat's `history` frame) is quicker. */
const maxResumed = 1_000;

/**
 * Whether the log still has every frame after `resumeFrom`, and at most `maxResumed` of them. `last`: the log's last
 * number.
 */
export async function canResume(stream: Stream, resumeFrom: number, last: number): Promise<boolean> {
  const missed = last - resumeFrom;
  if (missed < 0 || missed > maxResumed) return false;
  return missed === 0 || (await countFrames(stream, resumeFrom, last)) === missed;
}

/** The sequence number in the query parameter `resume_from`; undefined when it is missing or invalid. */
export function resumeFromOf(query: URLSearchParams): number | undefined {
  const text = query.get('resume_from');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
