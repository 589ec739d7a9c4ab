/**
 * Converts HTML (from mammoth, from marked, and embedded in Markdown) into headings, text, list items and table rows.
 * It runs no script and fetches nothing; scripts and styles are dropped.
 */
import { Parser } from 'htmlparser2';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import type { Blocks, Limits } from './limits.ts';
import { raise } from './raise.ts';
import { createSpans, maxSpannedCells, spanOf, type Spans } from './spans.ts';
import { tableHead } from '../../models/rules/knowledge/tablehead.ts';
import { addTable, type FirstRow } from './table.ts';

/** Struck-out text (`del`, `s`, `strike`) is dropped, because its author no longer means it. */
const silent = new Set(
  ['script', 'style', 'template', 'head', 'title', 'svg', 'math', 'iframe', 'object', 'select'].concat([
    'del',
    's',
    'strike',
  ]),
);
const breaking = new Set(
  (
    'p div section article header footer main aside nav blockquote pre ul ol li dl dt dd figure figcaption details ' +
    'summary hr form address table caption h1 h2 h3 h4 h5 h6'
  ).split(' '),
);

const rowGroups = new Set(['thead', 'tbody', 'tfoot']);

/** Deeper nesting is an attack or an accident; authors use about five levels. */
const maxNesting = 500;

/**
 * Which cells of a row the author marked as headers (`<th>`). `names`: all cells with text. `label`: only the first
 * cell, which names the others. `none`: any other case.
 */
type Marks = 'names' | 'label' | 'none';
type TableRow = { cells: string[]; marks: Marks };

type Table = {
  rows: TableRow[];
  row: string[] | undefined;
  /** The kinds of the row's cells in order: `<th>` with text, empty `<th>`, `<td>` with text, empty `<td>`. */
  kinds: ('name' | 'no name' | 'value' | 'no value')[];
  inHead: boolean;
  cell: string | undefined;
  /**
   * Whether the open cell ends in a line break. This is a flag, because a look at the end of the growing cell text
   * would copy that text each time.
   */
  broken: boolean;
  /** The number of columns and rows that the open cell spans. */
  across: number;
  down: number;
  spans: Spans;
  caption: string;
};

/** The number of rows below a title that are examined for a header. */
const titleSampleRows = 60;

const saying = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== '').length;

function marksOf(kinds: Table['kinds']): Marks {
  const names = kinds.filter((kind) => kind === 'name').length;
  if (kinds[0] === 'name' && names === 1 && kinds.some((kind) => kind.endsWith('value'))) return 'label';
  return names > 0 && !kinds.includes('value') ? 'names' : 'none';
}

/**
 * The number of title rows at the top of a table. A title row has text only in its first cell and describes the whole
 * table.
 */
function titlesOf(rows: readonly TableRow[]): number {
  const found = rows.findIndex(({ cells, marks }, at) => {
    if (saying(cells) !== 1 || cells[0]?.trim() === '') return true;
    // A row of `<th>` cells is the header even if only one of them has text, unless the rows below have a header too.
    return (
      marks === 'names' &&
      cells.length > 1 &&
      !tableHead(rows.slice(at + 1, at + titleSampleRows).map((row) => row.cells))
    );
  });
  return found === -1 ? rows.length : found;
}

/**
 * What is known about the first row. A table has no column names if it is a list of names and values: each row has two
 * cells, the first of them marked as header. Rows with a single cell may be between these rows.
 */
function firstRowOf(rows: readonly TableRow[]): FirstRow {
  if (rows[0]?.marks === 'names') return 'names';
  const isLabelled = ({ cells, marks }: TableRow, at: number): boolean =>
    cells.length === 1 || (cells.length === 2 && (marks === 'label' || cells[0] === rows[at - 1]?.cells[0]));
  return rows.every(isLabelled) ? 'no names' : 'unknown';
}

