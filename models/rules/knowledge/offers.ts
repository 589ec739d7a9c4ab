/**
 * Offers: passages that may help when no passage answers with enough certainty. The customer sees the heading of the
 * passage, and gets the passage by sending that heading as a question. Pure.
 */
import { authorities, type Authority, type SourceType } from './authority.ts';
import { maxOffers, type Passage } from './retrieval.ts';
import { isValue } from './tablehead.ts';
import { introduces, rowsIn, unitsOf, type Unit } from './units.ts';
import { ownSentences } from '../language/escalation.ts';
import type { Language } from '../language/language.ts';
import { terms } from '../language/words.ts';
import { defined } from '../base/defined.ts';

/** An offer as stored. `passage` is the chunk's id, which customers do not see. */
export type Offer = {
  /** The displayed heading of the passage, or the label of one of its table rows. */
  heading: string;
  /** The customer sends exactly this text to get the passage. */
  question: string;
  /** What the passage says about the question, in one line. */
  says: string;
  source: { type: SourceType; id: string; name: string; url?: string };
  passage: string;
};

/** An offer as customers see it, without the internal id of its passage. */
export const shownOffer = ({ heading, question, says, source }: Offer): Omit<Offer, 'passage'> => ({
  heading,
  question,
  says,
  source,
});

/**
 * When the last heading of a heading path has fewer content words than this, the parent heading is shown before it:
 * `Cash – In the euro area`.
 */
const tellingWords = 3;
/** The maximum length of a displayed heading, in characters. */
const maxLabelLength = 160;
/** The maximum length of an offer's `says`, in characters. */
const maxLineLength = 140;

/** The displayed form of a heading path (`A > B`). */
export function labelOf(heading: string): string {
  const parts = heading.split(' > ').map((part) => part.trim());
  const last = parts.at(-1)!;
  const above = parts.at(-2);
  const label = above === undefined || terms(last).length >= tellingWords ? last : `${above} – ${last}`;
  return label.length <= maxLabelLength ? label : `${label.slice(0, maxLabelLength - 1)}…`;
}

/**
 * The label of a table row: its first cell, with the heading before it when the cell has fewer than `tellingWords`
 * content words.
 */
function rowLabel(heading: string, name: string): string {
  const above = heading.split(' > ').at(-1)!.trim();
  return above === '' || terms(name).length >= tellingWords ? name : `${above} – ${name}`;
}

/**
 * The first cells of a passage's table rows, which name the subjects of the rows. A first cell like "no" or "5 EUR" is
 * left out, because it names no subject.
 */
const rowNames = (text: string): string[] =>
  rowsIn(text).flatMap(([first]) => (first && !isValue(first.value) ? [first.value] : []));

const oneLine = (text: string): string =>
  text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength - 1).replace(/\s+\S*$/u, '')}…`;

const joined = (units: readonly Unit[]): string => units.map(({ text }) => text).join(' ');

/**
 * The text of a unit, with all units after it when the unit introduces them (`introduces`). A passage without a table
 * is shown whole when it has at most `maxLineLength` characters.
 */
function lineFrom(units: readonly Unit[], unit: Unit | undefined): string {
  if (unit === undefined) return '';
  const whole = joined(units);
  if (whole.length <= maxLineLength && units.every(({ kind }) => kind !== 'row')) return whole;
  return joined(introduces(unit.text) ? units.slice(unit.order) : [unit]);
}

/**
 * The offer of a passage. `near`: the text of the sentence, list item or table row that is nearest to the question; by
 * default the first of these texts in the passage. A table row alone says little. So when the passage also has
 * sentences, the row is shown only when the question mentions its first cell (`isAsked`); otherwise the first sentence
 * is shown.
 */
export function offerOf(
  { id, type, source_id, name, url, heading, text }: Passage,
  near?: string,
  isAsked: (name: string) => boolean = () => true,
): Offer {
  const units = unitsOf(text);
  const nearest = units.find((one) => one.text === near) ?? units[0];
  const [named] = nearest?.cells ?? [];
  const unit = named && !isAsked(named.value) ? (units.find(({ kind }) => kind !== 'row') ?? nearest) : nearest;
  const [first, ...others] = unit?.cells ?? [];
  const isRow = first !== undefined && !isValue(first.value);
  const label = isRow ? rowLabel(heading, first.value) : labelOf(heading) || name;
  const said = isRow
    ? others.map((cell) => (cell.name === '' ? cell.value : `${cell.name}: ${cell.value}`)).join('; ')
    : lineFrom(units, unit);
  return {
    heading: label,
    question: label,
    says: oneLine(said),
    source: { type, id: source_id, name, ...defined({ url }) },
    passage: id,
  };
}

/** At most `maxOffers` offers, one per heading, because a section may be split into several chunks. */
export const distinctOffers = (offers: readonly Offer[]): Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [plain(offer.heading), offer])).values()]
    .toSorted((a, b) => offers.indexOf(a) - offers.indexOf(b))
    .slice(0, maxOffers);

const plain = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * Whether a question equals the heading of a passage or the first cell of one of its rows, so that the passage answers
 * the question.
 */
export function isNamed(question: string, { heading, text }: Pick<Passage, 'heading' | 'text'>): boolean {
  const asked = plain(question);
  if (asked.length > maxLabelLength + 1 || asked === '') return false;
  const rows = rowNames(text).flatMap((row) => [row, rowLabel(heading, row)]);
  const names = [labelOf(heading), heading, heading.split(' > ').at(-1)!, ...rows];
  return names.some((name) => plain(name) === asked);
}

/**
 * The passages that a message names (`isNamed`), in the highest authority tier that has one. `authority`: the tier whose
 * passages answer. Passages of a lower tier are left out, because a lower tier is used only when nothing above it
 * matches.
 */
export function namedBy<J extends { passage: Passage }>(
  message: string,
  { judged, authority }: { judged: readonly J[]; authority: Authority | undefined },
): J[] {
  const named = judged.filter(({ passage }) => isNamed(message, passage));
  const tier = authorities.find((one) => one === authority || named.some(({ passage }) => passage.authority === one));
  return named.filter(({ passage }) => passage.authority === tier);
}

/** The offer whose question the customer's message repeats. `offers` are newest first. */
export const takenOffer = (message: string, offers: readonly Offer[]): Offer | undefined =>
  offers.find(({ question }) => plain(question) === plain(message));

/**
 * The offers as a message in the customer's language. Their headings and texts stay in the language of the documents.
 */
export const offerText = (offers: readonly Offer[], language: Language): string =>
  [
    ownSentences.mayHelp[language],
    ...offers.map(({ heading, says }) => `- ${says === '' ? heading : `${heading}: ${says}`}`),
  ].join('\n');
