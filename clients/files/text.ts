/** Reads plain text and Markdown, in any encoding. */
import { Marked } from 'marked';
import { isCompoundFile, isZip, looksBinary } from '../../models/rules/knowledge/document.ts';
import { Unreadable } from '../../models/rules/base/unreadable.ts';
import { guessText } from '../base/charset.ts';
import { addHtml } from './html.ts';
import { Blocks, type Limits } from './limits.ts';

/**
 * Decodes a text file in any encoding (`guessText`). @throws `Unreadable`: `binary` when the file is no text,
 * `too_much_text` when it is longer than twice the text limit
 */
export function decodeText(bytes: Buffer, limits: Limits): string {
  if (isZip(bytes) || isCompoundFile(bytes) || looksBinary(bytes)) throw new Unreadable('binary');
  if (bytes.length > limits.maxTextCharacters * 4) throw new Unreadable('too_much_text');
  const text = guessText(bytes);
  if (text.length > limits.maxTextCharacters * 2) throw new Unreadable('too_much_text');
  return text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n');
}

/**
 * Only two tildes strike text out. A single tilde is text, because it also writes a range: in `10~12, 14~16`, the text
 * between the tildes must not be dropped.
 */
const markdown = new Marked({
  gfm: true,
  tokenizer: { del: (source) => (source.startsWith('~~') ? false : undefined) },
});

/** Reads GitHub-flavoured Markdown without its front matter. */
export function readMarkdown(bytes: Buffer, limits: Limits): Blocks {
  const source = decodeText(bytes, limits).replace(/^---\n[\s\S]{0,20000}?\n(?:---|\.\.\.)[ \t]*(?:\n|$)/, '');
  const blocks = new Blocks(limits);
  addHtml(blocks, limits, markdown.parse(source, { async: false }));
  return blocks;
}

const listMarker = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/;
/** A line that ends before this column was broken on purpose, as in an address, a verse or `label: value`. */
const wrapColumn = 50;

/**
 * The heading level of a paragraph that looks like a heading (underlined, in capitals, numbered); undefined otherwise.
 */
function headingLevel(lines: readonly string[]): number | undefined {
  const [first = '', second = ''] = lines;
  if (first.length > 80) return undefined;
  if (lines.length === 2 && /^={3,}$/.test(second)) return 1;
  if (lines.length === 2 && /^-{3,}$/.test(second)) return 2;
  if (lines.length !== 1 || /[.!?;:,]$/.test(first)) return undefined;
  const numbered = /^(\d{1,2}(?:\.\d{1,2})*)\.?\s+\p{Lu}/u.exec(first)?.[1];
  if (numbered) return Math.min(6, numbered.split('.').length + 1);
  const letters = first.match(/\p{L}/gu) ?? [];
  return letters.length >= 4 && first === first.toUpperCase() && /\p{Lu}/u.test(first) ? 2 : undefined;
}

/** Reads plain text. Blank lines separate paragraphs, wrapped lines are joined, and lines of lists become items. */
export function readText(bytes: Buffer, limits: Limits): Blocks {
  const blocks = new Blocks(limits);
  const paragraphs = decodeText(bytes, limits).split(/\n[^\S\n]*\n/);
  for (const [at, paragraph] of paragraphs.entries()) {
    const lines = paragraph
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const level = headingLevel(lines);
    if (level !== undefined && at < paragraphs.length - 1) {
      blocks.heading(level, lines[0] ?? '');
      continue;
    }
    addParagraph(blocks, lines);
  }
  return blocks;
}

function addParagraph(blocks: Blocks, lines: readonly string[]): void {
  let open = '';
  let item = false;
  let previous = '';
  for (const line of lines) {
    const starts = listMarker.test(line);
    if (starts) {
      blocks.text(open, item);
      open = line;
      item = true;
    } else if (open) open += (previous.length >= wrapColumn ? ' ' : '\n') + line;
    else open = line;
    previous = line;
  }
  blocks.text(open, item);
}
