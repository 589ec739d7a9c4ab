/** Turns the grid of a table into rows that carry their column names. Knows nothing of where the grid comes from. */
import { Unreadable } from '../../models/rules/document.ts';
import type { Blocks, Limits } from './limits.ts';

const filled = (row: readonly string[]): string[] => row.filter((cell) => cell.trim() !== '');

/** Whether a row names columns: short, different words, no values; years may name columns beside a word. */
function looksLikeHeader(row: readonly string[]): boolean {
  const cells = filled(row).map((cell) => cell.trim());
  if (cells.length < 2 || new Set(cells.map((cell) => cell.toLowerCase())).size < cells.length) return false;
  // A name of a column may be missing (often the first one), not most of them.
  if (cells.length < row.length / 2) return false;
  return cells.every(
    (cell, at) =>
      cell.length <= 60 &&
      !/[.!?;]$|@|:\/\//.test(cell) &&
      (/^\p{L}/u.test(cell) || /^[#№%€$£(]/u.test(cell) || (at > 0 && /^(?:19|20)\d\d$/.test(cell))),
  );
}

/**
 * Adds a table. `header` true: its first row names the columns; undefined: decide by its look. A two-column table
 * without header is read as name and value; any other keeps its values without names.
 */
export function addTable(
  blocks: Blocks,
  limits: Limits,
  table: string,
  rows: readonly (readonly string[])[],
  header?: boolean,
): readonly string[] | undefined {
  const [first, ...rest] = rows;
  if (!first) return undefined;
  const hasHeader = header ?? (rest.length > 0 && looksLikeHeader(first));
  addRows(blocks, limits, table, hasHeader ? first : undefined, hasHeader ? rest : rows);
  return hasHeader ? first : undefined;
}

/** Adds rows under a header already known, or under none. */
function addRows(
  blocks: Blocks,
  limits: Limits,
  table: string,
  header: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
): void {
  const columns = header?.map((name) => name.replace(/\s+/g, ' ').trim().slice(0, 200));
  for (const row of rows) {
    if (row.length > limits.maxColumns) throw new Unreadable('too_wide');
    const [name, value] = row;
    if (!columns && row.length === 2 && name && value && name.length <= 60) {
      blocks.row(table, [[name.replace(/\s*:?\s*$/, ''), value]]);
      continue;
    }
    blocks.row(
      table,
      row.map((cell, at): [string, string] => [columns?.[at] ?? '', cell]),
    );
  }
  // A table of a header alone still says what it would hold.
  if (header && rows.length === 0) blocks.row(table, [['', filled(header).join('; ')]]);
}

/**
 * Adds the grid of a sheet: blank rows part it, lines of a single cell above a table are its notes, and a part without
 * header of its own continues the table before it.
 */
export function addSheet(blocks: Blocks, limits: Limits, table: string, rows: Iterable<readonly string[]>): void {
  let known: readonly string[] | undefined;
  let part: (readonly string[])[] = [];
  const flush = (): void => {
    const start = part.findIndex((row) => filled(row).length > 1);
    for (const note of start === -1 ? part : part.slice(0, start)) blocks.text(filled(note).join(' '));
    const body = start === -1 ? [] : part.slice(start);
    part = [];
    const [first] = body;
    if (!first) return;
    const continues = known !== undefined && !(body.length > 1 && looksLikeHeader(first));
    if (continues) addRows(blocks, limits, table, known, body);
    else known = addTable(blocks, limits, table, body);
  };
  for (const row of rows) {
    if (row.length > limits.maxColumns) throw new Unreadable('too_wide');
    if (filled(row).length === 0) flush();
    else part.push(row);
  }
  flush();
}
