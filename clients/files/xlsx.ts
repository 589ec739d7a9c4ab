/**
 * Reads the visible sheets of an XLSX as people see them: percentages, currencies and dates in their format, formulas
 * by their stored result. It streams, so that a million empty styled rows cost time but no memory.
 */
import { dateFromSerial, format, getFormatDateInfo, getFormatFromId, isDateFormat } from 'numfmt';
import { Unreadable } from '../../models/rules/document.ts';
import { refuseCompoundFile } from './docx.ts';
import { Blocks, type Limits } from './limits.ts';
import { addSheet } from './table.ts';
import { openArchive, readXml, type Archive } from './zip.ts';

type Sheet = { name: string; part: string };
type Workbook = { sheets: Sheet[]; date1904: boolean; strings: string[]; formats: string[] };

/** The targets of a part's relationships by id, as paths in the archive. */
async function readRelations(archive: Archive, part: string): Promise<Map<string, { type: string; target: string }>> {
  const slash = part.lastIndexOf('/');
  const folder = part.slice(0, slash + 1);
  const relations = new Map<string, { type: string; target: string }>();
  const name = `${folder}_rels/${part.slice(slash + 1)}.rels`;
  if (!archive.names.includes(name)) return relations;
  await readXml(archive, name, {
    open(tag, { Id, Target, Type, TargetMode }) {
      if (tag !== 'Relationship' || !Id || !Target || TargetMode === 'External') return;
      const path = new URL(Target, `part:///${folder}`).pathname.replace(/^\/+/, '');
      relations.set(Id, { type: Type ?? '', target: decodeURIComponent(path) });
    },
  });
  return relations;
}

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
  const partOf = (kind: string): string | undefined =>
    [...relations.values()].find(({ type, target }) => type.endsWith(kind) && archive.names.includes(target))?.target;
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
    strings: await readStrings(archive, partOf('/sharedStrings'), limits),
    formats: await readFormats(archive, partOf('/styles')),
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
    return format(pattern, value).replace(/\s+/g, ' ').trim() || raw;
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

/** The rows of a sheet that hold something, blank ones between them folded into one. */
async function readRows(archive: Archive, sheet: Sheet, workbook: Workbook, limits: Limits): Promise<string[][]> {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = { type: 'n', format: 'General', column: 0, value: '' };
  let inValue = false;
  let phonetic = 0;
  let blank = false;
  let characters = 0;
  let lastRow = 0;
  await readXml(archive, sheet.part, {
    open(tag, attributes) {
      if (tag === 'row') {
        const number = Number(attributes['r'] ?? lastRow + 1);
        if (number > lastRow + 1) blank = true;
        lastRow = number;
        row = [];
      } else if (tag === 'c') {
        const column = attributes['r'] ? columnOf(attributes['r']) : cell.column + 1;
        const pattern = workbook.formats[Number(attributes['s'] ?? -1)] ?? 'General';
        cell = { type: attributes['t'] ?? 'n', format: pattern, column, value: '' };
      } else if (tag === 'rPh') phonetic += 1;
      else if (tag === 'v' || tag === 't') inValue = true;
    },
    text(text) {
      if (inValue && phonetic === 0) cell.value += text;
    },
    close(tag) {
      if (tag === 'v' || tag === 't') inValue = false;
      else if (tag === 'rPh') phonetic -= 1;
      else if (tag === 'c') {
        const value = cellText(cell, workbook);
        if (value === '') return;
        if (cell.column >= limits.maxColumns) throw new Unreadable('too_wide');
        while (row.length < cell.column) row.push('');
        row[cell.column] = value;
        characters += value.length;
        if (characters > limits.maxTextCharacters) throw new Unreadable('too_much_text');
      } else if (tag === 'row') {
        cell = { ...cell, column: -1 };
        if (row.length === 0) blank = true;
        else {
          if (blank && rows.length > 0) rows.push([]);
          blank = false;
          rows.push(row);
        }
      }
    },
  });
  return rows;
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
  const archive = await openArchive(bytes, limits, { checkXml: false });
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
