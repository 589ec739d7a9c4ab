/** Chooses what to quote around the best sentence, list item or table row, so that the reader understands it. Pure. */
import { shorten } from './phrasing.ts';
import { introduces, isStep, type Unit } from '../../../models/rules/knowledge/units.ts';
import { limitsBefore, pointsBack } from '../language/frame.ts';

/**
 * A sentence, item or row with its score. `source`: the index of its passage; `spoken`: the stems that it shares with
 * the question.
 */
export type Scored = Unit & { source: number; score: number; spoken: ReadonlySet<string> };
export type Chosen = { units: Scored[]; /** Whether the list has more items than were chosen. */ cut: boolean };

export const maxQuotes = 4;
/**
 * The most sentences in a quote that answer the question. Sentences to which these refer back are added, up to
 * `maxQuotes`.
 */
const maxSentences = 3;
/** The most characters of quoted prose; a sentence that would exceed this limit is left out. */
const maxProseLength = 700;
/**
 * The most characters of a list together with the sentence that introduces it. A list is quoted whole, because steps
 * without the last one mislead.
 */
const maxListLength = 2_000;
/** A list up to this size is quoted whole, even when the question is about only some of its items. */
const shortList = { items: 8, characters: 700 } as const;
/** A further sentence or list item is quoted only if its score is at least this share of the best score. */
const shareOfBest = 0.6;
/** The most rows of a table that are quoted. */
const maxRows = 8;
/**
 * A further row is quoted only if its score is at least this share of the best row's score, because the next row is
 * often about another product.
 */
const rowShareOfBest = 0.95;
/** A paragraph before a list introduces it, even without a colon, when it has at most this many sentences. */
const maxIntroduction = 2;
/** A sentence shorter than this, in characters, is rarely a whole answer, so its neighbour is quoted too. */
const shortSentence = 160;

type Place = Pick<Scored, 'source' | 'order'>;
const inOrder = (a: Place, b: Place): number => a.source - b.source || a.order - b.order;

/**
 * Chooses what to quote around `best`. `together`: whether two passages have the same heading, like the parts of a long
 * table.
 */
export function choose(
  best: Scored,
  scored: readonly Scored[],
  together: (source: number, other: number) => boolean,
): Chosen {
  const passage = scored.filter(({ source }) => source === best.source);
  if (best.kind === 'row') return rowsLike(best, scored, together);
  if (introduces(best.text)) return introduced(best, passage);
  if (best.kind === 'item') return itemsAround(best, passage);
  return proseAround(best, passage);
}

/** The rows that score nearly as well as the best one: for `Which branches are open?`, the row of each branch. */
function rowsLike(best: Scored, scored: readonly Scored[], together: (a: number, b: number) => boolean): Chosen {
  const seen = new Set<string>();
  const alike = scored
    .filter(
      ({ kind, source, score }) =>
        kind === 'row' && together(source, best.source) && score >= rowShareOfBest * best.score,
    )
    .toSorted((a, b) => b.score - a.score || inOrder(a, b))
    .filter(({ text }) => !seen.has(text) && seen.add(text));
  return { units: alike.slice(0, maxRows).toSorted(inOrder), cut: alike.length > maxRows };
}

/**
 * An introduction with the list that follows it, or a question with the answer that follows it. The answer is quoted up
 * to the end of its paragraph, because exceptions often come last.
 */
function introduced(best: Scored, passage: readonly Scored[]): Chosen {
  const units = [best];
  let length = 0;
  for (const unit of passage.slice(best.order + 1)) {
    const last = units.at(-1)!;
    if (last !== best && !goesOn(last, unit, units.length)) break;
    length += shorten(unit.text).length;
    if (unit.kind === 'prose' && last !== best && length > maxProseLength) break;
    if (length > maxListLength) return { units, cut: true };
    units.push(unit);
  }
  return { units, cut: false };
}

/** Whether `unit` belongs to the same answer as the unit before it. `count`: how many units the quote already has. */
function goesOn(before: Scored, unit: Scored, count: number): boolean {
  // The next question of a FAQ begins here.
  if (/[?？]$/u.test(unit.text)) return false;
  if (unit.kind !== 'prose') return before.kind !== 'prose' || /[:：]$/u.test(before.text);
  return before.kind === 'prose' && before.paragraph === unit.paragraph && count <= maxSentences;
}

/**
 * The introduction and its list. The list is quoted whole when it is numbered or short; otherwise only the items that
 * answer are quoted.
 */
