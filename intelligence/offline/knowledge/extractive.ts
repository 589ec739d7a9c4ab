/**
 * Extractive answers, for when no language model is configured: quotations of the sources, selected and ordered. Only
 * fixed phrases from models/rules/language/own/ are added. Pure.
 */
import { headingFor, isStepOrBullet, labelOf, joined, phraseRow, shorten, underHeading } from './phrasing.ts';
import { choose, following, type Scored } from './choosing.ts';
import { newerOf, type Dated } from './disagreement.ts';
import { isNext, type Passage } from '../../../models/rules/knowledge/retrieval.ts';
import { termWeights } from '../../../models/rules/knowledge/wordmatch.ts';
import { introduces, unitsOf, type Cell, type Unit } from '../../../models/rules/knowledge/units.ts';
import { ownSentences } from '../../../models/rules/language/escalation.ts';
import { languageOf, type Language } from '../../../models/rules/language/language.ts';
import { matcher, terms, type Term } from '../../../models/rules/language/words.ts';

export type Source = Dated & Pick<Passage, 'id' | 'text'>;
/** A verbatim sentence, list item or table row, and the id of its source. */
export type Quote = { id: string; text: string };
export type ExtractiveAnswer = {
  text: string;
  quotes: Quote[];
  /** Ids of the quoted sources, in order of first use. */ used: string[];
};

export type ExtractOptions = {
  /**
   * The cosine of the question with each sentence, list item, table row and column name of the sources, if embeddings
   * are available. Without cosines the match is lexical, and a question that shares no word with the sources has no
   * answer.
   */
  closeness?: ReadonlyMap<string, number> | undefined;
  /** Earlier answers, which are not repeated. */
  said?: readonly string[];
  /** The customer's original message, when `question` was completed from the conversation. */
  own?: string;
  /** The language of the fixed words around quotations. */
  language?: Language;
};

/** The most passages that are considered; further passages rarely add a sentence and cost time. */
export const maxSources = 5;
/**
 * The weight of a question's word that only the heading contains, relative to a word in the sentence. It is lower,
 * because all sentences under a heading share the heading.
 */
const headingShare = 0.6;
/** The weight of the cosine, relative to the share of the question's words that a sentence has. */
const closenessWeight = 1.5;
/**
 * The weight of a passage relative to the previous one. Lexically retrieved passages are reranked by their sentences.
 * For passages retrieved by embeddings the retrieval order is better, so the first passage dominates.
 */
const nextPassage = { words: 0.96, meaning: 0.01 } as const;
/** The bonus of a section's first sentence, which usually names the subject. A table's first row gets no bonus. */
const firstBonus = 1.1;
/**
 * A table column counts as asked for when the cosine of its name is at most this much below the cosine of the closest
 * column name.
 */
const closeColumn = 0.08;

const figure =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|sixty|ninety|hundred|at once|immediately|same day)\b/iu;
/** The form of an answer that a kind of question expects. Of similar sentences, one with this form comes first. */
const forms: { asks: RegExp; shows: RegExp }[] = [
  {
    asks: /\b(?:how much|costs?|prices?|fees?|charges?|wie ?viel|kostet|kosten|geb(?:ü|u)hr|preis|combien|prix|frais|tarifs?|cuesta|costa|comisi(?:ó|o)n(?:es)?|tarifas?)\b/u,
    shows: /\d\s?(?:%|\p{Sc}|[A-Z]{3}\b)|\p{Sc}\s?\d|\b(?:free|no charge|nothing|kostenlos|gratuit|gratis)\b/u,
  },
  { asks: /\b(?:limits?|maximum|minimum|at most|at least|how many|how old|wie viele)\b/u, shows: figure },
  { asks: /\b(?:when|how long|how soon|what time|open|opening|hours|wann|wie lange|quand|cuando)\b/u, shows: figure },
  { asks: /\b(?:phone|telephone|call|number|telefon)\b/u, shows: /\+?\d[\d\s/()-]{4,}\d/u },
  { asks: /\b(?:e-?mail|mail)\b/u, shows: /\S@\S/u },
  { asks: /\b(?:where|address|wo|adresse)\b/u, shows: /\d|\b(?:street|square|road|branch|page|app|menu|under)\b/iu },
];
const formBonus = 1.2;

