/**
 * Answers made of the sources' own sentences, for when no language model is configured. Pure. It chooses and orders; it never
 * writes a word of its own, except the one sentence that says that nothing was found.
 */
import { sentences } from '../language/sentences.ts';
import { termWeights } from './wordmatch.ts';
import { matcher, terms } from '../language/words.ts';

/** What is said when nothing relevant was found. */
export const nothingFound = 'I could not find anything about this in the available documents.';

export type Source = { id: string; heading: string; text: string };
/** A sentence, a list item or a table row, word for word, and the source it stands in. */
export type Quote = { id: string; text: string };
export type ExtractiveAnswer = {
  text: string;
  quotes: Quote[];
  /** Ids of the sources quoted, in order of first use. */ used: string[];
};

export const maxQuotes = 4;
/** Characters of one quote; a sentence beyond it is cut at a word and ends in an ellipsis. */
const maxQuoteLength = 600;
/** Characters of a list that a quote introduces: it is given whole, for steps with the last one missing mislead. */
const maxListLength = 2_000;
/** Passages looked at: the most relevant ones; what follows them seldom adds a sentence and always costs time. */
const maxSources = 5;
/** A further sentence has to say at least this share of what the best one says. */
const shareOfBest = 0.6;
/** What a word in the heading counts, beside one in the sentence itself: every sentence under the heading has it. */
const headingShare = 0.6;

const figure =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety|hundred|at once|immediately|same day)\b/iu;
/** What the kind of a question promises of its answer's form: a sentence of that form comes first among equals. */
const forms: { asks: RegExp; shows: RegExp }[] = [
  {
    asks: /\b(?:how much|costs?|prices?|fees?|charges?|wie ?viel|kostet|kosten|geb(?:ü|u)hr|preis|combien|prix|cuesta|costa)\b/u,
    shows: /\d\s?(?:%|\p{Sc}|[A-Z]{3}\b)|\p{Sc}\s?\d|\b(?:free|no charge|nothing|kostenlos|gratuit|gratis)\b/u,
  },
  { asks: /\b(?:limits?|maximum|minimum|at most|at least|how many|how old|wie viele)\b/u, shows: figure },
  { asks: /\b(?:when|how long|how soon|what time|open|opening|hours|wann|wie lange|quand|cuando)\b/u, shows: figure },
  { asks: /\b(?:phone|telephone|call|number|telefon)\b/u, shows: /\+?\d[\d\s/()-]{4,}\d/u },
  { asks: /\b(?:e-?mail|mail)\b/u, shows: /\S@\S/u },
  { asks: /\b(?:where|address|wo|adresse)\b/u, shows: /\d|\b(?:street|square|road|branch|page|app|menu|under)\b/iu },
];
const formBonus = 1.2;

/** Whether a line is a table row as chunks write it: `Column: value; Column: value`. */
const isRow = (line: string): boolean =>
  /^[^:;]{1,120}: [^;]*(?:; ?[^:;]{1,120}: |$)/u.test(line) && line.includes(': ');

type Unit = Quote & { order: number; source: number; line: number; kind: 'prose' | 'item' | 'row'; score: number };

/** Chunks part paragraphs by an empty line, and the items of a list, or the rows of a table, by a line break. */
function units(source: Source, index: number): Omit<Unit, 'score'>[] {
  let line = 0;
  return source.text
    .split(/\n{2,}/u)
    .flatMap((paragraph) => {
      const lines = paragraph.split('\n').filter((text) => text.trim() !== '');
      return lines.flatMap((text) => {
        const kind = isRow(text) ? ('row' as const) : lines.length > 1 ? ('item' as const) : ('prose' as const);
        line += 1;
        const parts = kind === 'prose' ? sentences(text) : [text.trim()];
        return parts.map((part) => ({ id: source.id, text: part, source: index, line, kind }));
      });
    })
    .map((unit, order) => ({ ...unit, order }));
}

