/** When a site is crawled again, how many may be, and what is said of a time that was passed over. Pure. */
import type { Problem } from '../base/errors.ts';

/** Schedules of one organization and mode. */
export const maxSchedules = 20;

const HOUR_MS = 3_600_000;

/**
 * The times of a schedule as a grid over the epoch, as Temporal counts intervals: every `everyMs`, `phaseMs` after its
 * multiples. `anchor` is one of them, to the second, so that sites are not all crawled at the full hour.
 */
export function rhythm(anchor: Date, everyHours: number): { everyMs: number; phaseMs: number } {
  const everyMs = everyHours * HOUR_MS;
  return { everyMs, phaseMs: (Math.floor(anchor.getTime() / 1_000) * 1_000) % everyMs };
}

/** The first time of a schedule after `now`. */
export function nextFiring(anchor: Date, everyHours: number, now: Date): Date {
  const { everyMs, phaseMs } = rhythm(anchor, everyHours);
  return new Date((Math.floor((now.getTime() - phaseMs) / everyMs) + 1) * everyMs + phaseMs);
}

/** Why no crawl began at its time, for a person who looks later. */
export function whySkipped({ code, message }: Problem): string {
  return code === 'CRAWL_RUNNING' ? 'Another crawl was running.' : message;
}
