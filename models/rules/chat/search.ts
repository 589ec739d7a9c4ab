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
  // The text index takes the sigma at the end of a Greek word for the usual one.
  const plain = sign.normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC').toLowerCase().replace('ς', 'σ');
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

/** Accents that stay separate characters in a composed text, such as vowel points. The text index ignores them. */
const separateAccents = /(?=\p{Diacritic})\p{M}/gu;

/** Whether the text has every word as a whole word, in any case and with any accents. */
export const hasAllWords = (text: string, words: readonly string[]): boolean => {
  const [folded, ...sought] = [composed(text), ...words].map((one) => foldedText(one).replace(separateAccents, ''));
  return sought.every((word) => placesOf(folded!, word, 1).length > 0);
};

/**
 * Whether the text index by itself finds the words as whole words. Of several terms, the index finds records that have
 * any, and looks for the words as parts of the text only. A word with punctuation is several terms.
 */
export const isOneTerm = (words: readonly string[]): boolean =>
  words.length === 1 && /^[\p{L}\p{N}]+$/u.test(words[0]!);

export type Excerpt = {
  excerpt: string;
  /** Where the words are in the excerpt: start and end, in UTF-16 code units. */
  marks: [start: number, end: number][];
};

/** How many characters of the text an excerpt shows before the first word that was found, and how many in all. */
const shown = { before: 60, all: 240 } as const;
/** The maximum number of places of one word that an excerpt considers. */
const maxMarks = 20;

/** The part of a text around the first word that was found, on one line. */
export function excerptOf(text: string, words: readonly string[]): Excerpt {
  const line = composed(text).replace(/\s+/g, ' ').trim();
  const folded = foldedText(line);
  const places = words.flatMap((word) => placesOf(folded, foldedText(word), maxMarks));
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

/** The first `most` places where the text has the word as a whole word. */
function placesOf(text: string, word: string, most: number): [number, number][] {
  const found: [number, number][] = [];
  let at = text.indexOf(word);
  while (at !== -1 && found.length < most) {
    const end = at + word.length;
    const whole = isWhole(text, at, end);
    if (whole) found.push([at, end]);
    at = text.indexOf(word, whole ? end : at + 1);
  }
  return found;
}

/** A character of a script that puts no blanks between words, so that a word has no visible ends. */
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]`;
const spaced = String.raw`(?!${unspaced})[\p{L}\p{N}\p{M}]`;
const starts = { spaced: new RegExp(`^${spaced}`, 'u'), unspaced: new RegExp(`^${unspaced}`, 'u') };
const ends = { spaced: new RegExp(`${spaced}$`, 'u'), unspaced: new RegExp(`${unspaced}$`, 'u') };

/**
 * Whether no letter or digit continues the word that the text has from `at` to `end`. Characters of scripts without
 * blanks continue no word. Only the neighbouring characters are read; one has up to two UTF-16 code units.
 */
function isWhole(text: string, at: number, end: number): boolean {
  const [before, first] = [text.slice(Math.max(at - 2, 0), at), text.slice(at, at + 2)];
  const [last, after] = [text.slice(Math.max(end - 2, at), end), text.slice(end, end + 2)];
  const goesOnBefore = ends.spaced.test(before) && !starts.unspaced.test(first);
  const goesOnAfter = starts.spaced.test(after) && !ends.unspaced.test(last);
  return !goesOnBefore && !goesOnAfter;
}
