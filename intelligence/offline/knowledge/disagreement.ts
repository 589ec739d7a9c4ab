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

const numbersIn = (text: string): string => (text.match(/\d+(?:[.,:]\d+)*/gu) ?? []).join(' ');
const plain = (text: string): string => text.trim().toLowerCase();

const wordsOf = (text: string): Set<string> =>
  new Set(terms(text).flatMap(({ stem }) => (/\d/u.test(stem) ? [] : [stem])));

function disagree(one: Scored, other: Scored): boolean {
  if (one.kind !== other.kind) return false;
  if (one.kind === 'row') {
    const [first, second] = [one.cells[0]!, other.cells[0]!];
    if (plain(first.value) !== plain(second.value)) return false;
    const values = new Map(one.cells.slice(1).map(({ name, value }) => [plain(name), value]));
    return other.cells.slice(1).some(({ name, value }) => {
      const known = values.get(plain(name));
      return known !== undefined && numbersIn(known) !== numbersIn(value);
    });
  }
  const numbers = [numbersIn(one.text), numbersIn(other.text)];
  if (numbers.includes('') || numbers[0] === numbers[1]) return false;
  const [mine, theirs] = [wordsOf(one.text), wordsOf(other.text)];
  const shared = [...mine].filter((stem) => theirs.has(stem)).length;
  return shared >= 2 && shared >= sameWords * (mine.size + theirs.size - shared);
}

/** The last heading, without numbers: `Fees 2025` and `Fees 2026` are about the same. */
const subjectOf = ({ heading }: Dated): string => plain(labelOf(heading).replace(/\d+/gu, ''));

/** What customers see as the document's name. */
const shownName = ({ title, name = '' }: Dated): string => title ?? name;

/**
 * If another document contradicts `best`, returns the sentence, item or row of the newer document, and the names of
 * both documents. Undefined when no document contradicts `best`, or when it is unknown which one is newer. Only
 * passages with the same last heading are compared, because the heading often tells what a statement is about: the
 * prices of two products differ without a contradiction.
 */
export function newerOf(
  best: Scored,
  scored: readonly Scored[],
  sources: readonly Dated[],
): { unit: Scored; name: string; olderName: string } | undefined {
  const mine = sources[best.source]!;
  const against = scored
    .filter(({ source }) => sources[source]!.source_id !== mine.source_id)
    .filter(({ source }) => subjectOf(sources[source]!) === subjectOf(mine))
    .filter((unit) => unit.score > 0 && disagree(best, unit))
    .filter(({ source }) => sources[source]!.dated !== undefined)
    .toSorted((a, b) => sources[b.source]!.dated!.getTime() - sources[a.source]!.dated!.getTime());
  const [newest] = against;
  if (mine.dated === undefined || newest === undefined) return undefined;
  const theirs = sources[newest.source]!;
  const [unit, newer, older] =
    theirs.dated! > mine.dated ? ([newest, theirs, mine] as const) : ([best, mine, theirs] as const);
  if (newer.dated!.getTime() === older.dated!.getTime()) return undefined;
  return { unit, name: shownName(newer), olderName: shownName(older) };
}
