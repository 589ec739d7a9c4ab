/**
 * Reads the visible cells of an XLSX as people see them: values in their number format, formulas as their stored
 * result, merged cells copied into every cell that they cover. The XML is read as a stream, so a million empty styled
 * rows take time but no memory.
 */
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { cellText } from './cells.ts';
import { refuseCompoundFile } from './docx.ts';
import { Blocks, type Limits } from './limits.ts';
import { columnOf, fillMerges, mergeOf, type Merge } from './merges.ts';
import { createOutline, staysHidden, type Group } from './outline.ts';
import { raise } from './raise.ts';
import { addSheet } from './table.ts';
import { readWorkbook, type Sheet, type Workbook } from './workbook.ts';
import { openArchive, readXml, type Archive, type XmlHandlers } from './zip.ts';

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';

/** A row with content. `hidden`: the row's own flag, which a collapsed group may have set. */
type SheetRow = { number: number; cells: string[]; hidden: boolean; group: Group | undefined; gap: boolean };
type Cell = { type: string; format: string; column: number; value: string; formula: boolean };
type HiddenColumn = { column: number; group: Group | undefined };

/** Collects the rows of one sheet while its XML is streamed. */
class SheetReader implements XmlHandlers {
  readonly rows: SheetRow[] = [];
  readonly merges: Merge[] = [];
  characters = 0;
  private readonly workbook: Workbook;
  private readonly limits: Limits;
  private readonly hidden: HiddenColumn[] = [];
  private hiddenColumns: ReadonlySet<number> | undefined;
  private readonly rowOutline = createOutline();
  private readonly columnOutline = createOutline();
  private row: SheetRow = { number: 0, cells: [], hidden: false, group: undefined, gap: false };
  private cell: Cell = { type: 'n', format: 'General', column: -1, value: '', formula: false };
  private inValue = false;
  private raised = false;
  private phonetic = 0;
  /** Whether a blank row precedes the next row. */
  private blank = false;
  /**
   * `calculated`: whether any formula has a stored result. `uncalculated`: the rows with a formula that has no stored
   * result. Whether these rows are visible is known only at the end of the sheet.
   */
  private calculated = false;
  private readonly uncalculated: SheetRow[] = [];

  constructor(workbook: Workbook, limits: Limits) {
    this.workbook = workbook;
    this.limits = limits;
  }

  open(tag: string, attributes: Readonly<Record<string, string>>): void {
    if (tag === 'row') this.openRow(attributes);
    else if (tag === 'c') {
      // A cell without a reference is in the column after the previous cell.
      const column = attributes['r'] ? columnOf(attributes['r']) : this.cell.column + 1;
      const format = this.workbook.formats[Number(attributes['s'] ?? -1)] ?? 'General';
      this.cell = { type: attributes['t'] ?? 'n', format, column, value: '', formula: false };
    } else if (tag === 'col') this.noteColumns(attributes);
    else if (tag === 'mergeCell') {
      const merge = mergeOf(attributes['ref'] ?? '');
      if (merge) this.merges.push(merge);
    } else if (tag === 'rPh') this.phonetic += 1;
    else if (tag === 'vertAlign') this.raised = attributes['val'] === 'superscript';
    else if (tag === 'f') this.cell.formula = true;
    else if (tag === 'v' || tag === 't') this.inValue = true;
  }

  text(text: string): void {
    if (this.inValue && this.phonetic === 0) this.cell.value += this.raised ? raise(text) : text;
  }

  close(tag: string): void {
    if (tag === 'v' || tag === 't') this.inValue = false;
    else if (tag === 'r') this.raised = false;
    else if (tag === 'rPh') this.phonetic -= 1;
    else if (tag === 'c') this.closeCell();
    else if (tag === 'row') this.closeRow();
  }

  /** The hidden columns, counted from 0. */
  columnsHidden(): ReadonlySet<number> {
    this.hiddenColumns ??= new Set(
      this.hidden.filter(({ group }) => staysHidden(true, group)).map(({ column }) => column),
    );
    return this.hiddenColumns;
  }

