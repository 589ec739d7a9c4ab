/** How people end a letter, and the text without that: the closing, the name and what else belongs to the sender. Pure. */

type Language = 'en' | 'de' | 'fr' | 'es';

/** Each begins its line; case does not count. */
const closings: Readonly<Record<Language, readonly string[]>> = {
  en: [
    '(?:(?:with )?(?:my |our )?(?:best|kind|kindest|warm|warmest|many) )?(?:regards|wishes)',
    '(?:best|kind|warm) regards and (?:best )?wishes',
    '(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?',
    'all the best',
    'respectfully yours',
  ],
  de: [
    '(?:mit )?(?:(?:sehr )?(?:freundliche[mnr]?|beste[mnr]?|vielen?|liebe[mnr]?|herzliche[mnr]?|schönen?|netten?) )?(?:grüßen?|grüssen?|gruß|gruss)(?: aus \\p{L}+)?',
    'hochachtungsvoll',
  ],
  fr: [
    '(?:bien |très )?cordialement',
    '(?:bien )?à vous',
    'bien à toi',
    '(?:mes |nos )?(?:meilleures|sincères|cordiales|respectueuses) salutations',
    '(?:mes |nos )?salutations (?:distinguées|cordiales|sincères|respectueuses)',
    '(?:bien )?amicalement',
    "(?:je vous prie|nous vous prions|veuillez)(?: d[’'])? ?(?:agréer|recevoir|croire|accepter)[^?]{0,120}",
    'bonne (?:journée|soirée)',
  ],
  es: [
    '(?:recib[ae]n? )?(?:con )?(?:un |muchos |mis )?(?:cordial(?:es)? |afectuoso |atentos? )?saludos?(?: cordial(?:es)?| atentos?)?',
    '(?:muy )?atentamente',
    '(?:le |les )?saluda(?: muy)? atentamente',
    '(?:un )?(?:fuerte |gran )abrazo',
    'un abrazo',
  ],
};
/** These are other words, too, so that a name counts only behind a comma. */
const shortClosings: Readonly<Record<Language, readonly string[]>> = {
  en: ['best', 'cheers', 'yours', 'respectfully'],
  de: ['mfg', 'lg', 'vg', 'bg', 'alles gute'],
  fr: ['cdt', 'cdlt', 'respectueusement'],
  es: ['abrazos?', 'cordialmente', 'sdos', 'slds'],
};
const anyOf = (by: Readonly<Record<Language, readonly string[]>>): string =>
  `(?i:${Object.values(by).flat().join('|')})`;
const name = "\\p{Lu}[\\p{L}.’'-]{0,30}";
const closing = new RegExp(
  `^(?:${anyOf(closings)} ?[,.!;]{0,3}(?: +${name}){0,3}|${anyOf(shortClosings)} ?(?:[.!;]{0,3}|,(?: *${name}){0,3}))[.!]?$`,
  'u',
);

/** What follows a closing: a name, a role, a company, an address, numbers. */
const maxLinesAfter = 10;
const maxLineAfter = 80;

/**
 * The text above its closing. A closing is the first line of one's form that only short lines follow, none of which asks anything;
 * a text that is nothing else stays.
 */
export function withoutClosing(text: string): string {
  const lines = text.split('\n');
  const from = Math.max(1, lines.length - maxLinesAfter * 2);
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at]!.trim();
    if (line.length > maxLineAfter * 2 || !closing.test(line)) continue;
    const after = lines.slice(at + 1).filter((one) => one.trim() !== '');
    const isSender =
      after.length <= maxLinesAfter && after.every((one) => one.length <= maxLineAfter && !/\?/.test(one));
    const above = lines.slice(0, at).join('\n').trim();
    if (isSender && above !== '') return above;
  }
  return text;
}
