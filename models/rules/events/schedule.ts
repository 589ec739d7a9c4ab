/** When a failed delivery is tried again, and when a destination that takes nothing is given up. Pure. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits before the attempts of one delivery, in ms: eight attempts within some 28 hours. */
export const retryWaits: readonly number[] = [
  0,
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  10 * hour,
];

/** A wait is prolonged by up to this part, so that what failed together does not come back together. */
const jitter = 0.2;
/** The longest `Retry-After` that is kept to: as long as the longest wait. */
const maxRetryAfterMs = 10 * hour;
/** A destination that took nothing for this long is disabled, in ms. */
const hopelessAfterMs = 5 * 24 * hour;

/**
 * The wait before the next attempt after `tries` failed ones, in ms; undefined when there is none. The receiver may ask for
 * a longer one. `random`: from 0 up to 1.
 */
export function nextWaitMs(tries: number, retryAfterMs: number | undefined, random: number): number | undefined {
  const wait = retryWaits[tries];
  if (wait === undefined) return undefined;
  const asked = Math.min(retryAfterMs ?? 0, maxRetryAfterMs);
  return Math.round(Math.max(wait, asked) * (1 + jitter * random));
}

/** A `Retry-After` as ms from now: whole seconds, or a date. Undefined for anything else, and for a time that is over. */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? '';
  // A date has a weekday first; anything else that Date.parse would take is not one.
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * second
    : /^[A-Z][a-z]{2},? /.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN;
  return ms > 0 ? ms : undefined;
}

/** Whether a destination that has failed since then, without a success, is given up. */
export const isHopeless = (failingSince: Date, now: Date): boolean =>
  now.getTime() - failingSince.getTime() >= hopelessAfterMs;
