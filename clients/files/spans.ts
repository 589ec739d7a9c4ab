/**
 * Arranges the cells of an HTML table into columns. The text of a cell that spans several rows and columns is copied
 * into each. @throws `Unreadable('too_much_text')` when a document has far more spanned cells than real ones have.
 */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { Limits } from './limits.ts';

/**
 * Maximum number of spanned cells in a document: eight in each row of the longest allowed table. A document with more
 * is refused, because ignoring a span would shift the rows below to wrong columns.
 */
export const maxSpannedCells = 200_000;
/** A cell with more characters is no label: its text is written once, and the other cells that it spans stay empty. */
const maxRepeatedCharacters = 200;

export type Spans = {
  /** Adds a cell to the next free column. `down` may be infinite, which means to the end of the row group. */
  place(row: string[], text: string, size: { across: number; down: number }): void;
  /** The row, including the cells that span into it from above; undefined when the row has no content of its own. */
  endRow(row: string[]): string[] | undefined;
  /** Ends a head, body or foot. No cell spans into the next group. */
  endGroup(): void;
};

/** Parses `colspan` or `rowspan`; an invalid value counts as 1. */
export function spanOf(value: string | undefined): number {
  const span = Number.parseInt(value ?? '1', 10);
  return span >= 0 ? span : 1;
}

/**
 * Builds the columns of one table. `room`: the remaining number of spanned cells, shared by all tables of a document.
 */
export function createSpans(limits: Limits, room: { cells: number }): Spans {
  /** By column: the text of a cell that spans down, and the number of further rows that it covers. */
  let above: ({ text: string; rows: number } | undefined)[] = [];
  /** The number of cells with text in the current row, and the columns of the last such cell. */
  let own = 0;
  let last = { from: 0, to: 0 };
  /** The number of cells in the current row that are filled by spans. */
  let covered = 0;

  const fill = (row: string[], text: string): void => {
    row.push(text);
    covered += 1;
    room.cells -= 1;
    if (room.cells < 0) throw new Unreadable('too_much_text');
  };
  // Only real cells can make a table too wide: spans stop filling columns at half of `maxColumns`.
  const isFree = (row: readonly string[]): boolean => row.length < limits.maxColumns / 2;
  /** Fills the next column if a cell from above spans into it; returns whether it did. */
  const fromAbove = (row: string[]): boolean => {
    const cell = above[row.length];
    if (!cell || cell.rows <= 0 || !isFree(row)) return false;
    cell.rows -= 1;
    fill(row, cell.text);
    return true;
  };

  return {
    place(row, text, { across, down }) {
      while (fromAbove(row));
      if (text) own += 1;
      const label = text.length > maxRepeatedCharacters ? '' : text;
      const start = row.length;
      row.push(text);
      while (row.length - start < across && isFree(row)) fill(row, label);
      if (text) last = { from: start, to: row.length };
      if (down <= 1) return;
      for (let column = start; column < row.length; column += 1) above[column] = { text: label, rows: down - 1 };
    },
    endRow(row) {
      while (row.length < above.length) if (!fromAbove(row)) fill(row, '');
      while (above.length > 0 && (above.at(-1)?.rows ?? 0) <= 0) above.pop();
      const alone = own === 1 && last.from === 0 && last.to === row.length;
      const says = own > 0;
      own = 0;
      // A cell across the whole table may span a thousand columns. The cells that it fills are not kept,
      // so they do not count.
      if (alone || !says) room.cells += covered;
      covered = 0;
      // One cell across the whole table is a line of text, not the same value in each column.
      return says ? (alone ? row.slice(0, 1) : row) : undefined;
    },
    endGroup() {
      above = [];
    },
  };
}
