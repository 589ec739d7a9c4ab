import { terms } from './words.ts';

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

const monthNames = (style: 'long' | 'short'): string[] =>
  ['en', 'de', 'de-AT'].flatMap((locale) => {
    const names = new Intl.DateTimeFormat(locale, { month: style, timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, month) => names.format(Date.UTC(2000, month)).replace('.', ''));
  });
const wholeMonths = new Set(monthNames('long'));
const shortMonths = new Set([...monthNames('short'), 'Sept'].filter((month) => !wholeMonths.has(month)));
const months: ReadonlySet<string> = new Set([...wholeMonths, ...shortMonths]);

const abbreviation =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Str|No|Nr|Art|Abs|Fig|pp|ca|approx|vs|bzw|[Ii]n[kc]l|[Ee]x[kc]l|[Zz]zgl|[Gg]gf|Tel|(?<!\d\s)(?:[Mm]ax|[Mm]in)|(?:\p{L}\.\s?)?\p{L})\.$/u;
/** Abbreviations that also occur at the end of a sentence. */
const lastAbbreviation = /(?:^|[\s(])(?:usw|etc|Inc|Ltd|Co|MwSt)\.$/u;
const shortMonth = new RegExp(String.raw`(?:^|[\s(])(?:${[...shortMonths].join('|')})\.$`, 'u');
/** The number of a step, at the beginning of a sentence. */
const stepNumber = /^\d{1,2}\.$/u;
const smallNumber = /(?:^|[\s(/–-])\d{1,2}\.$/u;
/** A number with a full stop after one of these German words is an ordinal: `am 24. Dezember`, `beim 2. Versuch`. */
const ordinal =
  /(?:^|[\s(])(?:(?<!\bi )am|im|beim|vom|zu[mr]|der|die|das|de[mns]|jede[rmns]?|ab|bis|seit) \d{1,2}\.$/iu;
/**
 * How many characters before a sentence end are checked: the length of the longest abbreviation or ordinal with the
 * characters before it.
 */
const longestAbbreviation = 16;
/** How many characters after a sentence end are checked: the length of the longest month and the blank after it. */
const longestMonth = 12;

/**
 * Whether the full stop at the end of `before` belongs to an abbreviation or to a number. Unicode's rules also end a
 * sentence there, as after "e.g." in "e.g. Visa" and after "24." in "24. Dezember". In doubt the sentence goes on,
 * because a long quotation is better than half a sentence.
 */
function goesOn(before: string, after: string): boolean {
  if (!before.endsWith('.')) return false;
  if (abbreviation.test(before) || stepNumber.test(before)) return true;
  if (shortMonth.test(before)) return /^\d/u.test(after);
  const [next = ''] = /^[\p{L}\p{M}]+/u.exec(after) ?? [];
  if (smallNumber.test(before) && months.has(next)) return true;
  // A function word begins a sentence ("I am 18. Can I …"), and a noun continues one ("am 2. Werktag").
  return (lastAbbreviation.test(before) || ordinal.test(before)) && (next === '' || terms(next).length > 0);
}

/** The sentences of a text, trimmed. A line break always ends a sentence. No word is lost. */
export function sentences(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split(/\n+/)) {
    let from = 0;
    for (const { segment, index } of sentenceSegmenter.segment(line)) {
      const end = index + segment.length;
      const sentence = line.slice(from, end).trim();
      if (end < line.length && goesOn(sentence.slice(-longestAbbreviation), line.slice(end, end + longestMonth)))
        continue;
      if (sentence) found.push(sentence);
      from = end;
    }
  }
  return found;
}
