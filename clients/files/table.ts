/** Converts the grid of a table into rows with column names. The grid may come from any file type. */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { fitsHead, isRemark, tableHead, type TableHead } from '../../models/rules/knowledge/tablehead.ts';
import type { Blocks, Limits } from './limits.ts';

type Row = readonly string[];

const filled = (row: Row): string[] => row.filter((cell) => cell.trim() !== '');

/** A row of exactly two cells as name and value, if the first cell can be a name. */
function pairOf(row: Row): [name: string, value: string] | undefined {
  const [name = '', value = ''] = row;
  const alone = filled(row).length === 2 && name.trim() !== '' && value.trim() !== '';
  return alone && name.length <= 60 ? [name.replace(/\s*:?\s*$/, ''), value] : undefined;
}

/**
 * What is known about a table's first row. `likely names` is for spreadsheets, whose first row nearly always has the
 * column names.
 */
export type FirstRow = 'names' | 'no names' | 'unknown' | 'likely names';

/**
 * Adds a table. A two-column table without column names is read as name and value; any other table without column names
 * keeps only its values.
 */
export function addTable(
  blocks: Blocks,
  limits: Limits,
  table: string,
  rows: readonly Row[],
  firstRow: FirstRow,
): TableHead | undefined {
  const [first] = rows;
  if (!first) return undefined;
  const head =
    firstRow === 'no names'
      ? undefined
      : tableHead(rows, { marked: firstRow === 'names', likely: firstRow === 'likely names' });
  addRows(blocks, limits, table, head, rows.slice(head?.rows ?? 0));
  // A table that has only a header still says which columns it has, so the header is added as a row.
  if (head && rows.length === head.rows) blocks.row(table, [['', filled(first).join('; ')]]);
  return head;
}

/** Adds rows, with the column names if the header is known. */
function addRows(
  blocks: Blocks,
  limits: Limits,
  table: string,
  head: TableHead | undefined,
  rows: readonly Row[],
): void {
  for (const row of rows) {
    if (row.length > limits.maxColumns) throw new Unreadable('too_wide');
    const pair = pairOf(row);
    if (pair && (head ? isRemark(row, head) : row.length === 2)) blocks.row(table, [pair]);
    else {
      blocks.row(
        table,
        row.map((cell, at): [string, string] => [head?.names[at] ?? '', cell]),
      );
    }
  }
}

/**
 * Adds the grid of a spreadsheet. Blank rows split the grid into parts, and single cells above a table are notes about
 * it. A part without a header continues the previous table if most of its rows fit that table's header. If they do not,
 * the part's rows of two cells are name and value.
 */
export function addSheet(blocks: Blocks, limits: Limits, table: string, rows: Iterable<Row>): void {
  let known: TableHead | undefined;
  let part: Row[] = [];
  /** The columns of the current table that have a value in some row. */
  let used = new Set<number>();
  const noteUsed = (body: readonly Row[]): void => {
    for (const row of body) for (const [at, cell] of row.entries()) if (cell.trim() !== '') used.add(at);
  };
  /**
   * Adds a row with the names of the columns that have no values. No other row shows these names, but they are part of
   * the table's content.
   */
  const addUnused = (): void => {
    const names = (known?.names ?? []).filter((name, at) => name !== '' && !used.has(at));
    if (used.size > 0 && names.length > 0) blocks.row(table, [['', names.join('; ')]]);
    used = new Set();
  };
  const flush = (): void => {
    const start = part.findIndex((row) => filled(row).length > 1);
    for (const note of start === -1 ? part : part.slice(0, start)) blocks.text(filled(note).join(' '));
    const body = start === -1 ? [] : part.slice(start);
    part = [];
    if (body.length === 0) return;
    const before = known;
    // A part that is wider than the previous table cannot continue that table.
    const likely = !before || body.some((row) => row.slice(before.names.length).some((cell) => cell.trim() !== ''));
    if (!before || tableHead(body, { likely })) {
      addUnused();
      known = addTable(blocks, limits, table, body, likely ? 'likely names' : 'unknown');
      if (known) noteUsed(body.slice(known.rows));
      return;
    }
    const continues = body.filter((row) => fitsHead(row, before)).length * 2 > body.length;
    for (const row of body) {
      const pair = pairOf(row);
      if (continues) noteUsed([row]);
      if (pair && !(continues && fitsHead(row, before))) blocks.row(table, [pair]);
      else addRows(blocks, limits, table, continues ? before : undefined, [row]);
    }
  };
  for (const row of rows) {
    if (row.length > limits.maxColumns) throw new Unreadable('too_wide');
    if (filled(row).length === 0) flush();
    else part.push(row);
  }
  flush();
  addUnused();
}
