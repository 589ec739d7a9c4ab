/**
 * Finds dates in English text: the moment that a phrase means in a time zone. An ambiguous phrase gives no date,
 * because a wrong date is worse than none.
 */
import type { ParsedComponents, ParsedResult } from 'chrono-node';
import * as english from 'chrono-node/en';
import { DateTime, FixedOffsetZone } from 'luxon';
import { zonesIn, type NamedZone } from './zones.ts';

export type FoundDate = {
  /** The words that state the date, as in the text. */
  text: string;
  at: Date;
  /** Whether the text states the hour. */
  timed: boolean;
  /** The time zone in which the date is meant: the one that the text states, else the given one. */
  zone: string;
};

/**
 * The most characters that are parsed at a time, because parsing time grows with the square of the number of blanks.
 */
const maxText = 500;
/** A date before these words would be misread: `the last Friday of May` is another date, `Monday's plan` is a plan. */
const refusedAfter = /^\s*(?:of|after|before|following)\b|^['’]s\b/iu;
/** `45 minutes` is a duration; `in 45 minutes` is a time. */
const duration =
  /^(?:(?:them|us|you|me|him|her|it|for|about)\s+)?(?:(?:the|an?|\p{N}+|half an|one|two|three)[\s-]*)?(?:second|minute|min|hour|hr|day|week|month|year)s?$/iu;
const refusedBefore = /\b(?:every|each|last|not)\s+$/iu;

/**
 * The first date or time in a text that is after `now`. A date without an hour means `hour` in local time. `zone`: an
 * IANA name.
 */
export function findDate(text: string, now: Date, zone: string, hour: number): FoundDate | undefined {
  const clean = text.replaceAll(/\s+/gu, ' ').trim();
  // The text is read sentence by sentence. A full stop inside `3 p.m.` or `2.30` does not end a sentence.
  for (const part of clean.split(/(?<=[!?;]|[^\d\s.]{3}\.)\s/u)) {
    for (let from = 0; from < part.length; from += maxText) {
      const found = inPiece(part.slice(from, from + maxText), now, zone, hour);
      if (found) return found;
    }
  }
  return undefined;
}

/** A piece of text in which names of time zones are blanked, so that the words around them are parsed together. */
type Piece = { text: string; written: string; zones: readonly NamedZone[] };

function inPiece(written: string, now: Date, zone: string, hour: number): FoundDate | undefined {
  const zones = zonesIn(written);
  let text = written;
  for (const { from, to } of zones) text = text.slice(0, from) + ' '.repeat(to - from) + text.slice(to);
  return inBlanked({ text, written, zones }, now, zone, hour);
}

/** The time zone that is named next to or inside a date; its words belong to the date. */
function besideOf({ text, zones }: Piece, { index, text: matched }: ParsedResult): NamedZone | undefined {
  const end = index + matched.length;
  const isBlank = (from: number, to: number): boolean => /^[\s,()]*$/u.test(text.slice(from, to));
  return zones.find(({ from, to }) => (from < end ? to > index || isBlank(to, index) : isBlank(end, from)));
}

function inBlanked(piece: Piece, now: Date, zone: string, hour: number): FoundDate | undefined {
  const { text } = piece;
  const local = DateTime.fromJSDate(now, { zone });
  const read = (reference: Date) =>
    english.GB.parse(text, { instant: reference, timezone: local.offset }, { forwardDate: true });
  for (const match of read(now)) {
    const named = besideOf(piece, match);
    if (named?.zone === null) continue;
    if (named && named.zone !== zone) {
      // The text is read again in the named zone, because the day, and whether it is in the future, depend on the zone.
      const there = inBlanked(piece, now, named.zone, hour);
      if (there) return there;
      continue;
    }
    const before = text.slice(0, match.index);
    const after = text.slice(match.index + match.text.length);
    if (refusedAfter.test(after) || refusedBefore.test(before) || duration.test(match.text)) continue;
    const { start } = match;
    const dated = start.isCertain('day') || start.isCertain('weekday');
    if (!dated && !start.isCertain('hour')) continue;
    const weekday = onlyWeekday(match);
    // A weekday without an hour is parsed from the start of today. Otherwise `Friday`, said on a Friday afternoon,
    // would mean the Friday of the next week.
    const again = weekday
      ? read(local.startOf('day').toJSDate()).find(({ index }) => index === match.index)
      : undefined;
    const moment = momentOf((again ?? match).start, zone, hour);
    if (!moment) continue;
    const passed = moment.at <= now;
    if (passed && !weekday) continue;
    const at = passed ? DateTime.fromJSDate(moment.at, { zone }).plus({ weeks: 1 }).toJSDate() : moment.at;
    const end = Math.max(match.index + match.text.length, named?.to ?? 0);
    return { text: piece.written.slice(match.index, end), at, timed: moment.timed, zone: moment.zone };
  }
  return undefined;
}

const onlyWeekday = ({ start }: ParsedResult): boolean =>
  start.isCertain('weekday') && !start.isCertain('day') && !start.isCertain('hour');

/**
 * The moment of a parsed date. chrono-node assumes one UTC offset for the whole text, so the zone's own offset at that
 * moment is used instead.
 */
function momentOf(start: ParsedComponents, zone: string, hour: number): Omit<FoundDate, 'text'> | undefined {
  const timed = start.isCertain('hour');
  if (start.isCertain('timezoneOffset'))
    return { at: start.date(), timed, zone: FixedOffsetZone.instance(start.get('timezoneOffset')!).name };
  const part = (name: 'year' | 'month' | 'day' | 'hour' | 'minute'): number => start.get(name) ?? 0;
  const local = DateTime.fromObject(
    {
      year: part('year'),
      month: part('month'),
      day: part('day'),
      hour: timed ? part('hour') : hour,
      minute: timed ? part('minute') : 0,
    },
    { zone },
  );
  return local.isValid ? { at: local.toJSDate(), timed, zone } : undefined;
}
