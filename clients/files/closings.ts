/**
 * Removes the closing of a letter: the formula, the name and the sender's details below. Keeps a postscript below the
 * closing. Pure.
 */

type Language = 'en' | 'de' | 'fr' | 'es';

/** Patterns of closing formulas that begin a line, in any case. */
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
/** Short formulas that are also ordinary words, so a name may follow only after a comma. */
const shortClosings: Readonly<Record<Language, readonly string[]>> = {
  en: ['best', 'cheers', 'yours', 'respectfully'],
  de: ['mfg', 'lg', 'vg', 'bg', 'alles gute'],
  fr: ['cdt', 'cdlt', 'respectueusement'],
  es: ['abrazos?', 'cordialmente', 'sdos', 'slds'],
};
const anyOf = (by: Readonly<Record<Language, readonly string[]>>): string =>
  `(?:${Object.values(by).flat().join('|')})`;
const formula = (afterShort: string): RegExp =>
  new RegExp(`^(?:${anyOf(closings)} ?[,.!;]{0,3}|${anyOf(shortClosings)} ?${afterShort})$`, 'iu');
const alone = formula('(?:[.!;]{0,3}|,)');
const beforeName = formula(',');
const lastName = /(?: +|(?<=,))\p{Lu}[\p{L}.’'-]{0,30}$/u;
const maxNames = 3;

/** Whether the line is a formula, alone or before the sender's name. */
function isClosing(line: string): boolean {
  let rest = line.replace(/[.!]$/, '');
  if (alone.test(rest)) return true;
  for (let names = 1; names <= maxNames && lastName.test(rest); names += 1) {
    rest = rest.replace(lastName, '');
    if (beforeName.test(rest)) return true;
  }
  return false;
}

/**
 * The maximum number and length of lines after a closing formula: name, role, company, address and telephone numbers.
 */
const maxLinesAfter = 10;
const maxLineAfter = 80;

/** Whether the lines, which stand below a closing or a signature's first line, are only the sender's details. */
export function isSender(lines: readonly string[]): boolean {
  const written = lines.filter((line) => line.trim() !== '');
  return written.length <= maxLinesAfter && written.every((line) => line.length <= maxLineAfter && !/\?/.test(line));
}

/**
 * The text above its closing. A closing begins at the first line with a closing formula, when only short lines without
 * a question follow. A text that consists of a closing only is returned unchanged.
 */
export function withoutClosing(text: string): string {
  const lines = text.split('\n');
  const from = Math.max(1, lines.length - maxLinesAfter * 2);
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at]!.trim();
    if (line.length > maxLineAfter * 2 || !isClosing(line)) continue;
    const above = lines.slice(0, at).join('\n').trim();
    if (above !== '' && isSender(lines.slice(at + 1))) return above;
  }
  return text;
}

/**
 * The beginning of a postscript: `PS`, `P.S.`, `PPS` or `NB` at the beginning of a paragraph. Inside a paragraph, and
 * for the Spanish `PD`, a colon has to follow, because the initials and titles in a signature look the same.
 */
const postscript = /^(?:(?:P\.?[ -]?){1,3}S|N\.? ?B)\b|(?:^|\n)(?:(?:P\.?[ -]?){1,3}[SD]|N\.? ?B)\.? ?:/iu;

/**
 * Appends to `cut` the postscripts of `text` that `cut` lacks. A postscript is below the closing or in the signature,
 * and both were removed from `cut`.
 */
export function withPostscripts(cut: string, text: string): string {
  let kept = cut;
  for (const paragraph of text.split('\n\n')) {
    const at = paragraph.search(postscript);
    if (at === -1) continue;
    const said = withoutClosing(paragraph.slice(at).trim());
    if (!kept.includes(said)) kept += `\n\n${said}`;
  }
  return kept;
}
