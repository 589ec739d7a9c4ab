/**
 * Puts the cells of an HTML table into columns: the text of a cell that covers several rows and columns is written in
 * each. Throws `Unreadable('too_much_text')` when there are more of them than in any honest document.
 */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { Limits } from './limits.ts';

/**
 * How many cells of a document may be covered by others: eight in each row of the longest allowed table. A document
 * with more is refused, because ignoring a span would put the rows below under wrong columns.
 */
export const maxSpannedCells = 200_000;
/**
 * A longer cell, in characters, is not a label: its text is written once, and the other cells that it covers stay
 * empty.
 */
const maxRepeatedCharacters = 200;

export type Spans = {
  /** Adds a cell in the next free column. `down` may be infinite: to the end of the group of rows. */
  place(row: string[], text: string, size: { across: number; down: number }): void;
  /** The row with everything that reaches into it from above; undefined when it has no content of its own. */
  endRow(row: string[]): string[] | undefined;
  /** Ends a head, body or foot: no cell reaches into the next group. */
  endGroup(): void;
};

/** `colspan` or `rowspan`; an invalid value means 1. */
export function spanOf(value: string | undefined): number {
  const span = Number.parseInt(value ?? '1', 10);
  return span >= 0 ? span : 1;
}

/** Builds the columns of one table; `room` is shared by all tables of a document and counts down. */
export function createSpans(limits: Limits, room: { cells: number }): Spans {
  /** By column: the text that reaches down into it, and for how many more rows. */
  let above: ({ text: string; rows: number } | undefined)[] = [];
  /** How many cells of the row have text, and the columns of the last one. */
  let own = 0;
  let last = { from: 0, to: 0 };
  /** How many cells of the row others reach into. */
  let covered = 0;

  const fill = (row: string[], text: string): void => {
    row.push(text);
    covered += 1;
    room.cells -= 1;
    if (room.cells < 0) throw new Unreadable('too_much_text');
  };
  // Real cells make a table too wide, not the columns that cells claim to cover.
  const isFree = (row: readonly string[]): boolean => row.length < limits.maxColumns / 2;
  /** Whether a cell above reached into the next column, which is then filled. */
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
      // A line across a table may claim to cover a thousand columns; none of them is kept.
      if (alone || !says) room.cells += covered;
      covered = 0;
      // One cell across the whole table is a line of its own, not the same value in each column.
      return says ? (alone ? row.slice(0, 1) : row) : undefined;
    },
    endGroup() {
      above = [];
    },
  };
}
