/** Splits a passage into the units that can be quoted word for word: sentences, list items and table rows. Pure. */
import { sentences } from '../language/sentences.ts';

/** A cell of a table row. `name`: the name of its column; empty when the column has none. */
export type Cell = { name: string; value: string };

export type Unit = {
  text: string;
  /** The unit's position in the passage, from 0. */
  order: number;
  paragraph: number;
  kind: 'prose' | 'item' | 'row';
  /** The cells of a table row, in order; empty for other kinds. */
  cells: readonly Cell[];
};

/** Matches `name: value`. A column name has at most 80 characters, or at most 200 when it is a question. */
const named = /^([^:;]{1,80}|[^:;]{1,200}\?): (.*)$/u;
const sentenceEnd = /[.!?。！？]\s/u;
/** A line is prose and not a row when its first cell has no column name and more characters than this. */
const maxBareValue = 80;

/**
 * Parses a row that a chunk stores as `Column: value; Column: value`; empty when the line is not a row. Values may
 * contain semicolons.
 */
function cellsOf(line: string, known: (name: string) => boolean): Cell[] {
  const cells: Cell[] = [];
  for (const part of line.split('; ')) {
    const [, name, value] = named.exec(part) ?? [];
    const last = cells.at(-1);
    const isCell = name !== undefined && value !== undefined && !sentenceEnd.test(name) && known(name);
    if (isCell) cells.push({ name, value });
    else if (last === undefined) cells.push({ name: '', value: part });
    else last.value += `; ${part}`;
  }
  const first = cells[0]!;
  const isProse = first.name === '' && (first.value.length > maxBareValue || sentenceEnd.test(first.value));
  return cells.length > 1 && !isProse && cells.some(({ name }, at) => at > 0 && name !== '') ? cells : [];
}

/**
 * In rows of the form `name: value`, a name that occurs in only one row may have at most this size. A longer text
 * before `: ` is part of a value.
 */
const maxRareName = { characters: 30, words: 3 };
const isLower = (name: string): boolean => /^\p{Ll}/u.test(name);

/**
 * Parses the rows of one table together, because the rows share their column names. A text that looks like a column
 * name but occurs in only one row may be part of a value.
 */
function rowsOf(lines: readonly string[]): Cell[][] {
  const each = lines.map((line) => cellsOf(line, () => true));
  const counts = new Map<string, number>();
  for (const { name } of each.flat()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lower = isLower(each[0]?.[0]?.name ?? '');
  const known = (name: string): boolean =>
    (counts.get(name) ?? 0) > 1 ||
    (name.length <= maxRareName.characters && name.split(' ').length <= maxRareName.words && isLower(name) === lower);
  return lines.map((line) => cellsOf(line, known));
}

/** The lines of each paragraph. */
const paragraphsOf = (text: string): string[][] =>
  text.split(/\n{2,}/u).map((paragraph) => paragraph.split('\n').filter((line) => line.trim() !== ''));

/**
 * The cells of each line of a paragraph. Between other paragraphs, a single line such as `Monday: closed; Tuesday: 9 to
 * 17` is a sentence, because a table has a passage of its own.
 */
const rowsAmong = (lines: readonly string[], { length }: readonly string[][]): Cell[][] =>
  lines.length === 1 && length > 1 ? [[]] : rowsOf(lines);

/**
 * The table rows of a passage. `rowsIn` is far cheaper than `unitsOf`, because the text is not split into sentences.
 */
export const rowsIn = (text: string): Cell[][] =>
  text.includes('; ')
    ? paragraphsOf(text).flatMap((lines, _at, all) => rowsAmong(lines, all).filter((cells) => cells.length > 0))
    : [];

/** Splits a passage at empty lines into paragraphs, and at line breaks into list items and table rows. */
export function unitsOf(text: string): Unit[] {
  return paragraphsOf(text)
    .flatMap((lines, at, all) => {
      const rows = rowsAmong(lines, all);
      return lines.flatMap((line, index): Omit<Unit, 'order'>[] => {
        const cells = rows[index] ?? [];
        const kind = cells.length > 0 ? 'row' : lines.length > 1 ? 'item' : 'prose';
        const parts = kind === 'prose' ? sentences(line) : [line.trim()];
        return parts.map((part) => ({ text: part, paragraph: at, kind, cells }));
      });
    })
    .map((unit, order) => ({ ...unit, order }));
}

/** Whether a line introduces the lines after it. */
export const introduces = (text: string): boolean => /[:?：？]$/u.test(text);
export const isStep = (text: string): boolean => /^(?:\d{1,2}|[a-z])[.)]\s/iu.test(text);

/** Whether a passage is only a title: without a sentence, a list item, a table row, a digit or `name: value`. */
export const isTitle = (text: string): boolean =>
  unitsOf(text).every(({ kind, text: line }) => kind === 'prose' && !/[.!?…。！？]$|[:：\d]/u.test(line));
