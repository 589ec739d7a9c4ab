/** The parts of a passage that can be quoted, word for word: sentences, list items and table rows. Pure. */
import { sentences } from '../language/sentences.ts';

/** `name` is empty where a column has none. */
export type Cell = { name: string; value: string };

export type Unit = {
  text: string;
  /** Its place in the passage, from 0. */
  order: number;
  paragraph: number;
  kind: 'prose' | 'item' | 'row';
  /** Of a row, in order. */
  cells: readonly Cell[];
};

/** A column's name is short and does not end a sentence, unless it is a question. */
const named = /^([^:;]{1,80}|[^:;]{1,200}\?): (.*)$/u;
const sentenceEnd = /[.!?。！？]\s/u;
/** A value without a column name that is longer than this, in characters, is prose. */
const maxBareValue = 80;

/**
 * Parses a row as chunks write it, `Column: value; Column: value`; empty when the line is no row. Values may contain
 * semicolons.
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

/** A column that has a value in only one row needs a short name to be recognized. */
const maxRareName = { characters: 30, words: 3 };
const isLower = (name: string): boolean => /^\p{Ll}/u.test(name);

/** Neighbouring rows have the same columns; a "column" that only one of them has may be part of a value. */
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

/** In a chunk an empty line separates paragraphs, and a line break separates list items and table rows. */
export function unitsOf(text: string): Unit[] {
  return text
    .split(/\n{2,}/u)
    .flatMap((paragraph, at) => {
      const lines = paragraph.split('\n').filter((line) => line.trim() !== '');
      const rows = rowsOf(lines);
      return lines.flatMap((line, index): Omit<Unit, 'order'>[] => {
        const cells = rows[index] ?? [];
        const kind = cells.length > 0 ? 'row' : lines.length > 1 ? 'item' : 'prose';
        const parts = kind === 'prose' ? sentences(line) : [line.trim()];
        return parts.map((part) => ({ text: part, paragraph: at, kind, cells }));
      });
    })
    .map((unit, order) => ({ ...unit, order }));
}

/** Whether a line introduces what follows it. */
export const introduces = (text: string): boolean => /[:?：？]$/u.test(text);
/** Whether an item is a numbered step, whose order matters. */
export const isStep = (text: string): boolean => /^(?:\d{1,2}|[a-z])[.)]\s/iu.test(text);
