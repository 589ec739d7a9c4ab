/**
 * Offers: passages that may help when no passage answers with enough certainty. The customer sees the heading of the
 * passage, and gets the passage by sending that heading as a question. Pure.
 */
import type { SourceType } from './authority.ts';
import type { Passage } from './retrieval.ts';
import { rowsIn, unitsOf } from './units.ts';
import { ownSentences } from '../language/escalation.ts';
import type { Language } from '../language/language.ts';
import { terms } from '../language/words.ts';
import { defined } from '../base/defined.ts';

export const maxOffers = 3;
/** An offer as stored. `passage` is the chunk's id, which customers do not see. */
export type Offer = {
  /** The displayed heading of the passage, or the first cell of the matching table row. */
  heading: string;
  /** The customer sends exactly this text to get the passage. */
  question: string;
  source: { type: SourceType; id: string; name: string; url?: string };
  passage: string;
};

/** The offer without its internal passage id, as customers see it. */
export const shownOffer = ({ heading, question, source }: Offer): Omit<Offer, 'passage'> => ({
  heading,
  question,
  source,
});

/** A last heading with fewer words than this is shown with its parent heading: `Cash – In the euro area`. */
const tellingWords = 3;
/** The maximum length of a displayed heading, in characters. */
const maxLabelLength = 160;

/** The displayed form of a heading path (`A > B`). */
export function labelOf(heading: string): string {
  const parts = heading.split(' > ').map((part) => part.trim());
  const last = parts.at(-1)!;
  const above = parts.at(-2);
  const label = above === undefined || terms(last).length >= tellingWords ? last : `${above} – ${last}`;
  return label.length <= maxLabelLength ? label : `${label.slice(0, maxLabelLength - 1)}…`;
}

/** The first cell of each table row of a passage, which names the row's subject. */
const rowNames = (text: string): string[] => rowsIn(text).flatMap(([first]) => (first ? [first.value] : []));

/** `row` is the text of the passage's row that is nearest to the question, when the passage has rows. */
export function offerOf({ id, type, source_id, name, url, heading, text }: Passage, row?: string): Offer {
  const named = row === undefined ? undefined : unitsOf(text).find((unit) => unit.kind === 'row' && unit.text === row);
  const label = named?.cells[0]?.value ?? (labelOf(heading) || name);
  return {
    heading: label,
    question: label,
    source: { type, id: source_id, name, ...defined({ url }) },
    passage: id,
  };
}

/** Keeps one offer per heading, because a section may be split into several chunks. */
export const distinctOffers = (offers: readonly Offer[]): Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [plain(offer.heading), offer])).values()]
    .toSorted((a, b) => offers.indexOf(a) - offers.indexOf(b))
    .slice(0, maxOffers);

const plain = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * Whether a question equals the heading of a passage or the first cell of one of its rows. Such a passage answers the
 * question.
 */
export function isNamed(question: string, { heading, text }: Pick<Passage, 'heading' | 'text'>): boolean {
  const asked = plain(question);
  if (asked.length > maxLabelLength + 1 || asked === '') return false;
  const names = [labelOf(heading), heading, heading.split(' > ').at(-1)!, ...rowNames(text)];
  return names.some((name) => plain(name) === asked);
}

/** The offer whose question the customer's message repeats. `offers` are newest first. */
export const takenOffer = (message: string, offers: readonly Offer[]): Offer | undefined =>
  offers.find(({ question }) => plain(question) === plain(message));

/** The offers as a message in the customer's language. Headings stay in the language of the documents. */
export const offerText = (offers: readonly Offer[], language: Language): string =>
  [ownSentences.mayHelp[language], ...offers.map(({ heading }) => `- ${heading}`)].join('\n');
