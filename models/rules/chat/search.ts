/** What a search of the inbox looks for, and what a hit shows. Pure. */

/** The maximum length of a query, in characters. */
export const maxSearchLength = 200;
const maxWords = 10;

/** Where a hit was found. */
export const searchPlaces = ['message', 'note', 'customer'] as const;
export type SearchPlace = (typeof searchPlaces)[number];

/** The text in lower case and without accents. Its length does not change, so that offsets stay valid. */
export const foldedText = (text: string): string => text.replace(/./gsu, foldedSign);

function foldedSign(sign: string): string {
  const plain = sign.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase();
  return plain.length === sign.length ? plain : sign;
}

/**
 * The text with each accented letter as one character (NFC). Some programs write an accent as a separate character. The
 * text index ignores such accents, but `foldedText` keeps them, so texts are composed first.
 */
const composed = (text: string): string => text.normalize('NFC');

/** The words of a query; a hit must contain all of them. Quotes and operators of the text index are left out. */
export const searchWords = (query: string): string[] => {
  const words = composed(query).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}@._+'-]*/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/[.'-]+$/, '')))].slice(0, maxWords);
};

export const hasAllWords = (text: string, words: readonly string[]): boolean => {
  const folded = foldedText(composed(text));
  return words.every((word) => folded.includes(foldedText(word)));
};

export type Excerpt = {
  excerpt: string;
  /** Where the words are in the excerpt: start and end, in UTF-16 code units. */
  marks: [start: number, end: number][];
};

/** How many characters of the text an excerpt shows before the first word that was found, and how many in all. */
const shown = { before: 60, all: 240 } as const;

/** The part of a text around the first word that was found, on one line. */
export function excerptOf(text: string, words: readonly string[]): Excerpt {
  const line = composed(text).replace(/\s+/g, ' ').trim();
  const folded = foldedText(line);
  const places = words.flatMap((word) => placesOf(folded, foldedText(word)));
  const first = Math.min(...places.map(([start]) => start), line.length);
  const start = first === line.length || first <= shown.before ? 0 : wordStart(line, first - shown.before, first);
  const end = Math.min(line.length, start + shown.all);
  const [head, tail] = [start > 0 ? '… ' : '', end < line.length ? ' …' : ''];
  const marks = places
    .filter(([from, to]) => from >= start && to <= end)
    .map(([from, to]): [number, number] => [from - start + head.length, to - start + head.length])
    .toSorted(([one], [other]) => one - other);
  return { excerpt: head + line.slice(start, end).toWellFormed() + tail, marks };
}

/** Where the first word after `at` starts, if that is at most at `end`; otherwise `at` itself. */
function wordStart(line: string, at: number, end: number): number {
  const blank = line.indexOf(' ', at);
  return blank !== -1 && blank < end ? blank + 1 : at;
}

function placesOf(text: string, word: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(word); at !== -1 && found.length < 20; at = text.indexOf(word, at + word.length))
    found.push([at, at + word.length]);
  return found;
}