/** The most characters of a title; a longer line is a statement. */
const maxTitleLength = 150;
const fullStop = /[.!…。！][\p{Pe}\p{Pf}"']*$/u;

/**
 * Whether a line alone tells the reader nothing. Such a line is a question or an introduction that nothing follows, or
 * a title made only of `known` words (those of the question and the heading).
 */
function saysNothing(unit: Unit, next: Unit | undefined, known: ReadonlySet<string>): boolean {
  if (unit.kind === 'row') return false;
  if (introduces(unit.text)) return next === undefined || /[?？]$/u.test(next.text);
  if (unit.kind === 'item' || unit.text.length > maxTitleLength || fullStop.test(unit.text)) return false;
  // `Gold card: free` is an answer, even if the question contains all its words.
  if (/^[^:：]+[:：]\s*\S/u.test(unit.text)) return false;
  const named = terms(unit.text);
  return named.length > 0 && named.every(({ stem }) => known.has(stem));
}

/**
 * A sentence with this share of the question's words, weighted by rarity, counts as the answer, so embeddings need not
 * be compared.
 */
const enoughWords = 0.6;

/** Whether lexical matching alone finds the answer in the first passage, which is assumed to be the best one. */
export function wordsSuffice(question: string, [first]: readonly Source[]): boolean {
  if (first === undefined) return true;
  const about = asking(question);
  return score(about, [first]).some((unit) => unit.score >= enoughWords);
}

/** The question, prepared for scoring sentences. */
type Asked = {
  terms: readonly Term[];
  forms: readonly { shows: RegExp }[];
  speaksOf: (text: string) => Set<string>;
  closeness: ReadonlyMap<string, number> | undefined;
};

/** Scores all units (sentences, list items and table rows) of the sources; keeps their order. */
function score({ terms: asked, forms: wanted, speaksOf, closeness }: Asked, sources: readonly Source[]): Scored[] {
  const all = sources.flatMap(({ text }, source) => unitsOf(text).map((unit) => ({ ...unit, source })));
  const said = all.map((unit) => speaksOf(unit.text));
  const headings = sources.map(({ heading }) => speaksOf(heading));
  const known = sources.map(({ heading }) => new Set([...asked, ...terms(heading)].map(({ stem }) => stem)));
  const weights = termWeights(asked, said);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  return all.map((unit, index): Scored => {
    const { source, text } = unit;
    const next = all[index + 1]?.source === source ? all[index + 1] : undefined;
    const spoken = said[index]!;
    if (saysNothing(unit, next, known[source]!)) return { ...unit, spoken, score: 0 };
    let words = 0;
    for (const [stem, weight] of weights) {
      if (spoken.has(stem)) words += weight;
      else if (headings[source]!.has(stem)) words += weight * headingShare;
    }
    let score = total === 0 ? 0 : words / total;
    if (closeness) score += closenessWeight * Math.max(0, closeness.get(text) ?? 0);
    // A question in a passage rarely answers the customer's question.
    if (text.endsWith('?')) score *= 0.5;
    if (wanted.some(({ shows }) => shows.test(text))) score *= formBonus;
    if (unit.order === 0 && unit.kind !== 'row') score *= firstBonus;
    const beside = closeness ? nextPassage.meaning : nextPassage.words;
    // With embeddings, every sentence that says something gets a score above 0. So if none matches, the passage's first
    // sentence is the answer.
    return { ...unit, spoken, score: Math.max(score, closeness ? 1e-6 : 0) * beside ** source };
  });
}

/** The first unit with the highest score; undefined when no unit has a score above 0. */
const bestOf = (units: readonly Scored[]): Scored | undefined =>
  units.reduce<Scored | undefined>((best, unit) => (unit.score > (best?.score ?? 0) ? unit : best), undefined);

/**
 * Picks the best sentences of the best passage, plus the sentences to which they refer and lists that they introduce. A
 * sentence scores by the question's words that it contains (rare words count more, words of only the heading count
 * less) and by its cosine with the question. `sources`: the relevant passages, best first. Undefined when no source
 * says anything about the question.
 */
export function extract(
  question: string,
  sources: readonly Source[],
  { closeness, said = [], own = question, language = 'en' }: ExtractOptions = {},
): ExtractiveAnswer | undefined {
  const about = asking(question, closeness);
  const considered = sources.slice(0, maxSources);
  const scored = score(about, considered);
  const first = bestOf(scored);
  if (first === undefined) return undefined;
  const newer = newerOf(first, scored, considered);
  const best = newer?.unit ?? first;
  const source = considered[best.source]!;
  // The older document's contradicting statement is not quoted.
  const quotable = newer ? scored.filter((unit) => considered[unit.source]!.source_id === source.source_id) : scored;
  const chosen = choose(best, quotable, (one, other) => considered[one]!.heading === considered[other]!.heading);
  const { units } = chosen;
  // Where several table rows answer, another passage of the same table may have more such rows.
  const isOfMany = best.kind === 'row' && units.length > 1;
  const quoted = new Set(units.map((unit) => unit.source));
  const isLeft = ({ heading }: Source, at: number): boolean => heading === source.heading && !quoted.has(at);
  const cut = chosen.cut || (isOfMany && sources.some(isLeft)) || breaksOff(units, sources);
  const note = newer && `\n${ownSentences.newer[language].replace('{a}', newer.name).replace('{b}', newer.olderName)}`;
  const text = opening(question, source, language) + phrase(units, source, about) + (cut ? '\n…' : '') + (note ?? '');
  const alone = answerOf(units, considered, text);
  const other = newer || !closeness ? undefined : besideOf(best, scored, about, considered);
  const answer = other ? both(alone, other) : alone;
  if (!isRepeated(text, said) && !isRepeated(answer.text, said)) return answer;
  const narrow = normal(own) === normal(question) ? undefined : narrowed(own, best.source, scored, considered);
  if (narrow && !isRepeated(narrow.text, said)) return narrow;
  return further(best, scored, about, { source, said, sources, considered }) ?? nothingMore(source, language);
}

/** Says that the quotation is in another language than the question, where both languages are known. */
function opening(question: string, { text }: Source, language: Language): string {
  const [asked, written] = [languageOf(question), languageOf(text)];
  return asked === undefined || written === undefined || asked === written
    ? ''
    : `${ownSentences.otherLanguage[language]}\n`;
}

/**
 * A quote from a second passage under another heading. Retrieval by embeddings keeps a second passage only when it is
 * nearly as likely to answer as the first. Then both are quoted, because often only the reader knows which one is
 * meant.
 */
function besideOf(
  best: Scored,
  scored: readonly Scored[],
  about: Asked,
  sources: readonly Source[],
): ExtractiveAnswer | undefined {
  const at = sources.findIndex(
    ({ heading }, index) => index !== best.source && heading !== sources[best.source]!.heading,
  );
  const source = sources[at];
  const first = bestOf(scored.filter((unit) => unit.source === at));
  if (source === undefined || first === undefined) return undefined;
  const { units, cut } = choose(first, scored, (one, other) => sources[one]!.heading === sources[other]!.heading);
  const label = labelOf(source.heading);
  const text =
    joined(units.map((unit) => ({ unit, text: phraseUnit(unit, about) }))) +
    (cut || breaksOff(units, sources) ? '\n…' : '');
  return answerOf(units, sources, label === '' ? text : underHeading(label, text, units));
}

const both = (one: ExtractiveAnswer, other: ExtractiveAnswer): ExtractiveAnswer => ({
  text: `${one.text}\n\n${other.text}`,
  quotes: [...one.quotes, ...other.quotes],
  used: [...new Set([...one.used, ...other.used])],
});

function asking(question: string, closeness?: ReadonlyMap<string, number>): Asked {
  const asked = terms(question);
  return {
    terms: asked,
    forms: forms.filter(({ asks }) => asks.test(question.toLowerCase())),
    speaksOf: matcher(asked.map((term) => term.stem)),
    closeness,
  };
}

/**
 * Answers a follow-up question such as `And for students?` with the one sentence of the passage that has most of the
 * question's words.
 */
function narrowed(
  own: string,
  source: number,
  scored: readonly Scored[],
  sources: readonly Source[],
): ExtractiveAnswer | undefined {
  const about = asking(own);
  const passage = scored
    .filter((unit) => unit.source === source)
    .map((unit) => ({ ...unit, spoken: about.speaksOf(unit.text) }));
  const best = passage.toSorted((a, b) => b.spoken.size - a.spoken.size || b.score - a.score)[0];
  return best && best.spoken.size > 0 ? answerOf([best], sources, phrase([best], sources[source]!, about)) : undefined;
}

function answerOf(units: readonly Scored[], sources: readonly Source[], text: string): ExtractiveAnswer {
  const quotes = units.map((unit) => ({ id: sources[unit.source]!.id, text: shorten(unit.text) }));
  return { text, quotes, used: [...new Set(quotes.map(({ id }) => id))] };
}

/** The units as text. Table rows show only the requested columns, and a heading is added if the text needs one. */
function phrase(units: readonly Scored[], { heading }: Source, about: Asked): string {
  const text = joined(units.map((unit) => ({ unit, text: phraseUnit(unit, about) })));
  const quoted = new Set(units.flatMap(({ spoken }) => [...spoken])).size;
  const spoken = { quoted, heading: about.speaksOf(heading).size, asked: about.terms.length };
  const label = headingFor(heading, units, spoken);
  return label === undefined ? text : underHeading(label, text, units);
}

function phraseUnit({ kind, cells, text }: Unit, about: Asked): string {
  if (kind !== 'row') return shorten(text);
  const wanted = wantedCells(cells.slice(1), about);
  return shorten(phraseRow(cells, (cell) => wanted.has(cell)));
}

/** The cells that the question asks for: found by the name of their column, else by their form and by embeddings. */
function wantedCells(cells: readonly Cell[], { speaksOf, forms: wanted, closeness }: Asked): ReadonlySet<Cell> {
  const named = cells.filter(({ name }) => speaksOf(name).size > 0);
  const spoken = cells.filter(({ value }) => speaksOf(value).size > 0);
  if (named.length > 0) return new Set([...named, ...spoken]);
  const formed = cells.filter(({ value }) => wanted.some(({ shows }) => shows.test(value)));
  const near = cells.map(({ name }) => closeness?.get(name) ?? 0);
  const nearest = Math.max(0, ...near);
  const close = nearest > 0 ? cells.filter((_, at) => near[at]! >= nearest - closeColumn) : [];
  const chosen = new Set([...(formed.length < cells.length ? formed : []), ...close]);
  return chosen.size > 0 ? new Set([...chosen, ...spoken]) : chosen;
}

const normal = (text: string): string => text.replace(/\s+/gu, ' ').trim();
const isRepeated = (text: string, said: readonly string[]): boolean =>
  said.some((body) => normal(body) === normal(text));
const isSaid = (text: string, said: readonly string[]): boolean =>
  said.some((body) => normal(body).includes(normal(text)));

/** The passage that continues `source`: the next one of its document, if it has the same heading. */
const continued = ({ id, heading }: Source, sources: readonly Source[]): Source | undefined =>
  sources.find((other) => other.heading === heading && isNext(id, other.id));

/**
 * Whether the quoted units end with the last entry of a passage, and the list goes on in the next passage. `sources`:
 * the passages, of which each unit has the index.
 */
function breaksOff(units: readonly Scored[], sources: readonly Source[]): boolean {
  const last = units.at(-1)!;
  const source = sources[last.source]!;
  const next = continued(source, sources);
  const [first] = next ? unitsOf(next.text) : [];
  return first !== undefined && isEntry(first) && isEntry(last) && unitsOf(source.text).length === last.order + 1;
}

const isEntry = ({ kind, text }: Unit): boolean => kind === 'item' || isStepOrBullet(text);

/**
 * What the passage, or else the passages that continue it, say beyond earlier answers; undefined when there is nothing
 * more. A table row is quoted again with all its columns.
 */
function further(
  best: Scored,
  scored: readonly Scored[],
  about: Asked,
  {
    source,
    said,
    sources,
    considered,
  }: { source: Source; said: readonly string[]; sources: readonly Source[]; considered: readonly Source[] },
): ExtractiveAnswer | undefined {
  if (best.kind === 'row') {
    const whole = shorten(phraseRow(best.cells, () => true));
    return isSaid(whole, said) ? undefined : answerOf([best], considered, whole);
  }
  const isQuoted = (text: string): boolean => isSaid(shorten(text), said);
  let units = following(
    best,
    scored.filter((unit) => unit.source === best.source),
    isQuoted,
  );
  let from: Source | undefined = source;
  while (units.length === 0) {
    from = continued(from, sources);
    if (from === undefined) return undefined;
    const at = sources.indexOf(from);
    const passage = score(about, [from]).map((unit) => ({ ...unit, source: at }));
    units = following({ source: at, order: -1 }, passage, isQuoted);
  }
  const text = phrase(units, from, about) + (breaksOff(units, sources) ? '\n…' : '');
  return answerOf(units, sources, text);
}

const nothingMore = ({ id }: Source, language: Language): ExtractiveAnswer => ({
  text: ownSentences.nothingMore[language],
  quotes: [],
  used: [id],
});
