/**
 * Reads HTML (what mammoth and marked produce, and what authors embed in Markdown) into headings, text, list items and
 * table rows. It runs nothing and fetches nothing; scripts and styles are dropped.
 */
import { Parser } from 'htmlparser2';
import { Unreadable } from '../../models/rules/document.ts';
import type { Blocks, Limits } from './limits.ts';
import { addTable } from './table.ts';

const silent = new Set(['script', 'style', 'template', 'head', 'title', 'svg', 'math', 'iframe', 'object', 'select']);
const breaking = new Set(
  [
    'p',
    'div',
    'section',
    'article',
    'header',
    'footer',
    'main',
    'aside',
    'nav',
    'blockquote',
    'pre',
    'ul',
    'ol',
    'li',
  ].concat(
    ['dl', 'dt', 'dd', 'figure', 'figcaption', 'details', 'summary', 'hr', 'form', 'address', 'table', 'caption'],
    ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
  ),
);

/** Deeper nesting than this is an attack or an accident; people write five levels. */
const maxNesting = 500;

type Table = {
  rows: string[][];
  row: string[] | undefined;
  cell: string | undefined;
  header: boolean;
  caption: string;
};

/** Adds what an HTML text says to `blocks`, in reading order. Never throws for malformed HTML. */
export function addHtml(blocks: Blocks, limits: Limits, html: string): void {
  let text = '';
  let muted = 0;
  let preformatted = 0;
  const lists: { ordered: boolean; next: number }[] = [];
  let marker = '';
  let inItem = false;
  let nesting = 0;
  const tables: Table[] = [];
  const links: { href: string; from: number }[] = [];

  const write = (piece: string): void => {
    const table = tables.at(-1);
    if (table?.cell !== undefined) table.cell += piece;
    else text += piece;
  };
  const written = (): string => tables.at(-1)?.cell ?? text;
  const flush = (level?: number): void => {
    // Inside a cell, paragraphs and list items stay in the cell.
    if (tables.at(-1)?.cell !== undefined) {
      if (!written().endsWith('\n')) write('\n');
      return;
    }
    if (level !== undefined) blocks.heading(level, text);
    else if (text.trim()) {
      blocks.text(marker + text.trimStart(), inItem);
      marker = '';
    }
    text = '';
  };
  const endTable = (): void => {
    const table = tables.pop();
    if (!table) return;
    if (tables.length > 0) {
      // A table within a cell: its rows become lines of that cell.
      write(`\n${table.rows.map((row) => row.join(', ')).join('\n')}\n`);
      return;
    }
    const wide = table.rows.some((row) => row.filter((cell) => cell.trim()).length > 1);
    if (wide) addTable(blocks, limits, table.caption.trim(), table.rows, table.header || undefined);
    else for (const row of table.rows) blocks.text(row.join(' '));
  };

  const parser = new Parser({
    onopentag(name, attributes) {
      nesting += 1;
      if (nesting > maxNesting) throw new Unreadable('too_deep');
      if (silent.has(name)) muted += 1;
      if (muted > 0) return;
      if (breaking.has(name)) flush();
      const table = tables.at(-1);
      if (name === 'br') write('\n');
      else if (name === 'img') write(attributes['alt'] ? ` ${attributes['alt']} ` : '');
      else if (name === 'a') links.push({ href: attributes['href'] ?? '', from: written().length });
      else if (name === 'pre') preformatted += 1;
      else if (name === 'ul' || name === 'ol')
        lists.push({ ordered: name === 'ol', next: Number(attributes['start'] ?? 1) || 1 });
      else if (name === 'li') {
        const list = lists.at(-1);
        inItem = true;
        marker = list?.ordered ? `${list.next}. ` : '- ';
        if (list) list.next += 1;
        if (table?.cell !== undefined) write(marker);
      } else if (name === 'table')
        tables.push({ rows: [], row: undefined, cell: undefined, header: false, caption: '' });
      else if (name === 'tr' && table) table.row = [];
      else if ((name === 'td' || name === 'th') && table) {
        table.row ??= [];
        table.cell = '';
        if (name === 'th' && table.rows.length === 0) table.header = true;
      }
    },
    ontext(piece) {
      if (muted > 0) return;
      const clean = preformatted > 0 ? piece : piece.replace(/\s+/g, ' ');
      const table = tables.at(-1);
      if (table && table.cell === undefined && clean.trim()) table.caption += clean;
      else if (!table || table.cell !== undefined) write(clean);
    },
    onclosetag(name) {
      nesting -= 1;
      if (silent.has(name)) muted = Math.max(0, muted - 1);
      if (muted > 0) return;
      const table = tables.at(-1);
      const level = /^h([1-6])$/.exec(name)?.[1];
      if (level !== undefined) flush(Number(level));
      else if (breaking.has(name) && name !== 'table') flush();
      if (name === 'a') {
        const link = links.pop();
        const label = link ? written().slice(link.from).trim() : '';
        // The address is part of the answer ("the form is at …"), unless the label already shows it.
        if (
          link &&
          /^https?:\/\/\S{1,300}$/.test(link.href) &&
          label &&
          !label.includes(link.href.replace(/^https?:\/\/|\/$/g, ''))
        ) {
          write(` (${link.href})`);
        }
      } else if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
      else if (name === 'ul' || name === 'ol') {
        lists.pop();
        inItem = lists.length > 0;
      } else if (name === 'li') {
        marker = '';
      } else if ((name === 'td' || name === 'th') && table?.cell !== undefined) {
        table.row?.push(table.cell.trim());
        table.cell = undefined;
      } else if (name === 'tr' && table?.row) {
        if (table.row.some((cell) => cell)) table.rows.push(table.row);
        table.row = undefined;
      } else if (name === 'table') endTable();
    },
  });
  parser.write(html);
  parser.end();
  flush();
  while (tables.length > 0) endTable();
}
