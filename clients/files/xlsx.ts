/**
 * Reads the visible cells of an XLSX as people see them: percentages, currencies and dates in their format, formulas
 * by their stored result, merged cells in all that they cover. It streams, so that a million empty styled rows cost
 * time but no memory.
 */
import { dateFromSerial, format, getFormatDateInfo, getFormatFromId, isDateFormat } from 'numfmt';
import { Unreadable } from '../../models/rules/knowledge/document.ts';
import { refuseCompoundFile } from './docx.ts';
import { Blocks, type Limits } from './limits.ts';
import { addSheet } from './table.ts';
import { openArchive, partOf, readRelations, readXml, type Archive } from './zip.ts';

type Sheet = { name: string; part: string };
type Workbook = { sheets: Sheet[]; date1904: boolean; strings: string[]; formats: string[] };

async function readStrings(archive: Archive, part: string | undefined, limits: Limits): Promise<string[]> {
  const strings: string[] = [];
  if (part === undefined) return strings;
  let open = '';
  let total = 0;
  let inText = false;
  let phonetic = 0;
  await readXml(archive, part, {
    open(tag) {
      if (tag === 'si') open = '';
      else if (tag === 'rPh') phonetic += 1;
      else if (tag === 't') inText = true;
    },
    text(text) {
      if (inText && phonetic === 0) open += text;
    },
    close(tag) {
      if (tag === 't') inText = false;
      else if (tag === 'rPh') phonetic -= 1;
      else if (tag === 'si') {
        total += open.length;
        if (total > limits.maxTextCharacters * 2) throw new Unreadable('too_much_text');
        strings.push(unescapeString(open));
      }
    },
  });
  return strings;
}

