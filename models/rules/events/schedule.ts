/** The retry schedule of failed deliveries, and when a destination without any success is disabled. Pure. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The backoff before each attempt of a delivery, in ms: eight attempts within about 28 hours. */
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

/**
 * The maximum share by which a wait is prolonged at random, so that deliveries that failed together are not retried
 * together.
 */
const jitter = 0.2;

/**
 * The wait before a retry, in ms: the longer of `ms` and `askedMs`, prolonged at random. `askedMs`: the receiver's
 * requested delay, of which at most `boundMs` count. `random`: from 0 up to 1, the share of `jitter` that is applied.
 */
export const waitOf = (ms: number, askedMs: number | undefined, boundMs: number, random: number): number =>
  Math.round(Math.max(ms, Math.min(askedMs ?? 0, boundMs)) * (1 + jitter * random));

/** The longest `Retry-After` that is obeyed, in ms: as long as the longest backoff. */
const maxRetryAfterMs = 10 * hour;
/** A destination is disabled after failing for this long without a success, in ms. */
const hopelessAfterMs = 5 * 24 * hour;

/**
 * The wait before the next attempt after `tries` failed attempts, in ms; undefined when no retry follows.
 * `retryAfterMs`: the wait that the receiver asks for, obeyed when it is longer than the backoff. `random`: from 0 up
 * to 1.
 */
export function nextWaitMs(tries: number, retryAfterMs: number | undefined, random: number): number | undefined {
  const wait = retryWaits[tries];
  return wait === undefined ? undefined : waitOf(wait, retryAfterMs, maxRetryAfterMs, random);
}

/**
 * Parses a `Retry-After` header (whole seconds or a date) into ms from now. Undefined for anything else, and for a time
 * in the past.
 */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  const text = value?.trim() ?? '';
  // HTTP dates begin with a weekday; other texts that Date.parse accepts are refused.
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * second
    : /^[A-Z][a-z]{2},? /.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN;
  return ms > 0 ? ms : undefined;
}

/** Whether a destination has failed for so long, without a success, that it is disabled. */
export const isHopeless = (failingSince: Date, now: Date): boolean =>
  now.getTime() - failingSince.getTime() >= hopelessAfterMs;
