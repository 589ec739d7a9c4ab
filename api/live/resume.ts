/** Whether a client that comes back can be given what it missed from the frame log. */
import { countFrames } from '../../models/live/frame.ts';

/** Beyond this many missed frames a slice's own summary is quicker. */
const maxResumed = 1_000;

/** Whether the log, whose last number is `last`, still holds every frame after this number, and not too many. */
export async function canResume(stream: string, resumeFrom: number, last: number): Promise<boolean> {
  const missed = last - resumeFrom;
  if (missed < 0 || missed > maxResumed) return false;
  return missed === 0 || (await countFrames(stream, resumeFrom, last)) === missed;
}

/** The number in `resume_from`; undefined when there is none, or it is no number. */
export function resumeFromOf(query: URLSearchParams): number | undefined {
  const text = query.get('resume_from');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
