/**
 * Until when something is to be done, by what was said in a meeting: `by Friday`, `at the end of the month`. A day stays a day;
 * where the hour was said, it is a moment in UTC. What cannot be read for sure gives nothing.
 */
import { DateTime } from 'luxon';
import { findDate } from '../language/dates.ts';

/** `text`: the words that say it, without the `by` before them. */
export type Due = { text: string; due: string };

/** A day by itself is meant to its end, so that `today`, said in the afternoon, still lies ahead. */
const lastHour = 23;
/** What follows these words is the date that counts, whatever other dates are named. */
const until =
  /\b(?:by|before|until|till|no later than|not later than|due(?: on| by| is)?|deadline(?: is| on| of)?)\s+/giu;
/** A date after these words is one that something else has: `the notes from Monday`. */
const elsewhere = /\b(?:from|since|of|about|after)\s+(?:the\s+)?$/iu;
const period =
  /\b(?:the\s+)?end of (?:the |this )?(day|business|week|month|quarter|year)\b|\b(this (?:morning|afternoon|evening))\b|\b((?:the\s+)?(?:end of )?next week)\b|\b(EOD|COB|EOW|EOM)\b/iu;
const short: Readonly<Record<string, string>> = { eod: 'day', cob: 'day', business: 'day', eow: 'week', eom: 'month' };

/** `startedAt`: what relative dates count from, in this zone (an IANA name). */
export function findDue(text: string, startedAt: Date, zone: string): Due | undefined {
  for (const match of text.matchAll(until)) {
    const found = readDue(text.slice(match.index + match[0].length), startedAt, zone);
    // It must stand there: `before the call on Monday` is not due on Monday.
    if (found && found.at <= 'the '.length) return { text: found.text, due: found.due };
  }
  const found = readDue(text, startedAt, zone);
  if (!found || elsewhere.test(text.slice(0, found.at))) return undefined;
  return { text: found.text, due: found.due };
}

function readDue(text: string, startedAt: Date, zone: string): (Due & { at: number }) | undefined {
  const ending = period.exec(text);
  if (ending) {
    const [, whole, thisDay, nextWeek, letters] = ending;
    const word = thisDay ? 'day' : nextWeek ? 'next week' : (whole ?? letters)!.toLowerCase();
    const due = lastDayOf(short[word] ?? word, DateTime.fromJSDate(startedAt, { zone }));
    return { text: ending[0], due, at: ending.index };
  }
  const found = findDate(text, startedAt, zone, lastHour);
  if (!found) return undefined;
  const due = found.timed ? found.at.toISOString() : DateTime.fromJSDate(found.at, { zone }).toISODate()!;
  return { text: found.text.replace(/[\s,;.]+$/u, ''), due, at: Math.max(0, text.indexOf(found.text)) };
}

/** The end of a working week is its Friday; on a weekend, the next one. */
function lastDayOf(period: string, now: DateTime): string {
  if (period === 'next week') return now.startOf('week').plus({ days: 11 }).toISODate()!;
  if (period === 'week') return now.plus({ days: (5 - now.weekday + 7) % 7 }).toISODate()!;
  return now.endOf(period as 'day' | 'month' | 'quarter' | 'year').toISODate()!;
}
