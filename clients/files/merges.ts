/** Merged cells of a sheet: the content of one is written into each row and column that it covers. */
import { Unreadable } from '../../models/rules/base/unreadable.ts';

/** A row with content, even a hidden one, because a merged cell may begin in it. `number` counts from 1. */
export type MergeRow = { number: number; cells: string[] };
/** The rows and columns that a merged cell covers, the last ones included; rows count from 1, columns from 0. */
export type Merge = { top: number; left: number; bottom: number; right: number };

/** A longer cell, in characters, is not a label of other rows, so its text is written once. */
const maxRepeatedCharacters = 200;

/** `BC12` to 54: the column, counted from 0; -1 when the reference names none. */
export function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,7}/i.exec(reference)?.[0].toUpperCase() ?? '')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** `B2:D3` as a merge; undefined when the reference is no range. */
export function mergeOf(reference: string): Merge | undefined {
  const [, from = '', top = '', to = '', bottom = ''] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/i.exec(reference) ?? [];
  if (from === '') return undefined;
  return { top: Number(top), left: columnOf(from), bottom: Number(bottom), right: columnOf(to) };
}

/** Columns with cells of their own. Other columns only exist for the layout of merged cells. */
function filledColumns(rows: readonly MergeRow[]): Set<number> {
  const filled = new Set<number>();
  for (const { cells } of rows) for (const [column, cell] of cells.entries()) if (cell !== '') filled.add(column);
  return filled;
}

/**
 * Writes each merged cell into the rows and columns that it covers, if the row has other content (a title across a
 * table stays one cell) and the column has cells of its own. Adds at most `room` characters, else throws
 * `Unreadable('too_much_text')`.
 */
export function fillMerges(rows: readonly MergeRow[], merges: readonly Merge[], room: number): void {
  if (merges.length === 0) return;
  const places = new Map(rows.map(({ number }, at) => [number, at]));
  const filled = filledColumns(rows);
  const width = Math.max(0, ...filled) + 1;
  let left = room;
  for (const merge of merges) {
    const start = places.get(merge.top);
    const value = start === undefined ? '' : (rows[start]?.cells[merge.left] ?? '');
    if (start === undefined || value === '' || value.length > maxRepeatedCharacters) continue;
    const right = Math.min(merge.right, width - 1);
    for (let at = start; (rows[at]?.number ?? Infinity) <= merge.bottom; at += 1) {
      const cells = rows[at]?.cells ?? [];
      // Examining a cell costs as much as writing it, so it counts too; many overlapping ranges then end as well.
      left -= Math.max(cells.length, value.length * (right - merge.left + 1));
      if (left < 0) throw new Unreadable('too_much_text');
      if (!cells.some((cell, column) => cell !== '' && (column < merge.left || column > right))) continue;
      for (let column = merge.left; column <= right; column += 1) {
        if (!filled.has(column)) continue;
        while (cells.length < column) cells.push('');
        cells[column] = value;
      }
    }
  }
}
