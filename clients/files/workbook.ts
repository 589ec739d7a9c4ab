/**
 * Reads the parts of an XLSX that all sheets share: the list of visible sheets, the strings, and the number formats.
 */
import { getFormatFromId } from 'numfmt';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { unescapeString } from './cells.ts';
import type { Limits } from './limits.ts';
import { raise } from './raise.ts';
import { partOf, readRelations, readXml, type Archive } from './zip.ts';

/** A visible sheet, and the path of its part in the archive. */
export type Sheet = { name: string; part: string };
/** `formats`: the number format for each index in the list of cell styles. */
export type Workbook = { sheets: Sheet[]; date1904: boolean; strings: string[]; formats: string[] };

async function readStrings(archive: Archive, part: string | undefined, limits: Limits): Promise<string[]> {
  const strings: string[] = [];
  if (part === undefined) return strings;
  let open = '';
  let total = 0;
  let inText = false;
  let raised = false;
  let phonetic = 0;
  await readXml(archive, part, {
    open(tag, { val }) {
      if (tag === 'si') open = '';
      else if (tag === 'vertAlign') raised = val === 'superscript';
      else if (tag === 'rPh') phonetic += 1;
      else if (tag === 't') inText = true;
    },
    text(text) {
      if (inText && phonetic === 0) open += raised ? raise(text) : text;
    },
    close(tag) {
      if (tag === 't') inText = false;
      else if (tag === 'r') raised = false;
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

/** Reads the workbook that `_rels/.rels` names, otherwise `xl/workbook.xml`. Throws like `readXml`. */
export async function readWorkbook(archive: Archive, limits: Limits): Promise<Workbook> {
  const part = partOf(archive, await readRelations(archive, ''), '/officeDocument') ?? 'xl/workbook.xml';
  const relations = await readRelations(archive, part);
  const sheets: Sheet[] = [];
  let date1904 = false;
  await readXml(archive, part, {
    open(tag, attributes) {
      if (tag === 'workbookPr') date1904 = attributes['date1904'] === '1' || attributes['date1904'] === 'true';
      if (tag !== 'sheet') return;
      const relation = relations.get(attributes['id'] ?? '');
      // A sheet that its author hid must not be shown to customers either. Chart sheets have no cells.
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
