/** Times as a person reads them. */

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** “5 min”, “2 hr”, “3 days”: how long ago, or how long until. Under a minute: “0 min”. */
export function span(ms: number, locale: string): string {
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? ['minute', 60_000];
  const count = Math.floor(Math.abs(ms) / size);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }).format(count);
}

/** The time of day; with the date unless it is today. */
export function moment(iso: string, now: Date, locale: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(locale, {
    ...(today
      ? {}
      : { day: 'numeric', month: 'short', ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }) }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(at);
}

/** Whether a moment is within quiet hours, which may pass midnight, such as from 22:00 until 07:00 in `timezone`. */
export function isQuiet(
  { from, until, timezone }: { from: string; until: string; timezone: string },
  at: Date,
): boolean {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' }).format(at);
  return from <= until ? time >= from && time < until : time >= from || time < until;
}
