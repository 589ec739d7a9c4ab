/** Turns the grid of a table into rows that carry their column names. Knows nothing of where the grid comes from. */
import { Unreadable } from '../../models/rules/knowledge/document.ts';
import { fitsHead, isRemark, tableHead, type TableHead } from '../../models/rules/knowledge/tablehead.ts';
import type { Blocks, Limits } from './limits.ts';

type Row = readonly string[];

const filled = (row: Row): string[] => row.filter((cell) => cell.trim() !== '');

/** What a row of two cells alone says, when the first can be a name. */
function pairOf(row: Row): [name: string, value: string] | undefined {
  const [name = '', value = ''] = row;
  const alone = filled(row).length === 2 && name.trim() !== '' && value.trim() !== '';
  return alone && name.length <= 60 ? [name.replace(/\s*:?\s*$/, ''), value] : undefined;
}

/** What is known of a table's first row; `likely` is for spreadsheets, whose first rows nearly always are names. */
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
  // A table of a header alone still says what it would hold.
  if (head && rows.length === head.rows) blocks.row(table, [['', filled(first).join('; ')]]);
  return head;
}

/** Adds rows under a header already known, or under none. */
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
 * Adds the grid of a sheet: blank rows part it, lines of a single cell above a table are its notes. A part without
 * header of its own continues the table before it where it fits; rows of two cells that do not are name and value.
 */
export function addSheet(blocks: Blocks, limits: Limits, table: string, rows: Iterable<Row>): void {
  let known: TableHead | undefined;
  let part: Row[] = [];
  /** Columns of the known table in which a row says something. */
  let used = new Set<number>();
  const noteUsed = (body: readonly Row[]): void => {
    for (const row of body) for (const [at, cell] of row.entries()) if (cell.trim() !== '') used.add(at);
  };
  /** Names of columns that no row says anything under: what a table has no values for is part of it. */
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
    // What is wider than the table before it cannot continue it.
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