/** Excel writes characters that XML cannot hold as `_x000D_`. */
const unescapeString = (text: string): string =>
  text.replace(/_x([0-9A-Fa-f]{4})_/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The number format of each cell style, by the style's place in the list. */
async function readFormats(archive: Archive, part: string | undefined): Promise<string[]> {
  const custom = new Map<number, string>();
  const formats: string[] = [];
  if (part === undefined) return formats;
  let inCellStyles = false;
  await readXml(archive, part, {
    open(tag, { numFmtId, formatCode }) {
      if (tag === 'numFmt' && formatCode !== undefined) custom.set(Number(numFmtId), formatCode);
      else if (tag === 'cellXfs') inCellStyles = true;
      else if (tag === 'xf' && inCellStyles) {
        const id = Number(numFmtId ?? 0);
        formats.push(custom.get(id) ?? getFormatFromId(id) ?? 'General');
      }
    },
    close(tag) {
      if (tag === 'cellXfs') inCellStyles = false;
    },
  });
  return formats;
}

async function readWorkbook(archive: Archive, limits: Limits): Promise<Workbook> {
  const main = [...(await readRelations(archive, '')).values()].find(({ type }) =>
    type.endsWith('/officeDocument'),
  )?.target;
  const part = main ?? 'xl/workbook.xml';
  const relations = await readRelations(archive, part);
  const sheets: Sheet[] = [];
  let date1904 = false;
  await readXml(archive, part, {
    open(tag, attributes) {
      if (tag === 'workbookPr') date1904 = attributes['date1904'] === '1' || attributes['date1904'] === 'true';
      if (tag !== 'sheet') return;
      const relation = relations.get(attributes['id'] ?? '');
      // What its author hid from readers is not for customers either; chart sheets have no cells.
      const hidden = (attributes['state'] ?? 'visible') !== 'visible';
      if (relation?.type.endsWith('/worksheet') && !hidden) {
        sheets.push({ name: attributes['name'] ?? '', part: relation.target });
      }
    },
  });
  return {
    sheets,
    date1904,
    strings: await readStrings(archive, partOf(archive, relations, '/sharedStrings'), limits),
    formats: await readFormats(archive, partOf(archive, relations, '/styles')),
  };
}

const two = (value: number): string => String(value).padStart(2, '0');

/** A serial date as `2026-03-01`, `2026-03-01 14:30` or `14:30`, as its format shows it: no order of day and month to guess. */
function dateText(serial: number, pattern: string, date1904: boolean): string | undefined {
  const [year, month, day, hours, minutes] = dateFromSerial(date1904 ? serial + 1462 : serial) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const shows = getFormatDateInfo(pattern);
  const date = `${year}-${two(month)}-${two(day)}`;
  const time = `${two(hours ?? 0)}:${two(minutes ?? 0)}`;
  const showsDate = shows.year || shows.month || shows.day;
  return showsDate ? (shows.hours ? `${date} ${time}` : date) : time;
}

/** A number as its format shows it; the plain number where the format is not understood. */
function numberText(raw: string, pattern: string, date1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  try {
    // Durations such as [h]:mm count hours past 24, so they are no time of day.
    if (isDateFormat(pattern) && !/\[[hms]+\]/i.test(pattern)) return dateText(value, pattern, date1904) ?? raw;
    // A format may show nothing: `;;;` hides a value.
    return format(pattern, value).replace(/\s+/g, ' ').trim();
  } catch {
    return raw;
  }
}

/** `BC12` to 54: the column, counted from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]+/i.exec(reference)?.[0].toUpperCase() ?? '')
    column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

const isOn = (value: string | undefined): boolean => value === '1' || value === 'true';

/** A row that holds something, hidden ones too: a merged cell may begin in one. `gap`: after blank rows. */
type SheetRow = { number: number; cells: string[]; hidden: boolean; gap: boolean };
/** Rows and columns that a merged cell covers, the last ones included; rows count from 1, columns from 0. */
type Merge = { top: number; left: number; bottom: number; right: number };
/** A longer cell, in characters, is no label of other rows: it is said once. */
const maxRepeatedCharacters = 200;

/** The rows of a sheet that show something, blank ones between them folded into one. */
async function readRows(archive: Archive, sheet: Sheet, workbook: Workbook, limits: Limits): Promise<string[][]> {
  const rows: SheetRow[] = [];
  const merges: Merge[] = [];
  const hiddenColumns = new Set<number>();
  let row: SheetRow = { number: 0, cells: [], hidden: false, gap: false };
  let cell = { type: 'n', format: 'General', column: 0, value: '', formula: false };
  let inValue = false;
  let phonetic = 0;
  let blank = false;
  let characters = 0;
  /** Whether formulas that are seen have a stored result, and whether some have none. */
  let calculated = false;
  let uncalculated = false;
  await readXml(archive, sheet.part, {
    open(tag, attributes) {
      if (tag === 'row') {
        const number = Number(attributes['r'] ?? row.number + 1);
        if (number > row.number + 1) blank = true;
        row = { number, cells: [], hidden: isOn(attributes['hidden']), gap: false };
      } else if (tag === 'c') {
        const column = attributes['r'] ? columnOf(attributes['r']) : cell.column + 1;
        const pattern = workbook.formats[Number(attributes['s'] ?? -1)] ?? 'General';
        cell = { type: attributes['t'] ?? 'n', format: pattern, column, value: '', formula: false };
      } else if (tag === 'col' && isOn(attributes['hidden'])) {
        const last = Math.min(Number(attributes['max']), limits.maxColumns);
        for (let at = Math.max(1, Number(attributes['min'])); at <= last; at += 1) hiddenColumns.add(at - 1);
      } else if (tag === 'mergeCell') {
        const merge = mergeOf(attributes['ref'] ?? '');
        if (merge) merges.push(merge);
      } else if (tag === 'rPh') phonetic += 1;
      else if (tag === 'f') cell.formula = true;
      else if (tag === 'v' || tag === 't') inValue = true;
    },
    text(text) {
      if (inValue && phonetic === 0) cell.value += text;
    },
    close(tag) {
      if (tag === 'v' || tag === 't') inValue = false;
      else if (tag === 'rPh') phonetic -= 1;
      else if (tag === 'c') {
        const shown = !row.hidden && !hiddenColumns.has(cell.column);
        if (cell.formula && shown) {
          if (cell.type === 'n' && cell.value === '') uncalculated = true;
          else calculated = true;
        }
        const value = cellText(cell, workbook);
        if (value === '') return;
        if (cell.column >= limits.maxColumns) throw new Unreadable('too_wide');
        while (row.cells.length < cell.column) row.cells.push('');
        row.cells[cell.column] = value;
        characters += value.length;
        if (characters > limits.maxTextCharacters) throw new Unreadable('too_much_text');
      } else if (tag === 'row') {
        cell = { ...cell, column: -1 };
        if (row.cells.length > 0) {
          rows.push({ ...row, gap: blank });
          blank = false;
        } else if (!row.hidden) blank = true;
      }
    },
  });
  // Programs that only write files store no result at all, and every row would lack its values. Beside formulas with
  // results, one without has an empty result.
  if (uncalculated && !calculated) throw new Unreadable('uncalculated');
  fillMerges(rows, merges, limits.maxTextCharacters - characters);
  return visibleRows(rows, hiddenColumns);
}

function mergeOf(reference: string): Merge | undefined {
  const [, from = '', top = '', to = '', bottom = ''] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/i.exec(reference) ?? [];
  if (from === '') return undefined;
  return { top: Number(top), left: columnOf(from), bottom: Number(bottom), right: columnOf(to) };
}

/**
 * Writes what a merged cell says into each row and column it covers, where the row says something besides (a title
 * across a table stays one cell) and the column has cells of its own (others are only there for the looks). At most
 * `room` characters are added.
 */
function fillMerges(rows: readonly SheetRow[], merges: readonly Merge[], room: number): void {
  if (merges.length === 0) return;
  const places = new Map(rows.map(({ number }, at) => [number, at]));
  const own = new Set<number>();
  for (const { cells } of rows) for (const [column, cell] of cells.entries()) if (cell !== '') own.add(column);
  const width = Math.max(0, ...own) + 1;
  let left = room;
  for (const merge of merges) {
    const start = places.get(merge.top);
    const value = start === undefined ? '' : (rows[start]?.cells[merge.left] ?? '');
    if (start === undefined || value === '' || value.length > maxRepeatedCharacters) continue;
    const right = Math.min(merge.right, width - 1);
    for (let at = start; (rows[at]?.number ?? Infinity) <= merge.bottom; at += 1) {
      const cells = rows[at]?.cells ?? [];
      // Looking costs as much as writing, so that ranges upon ranges end, too.
      left -= Math.max(cells.length, value.length * (right - merge.left + 1));
      if (left < 0) throw new Unreadable('too_much_text');
      if (!cells.some((cell, column) => cell !== '' && (column < merge.left || column > right))) continue;
      for (let column = merge.left; column <= right; column += 1) {
        if (!own.has(column)) continue;
        while (cells.length < column) cells.push('');
        cells[column] = value;
      }
    }
  }
}

function visibleRows(rows: readonly SheetRow[], hiddenColumns: ReadonlySet<number>): string[][] {
  const visible: string[][] = [];
  let blank = false;
  for (const { cells, hidden, gap } of rows) {
    if (gap) blank = true;
    if (hidden) continue;
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

function cellText(cell: { type: string; format: string; value: string }, { strings, date1904 }: Workbook): string {
  const { type, value } = cell;
  if (value === '') return '';
  if (type === 's') return (strings[Number(value)] ?? '').trim();
  if (type === 'b') return value === '1' ? 'yes' : 'no';
  // An error such as #N/A tells a reader nothing.
  if (type === 'e') return '';
  if (type === 'n') return numberText(value, cell.format, date1904);
  if (type === 'd') return value.replace(/T00:00:00(?:\.0+)?Z?$/, '').replace('T', ' ');
  return unescapeString(value).trim();
}

/** The blocks of an XLSX: per sheet its notes and rows. Throws `Unreadable`, or a library's error for a damaged file. */
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
