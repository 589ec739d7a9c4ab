/** How quotations are put so that they read well: a row as a sentence, a heading where a quotation needs one. Pure; no word is its own. */
import { isValue } from './tablehead.ts';
import type { Cell, Unit } from './units.ts';
import { isRemark, isUnit, pointsBack } from '../language/frame.ts';
import { terms } from '../language/words.ts';

/** Characters of one quote; a sentence beyond it is cut at a word and ends in an ellipsis. */
const maxQuoteLength = 600;
/** Shorter than this, in characters, a line without a full stop is a fragment. */
const maxFragmentLength = 80;
const fullStop = /[.!?…。！？][\p{Pe}\p{Pf}"']*$/u;

export function shorten(text: string): string {
  if (text.length <= maxQuoteLength) return text;
  return `${text
    .slice(0, maxQuoteLength)
    .replace(/[\ud800-\udbff]$/u, '')
    .replace(/\s+\S*$/u, '')}…`;
}

/** What a heading's path ends in: of `Cards > Lost card` the last part. */
export const lastOf = (heading: string): string => heading.split(' > ').at(-1)!.trim();

/** What stands behind the name of the row: of which row, and the columns that are `wanted`, in the sheet's words. */
export function phraseRow(cells: readonly Cell[], wanted: (cell: Cell) => boolean): string {
  const [first, ...others] = cells;
  const shown = shownCells(others, wanted).map(said).join('; ');
  if (first === undefined || /[?？]$/u.test(first.value)) return shown;
  const subject = isValue(first.value) ? said(first) : first.value;
  return `${subject} – ${shown}`;
}

const said = ({ name, value }: Cell): string => (name === '' ? value : `${name}: ${value}`);

/** The wanted cells, what says per what they are, and remarks, for these change what a value means; all when none is wanted. */
function shownCells(cells: readonly Cell[], wanted: (cell: Cell) => boolean): readonly Cell[] {
  const chosen = new Set(cells.filter(wanted));
  if (chosen.size === 0) return cells;
  return cells.filter((cell, at) => {
    if (chosen.has(cell) || isRemark(cell.name)) return true;
    return isUnit(cell.value) && chosen.has(cells[at - 1]!);
  });
}

/** The last heading of a path, as it stands before what it is about. */
export const labelOf = (heading: string): string => lastOf(heading).replace(/[:：.\s]+$/u, '');

/**
 * The heading that a quotation has to stand under to be understood: it points back at nothing that is quoted, is a fragment, or
 * does not name its subject, `spoken` being the words of the question that it has, and those of its heading.
 */
export function headingFor(
  heading: string,
  first: Unit,
  spoken: { quoted: number; heading: number; asked: number },
): string | undefined {
  const label = labelOf(heading);
  if (label === '' || first.kind === 'row' || isStepOrBullet(first.text)) return undefined;
  const named = terms(label);
  const known = new Set(terms(first.text).map(({ stem }) => stem));
  if (named.length === 0 || named.filter(({ stem }) => known.has(stem)).length * 2 > named.length) return undefined;
  const fragment = first.text.length <= maxFragmentLength && !fullStop.test(first.text) && !/[:：]$/u.test(first.text);
  const unnamed = spoken.quoted === 0 && (spoken.heading > 0 || spoken.asked > 0);
  return pointsBack(first.text) || fragment || unnamed ? label : undefined;
}

const isStepOrBullet = (text: string): boolean => /^(?:[-–•*]|\d{1,2}[.)])\s/u.test(text);

/** A heading before a quotation; a question stands by itself. */
export const underHeading = (label: string, text: string): string =>
  /[?？!！]$/u.test(label) ? `${label} ${text}` : `${label}: ${text}`;

/** Sentences run on; rows and list items stand on lines of their own, and so does another paragraph. */
export function joined(parts: readonly { unit: Unit; text: string }[]): string {
  return parts.reduce((text, { unit, text: next }, index) => {
    const before = parts[index - 1]?.unit;
    if (before === undefined) return next;
    const flowing = unit.kind === 'prose' && before.kind === 'prose';
    return `${text}${flowing ? ' ' : '\n'}${next}`;
  }, '');
}