/** Characters of a title; what is longer says something. */
const maxTitleLength = 150;
const fullStop = /[.!…。！][\p{Pe}\p{Pf}"']*$/u;
const introduces = (text: string): boolean => /[:?：？]$/u.test(text);

/**
 * Whether a line leaves whoever reads it alone as wise as before: a question or an introduction that nothing follows, or
 * a title of nothing but `known` words, those of the question and of the heading it stands under.
 */
function saysNothing(
  unit: Omit<Unit, 'score'>,
  next: Omit<Unit, 'score'> | undefined,
  known: ReadonlySet<string> | undefined,
): boolean {
  if (unit.kind === 'row') return false;
  if (introduces(unit.text)) return next?.source !== unit.source || /[?？]$/u.test(next.text);
  if (unit.kind === 'item' || unit.text.length > maxTitleLength || fullStop.test(unit.text)) return false;
  const named = terms(unit.text);
  return named.length > 0 && named.every(({ stem }) => known?.has(stem));
}

/**
 * Chooses one to four quotes, and the list that the best one introduces. The best is the one that speaks of most of the
 * question (rare words count more; the heading it stands under counts partly); further ones are nearly as good. A list
 * beyond its bound ends in an ellipsis.
 * `sources` are the relevant passages, most relevant first. Undefined when none of them says a word of the question.
 */
export function extract(question: string, sources: readonly Source[]): ExtractiveAnswer | undefined {
  const asked = terms(question);
  const speaksOf = matcher(asked.map((term) => term.stem));
  const wantedForms = forms.filter(({ asks }) => asks.test(question.toLowerCase()));
  const considered = sources.slice(0, maxSources);
  const headings = considered.map((source) => speaksOf(source.heading));
  const known = considered.map(({ heading }) => new Set([...asked, ...terms(heading)].map(({ stem }) => stem)));
  const all = considered.flatMap((source, index) => units(source, index));
  const said = all.map((unit) => speaksOf(unit.text));
  const weights = termWeights(asked, said);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return undefined;

  const scored = all.map((unit, index): Unit => {
    let score = 0;
    if (saysNothing(unit, all[index + 1], known[unit.source])) return { ...unit, score };
    for (const [stem, weight] of weights) {
      if (said[index]?.has(stem)) score += weight;
      else if (headings[unit.source]?.has(stem)) score += weight * headingShare;
    }
    // A question is seldom answered by a question, nor by a label alone.
    if (unit.text.endsWith('?')) score *= 0.5;
    if (wantedForms.some(({ shows }) => shows.test(unit.text))) score *= formBonus;
    return { ...unit, score: score * (1 - 0.04 * unit.source) };
  });
  const ranked = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.source - b.source || a.order - b.order);
  const best = ranked[0];
  if (best === undefined) return undefined;
  const { units: chosen, cut } = choose(best, ranked, scored);
  const quotes = chosen.map(({ id, text }) => ({ id, text: shorten(text) }));
  const text = compose(chosen, quotes);
  return { text: cut ? `${text}\n…` : text, quotes, used: [...new Set(quotes.map(({ id }) => id))] };
}

/** `cut`: a list has more items than were chosen. */
function choose(best: Unit, ranked: readonly Unit[], scored: readonly Unit[]): { units: Unit[]; cut: boolean } {
  const chosen: Unit[] = [best];
  const add = (unit: Unit | undefined): void => {
    const known = unit === undefined || chosen.some((other) => other.text === unit.text);
    if (!known && chosen.length < maxQuotes) chosen.push(unit);
  };
  const next = (unit: Unit, by: 1 | -1): Unit | undefined =>
    scored.find((other) => other.source === unit.source && other.order === unit.order + by);

  if (introduces(best.text)) {
    // It introduces what follows: the list, or the answer to the question that it is.
    let length = 0;
    let following = next(best, 1);
    while (following !== undefined && (following.kind === 'item' || chosen.length === 1)) {
      length += shorten(following.text).length;
      if (length > maxListLength) return { units: chosen, cut: true };
      chosen.push(following);
      following = next(following, 1);
    }
  }
  // Further rows have to match as well as the first: a neighbouring row is another product's answer.
  const enough = best.kind === 'row' ? 0.95 : shareOfBest;
  for (const unit of ranked.slice(1)) if (unit.score >= enough * best.score && unit.kind === best.kind) add(unit);
  // A short sentence alone often leans on the next one ("Call us at once. The line is open day and night.").
  if (chosen.length === 1 && best.kind === 'prose' && best.text.length < 160) {
    const following = next(best, 1);
    if (following?.kind === 'prose' && following.line === best.line) add(following);
  }
  return { units: chosen.sort((a, b) => a.source - b.source || a.order - b.order), cut: false };
}

function shorten(text: string): string {
  if (text.length <= maxQuoteLength) return text;
  return `${text
    .slice(0, maxQuoteLength)
    .replace(/[\ud800-\udbff]$/u, '')
    .replace(/\s+\S*$/u, '')}…`;
}

/** Sentences run on; rows and list items stand on lines of their own. */
function compose(chosen: readonly Unit[], quotes: readonly Quote[]): string {
  return quotes.reduce((text, quote, index) => {
    if (index === 0) return quote.text;
    const flowing = chosen[index]?.kind === 'prose' && chosen[index - 1]?.kind === 'prose';
    return `${text}${flowing ? ' ' : '\n'}${quote.text}`;
  }, '');
}
