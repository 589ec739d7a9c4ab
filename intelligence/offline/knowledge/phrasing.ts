/**
 * Joins quotations into readable text: a table row becomes a sentence, and a quotation gets its heading if it needs
 * one. No words are added. Pure.
 */
import { isValue } from '../../../models/rules/knowledge/tablehead.ts';
import type { Cell, Unit } from '../../../models/rules/knowledge/units.ts';
import { isRemark, isUnit, pointsBack } from '../language/frame.ts';
import { terms } from '../../../models/rules/language/words.ts';

/** The most characters of a quote; a longer sentence is cut at a word and ends with an ellipsis. */
const maxQuoteLength = 600;
/** A line without a full stop and with fewer characters than this is a fragment. */
const maxFragmentLength = 80;
const fullStop = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u;

export function shorten(text: string): string {
  if (text.length <= maxQuoteLength) return text;
  return `${text
    .slice(0, maxQuoteLength)
    .replace(/[\ud800-\udbff]$/u, '')
    .replace(/\s+\S*$/u, '')}…`;
}

/** The last part of a heading path: `Lost card` of `Cards > Lost card`. */
const lastOf = (heading: string): string => heading.split(' > ').at(-1)!.trim();

/** A row as a sentence: its first cell, then the `wanted` columns with their names. */
export function phraseRow(cells: readonly Cell[], wanted: (cell: Cell) => boolean): string {
  const [first, ...others] = cells;
  const shown = shownCells(others, wanted).map(said).join('; ');
  if (first === undefined || /[?？]$/u.test(first.value)) return shown;
  const subject = isValue(first.value) ? said(first) : first.value;
  return `${subject} – ${shown}`;
}

const said = ({ name, value }: Cell): string => (name === '' ? value : `${name}: ${value}`);

/**
 * The wanted cells with their units (`per month`), and all remarks, because units and remarks change the meaning of a
 * value. When only a unit is wanted, its value is added too. When no cell is wanted, all cells are shown.
 */
function shownCells(cells: readonly Cell[], wanted: (cell: Cell) => boolean): readonly Cell[] {
  const chosen = new Set(cells.filter(wanted));
  if (chosen.size === 0) return cells;
  return cells.filter((cell, at) => {
    if (chosen.has(cell) || isRemark(cell.name)) return true;
    const [before, after] = [cells[at - 1], cells[at + 1]];
    return isUnit(cell.value) ? chosen.has(before!) : after !== undefined && isUnit(after.value) && chosen.has(after);
  });
}

/** The last heading of a path, as a label before a quotation. */
export const labelOf = (heading: string): string => lastOf(heading).replace(/[:：.\s]+$/u, '');

/**
 * The heading to put before a quotation that is not clear alone. Such a quotation refers back to an unquoted sentence,
 * is a fragment, does not name its subject, or lists what the heading may turn around (`Items you cannot return`).
 * `spoken`: how many of the question's words are in the quotation and in its heading, and how many words the question
 * has (`asked`).
 */
export function headingFor(
  heading: string,
  units: readonly Unit[],
  spoken: { quoted: number; heading: number; asked: number },
): string | undefined {
  const label = labelOf(heading);
  const [first] = units;
  if (label === '' || first === undefined) return undefined;
  const named = terms(label);
  const known = (texts: readonly Unit[]): number => {
    const stems = new Set(texts.flatMap(({ text }) => terms(text).map(({ stem }) => stem)));
    return named.filter(({ stem }) => stems.has(stem)).length;
  };
  if (isStepOrBullet(first.text)) return known(units) < named.length ? label : undefined;
  // The columns of a row name its subject, so a heading of one word (`Fees`) adds nothing.
  if (first.kind === 'row') return /\s/u.test(label) && known(units) < named.length ? label : undefined;
  if (named.length === 0 || known([first]) * 2 > named.length) return undefined;
  const fragment = first.text.length <= maxFragmentLength && !fullStop.test(first.text) && !/[:：]$/u.test(first.text);
  const unnamed = spoken.quoted === 0 && (spoken.heading > 0 || spoken.asked > 0);
  return pointsBack(first.text) || fragment || unnamed ? label : undefined;
}

export const isStepOrBullet = (text: string): boolean => /^(?:[-–•*]|\d{1,2}[.)])\s/u.test(text);

/**
 * Puts a heading before a quotation; a list begins on a line of its own. No colon follows a heading that ends in a
 * question or exclamation mark.
 */
export function underHeading(label: string, text: string, units: readonly Unit[]): string {
  const list = isStepOrBullet(text) || (units.length > 1 && units[0]!.kind === 'row');
  return `${label}${/[?？!！]$/u.test(label) ? '' : ':'}${list ? '\n' : ' '}${text}`;
}

/** Joins units: sentences of a paragraph share a line; rows, list items and new paragraphs start a new line. */
export function joined(parts: readonly { unit: Unit; text: string }[]): string {
  return parts.reduce((text, { unit, text: next }, index) => {
    const before = parts[index - 1]?.unit;
    if (before === undefined) return next;
    const flowing = unit.kind === 'prose' && before.kind === 'prose';
    return `${text}${flowing ? ' ' : '\n'}${next}`;
  }, '');
}
