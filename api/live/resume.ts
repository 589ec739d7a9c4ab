/** Whether a returning client can get the frames that it missed from the frame log. */
import { countFrames } from '../../models/live/frame.ts';

/** For more missed frames than this, the slice's own summary is quicker. */
const maxResumed = 1_000;

/** Whether the log, whose last number is `last`, still has every frame after this number, and not too many. */
export async function canResume(stream: string, resumeFrom: number, last: number): Promise<boolean> {
  const missed = last - resumeFrom;
  if (missed < 0 || missed > maxResumed) return false;
  return missed === 0 || (await countFrames(stream, resumeFrom, last)) === missed;
}

/** The number in `resume_from`; undefined when it is missing or no number. */
export function resumeFromOf(query: URLSearchParams): number | undefined {
  const text = query.get('resume_from');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
