/** Copies the text of a spreadsheet's merged cells into each row and column that the merged cell covers. */
import { Unreadable } from '../../models/rules/base/unreadable.ts';

/** A row with content. Hidden rows are included, because a merged cell may begin in one. `number` counts from 1. */
export type MergeRow = { number: number; cells: string[] };
/** The range of a merged cell, inclusive. Rows count from 1, columns from 0. */
export type Merge = { top: number; left: number; bottom: number; right: number };

/** A cell with more characters is no label for other rows, so its text is not repeated. */
const maxRepeatedCharacters = 200;

/** The column of a reference, counted from 0: `BC12` gives 54. -1 when the reference has no column. */
export function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,7}/i.exec(reference)?.[0].toUpperCase() ?? '')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Parses a range such as `B2:D3`; undefined when the text is no range. */
export function mergeOf(reference: string): Merge | undefined {
  const [, from = '', top = '', to = '', bottom = ''] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/i.exec(reference) ?? [];
  if (from === '') return undefined;
  return { top: Number(top), left: columnOf(from), bottom: Number(bottom), right: columnOf(to) };
}

/** The columns that have cells of their own. Other columns exist only for the layout of merged cells. */
function filledColumns(rows: readonly MergeRow[]): Set<number> {
  const filled = new Set<number>();
  for (const { cells } of rows) for (const [column, cell] of cells.entries()) if (cell !== '') filled.add(column);
  return filled;
}

/**
 * Copies each merged cell into the rows and columns that it covers, if the row has other content and the column has
 * cells of its own. So a title across a table stays one cell. @throws `Unreadable('too_much_text')` when more than
 * `room` characters would be added.
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
      // Examining a cell costs as much time as writing it, so examined cells count too. This bounds the time for
      // overlapping ranges.
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
