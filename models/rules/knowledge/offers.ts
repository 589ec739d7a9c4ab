/**
 * Offers: passages that may help when none surely answers. An offer is shown by its heading, and a customer who asks
 * that heading gets that passage. Pure.
 */
import type { SourceType } from './authority.ts';
import type { Passage } from './retrieval.ts';
import { unitsOf } from './units.ts';
import { ownSentences } from '../language/escalation.ts';
import type { Language } from '../language/language.ts';
import { terms } from '../language/words.ts';

export const maxOffers = 3;
/** An offer as it is shown and stored; `passage` is the chunk's id, which customers do not see. */
export type Offer = {
  /** The passage's heading in its document. */
  heading: string;
  /** The question to send, unchanged, to get the passage. */
  question: string;
  source: { type: SourceType; id: string; name: string; url?: string };
  passage: string;
};

/** An offer as customers see it. */
export const shownOffer = ({ heading, question, source }: Offer): Omit<Offer, 'passage'> => ({
  heading,
  question,
  source,
});

/** A last heading of fewer words than this is shown with its parent: `Cash – In the euro area`. */
const tellingWords = 3;
/** The longest heading that is shown, in characters; longer ones are no headings. */
const maxLabelLength = 160;

/** How a heading path is shown. */
export function labelOf(heading: string): string {
  const parts = heading.split(' > ').map((part) => part.trim());
  const last = parts.at(-1)!;
  const above = parts.at(-2);
  const label = above === undefined || terms(last).length >= tellingWords ? last : `${above} – ${last}`;
  return label.length <= maxLabelLength ? label : `${label.slice(0, maxLabelLength - 1)}…`;
}

/** The first cell of each row of a passage: what the row is about. */
const rowNames = (text: string): string[] =>
  unitsOf(text).flatMap(({ kind, cells }) => (kind === 'row' && cells[0] ? [cells[0].value] : []));

/** `row` is the passage's row that is nearest to the question, if it has rows. */
export function offerOf({ id, type, source_id, name, url, heading, text }: Passage, row?: string): Offer {
  const named = row === undefined ? undefined : unitsOf(text).find((unit) => unit.kind === 'row' && unit.text === row);
  const label = named?.cells[0]?.value ?? (labelOf(heading) || name);
  return {
    heading: label,
    question: label,
    source: { type, id: source_id, name, ...(url === undefined ? {} : { url }) },
    passage: id,
  };
}

/** One offer per heading: a section in several parts is one offer. */
export const distinctOffers = (offers: readonly Offer[]): Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [plain(offer.heading), offer])).values()]
    .toSorted((a, b) => offers.indexOf(a) - offers.indexOf(b))
    .slice(0, maxOffers);

const plain = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * Whether a question equals the heading of a passage or the first cell of one of its rows: then that passage answers.
 */
export function isNamed(question: string, { heading, text }: Pick<Passage, 'heading' | 'text'>): boolean {
  const asked = plain(question);
  if (asked.length > maxLabelLength + 1 || asked === '') return false;
  const names = [labelOf(heading), heading, heading.split(' > ').at(-1)!, ...rowNames(text)];
  return names.some((name) => plain(name) === asked);
}

/** The earlier offer that a message accepts, newest first. */
export const takenOffer = (message: string, offers: readonly Offer[]): Offer | undefined =>
  offers.find(({ question }) => plain(question) === plain(message));

/** The offers as a message in the customer's language; headings stay in the documents' language. */
export const offerText = (offers: readonly Offer[], language: Language): string =>
  [ownSentences.mayHelp[language], ...offers.map(({ heading }) => `- ${heading}`)].join('\n');
