/**
 * Splits a document into chunks, the units that are stored, indexed and quoted. A chunk has text of one heading only
 * and ends at a sentence end; every table row is readable by itself. Pure and deterministic. No sentence is dropped or
 * reordered, and a sentence is only split when it exceeds the chunk limit.
 */
import { Unreadable } from '../base/unreadable.ts';
import { sentences } from '../language/sentences.ts';
import { introduces } from './units.ts';

/** One piece of a document in reading order. `level` is 1 to 6; `item` marks an entry of a list. */
export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'text'; text: string; item?: boolean }
  | { kind: 'row'; table: string; cells: [column: string, value: string][] };

/**
 * A chunk before it is stored. `heading` is the heading path, such as `Cards > Lost card`. Lines of `text` are
 * paragraphs, list items or rows.
 */
export type CutChunk = { ordinal: number; heading: string; text: string };

/**
 * A text chunk ends at the first paragraph break after this many words: long enough to contain an answer, and short
 * enough to be ranked precisely.
 */
export const targetWords = 120;
/** The hard limit of a chunk, in words. A sentence is only split when the sentence alone is longer. */
export const maxWords = 220;
/**
 * The hard limit of a chunk, in characters: about 220 German words. It limits text without blanks, which has few words.
 */
export const maxCharacters = 2_400;
/**
 * Table rows share a chunk up to this many words: fewer than in a text chunk, because each row is a fact of its own.
 */
export const targetRowWords = 80;
/** The maximum number of chunks of a document: about a thousand pages, or 25,000 rows of an ordinary table. */
export const maxChunks = 5_000;

const maxHeadingCharacters = 160;

/**
 * Counts words separated by blanks. In scripts without blanks, every two characters count as one more word. The counts
 * of a text's parts sum to at least the count of the text, so a chunk whose parts are counted stays within the limits.
 */
export function countWords(text: string): number {
  const unspaced = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0;
  return (text.match(/\S+/g)?.length ?? 0) + Math.ceil(unspaced / 2);
}

/** The maximum number of words and of characters that a text may have. */
type Room = { words: number; characters: number };
const whole: Room = { words: maxWords, characters: maxCharacters };

const fits = (text: string, room: Room): boolean => text.length <= room.characters && countWords(text) <= room.words;

/**
 * Returns a sentence whole when it fits in `room`, else split at blanks. A word that does not fit is split between
 * characters.
 */
function split(sentence: string, room: Room): string[] {
  if (fits(sentence, room)) return [sentence];
  const words = sentence.split(/\s+/).flatMap((word) => splitWord(word, room));
  const units = words.map((text): Unit => ({ text, before: ' ' }));
  return pack(units, () => false, room);
}

/**
 * Splits a word that does not fit in `room` between characters. Such a word is a long code, or text in a script without
 * blanks, in which two characters count as a word.
 */
function splitWord(word: string, room: Room): string[] {
  if (fits(word, room)) return [word];
  const characters = Array.from(word);
  const length = Math.min(400, 2 * (room.words - 1));
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += length) pieces.push(characters.slice(at, at + length).join(''));
  return pieces;
}

/** A text that is not split further. `before` separates it from the previous unit in the same chunk. */
type Unit = { text: string; before: '\n\n' | '\n' | '; ' | ' ' };

/**
 * Packs units into chunks, in order. `restart`: whether a new chunk begins at this unit although the current chunk is
 * not full. `leads`: whether a unit belongs to the unit after it. Such a unit ends a chunk only if the two together are
 * too long for one.
 */
function pack(
  units: readonly Unit[],
  restart: (unit: Unit, words: number, unitWords: number) => boolean,
  room = whole,
  leads: (unit: Unit) => boolean = () => false,
): string[] {
  const packed: string[] = [];
  let open = '';
  let words = 0;
  /** The last unit in `open` if it leads, and `open` without it. */
  let lead: { text: string; words: number; rest: string } | undefined;
  for (const unit of units) {
    const count = countWords(unit.text);
    const full = words + count > room.words || open.length + unit.before.length + unit.text.length > room.characters;
    if (open && (full || (!lead && restart(unit, words, count)))) {
      const moved = lead && lead.rest !== '' && fits(lead.text + unit.before + unit.text, room) ? lead : undefined;
      packed.push(moved?.rest ?? open);
      open = moved?.text ?? '';
      words = moved?.words ?? 0;
    }
    lead = leads(unit) ? { text: unit.text, words: count, rest: open } : undefined;
    open = open ? open + unit.before + unit.text : unit.text;
    words += count;
  }
  if (open) packed.push(open);
  return packed;
}