function itemsAround(best: Scored, passage: readonly Scored[]): Chosen {
  const list = passage.filter(({ kind, paragraph }) => kind === 'item' && paragraph === best.paragraph);
  const intro = introductionOf(list[0]!, passage);
  const asks = list.findLast(({ order, text }) => order < best.order && /[?？]$/u.test(text));
  if (asks || list.some(({ text }) => /[?？]$/u.test(text)))
    return asks ? introduced(asks, passage) : introduced(best, passage);
  const length = list.reduce((sum, { text }) => sum + shorten(text).length, 0);
  const whole = isStep(best.text)
    ? length <= maxListLength
    : list.length <= shortList.items && length <= shortList.characters;
  if (whole) return { units: [...intro, ...list], cut: false };
  const last = intro.at(-1);
  if (isStep(best.text) && last) return introduced(last, passage);
  const matching = list.filter(({ score }) => score >= shareOfBest * best.score);
  const chosen = matching.toSorted((a, b) => b.score - a.score || inOrder(a, b)).slice(0, maxQuotes - intro.length);
  return { units: [...intro, ...chosen.toSorted(inOrder)], cut: false };
}

/**
 * The sentence with a colon before a list, or else the whole paragraph before it, if that is short: `You cannot return
 * these items.` The list may mean the opposite without it.
 */
function introductionOf(first: Scored, passage: readonly Scored[]): Scored[] {
  const before = passage[first.order - 1];
  if (!before || /[:：]$/u.test(before.text)) return before ? [before] : [];
  const whole = passage.filter(({ kind, paragraph }) => kind === 'prose' && paragraph === before.paragraph);
  const length = whole.reduce((sum, { text }) => sum + text.length, 0);
  return whole.length <= maxIntroduction && length <= shortSentence ? whole : [];
}

/** The sentences that score nearly as well as the best one, each with the sentence to which it refers back. */
function proseAround(best: Scored, passage: readonly Scored[]): Chosen {
  const chosen = new Set([best]);
  const length = (): number => [...chosen].reduce((sum, { text }) => sum + shorten(text).length, 0);
  const add = (unit: Scored | undefined): boolean => {
    if (unit?.kind !== 'prose' || chosen.has(unit) || chosen.size >= maxQuotes) return false;
    if (length() + shorten(unit.text).length > maxProseLength) return false;
    if ([...chosen].some(({ text }) => text === unit.text)) return false;
    chosen.add(unit);
    return true;
  };
  const leanedOn = (unit: Scored): Scored | undefined => {
    const before = passage[unit.order - 1];
    return pointsBack(unit.text) && before?.kind === 'prose' ? before : undefined;
  };
  add(leanedOn(best));
  const exceptionTo = (unit: Scored): Scored | undefined => {
    const after = passage[unit.order + 1];
    return after && limitsBefore(after.text) ? after : undefined;
  };
  add(exceptionTo(best));
  const further = passage
    .filter(({ kind, score, text }) => kind === 'prose' && score >= shareOfBest * best.score && !introduces(text))
    .toSorted((a, b) => b.score - a.score || inOrder(a, b));
  let sentences = 1;
  for (const unit of further) {
    if (sentences >= maxSentences || unit === best) continue;
    const before = leanedOn(unit);
    if (before && !chosen.has(before) && chosen.size + 2 > maxQuotes) continue;
    if (add(unit)) sentences += 1;
    if (chosen.has(unit)) add(before);
  }
  // A short sentence often needs its neighbour ("Call us at once. The line is open day and night.").
  const beside = (by: 1 | -1): Scored | undefined => {
    const unit = passage[best.order + by];
    return unit?.paragraph === best.paragraph ? unit : undefined;
  };
  if (chosen.size === 1 && best.text.length < shortSentence) add(beside(1) ?? beside(-1));
  // A sentence between two quoted ones is quoted too, so that the quoted text has no gap.
  for (const unit of passage) {
    const around = [passage[unit.order - 1], passage[unit.order + 1]];
    if (around.every((other) => other !== undefined && chosen.has(other)) && unit.text.length < shortSentence)
      add(unit);
  }
  for (const unit of chosen) add(exceptionTo(unit));
  const last = [...chosen].toSorted(inOrder).at(-1)!;
  const list = passage[last.order + 1];
  if (/[:：]$/u.test(last.text) && list?.kind === 'item') {
    const { units, cut } = introduced(last, passage);
    return { units: [...[...chosen].filter((unit) => unit !== last).toSorted(inOrder), ...units], cut };
  }
  return { units: [...chosen].toSorted(inOrder), cut: false };
}

/**
 * The next sentences or list items of a passage after the place `after` that were not quoted yet. If none follow, the
 * first unquoted ones of the passage. A list comes with all its unquoted items.
 */
export function following(after: Place, passage: readonly Scored[], isSaid: (text: string) => boolean): Scored[] {
  const unsaid = passage.filter(({ text, kind }) => kind !== 'row' && !isSaid(text));
  const [first] = [...unsaid.filter(({ order }) => order > after.order), ...unsaid];
  if (!first) return [];
  if (first.kind === 'item') return itemsAround(first, passage).units.filter(({ text }) => !isSaid(text));
  if (introduces(first.text)) return introduced(first, passage).units;
  const rest = passage.slice(first.order + 1, first.order + maxSentences);
  const end = rest.findIndex((unit) => unit.kind !== 'prose' || isSaid(unit.text) || introduces(unit.text));
  return [first, ...(end < 0 ? rest : rest.slice(0, end))];
}
