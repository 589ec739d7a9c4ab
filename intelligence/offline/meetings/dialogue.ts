/**
 * Applies later English sentences to an earlier request or promise: they answer it, accept it, give it a date, cancel
 * it, or say that it is done.
 */
import type { Commitment } from './commitments.ts';
import { addressedIn, dueIn, ownerOf, urgencyOf, type Place, type Reading, type Unit } from './reading.ts';
import { hasPronoun } from './titles.ts';
import type { Said } from '../../../models/rules/interviews/transcript.ts';

/** A request can be answered at most this many segments later. */
const answeredWithin = 3;
/**
 * The number of earlier task candidates that are searched: `recent` for the candidate that a sentence refers to,
 * `compared` for a candidate that a new one repeats.
 */
const recent = 30;
const compared = 300;
/** Applies a segment of the transcript as a reply to a request that another speaker made shortly before. */
export function answer(reading: Reading, segment: Said, at: number, parts: readonly string[]): void {
  const { isSame } = reading;
  const units = reading.units.slice(-recent);
  const { speaker } = segment;
  const { takes, agrees, approves, refuses, handsTo } = reading.answerOf(parts.slice(0, 2).join(' '));
  const isOpen = (unit: Unit): boolean => !unit.refused && at - unit.at <= answeredWithin && unit.at < at;
  // A reply answers the last request of another speaker, preferably one that is addressed to the replying speaker. A
  // speaker may also accept a need that they stated themselves, if nobody has accepted it.
  const isTheirs = (unit: Unit): boolean => unit.segment.speaker !== speaker && isOpen(unit);
  const asked =
    units.findLast((unit) => isTheirs(unit) && unit.owner !== undefined && isSame(unit.owner, speaker)) ??
    units.findLast(isTheirs) ??
    (takes ? units.findLast((unit) => isOpen(unit) && unit.form === 'need' && !unit.accepted) : undefined);
  if (!asked) return;
  const isNext = !units.some((unit) => unit !== asked && unit.at > asked.at);
  const isMine = asked.owner !== undefined && isSame(asked.owner, speaker);
  const mayBeMine = asked.owner === undefined && asked.doer !== 'everybody';
  if (handsTo !== undefined && asked.form !== 'promise' && !isSame(handsTo, speaker)) {
    Object.assign(asked, { owner: handsTo, accepted: false, at });
  } else if (refuses && isNext && at - asked.at <= 2) {
    const concerns = isMine || asked.doer === 'you' || asked.form === 'proposal' || asked.form === 'offer';
    if (concerns && !asked.accepted) asked.refused = true;
  } else if (approves && asked.form === 'promise' && asked.weak) {
    asked.accepted = true;
  } else if (takes && asked.form !== 'promise') {
    Object.assign(asked, { owner: speaker, accepted: true });
  } else if (agrees) {
    if (asked.form === 'offer') asked.accepted = true;
    else if (isMine && asked.form !== 'promise') asked.accepted = true;
    else if (mayBeMine && asked.doer === 'you') Object.assign(asked, { owner: speaker, accepted: true });
  }
  // The reply may also state until when the task can be done.
  if (asked.due || asked.refused || handsTo !== undefined || !(takes || agrees || isMine)) return;
  const due = parts
    .map((part) => (part.length < 90 ? dueIn(reading, part) : undefined))
    .find((one) => one !== undefined);
  if (due) asked.due = due;
}

/** Adds a date to the newest candidate for a task: `End of next week is fine, no rush`. */
export function addDate(reading: Reading, text: string, at: number): void {
  if (!dateAlone.test(text) && !(dateAfterFew.test(text) && reading.read(text) === undefined)) return;
  const last = reading.units.slice(-recent).findLast((unit) => !unit.refused && at - unit.at <= answeredWithin);
  if (!last) return;
  const due = last.due ? undefined : dueIn(reading, text);
  if (due) last.due = due;
  const urgent = urgencyOf(text);
  if (due && urgent) last.urgent = urgent;
}

/** A date after a few words: `All of them, by Friday if possible.` */
const dateAfterFew = /^[^.?]{0,25}\b(?:by|before|until|no later than)\b[^.?]{2,30}[.]?$/iu;

