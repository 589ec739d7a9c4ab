/** Reads CSV, with whatever delimiter its program wrote. */
import { parse, type Options } from 'csv-parse/sync';
import { Unreadable } from '../../models/rules/document.ts';
import { Blocks, type Limits } from './limits.ts';
import { addSheet } from './table.ts';
import { decodeText } from './text.ts';

const delimiters = [',', ';', '\t', '|'];
/** Characters of one row; a longer one nearly always comes from a quotation mark that is never closed. */
const maxRecordCharacters = 4_000_000;

const options = (delimiter: string): Options => ({
  delimiter,
  relax_column_count: true,
  relax_quotes: true,
  max_record_size: maxRecordCharacters,
});

/** The delimiter under which the first rows have the most columns, all the same number; a comma when none does. */
function detectDelimiter(text: string): string {
  const declared = /^sep=(.)\n/.exec(text)?.[1];
  if (declared) return declared;
  const sample = text.slice(0, 64 * 1024);
  let best = { delimiter: ',', score: 0 };
  for (const delimiter of delimiters) {
    try {
      const rows = parse(sample, { ...options(delimiter), to: 50 });
      const widths = rows.map((row) => row.length);
      const width = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
      const regular = widths.filter((each) => each === width).length / Math.max(1, widths.length);
      const score = width > 1 ? regular * Math.log2(width) : 0;
      if (score > best.score) best = { delimiter, score };
    } catch {
      // The sample may end inside a quoted field, or the quotes only fit another delimiter.
    }
  }
  return best.delimiter;
}

/** The blocks of a CSV. Throws `Unreadable`: too_wide, bad_quotes, or what decoding finds. */
export function readCsv(bytes: Buffer, limits: Limits): Blocks {
  const text = decodeText(bytes, limits);
  const delimiter = detectDelimiter(text);
  const body = text.replace(/^sep=.\n/, '');
  let rows: string[][];
  try {
    rows = parse(body, {
      ...options(delimiter),
      on_record: (row: string[]) => {
        if (row.length > limits.maxColumns) throw new Unreadable('too_wide');
        return row;
      },
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE') {
      throw new Unreadable('bad_quotes', { cause: error });
    }
    throw error;
  }
  const blocks = new Blocks(limits);
  addSheet(blocks, limits, '', rows);
  return blocks;
}