  /**
   * Whether the sheet has visible formulas, but no formula has a stored result. Programs that do not calculate write
   * such files. If any formula has a stored result, a formula without one has an empty result.
   */
  isUncalculated(): boolean {
    return !this.calculated && this.uncalculated.some(({ hidden, group }) => !staysHidden(hidden, group));
  }

  private openRow({ r, hidden, outlineLevel }: Readonly<Record<string, string>>): void {
    const number = Number(r ?? this.row.number + 1);
    if (number > this.row.number + 1) this.blank = true;
    const isHidden = isOn(hidden);
    const group = this.rowOutline.next({ number, level: Number(outlineLevel ?? 0), hidden: isHidden });
    this.row = { number, cells: [], hidden: isHidden, group, gap: false };
    this.cell = { ...this.cell, column: -1 };
  }

  private closeRow(): void {
    if (this.row.cells.length > 0) {
      this.row.gap = this.blank;
      this.rows.push(this.row);
      this.blank = false;
    } else if (!this.row.hidden) this.blank = true;
  }

  /** Records which columns are hidden. Column definitions come before the rows. */
  private noteColumns({ min, max, hidden, outlineLevel }: Readonly<Record<string, string>>): void {
    const last = Math.min(Number(max), this.limits.maxColumns);
    for (let number = Math.max(1, Number(min)); number <= last; number += 1) {
      const group = this.columnOutline.next({ number, level: Number(outlineLevel ?? 0), hidden: isOn(hidden) });
      if (isOn(hidden)) this.hidden.push({ column: number - 1, group });
    }
  }

  private closeCell(): void {
    const { row, cell, limits } = this;
    if (cell.formula && !this.columnsHidden().has(cell.column)) {
      if (cell.type === 'n' && cell.value === '') this.uncalculated.push(row);
      else if (!row.hidden) this.calculated = true;
    }
    const value = cellText(cell, this.workbook);
    if (value === '') return;
    if (cell.column >= limits.maxColumns) throw new Unreadable('too_wide');
    while (row.cells.length < cell.column) row.cells.push('');
    row.cells[cell.column] = value;
    this.characters += value.length;
    if (this.characters > limits.maxTextCharacters) throw new Unreadable('too_much_text');
  }
}

/** The rows of a sheet with visible content. Consecutive blank rows are collapsed into one. */
async function readRows(archive: Archive, sheet: Sheet, workbook: Workbook, limits: Limits): Promise<string[][]> {
  const reader = new SheetReader(workbook, limits);
  await readXml(archive, sheet.part, reader);
  if (reader.isUncalculated()) throw new Unreadable('uncalculated');
  fillMerges(reader.rows, reader.merges, limits.maxTextCharacters - reader.characters);
  return visibleRows(reader.rows, reader.columnsHidden());
}

function visibleRows(rows: readonly SheetRow[], hiddenColumns: ReadonlySet<number>): string[][] {
  const visible: string[][] = [];
  let blank = false;
  for (const { cells, hidden, group, gap } of rows) {
    if (gap) blank = true;
    if (staysHidden(hidden, group)) continue;
    const shown = hiddenColumns.size === 0 ? cells : cells.filter((_cell, column) => !hiddenColumns.has(column));
    if (shown.every((cell) => cell === '')) {
      blank = true;
      continue;
    }
    if (blank && visible.length > 0) visible.push([]);
    blank = false;
    visible.push(shown);
  }
  return visible;
}

/** Returns notes and rows of each visible sheet. @throws `Unreadable`, or a library's error for a damaged file */
export async function readXlsx(bytes: Buffer, limits: Limits): Promise<Blocks> {
  refuseCompoundFile(bytes);
  const archive = await openArchive(bytes, limits);
  const workbook = await readWorkbook(archive, limits);
  const blocks = new Blocks(limits);
  for (const sheet of workbook.sheets) {
    const rows = await readRows(archive, sheet, workbook, limits);
    if (rows.length === 0) continue;
    blocks.heading(1, sheet.name);
    addSheet(blocks, limits, sheet.name, rows);
  }
  return blocks;
}