/** A sentence that contains little more than a date. */
const dateAlone =
  /^(?:\W*\b(?:by|before|on|until|then|the|same|end|of|next|this|is|fine|no|rush|okay|ok|today|tomorrow|tonight|morning|afternoon|evening|noon|week|month|year|day|monday|tuesday|wednesday|thursday|friday|saturday|sunday|would|be|good|great|enough|it's|not|urgent|please|at|latest|\d+(?:st|nd|rd|th)?|january|february|march|april|may|june|july|august|september|october|november|december)\b)+\W*$/iu;

/**
 * Applies a commitment without an object (`Can you do that, Bob?`, `I'll do it on Thursday`) to the newest candidate
 * for a task. Returns whether it was applied.
 */
export function takeUp(
  reading: Reading,
  { doer, form, deed }: Commitment,
  segment: Said,
  at: number,
  place: Place,
): boolean {
  const { isSame } = reading;
  const last = reading.units
    .slice(-recent)
    .findLast((unit) => !unit.refused && unit.form !== 'label' && at - unit.at <= answeredWithin);
  if (!last) return false;
  const owner = ownerOf(reading, doer, segment) ?? addressedIn(reading, doer, place);
  const isFree = last.owner === undefined || !last.accepted;
  const isOwn = last.owner !== undefined && owner !== undefined && isSame(last.owner, owner);
  if (!isFree && !isOwn) return false;
  const due = dueIn(reading, place.whole);
  if (doer === 'speaker' && form === 'promise') {
    if (last.form === 'promise' && !isOwn) return false;
    Object.assign(last, { owner: segment.speaker, accepted: true, weak: false });
  } else if (owner !== undefined) {
    Object.assign(last, {
      owner,
      accepted: last.accepted && isOwn,
      form: 'request',
      weak: false,
      segment: last.segment,
      at,
    });
    last.doer = { named: owner };
  } else if (doer === 'you') {
    Object.assign(last, { doer, form: 'request', at, weak: false });
  } else return false;
  if (due && (!last.due || deed !== '')) last.due = due;
  const urgent = urgencyOf(place.whole);
  if (urgent) last.urgent = urgent;
  return true;
}

/** `There, done`: marks the newest candidate for a task as done, if this speaker stated it or owns it. */
export function markDone({ units }: Reading, { speaker }: Said, at: number): void {
  const last = units.slice(-recent).findLast((unit) => at - unit.at <= 2);
  if (last && (last.segment.speaker === speaker || last.owner === speaker)) last.isDone = true;
}

/** `Never mind`, `let's not`: cancels the newest candidate for a task. */
export function callOff({ units }: Reading, at: number): void {
  const last = units.slice(-recent).findLast((unit) => at - unit.at <= 2);
  if (last) last.refused = true;
}

/**
 * Whether a task candidate repeats an earlier one with the same owner, an unknown owner, or an owner whom the new one
 * replaces (`instead`). If so, its new details are merged into the earlier one.
 */
export function joined({ units, isSame }: Reading, found: Unit): boolean {
  const instead = /\b(?:instead|actually|rather|take(?:s)? (?:that |it |this )?over)\b/iu.test(found.quote);
  const same = units.slice(-compared).findLast((unit) => {
    if (unit.refused) return false;
    const apart = unit.owner !== undefined && found.owner !== undefined && !isSame(unit.owner, found.owner);
    // `Sure, I'll write to them` repeats in other words what the speaker was just asked to do.
    const isReply =
      found.form === 'promise' && unit.form !== 'promise' && found.at - unit.at <= 1 && found.at > unit.at;
    if (isReply && !apart && unit.owner !== undefined && hasPronoun(found.deed)) return true;
    // `I'll put it in the folder tomorrow` continues a task that was accepted a moment ago.
    const isNear = found.at - unit.at <= answeredWithin && found.at > unit.at;
    if (
      unit.accepted &&
      !apart &&
      (!unit.due || unit.due.due === found.due?.due) &&
      found.due &&
      isNear &&
      (hasPronoun(found.deed) || found.stems.size < 2 + found.due.text.split(' ').length)
    )
      return true;
    const isSaidAgain =
      !apart && hasPronoun(found.deed) && isNear && verbOf(unit.deed) === verbOf(found.deed) && units.at(-1) === unit;
    if (isSaidAgain && unit.owner === found.owner) return true;
    if (apart && !instead) return false;
    const smaller = Math.min(unit.stems.size, found.stems.size);
    if (smaller < 2) return false;
    return [...found.stems].filter((stem) => unit.stems.has(stem)).length / smaller >= (instead ? 0.5 : 0.75);
  });
  if (!same) return false;
  if (found.owner !== undefined && (same.owner === undefined || instead)) same.owner = found.owner;
  if (found.form === 'promise' && same.form !== 'promise') same.accepted = true;
  if (!same.due && found.due) same.due = found.due;
  if (!same.urgent && found.urgent) same.urgent = found.urgent;
  return true;
}

const verbOf = (deed: string): string => /^\p{L}+/u.exec(deed)?.[0].toLowerCase() ?? '';
