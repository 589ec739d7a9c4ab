import { parse, type Options } from 'csv-parse/sync';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { Blocks, type Limits } from './limits.ts';
import { addSheet } from './table.ts';
import { decodeText } from './text.ts';

const delimiters = [',', ';', '\t', '|'];
/** Maximum characters of one row. A longer row nearly always comes from an unclosed quotation mark. */
const maxRecordCharacters = 4_000_000;

const options = (delimiter: string): Options => ({
  delimiter,
  relax_column_count: true,
  relax_quotes: true,
  max_record_size: maxRecordCharacters,
});

/** The delimiter is detected from this much text: about fifty rows with long cells. */
const sampleCharacters = 512 * 1024;
const sampleRows = 50;

/** The first rows parsed with this delimiter. `fits`: whether the quotation marks fit the delimiter. */
function sampleOf(
  text: string,
  delimiter: string,
  { strict }: { strict: boolean },
): { rows: string[][]; fits: boolean } {
  const rows: string[][] = [];
  try {
    parse(text.slice(0, sampleCharacters), {
      ...options(delimiter),
      relax_quotes: !strict,
      to: sampleRows,
      on_record: (row: string[]) => {
        rows.push(row);
        return null;
      },
    });
    return { rows, fits: true };
  } catch (error) {
    // An unclosed quotation mark may only mean that the sample ends inside a quoted field. Any other error means that
    // the delimiter does not fit the quotation marks.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return { rows, fits: code === 'CSV_QUOTE_NOT_CLOSED' };
  }
}

/**
 * Scores how much the rows look like a table: many columns, the same number in every row, and as many in the first row.
 */
function regularity(rows: readonly (readonly string[])[]): number {
  const widths = rows.map((row) => row.length);
  const width = widths.toSorted((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 0;
  if (width < 2) return 0;
  const regular = widths.filter((each) => each === width).length / widths.length;
  // A character that is only punctuation in sentences appears in the cells but not in the header row. So the score is
  // halved when the header row has another number of columns.
  return regular * Math.log2(width) * (widths[0] === width ? 1 : 0.5);
}

/** The delimiter that fits the quotation marks and gives the most regular table; a comma when none does. */
function detectDelimiter(text: string): string {
  const declared = /^sep=(.)\n/.exec(text)?.[1];
  if (declared) return declared;
  for (const strict of [true, false]) {
    let best = { delimiter: ',', score: 0 };
    for (const delimiter of delimiters) {
      const { rows, fits } = sampleOf(text, delimiter, { strict });
      const score = strict && !fits ? 0 : regularity(rows);
      if (score > best.score) best = { delimiter, score };
    }
    if (best.score > 0) return best.delimiter;
  }
  return ',';
}

/** @throws `Unreadable` (too_wide, bad_quotes, or an error of decoding) */
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
