/** The limits for reading one file, and the collector of blocks that enforces the limit on text. */
import type { Block } from '../../models/rules/knowledge/chunks.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';

export type Limits = {
  /** Maximum characters of text taken from one file; column names count once. */
  maxTextCharacters: number;
  /** Maximum total size of the unpacked entries of a DOCX or XLSX, in bytes. */
  maxUnpackedBytes: number;
  /** Maximum number of entries in a DOCX or XLSX. */
  maxEntries: number;
  maxColumns: number;
};

export const defaultLimits: Limits = {
  // 5,000 chunks of 170 words of 6 characters; models/rules/knowledge/chunks.ts accepts no more.
  maxTextCharacters: 5_000_000,
  // A 25 MiB workbook of ordinary tables unpacks to about 150 MiB; an archive bomb to gigabytes.
  maxUnpackedBytes: 200 * 1024 * 1024,
  // Office writes one entry for each picture, sheet or chart; hundreds are rare.
  maxEntries: 5_000,
  maxColumns: 1_000,
};

export const maxMailBytes = 10 * 1024 * 1024;

/** A ratio of unpacked to packed size that only an archive bomb reaches in a large file; deflate's maximum is 1,032. */
export const maxRatio = 200;
export const ratioMattersFromBytes = 20 * 1024 * 1024;

/** Maximum nesting of XML or HTML. No program writes deeper nesting, and parsers would run out of stack. */
export const maxDepth = 200;

/** Collects cleaned blocks in reading order. Adding a block beyond the limit throws, which stops the reader at once. */
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
 * Normalizes a text: NFC, no control or invisible characters, no white space around lines, at most one empty line in a
 * row.
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