function packText(blocks: readonly { text: string; item?: boolean }[]): string[] {
  const units = blocks.flatMap((block, at): Unit[] => {
    const start = block.item && blocks[at - 1]?.item ? '\n' : '\n\n';
    return block.text.split(/\n+/).flatMap((line, lineAt) =>
      sentences(line)
        .flatMap((sentence) => split(sentence, whole))
        .map((text, index) => ({ text, before: index > 0 ? ' ' : lineAt > 0 ? '\n' : start })),
    );
  });
  const restart = (unit: Unit, words: number): boolean => unit.before === '\n\n' && words >= targetWords;
  return pack(units, restart, whole, ({ text }) => introduces(text));
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const cellText = ([column, value]: readonly [string, string]): string =>
  column && value ? `${oneLine(column)}: ${oneLine(value)}` : oneLine(value);

/** A table row as one readable line: `Product: Gold card; Annual fee: 49 EUR`. Empty cells are skipped. */
export function rowText(cells: readonly [column: string, value: string][]): string {
  return cells
    .map(cellText)
    .filter((text) => text !== '')
    .join('; ');
}

/**
 * The text of a row, in parts when it exceeds the chunk limit. Each further part begins with the row's first cell,
 * which names the row's subject.
 */
function rowParts(cells: readonly [column: string, value: string][]): string[] {
  const text = rowText(cells);
  if (fits(text, whole)) return text ? [text] : [];
  const filled = cells.filter(([, value]) => oneLine(value) !== '');
  const first = filled[0] ? cellText(filled[0]) : '';
  const label = countWords(first) <= 25 && first.length <= 300 ? first : '';
  const room = { words: maxWords - countWords(label) - 1, characters: maxCharacters - label.length - 2 };
  // A sentence longer than `room` is split into pieces of at most half of `room`, so that the first piece may still fit
  // behind the previous cell.
  const half = { words: Math.floor(room.words / 2), characters: Math.floor(room.characters / 2) };
  const units = filled.flatMap((cell) =>
    sentences(cellText(cell)).flatMap((sentence, index) => {
      const pieces = fits(sentence, room) ? [sentence] : split(sentence, half);
      return pieces.map((text): Unit => ({ text, before: index === 0 ? '; ' : ' ' }));
    }),
  );
  const parts = pack(units, () => false, room);
  return parts.map((part, index) => (index === 0 || label === '' ? part : `${label}; ${part}`));
}

function packRows(rows: readonly (readonly [string, string][])[]): string[] {
  const units = rows.flatMap((cells) => rowParts(cells).map((text): Unit => ({ text, before: '\n' })));
  return pack(units, (_unit, words, count) => words + count > targetRowWords);
}

/** Blocks under one heading. Each table is a section of its own. */
type Section = { path: string[]; table: string | undefined; blocks: Block[] };

/**
 * Groups blocks by heading path and table. A heading without content becomes text, so that its words stay searchable.
 */
function sections(blocks: readonly Block[]): Section[] {
  const found: Section[] = [];
  let open: string[] = [];
  for (const [at, block] of blocks.entries()) {
    if (block.kind === 'heading' && block.text.length <= maxHeadingCharacters) {
      open = open.slice(0, Math.max(0, block.level - 1));
      for (let level = open.length; level < block.level - 1; level += 1) open.push('');
      const next = blocks[at + 1];
      const bare = next === undefined || (next.kind === 'heading' && next.level <= block.level);
      if (bare) found.push({ path: [...open], table: undefined, blocks: [{ kind: 'text', text: block.text }] });
      open.push(oneLine(block.text));
      continue;
    }
    const body: Block = block.kind === 'heading' ? { kind: 'text', text: block.text } : block;
    const table = body.kind === 'row' ? body.table : undefined;
    const last = found.at(-1);
    if (last && last.table === table && last.path.join('\n') === open.join('\n')) last.blocks.push(body);
    else found.push({ path: [...open], table, blocks: [body] });
  }
  return found;
}

/**
 * The chunks of a document, in order. `title` (the document's name) is the heading of text without a heading. Throws
 * `Unreadable('too_much_text')` beyond `maxChunks`, and `Unreadable('empty')` when the text has no letter or digit.
 */
export function toChunks(blocks: readonly Block[], { title = '' }: { title?: string } = {}): CutChunk[] {
  const chunks: CutChunk[] = [];
  for (const section of sections(blocks)) {
    const path = section.path.filter((heading) => heading !== '');
    const table = oneLine(section.table ?? '').slice(0, maxHeadingCharacters);
    if (table && path.at(-1) !== table) path.push(table);
    const heading = path.join(' > ') || oneLine(title).slice(0, maxHeadingCharacters);
    const texts =
      section.table === undefined
        ? packText(section.blocks.filter((block) => block.kind === 'text'))
        : packRows(section.blocks.filter((block) => block.kind === 'row').map((block) => block.cells));
    for (const text of texts) chunks.push({ ordinal: chunks.length, heading, text });
    if (chunks.length > maxChunks) throw new Unreadable('too_much_text');
  }
  if (!chunks.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) throw new Unreadable('empty');
  return chunks;
}
