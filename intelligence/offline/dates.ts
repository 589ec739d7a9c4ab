/**
 * Dates in what people write: which moment a phrase means, in a time zone. It reads English; a phrase that it cannot read for
 * sure gives nothing, since a wrong date is worse than none.
 */
import type { ParsedComponents, ParsedResult } from 'chrono-node';
import * as english from 'chrono-node/en';
import { DateTime } from 'luxon';
import { zonesIn, type NamedZone } from './zones.ts';

export type FoundDate = {
  /** The words that name it, as they stand in the text. */
  text: string;
  at: Date;
  /** Whether the hour was said. */
  timed: boolean;
};

/** What is read at once, in characters: the time that reading takes grows with the square of blanks. */
const maxText = 500;
/** What would be read wrongly: `every Monday` is no date, `the last Friday of May` another one, `Monday's plan` a plan. */
const refusedAfter = /^\s*(?:of|after|before|following)\b|^['’]s\b/iu;
/** `45 minutes` is how long something takes; `in 45 minutes` is when it is. */
const duration =
  /^(?:(?:them|us|you|me|him|her|it|for|about)\s+)?(?:(?:the|an?|\p{N}+|half an|one|two|three)[\s-]*)?(?:second|minute|min|hour|hr|day|week|month|year)s?$/iu;
const refusedBefore = /\b(?:every|each|last|not)\s+$/iu;

/**
 * The first moment that a text names and that lies ahead of `now`. A date without an hour is meant at `hour`, local time.
 * `zone`: an IANA name.
 */
export function findDate(text: string, now: Date, zone: string, hour: number): FoundDate | undefined {
  const clean = text.replaceAll(/\s+/gu, ' ').trim();
  // A sentence at a time; a full stop inside `3 p.m.` or `2.30` ends none.
  for (const part of clean.split(/(?<=[!?;]|[^\d\s.]{3}\.)\s/u)) {
    for (let from = 0; from < part.length; from += maxText) {
      const found = inPiece(part.slice(from, from + maxText), now, zone, hour);
      if (found) return found;
    }
  }
  return undefined;
}

/** A piece of text in which the zones that it names are blank, so that what stands around them is read together. */
type Piece = { text: string; written: string; zones: readonly NamedZone[] };

function inPiece(written: string, now: Date, zone: string, hour: number): FoundDate | undefined {
  const zones = zonesIn(written);
  let text = written;
  for (const { from, to } of zones) text = text.slice(0, from) + ' '.repeat(to - from) + text.slice(to);
  return inBlanked({ text, written, zones }, now, zone, hour);
}

/** The zone that stands beside a time, or within what names it; its words belong to the time. */
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
      // Which day it is, and what is ahead, is asked in that zone.
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
    // A weekday by itself is compared with noon: on that very day in the afternoon it would be a week later.
    const again = weekday
      ? read(local.startOf('day').toJSDate()).find(({ index }) => index === match.index)
      : undefined;
    const moment = momentOf((again ?? match).start, zone, hour);
    if (!moment) continue;
    const passed = moment.at <= now;
    if (passed && !weekday) continue;
    const at = passed ? DateTime.fromJSDate(moment.at, { zone }).plus({ weeks: 1 }).toJSDate() : moment.at;
    const end = Math.max(match.index + match.text.length, named?.to ?? 0);
    return { text: piece.written.slice(match.index, end), at, timed: moment.timed };
  }
  return undefined;
}

const onlyWeekday = ({ start }: ParsedResult): boolean =>
  start.isCertain('weekday') && !start.isCertain('day') && !start.isCertain('hour');

/** The library knows one offset for all of a text; the zone's own offset at that moment counts. */
function momentOf(start: ParsedComponents, zone: string, hour: number): Omit<FoundDate, 'text'> | undefined {
  const timed = start.isCertain('hour');
  if (start.isCertain('timezoneOffset')) return { at: start.date(), timed };
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
  return local.isValid ? { at: local.toJSDate(), timed } : undefined;
}
