/**
 * Offers: passages that may help where none surely answers. Each is shown by its heading, and asking that heading answers with that
 * passage. Pure.
 */
import type { SourceType } from './authority.ts';
import type { Passage } from './retrieval.ts';
import { unitsOf } from './units.ts';
import { ownSentences } from '../language/escalation.ts';
import type { Language } from '../language/language.ts';
import { terms } from '../language/words.ts';

export const maxOffers = 3;
/** What is offered, as it is shown and stored; `passage` is the chunk's id, which stays inside. */
export type Offer = {
  /** What it is about, as its document says. */
  heading: string;
  /** To be asked as it is: the passage answers it. */
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

/** A heading's last part of fewer words than this is shown with the part above it: `Cash – In the euro area`. */
const tellingWords = 3;
/** Characters of a heading as it is shown; longer ones are no headings. */
const maxLabelLength = 160;

/** What a heading's path is shown as. */
export function labelOf(heading: string): string {
  const parts = heading.split(' > ').map((part) => part.trim());
  const last = parts.at(-1)!;
  const above = parts.at(-2);
  const label = above === undefined || terms(last).length >= tellingWords ? last : `${above} – ${last}`;
  return label.length <= maxLabelLength ? label : `${label.slice(0, maxLabelLength - 1)}…`;
}

/** What stands first in each row of a passage: what the row is about. */
const rowNames = (text: string): string[] =>
  unitsOf(text).flatMap(({ kind, cells }) => (kind === 'row' && cells[0] ? [cells[0].value] : []));

/** `row` is the row of the passage that comes nearest, where it has rows. */
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

/** Each heading once: a section in several parts is one offer. */
export const distinctOffers = (offers: readonly Offer[]): Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [plain(offer.heading), offer])).values()]
    .toSorted((a, b) => offers.indexOf(a) - offers.indexOf(b))
    .slice(0, maxOffers);

const plain = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').trim();

/** Whether a question is a passage's heading, or what one of its rows is about: then that passage answers. */
export function isNamed(question: string, { heading, text }: Pick<Passage, 'heading' | 'text'>): boolean {
  const asked = plain(question);
  if (asked.length > maxLabelLength + 1 || asked === '') return false;
  const names = [labelOf(heading), heading, heading.split(' > ').at(-1)!, ...rowNames(text)];
  return names.some((name) => plain(name) === asked);
}

/** The offer that a message takes, of those that were made before it, the newest first. */
export const takenOffer = (message: string, offers: readonly Offer[]): Offer | undefined =>
  offers.find(({ question }) => plain(question) === plain(message));

/** The offers as a message, in the customer's language; what they are called stays in that of the documents. */
export const offerText = (offers: readonly Offer[], language: Language): string =>
  [ownSentences.mayHelp[language], ...offers.map(({ heading }) => `- ${heading}`)].join('\n');
