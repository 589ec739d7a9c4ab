/** Finds two documents that make the same statement with different numbers, and decides which one is newer. Pure. */
import type { Scored } from './choosing.ts';
import { labelOf } from './phrasing.ts';
import type { Passage } from '../../../models/rules/knowledge/retrieval.ts';
import { terms } from '../../../models/rules/language/words.ts';

/** A passage; `source_id` identifies its document. */
export type Dated = Pick<Passage, 'heading'> & Partial<Pick<Passage, 'source_id' | 'name' | 'title' | 'dated'>>;

/**
 * Two sentences make the same statement when they have at least this share of their words in common. A single
 * additional word, such as "business", may mean another product.
 */
const sameWords = 0.85;

/** A number with separators between groups of three digits. */
const grouped = /(?<![\d.,:])[1-9]\d{0,2}(?:[.,'’ \u00a0\u202f]\d{3})+(?!\d)/gu;
/** The numbers of a text. `1,000`, `1.000` and `1000` are the same number. */
const numbersIn = (text: string): string =>
  (text.replace(grouped, (number) => number.replace(/\D/gu, '')).match(/\d+(?:[.,:]\d+)*/gu) ?? []).join(' ');
const plain = (text: string): string => text.trim().toLowerCase();

const wordsOf = (text: string): Set<string> =>
  new Set(terms(text).flatMap(({ stem }) => (/\d/u.test(stem) ? [] : [stem])));

/** How two units that make the same statement compare; undefined when they make different statements. */
function compared(one: Scored, other: Scored): 'agree' | 'disagree' | undefined {
  if (one.kind !== other.kind) return undefined;
  return one.kind === 'row' ? comparedRows(one, other) : comparedTexts(one.text, other.text);
}

/**
 * Rows are about the same when their first cells and all their shared cells without a number are equal: `Gold card |
 * private` and `Gold card | business` are two products.
 */
function comparedRows({ cells: [first, ...rest] }: Scored, other: Scored): 'agree' | 'disagree' | undefined {
  if (plain(first!.value) !== plain(other.cells[0]!.value)) return undefined;
  const values = new Map(rest.map(({ name, value }) => [plain(name), value]));
  const shared = other.cells.slice(1).flatMap(({ name, value }) => {
    const known = values.get(plain(name));
    return known === undefined ? [] : [{ texts: [plain(known), plain(value)], numbers: [known, value].map(numbersIn) }];
  });
  const isNumber = ({ numbers }: { numbers: string[] }): boolean => numbers.some((number) => number !== '');
  const names = shared.filter((cell) => !isNumber(cell));
  const figures = shared.filter(isNumber);
  if (figures.length === 0 || names.some(({ texts }) => texts[0] !== texts[1])) return undefined;
  return figures.some(({ numbers }) => numbers[0] !== numbers[1]) ? 'disagree' : 'agree';
}

function comparedTexts(one: string, other: string): 'agree' | 'disagree' | undefined {
  const numbers = [numbersIn(one), numbersIn(other)];
  if (numbers.includes('')) return undefined;
  const [mine, theirs] = [wordsOf(one), wordsOf(other)];
  const shared = [...mine].filter((stem) => theirs.has(stem)).length;
  if (shared < 2 || shared < sameWords * (mine.size + theirs.size - shared)) return undefined;
  return numbers[0] === numbers[1] ? 'agree' : 'disagree';
}

/** The heading path, without numbers: `Cards > Fees 2025` and `Cards > Fees 2026` are about the same. */
const subjectOf = ({ heading }: Dated): string =>
  heading
    .split(' > ')
    .map((part) => plain(labelOf(part.replace(/\d+/gu, ''))))
    .join(' > ');

/** What customers see as the document's name. */
const shownName = ({ title, name = '' }: Dated): string => title ?? name;

/**
 * If another document contradicts `best`, returns the sentence, item or row of the newer document, and the names of
 * both documents. Undefined when no document contradicts `best`, or when it is unknown which one is newer. Only
 * passages with the same heading path are compared, because the headings often tell what a statement is about: the
 * prices of two products differ without a contradiction. A document that also has the other document's statement does
 * not contradict it; its differing statement is about something else.
 */
export function newerOf(
  best: Scored,
  scored: readonly Scored[],
  sources: readonly Dated[],
): { unit: Scored; name: string; olderName: string } | undefined {
  const sourceOf = ({ source }: Scored): Dated => sources[source]!;
  const mine = sourceOf(best);
  const alike = scored.filter((unit) => subjectOf(sourceOf(unit)) === subjectOf(mine));
  const repeats = (unit: Scored, { source_id: id }: Dated): boolean =>
    alike.some((other) => sourceOf(other).source_id === id && compared(unit, other) === 'agree');
  const against = alike
    .filter((unit) => sourceOf(unit).source_id !== mine.source_id)
    .filter((unit) => unit.score > 0 && compared(best, unit) === 'disagree')
    .filter((unit) => sourceOf(unit).dated !== undefined)
    .filter((unit) => !repeats(best, sourceOf(unit)) && !repeats(unit, mine))
    .toSorted((a, b) => sourceOf(b).dated!.getTime() - sourceOf(a).dated!.getTime() || b.score - a.score);
  const [newest] = against;
  if (mine.dated === undefined || newest === undefined) return undefined;
  const theirs = sourceOf(newest);
  const [unit, newer, older] =
    theirs.dated! > mine.dated ? ([newest, theirs, mine] as const) : ([best, mine, theirs] as const);
  if (newer.dated!.getTime() === older.dated!.getTime()) return undefined;
  return { unit, name: shownName(newer), olderName: shownName(older) };
}
