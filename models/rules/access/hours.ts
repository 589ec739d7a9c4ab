/** The hours in which a team answers, in its own time zone. Pure. */

export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof weekdays)[number];
/** A span of a day in local times `HH:MM`; `until` may be `24:00`. */
export type Span = { from: string; until: string };
export type Hours = {
  /** The IANA name of the time zone. */
  timezone: string;
  /** The spans in which the team answers, by weekday; a day without spans is closed. */
  week: Partial<Record<Weekday, Span[]>>;
  /** Local dates `YYYY-MM-DD` on which nobody answers. */
  closed: string[];
  /**
   * The text that a customer gets when the conversation is escalated to a person outside these hours. The time of the
   * next opening is added to it.
   */
  away_message: string | null;
};

export const maxSpans = 6;
export const maxClosed = 200;
export const maxAwayMessage = 500;

/** How far ahead the next opening is searched for, in days. */
const daysAhead = 370;
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** The longest clock change (such as the start of daylight saving time) that the calculation allows for, in ms. */
const longestJumpMs = 180 * minuteMs;

/**
 * The maximum number of cached formats; each takes about 32 KB. A format is cached by the name of its time zone as an
 * organization spells it. A name has thousands of spellings, because upper and lower case are treated alike.
 */
const maxFormats = 1_000;
const formats = new Map<string, Intl.DateTimeFormat>();
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  // There are fewer time zones than `maxFormats`, so the cache is hardly ever cleared.
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, made);
  return made;
}

/** The local date, weekday and time (`HH:MM`) in a time zone at a moment, which is given in ms since 1970. */
function localOf(timezone: string, ms: number): { date: string; weekday: Weekday; time: string } {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  return {
    date: `${parts['year']}-${parts['month']}-${parts['day']}`,
    weekday: parts['weekday']!.toLowerCase() as Weekday,
    time: `${parts['hour']}:${parts['minute']}`,
  };
}

const spansOn = ({ week, closed }: Hours, { date, weekday }: { date: string; weekday: Weekday }): readonly Span[] =>
  closed.includes(date) ? [] : (week[weekday] ?? []);

export function isOpen(hours: Hours, at: Date): boolean {
  const local = localOf(hours.timezone, at.getTime());
  return spansOn(hours, local).some(({ from, until }) => local.time >= from && local.time < until);
}

/**
 * The moment, in ms since 1970, at which a time zone has a local time. For a local time that a clock change skips, the
 * result is the moment of the change.
 */
function momentOf(timezone: string, date: string, time: string): number {
  // The time is added in minutes, so that `24:00` gives the end of the day.
  const wall = Date.parse(`${date}T00:00:00Z`) + (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minuteMs;
  const shownAt = (ms: number): number => {
    const shown = localOf(timezone, ms);
    return Date.parse(`${shown.date}T${shown.time}:00Z`);
  };
  let moment = wall;
  // A local time that exists is found by at most two corrections, and the third round sees that it is found. Only for a
  // skipped time does the loop end without a result.
  for (let round = 0; round < 3; round += 1) {
    const off = wall - shownAt(moment);
    if (off === 0) return moment;
    moment += off;
  }
  // The clock change is the first moment that shows a later time than the skipped one.
  while (shownAt(moment) < wall) moment += minuteMs;
  while (shownAt(moment - minuteMs) > wall) moment -= minuteMs;
  return moment;
}

/** The first full minute after `at` at which the team answers; undefined when there is none within a year. */
export function nextOpening(hours: Hours, at: Date): Date | undefined {
  const after = Math.floor(at.getTime() / minuteMs) * minuteMs + minuteMs;
  // The search starts with the previous local day, so that it misses no span around midnight or a clock change.
  let date = localOf(hours.timezone, after - dayMs).date;
  for (let day = 0; day <= daysAhead; day += 1) {
    const noon = Date.parse(`${date}T12:00:00Z`);
    const weekday = weekdays[(new Date(noon).getUTCDay() + 6) % 7]!;
    const openings = spansOn(hours, { date, weekday }).flatMap(({ from, until }) => {
      if (momentOf(hours.timezone, date, until) < after - longestJumpMs) return [];
      const begin = Math.max(momentOf(hours.timezone, date, from) - longestJumpMs, after);
      // A clock change may skip the beginning of a span or show it twice, so each minute around it is checked.
      for (let minute = begin; minute <= begin + 2 * longestJumpMs; minute += minuteMs)
        if (isOpen(hours, new Date(minute))) return [minute];
      return [];
    });
    if (openings.length > 0) return new Date(Math.min(...openings));
    date = new Date(noon + dayMs).toISOString().slice(0, 10);
  }
  return undefined;
}

/**
 * The open spans of the local dates from a day before `from` to `until`. Each span has its begin and end in ms since
 * 1970. The spans are in order and do not overlap.
 */
function openings(hours: Hours, from: number, until: number): [begin: number, end: number][] {
  const found: [number, number][] = [];
  const last = localOf(hours.timezone, until).date;
  let date = localOf(hours.timezone, from - dayMs).date;
  while (date <= last) {
    const noon = Date.parse(`${date}T12:00:00Z`);
    const weekday = weekdays[(new Date(noon).getUTCDay() + 6) % 7]!;
    for (const span of spansOn(hours, { date, weekday }))
      found.push([momentOf(hours.timezone, date, span.from), momentOf(hours.timezone, date, span.until)]);
    date = new Date(noon + dayMs).toISOString().slice(0, 10);
  }
  let closed = 0;
  return found
    .toSorted(([one], [other]) => one - other)
    .map(([begin, end]) => {
      // Spans may overlap. A span that begins before an earlier span ends is shortened to begin at that end, so that no
      // minute counts twice.
      const free = Math.max(begin, closed);
      closed = Math.max(closed, end);
      return [free, closed];
    });
}

/**
 * Returns a function that measures how much of the time between two moments is open, in ms. Both moments must be
 * between `from` and `until`. All moments are in ms since 1970.
 */
export function openTime(hours: Hours, from: number, until: number): (begin: number, end: number) => number {
  const spans = openings(hours, from, until);
  /** The open time before each span, in ms; the last entry is the open time of all spans together. */
  const sums = [0];
  for (const [begin, end] of spans) sums.push(sums.at(-1)! + end - begin);
  /** The open time before a moment, in ms, found by binary search. */
  const before = (at: number): number => {
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle]![0] <= at) low = middle + 1;
      else high = middle;
    }
    const begun = spans[low - 1];
    return begun ? sums[low]! - Math.max(0, begun[1] - Math.max(at, begun[0])) : 0;
  };
  return (begin, end) => before(end) - before(begin);
}
