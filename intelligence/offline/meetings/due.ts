/**
 * Reads due dates in English speech: `by Friday`, `at the end of the month`. A date without an hour is given as a day,
 * a date with an hour as a moment in UTC. An ambiguous phrase gives no date.
 */
import { DateTime } from 'luxon';
import { findDate } from '../dates.ts';

/**
 * `text`: the words of the date, without the `by` before them. `due`: a day as `YYYY-MM-DD`, or a moment in UTC.
 * `dueDay`: set only when `due` is a moment; its day in the time zone that the speaker named, or in the meeting's time
 * zone if the speaker named none.
 */
export type Due = { text: string; due: string; dueDay?: string };

/** A day without an hour ends at this hour, so that `today`, said in the afternoon, is still in the future. */
const lastHour = 23;
/** The date after these words is the due date, whatever other dates are named. */
const until =
  /(?<!\bnot )\b(?:by|before|until|till|no later than|not later than|due(?: on| by| is)?|deadline(?: is| on| of)?)\s+/giu;
/** A date after these words is no due date: `the notes from Monday`. */
const elsewhere = /\b(?:from|since|of|about|after|not before|not until|not till)\s+(?:the\s+)?$/iu;
const period =
  /\b(?:the\s+)?(?:end|close) of (?:the |this )?(day|business|play|week|month|quarter|year)\b|\b(this (?:morning|afternoon|evening))\b|\bthis (week|month|quarter|year)\b|\b((?:the\s+)?(?:end of )?next week|the week after next)\b|\b(EOD|COB|EOW|EOM)\b/iu;
const short: Readonly<Record<string, string>> = {
  eod: 'day',
  cob: 'day',
  business: 'day',
  play: 'day',
  eow: 'week',
  eom: 'month',
};

/** Relative dates are computed from `startedAt`, in `zone` (an IANA name). */
export function findDue(said: string, startedAt: Date, zone: string): Due | undefined {
  const text = said.replaceAll(monthFirst, '$1 ').replaceAll(/\ba fortnight\b/giu, 'two weeks');
  for (const match of text.matchAll(until)) {
    const found = readDue(text.slice(match.index + match[0].length), startedAt, zone);
    // The date must follow directly: `before the call on Monday` is not due on Monday.
    if (found && found.at <= 'the '.length) return found.date;
  }
  const found = readDue(text, startedAt, zone);
  return !found || elsewhere.test(text.slice(0, found.at)) ? undefined : found.date;
}

/** A due date, and where its words begin in the text. */
type Placed = { date: Due; at: number };

function readDue(text: string, startedAt: Date, zone: string): Placed | undefined {
  const ending = period.exec(text);
  if (ending && !/\bnot\s+$/iu.test(text.slice(0, ending.index))) {
    const [, whole, thisDay, thisPeriod, nextWeek, letters] = ending;
    const word = thisDay
      ? 'day'
      : nextWeek
        ? nextWeek.toLowerCase().replace(/^.*next week$/u, 'next week')
        : (whole ?? thisPeriod ?? letters)!.toLowerCase();
    const due = lastDayOf(short[word] ?? word, DateTime.fromJSDate(startedAt, { zone }));
    return { date: { text: ending[0], due }, at: ending.index };
  }
  const day = dayOfMonth.exec(text);
  if (day) return readDay(day, DateTime.fromJSDate(startedAt, { zone }));
  const found = findDate(text, startedAt, zone, lastHour);
  // `In a minute` means at once, so it is no due date.
  if (!found || (found.timed && found.at.getTime() - startedAt.getTime() < 10 * 60_000)) return undefined;
  const dueDay = DateTime.fromJSDate(found.at, { zone: found.zone }).toISODate()!;
  const date: Due = {
    text: found.text.replace(/[\s,;.]+$/u, ''),
    ...(found.timed ? { due: found.at.toISOString(), dueDay } : { due: dueDay }),
  };
  return { date, at: Math.max(0, text.indexOf(found.text)) };
}

const ordinals =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first'.split(
    ' ',
  );
const months = 'january|february|march|april|may|june|july|august|september|october|november|december';
const monthFirst = new RegExp(String.raw`\b((?:${months})) the (?=\d|${ordinals.join('|')})`, 'giu');
/** `The thirtieth` alone is a day; `the third page` and `the first of May` are not. */
const dayOfMonth = new RegExp(
  String.raw`\bthe (\d{1,2}(?:st|nd|rd|th)|${ordinals.toReversed().join('|')})(?=$|[.,;!?]| (?:at the latest|is|would|should|then|and|but|so|if|when|because|for|with)\b)`,
  'iu',
);

/** The next day with this number in its month; it may be today. */
function readDay(match: RegExpExecArray, now: DateTime): Placed | undefined {
  const said = match[1]!.toLowerCase();
  const day = /^\d/u.test(said) ? Number.parseInt(said, 10) : ordinals.indexOf(said) + 1;
  const ahead = [0, 1, 2]
    .map((month) => now.startOf('month').plus({ months: month }))
    .map((month) => (day >= 1 && day <= month.daysInMonth! ? month.set({ day }) : undefined))
    .find((date) => date !== undefined && date >= now.startOf('day'));
  return ahead && { date: { text: match[0], due: ahead.toISODate()! }, at: match.index };
}

/**
 * The last day of a period, as `YYYY-MM-DD`. A working week ends on Friday; on a weekend, the next week's Friday is
 * meant.
 */
function lastDayOf(period: string, now: DateTime): string {
  if (period === 'the week after next') return now.startOf('week').plus({ days: 18 }).toISODate()!;
  if (period === 'next week') return now.startOf('week').plus({ days: 11 }).toISODate()!;
  if (period === 'week') return now.plus({ days: (5 - now.weekday + 7) % 7 }).toISODate()!;
  return now.endOf(period as 'day' | 'month' | 'quarter' | 'year').toISODate()!;
}
