/** Crawl schedules: their times, their maximum number, and why a scheduled crawl did not start. Pure. */
import type { Problem } from '../base/errors.ts';

/** The maximum number of schedules of one organization and mode. */
export const maxSchedules = 20;

const hourMs = 3_600_000;

/**
 * The interval and offset of a schedule in Temporal's terms: the schedule fires `phaseMs` after each multiple of
 * `everyMs` since the epoch. `anchor`, without its milliseconds, is one of these times, so that not all sites are
 * crawled at the full hour.
 */
export function scheduleInterval(anchor: Date, everyHours: number): { everyMs: number; phaseMs: number } {
  const everyMs = everyHours * hourMs;
  return { everyMs, phaseMs: (Math.floor(anchor.getTime() / 1_000) * 1_000) % everyMs };
}

export function nextFiring(anchor: Date, everyHours: number, now: Date): Date {
  const { everyMs, phaseMs } = scheduleInterval(anchor, everyHours);
  return new Date((Math.floor((now.getTime() - phaseMs) / everyMs) + 1) * everyMs + phaseMs);
}

/** Why no crawl started at its scheduled time, as a sentence for members. */
export function whySkipped({ code, message }: Problem): string {
  return code === 'CRAWL_RUNNING' ? 'Another crawl was running.' : message;
}