/** Receives the events of an HTML document in order, from a parser or from a walk over a tree. */
export type HtmlWriter = {
  open(name: string, attributes: Readonly<Record<string, string | undefined>>): void;
  text(piece: string): void;
  close(name: string): void;
  end(): void;
};

/**
 * Adds the content of an HTML text to `blocks`, in reading order. Malformed HTML does not throw. @throws `Unreadable`
 * when the HTML is nested too deeply or has too much text
 */
export function addHtml(blocks: Blocks, limits: Limits, html: string): void {
  const writer = createHtmlWriter(blocks, limits, { addresses: true });
  const parser = new Parser({ onopentag: writer.open, ontext: writer.text, onclosetag: writer.close });
  parser.write(html);
  parser.end();
  writer.end();
}

/**
 * Writes HTML into `blocks`. With `addresses`, a link's URL follows its label unless the label shows it. Files need the
 * URLs; in web pages, where every second word may be a link, they would be noise.
 */
export function createHtmlWriter(blocks: Blocks, limits: Limits, { addresses }: { addresses: boolean }): HtmlWriter {
  let text = '';
  let muted = 0;
  let preformatted = 0;
  let superscripts = 0;
  /** Whether the open superscript has had a letter. Its later digits are small print and stay. */
  let isSmallPrint = false;
  const lists: { ordered: boolean; next: number }[] = [];
  let marker = '';
  let inItem = false;
  /**
   * The question or term that belongs to the next text. It is put into the same block as that text, so that both stay
   * in one chunk.
   */
  let lead = '';
  let nesting = 0;
  const tables: Table[] = [];
  /**
   * The open links with their labels. Labels are collected separately, because slicing them out of the text would copy
   * the text for every link.
   */
  const links: { href: string; label: string }[] = [];
  const room = { cells: maxSpannedCells };

  const write = (piece: string): void => {
    const table = tables.at(-1);
    if (table?.cell !== undefined) {
      table.cell += piece;
      if (piece) table.broken = piece.endsWith('\n');
    } else text += piece;
    const link = links.at(-1);
    if (link) link.label += piece;
  };
  const flush = (level?: number): void => {
    // Paragraphs and list items inside a cell stay part of the cell.
    const table = tables.at(-1);
    if (table?.cell !== undefined) {
      if (!table.broken) write('\n');
      return;
    }
    if (level !== undefined) {
      if (lead) blocks.text(lead);
      lead = '';
      blocks.heading(level, text);
    } else if (text.trim()) {
      blocks.text((lead && `${lead}\n`) + marker + text.trimStart(), inItem);
      lead = '';
      marker = '';
    }
    text = '';
  };
  const keepAsLead = (): void => {
    if (tables.at(-1)?.cell !== undefined) return flush();
    if (text.trim()) lead = (lead && `${lead}\n`) + text.trim();
    text = '';
  };
  const endTable = (): void => {
    const table = tables.pop();
    if (!table) return;
    if (tables.length > 0) {
      // The rows of a nested table become lines of the outer cell.
      write(`\n${table.rows.map(({ cells }) => cells.join(', ')).join('\n')}\n`);
      return;
    }
    if (lead) blocks.text(lead);
    lead = '';
    const wide = table.rows.some(({ cells }) => saying(cells) > 1);
    const titles = wide ? titlesOf(table.rows) : table.rows.length;
    for (const { cells } of table.rows.slice(0, titles)) blocks.text(cells.join(' '));
    const rows = table.rows.slice(titles);
    const grid = rows.map(({ cells }) => cells);
    addTable(blocks, limits, table.caption.trim(), grid, firstRowOf(rows));
  };

  return {
    open(name, attributes) {
      nesting += 1;
      if (nesting > maxNesting) throw new Unreadable('too_deep');
      if (silent.has(name)) muted += 1;
      if (muted > 0) return;
      if (breaking.has(name)) flush();
      const table = tables.at(-1);
      if (name === 'br') write('\n');
      else if (name === 'img') write(attributes['alt'] ? ` ${attributes['alt']} ` : '');
      else if (name === 'a') links.push({ href: attributes['href'] ?? '', label: '' });
      else if (name === 'pre') preformatted += 1;
      else if (name === 'sup') {
        if (superscripts === 0) isSmallPrint = false;
        superscripts += 1;
      } else if (name === 'ul' || name === 'ol')
        lists.push({ ordered: name === 'ol', next: Number(attributes['start'] ?? 1) || 1 });
      else if (name === 'li') {
        const list = lists.at(-1);
        inItem = true;
        marker = list?.ordered ? `${list.next}. ` : '- ';
        if (list) list.next += 1;
        if (table?.cell !== undefined) write(marker);
      } else if (name === 'table')
        tables.push({
          rows: [],
          row: undefined,
          kinds: [],
          inHead: false,
          cell: undefined,
          broken: false,
          across: 1,
          down: 1,
          spans: createSpans(limits, room),
          caption: '',
        });
      else if (rowGroups.has(name) && table) {
        table.spans.endGroup();
        table.inHead = name === 'thead';
      } else if (name === 'tr' && table) table.row = [];
      else if ((name === 'td' || name === 'th') && table) {
        table.row ??= [];
        table.cell = '';
        table.broken = false;
        table.across = spanOf(attributes['colspan']) || 1;
        // `rowspan` 0 means: to the end of the row group.
        table.down = spanOf(attributes['rowspan']) || Infinity;
      }
    },
    text(piece) {
      if (muted > 0) return;
      const raised = superscripts > 0 && !isSmallPrint ? raise(piece) : piece;
      if (superscripts > 0 && /\p{L}/u.test(piece)) isSmallPrint = true;
      const clean = preformatted > 0 ? raised : raised.replace(/\s+/g, ' ');
      const table = tables.at(-1);
      if (table && table.cell === undefined && clean.trim()) table.caption += clean;
      else if (!table || table.cell !== undefined) write(clean);
    },
    close(name) {
      nesting -= 1;
      if (silent.has(name)) muted = Math.max(0, muted - 1);
      if (muted > 0) return;
      const table = tables.at(-1);
      const level = /^h([1-6])$/.exec(name)?.[1];
      if (level !== undefined) flush(Number(level));
      else if (name === 'dt' || name === 'summary') keepAsLead();
      else if (breaking.has(name) && name !== 'table') flush();
      if (name === 'a') {
        const link = links.pop();
        const label = link?.label.trim();
        // The URL is written behind the label, because an answer may need it ("the form is at …"), unless the label
        // already shows it.
        if (
          addresses &&
          link &&
          /^https?:\/\/\S{1,300}$/.test(link.href) &&
          label &&
          !label.includes(link.href.replace(/^https?:\/\/|\/$/g, ''))
        ) {
          write(` (${link.href})`);
        }
      } else if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
      else if (name === 'sup') superscripts = Math.max(0, superscripts - 1);
      else if (name === 'ul' || name === 'ol') {
        lists.pop();
        inItem = lists.length > 0;
      } else if (name === 'li') {
        marker = '';
      } else if ((name === 'td' || name === 'th') && table?.cell !== undefined) {
        const cell = table.cell.trim();
        if (table.row) table.spans.place(table.row, cell, table);
        const kind = name === 'th' ? 'name' : 'value';
        table.kinds.push(cell ? kind : `no ${kind}`);
        table.cell = undefined;
      } else if (name === 'tr' && table?.row) {
        const row = table.spans.endRow(table.row);
        if (row) table.rows.push({ cells: row, marks: table.inHead ? 'names' : marksOf(table.kinds) });
        table.kinds = [];
        table.row = undefined;
      } else if (name === 'table') endTable();
    },
    end() {
      flush();
      while (tables.length > 0) endTable();
      if (lead) blocks.text(lead);
      lead = '';
    },
  };
}
