/** Turns the grid of a table into rows with their column names. It does not know where the grid comes from. */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { fitsHead, isRemark, tableHead, type TableHead } from '../../models/rules/knowledge/tablehead.ts';
import type { Blocks, Limits } from './limits.ts';

type Row = readonly string[];

const filled = (row: Row): string[] => row.filter((cell) => cell.trim() !== '');

/** The name and value of a row with exactly two cells, when the first can be a name. */
function pairOf(row: Row): [name: string, value: string] | undefined {
  const [name = '', value = ''] = row;
  const alone = filled(row).length === 2 && name.trim() !== '' && value.trim() !== '';
  return alone && name.length <= 60 ? [name.replace(/\s*:?\s*$/, ''), value] : undefined;
}

/** What is known of a table's first row; `likely names` is for spreadsheets, whose first row is nearly always names. */
export type FirstRow = 'names' | 'no names' | 'unknown' | 'likely names';

/**
 * Adds a table. A two-column table without names of columns is read as name and value; any other keeps its values
 * without names.
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
  // A table with only a header still says what it would contain.
  if (head && rows.length === head.rows) blocks.row(table, [['', filled(first).join('; ')]]);
  return head;
}

/** Adds rows under a known header, or without one. */
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
 * Adds the grid of a sheet: blank rows separate tables, and single cells above a table are notes about it. A part
 * without a header of its own continues the table before it if it fits; otherwise its rows of two cells are name and
 * value.
 */
export function addSheet(blocks: Blocks, limits: Limits, table: string, rows: Iterable<Row>): void {
  let known: TableHead | undefined;
  let part: Row[] = [];
  /** The columns of the current table in which some row has a value. */
  let used = new Set<number>();
  const noteUsed = (body: readonly Row[]): void => {
    for (const row of body) for (const [at, cell] of row.entries()) if (cell.trim() !== '') used.add(at);
  };
  /** Adds the names of columns without any value: they are part of the table's content. */
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
    // A part that is wider than the table before it cannot continue that table.
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
