/** The title of a task: an English imperative that is clear without the transcript. Pure. */
import { thingsIn, type Thing } from './nouns.ts';
import { terms } from '../../../models/rules/language/words.ts';
import { extractionBounds } from '../../../models/rules/interviews/found.ts';

/** A title whose words weigh less than this is vague, so the subject of the conversation is added. */
const enoughWeight = 2.5;

const ones = /\b(the|those|these|both|all the) (\p{L}+ )?ones?\b/iu;
const aOne = /\b(one)(?=$|[.,;!?]|\s+(?:for|of|by|to|on|in|with|before|after)\b)/iu;
const plural =
  /\bthem\b|\b(?:those|these)(?=$|[.,;!?]|\s+(?:to|for|by|when|before|after|with|and|on|in|into|again|as|from|once|today|tomorrow)\b)/iu;
const single =
  /\bit\b(?!')|\b(?:[Tt]his|[Tt]hat)(?=$|[.,;!?]|\s+(?:to|for|by|when|before|after|with|and|on|in|into|too|down|up|out|off|over|back|again|as|at|from|around|round|together|soon|done|sorted|ready|fixed|once|this|next|today|tomorrow)\b)/u;

/** Whether a task refers to something by a pronoun only. */
export const hasPronoun = (deed: string): boolean =>
  ones.test(deed) || aOne.test(deed) || plural.test(deed) || single.test(deed);

/** Replaces the task's first pronoun with the thing to which it refers; undefined when no such thing was named. */
export function withMeant(
  deed: string,
  before: readonly string[],
  meant: (before: readonly string[], plural: boolean) => Thing | undefined,
): string | undefined {
  // If the task names a thing before the pronoun, the pronoun refers to that thing.
  const at = [ones, aOne, plural, single].map((pattern) => deed.search(pattern)).filter((index) => index >= 0);
  if (at.length > 0 && names(deed.slice(0, Math.min(...at)))) return deed;
  const these = ones.exec(deed);
  if (these) {
    const thing = meant(before, /ones\b/iu.test(these[0]));
    return thing && deed.replace(ones, `${these[1]!} ${these[2] ?? ''}${thing.text.replace(/^the (?:\p{N}+ )?/u, '')}`);
  }
  if (aOne.test(deed)) {
    const thing = meant(before, false);
    return thing && deed.replace(aOne, indefinite(thing.text));
  }
  if (plural.test(deed)) {
    const thing = meant(before, true);
    return thing && deed.replace(plural, thing.text);
  }
  if (!single.test(deed)) return deed;
  const thing = meant(before, false);
  return thing && deed.replace(single, thing.text);
}

const names = (text: string): boolean => thingsIn(text).length > 0 || /\b(?:something|someone|somebody)\b/iu.test(text);

function indefinite(text: string): string {
  const bare = text.replace(/^the /u, '');
  return `${/^[aeiou]/iu.test(bare) ? 'an' : 'a'} ${bare}`;
}

/** The task without words such as `asap`, `please` and `from you`. */
export function plainDeed(deed: string): string {
  return deed
    .replaceAll(
      /[,;–-]?\s*(?:\b(?:as soon as (?:possible|you can|I can)|asap|urgently|immediately|right away|straight away|please|no rush(?: though)?|no hurry|when you (?:have|get) (?:a chance|time|a moment)|it is not urgent|it's not urgent|(?:right )?after (?:this|the call|the meeting)|in a minute|as well|too|though|then|from you)\b(?=\s*(?:$|[.,;!?])))/giu,
      ' ',
    )
    .replaceAll(
      /\b(show|send|give|get|tell|mail|bring|hand|forward|text|email) (?:you|me|us)(?: all| both)? (?=(?:the|a|an|my|your|our|this|that|these|those|some|all|both|it|them)\b)/giu,
      '$1 ',
    )
    .replaceAll(/\s+to (?:you|me|us)(?: all| both)?\b/giu, '')
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/\s+([,.;:!?])/gu, '$1')
    .replace(/[\s,.;:!?–-]+$/u, '')
    .trim();
}

/**
 * The task as a title: without its date, urgency and politeness. `subject`: gives the subject of the conversation,
 * which is added to a vague title. Undefined when no words with content are left.
 */
export function titleOf(deed: string, date: string | undefined, subject: () => string | undefined): string | undefined {
  const text = shortened(date === undefined ? deed : plainDeed(withoutDate(deed, date)));
  if (!/\p{L}{2}/u.test(text)) return undefined;
  const words = terms(text);
  const about = words.reduce((sum, { weight }) => sum + weight, 0) < enoughWeight ? subject() : undefined;
  if (words.length < 2 && about === undefined && text.split(' ').length < 3) return undefined;
  const title = `${text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())}${about === undefined ? '' : ` (${about})`}`;
  return title.length <= extractionBounds.title ? title : `${title.slice(0, extractionBounds.title - 1).trimEnd()}…`;
}

/** The most words of a title; a longer task is cut after one of its parts. */
const maxWords = 14;

function shortened(text: string): string {
  const words = text.split(' ');
  if (words.length <= maxWords) return text;
  const begin = words.slice(0, maxWords).join(' ');
  const parts = [
    ...text.matchAll(/[,;.?] | (?=(?:so|because|since|which|but|if|what|then|and (?:then|I|you|we|he|she|they))\b)/giu),
  ];
  const end = parts.findLast(({ index }) => index <= begin.length && index > begin.length / 4)?.index;
  const cut = end === undefined ? begin : text.slice(0, end);
  return cut.replace(
    /(?:[\s,]+(?:and|or|of|the|a|an|to|for|with|in|on|at|is|are|that|my|our|your|by|from|as|this))+$/iu,
    '',
  );
}

function withoutDate(text: string, date: string): string {
  const at = text.indexOf(date);
  if (at < 0) return text;
  const before = text
    .slice(0, at)
    .replace(/,?\s*\b(?:by|on|before|until|till|at|in|within|due|no later than|for|over)\s*(?:the\s*)?$/iu, '');
  const rest = text.slice(at + date.length);
  return `${before.trimEnd()}${rest.startsWith(' ') ? rest : ` ${rest}`}`.trim();
}
