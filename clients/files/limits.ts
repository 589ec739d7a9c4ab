/** The limits of reading one file inside its process, and the collector that keeps the text within them. */
import type { Block } from '../../models/rules/knowledge/chunks.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';

export type Limits = {
  /** Characters of text taken from one file; names of columns count once. */
  maxTextCharacters: number;
  /** Bytes that all entries of a DOCX or XLSX may unpack to together. */
  maxUnpackedBytes: number;
  /** Files inside a DOCX or XLSX. */
  maxEntries: number;
  /** Columns of one table. */
  maxColumns: number;
};

export const defaultLimits: Limits = {
  // 5,000 chunks of 170 words of 6 characters: models/rules/knowledge/chunks.ts takes no more, so no more is read.
  maxTextCharacters: 5_000_000,
  // A 25 MiB workbook of ordinary tables unpacks to about 150 MiB; an archive bomb unpacks to gigabytes.
  maxUnpackedBytes: 200 * 1024 * 1024,
  // Office writes one file per picture, sheet or chart; hundreds are rare.
  maxEntries: 5_000,
  maxColumns: 1_000,
};

/**
 * The ratio of unpacked to packed size that, in a large file, only an archive bomb reaches; deflate cannot exceed
 * 1,032.
 */
export const maxRatio = 200;
export const ratioMattersFromBytes = 20 * 1024 * 1024;

/** No program writes XML or HTML that is nested deeper than this; parsers would run out of stack. */
export const maxDepth = 200;

/** Collects cleaned blocks in reading order, and stops the reader at the limit instead of after it. */
export class Blocks {
  readonly list: Block[] = [];
  private characters = 0;
  private readonly max: number;

  constructor(limits: Limits) {
    this.max = limits.maxTextCharacters;
  }

  heading(level: number, text: string): void {
    const clean = this.take(tidy(text).replace(/\s+/g, ' '));
    if (clean) this.list.push({ kind: 'heading', level, text: clean });
  }

  text(text: string, item = false): void {
    const clean = this.take(tidy(text));
    if (clean) this.list.push(item ? { kind: 'text', text: clean, item } : { kind: 'text', text: clean });
  }

  row(table: string, cells: [column: string, value: string][]): void {
    const clean = cells
      .map(([column, value]): [string, string] => [column, this.take(tidy(value))])
      .filter(([, value]) => value !== '');
    if (clean.length > 0) this.list.push({ kind: 'row', table, cells: clean });
  }

  private take(text: string): string {
    this.characters += text.length;
    if (this.characters > this.max) throw new Unreadable('too_much_text');
    return text;
  }
}

/**
 * One form for equal texts: NFC, no control or invisible characters, no blanks around lines, at most one empty line in
 * a row.
 */
export function tidy(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]|[^\P{Cc}\n\t]/gu, '')
    .replace(/[\t\p{Zs}]+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
