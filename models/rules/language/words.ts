/**
 * Words of a question, to decide whether a passage is about the same subject: accent folding, light stemming, stop
 * words and generic words. Pure. The search index has a tokenizer of its own, so these stems need only be consistent
 * with each other.
 */
import { knownLanguages, wordsOf } from './words/index.ts';

const vowel = /[aeiouy]/u;
/**
 * Function words of all languages. The search index removes only English function words, but in a German or French
 * question, words such as “der” and “le” must be ignored too.
 */
const stopWords: ReadonlySet<string> = new Set(knownLanguages.flatMap((language) => wordsOf[language].functionWords));

/**
 * Words that are common in support questions and do not name the subject. They help to order sentences, but a passage
 * about the subject may answer the question without containing them.
 */
const genericWords: ReadonlySet<string> = new Set(
  `actually also amount another anybody anyone anything available back best bring buy call change check come contact cost currently day
  different else enter evening ever every exactly explain find first forget forgot forgotten found friday get getting give go going good got happen help hello hi high
  hour hurry idea immediately information inform irgendwelch jetzt kind know last learn let like look low make may maximum mean might minimum monday money month morning must name
  need new next nun number offer old one onto open opening part pay person possible price problem proceed provide question quick quickly really receive reach ring see send
  saturday set show solve someone something start still suggestion sunday sure take tell thank thing thursday time tip tipps today tomorrow try tuesday two type use
  using want way wednesday week weekday weekend   work wrong year kosten kostet preis bitte brauche mochte finde welche welcher welches hoch lange viel viele combien cout coute soll sollte tun geht weiter helfen hilfe irgendwelche
  prix cuesta precio costa`
    .split(/\s+/u)
    .map((word) => stem(word)),
);

/** The superscripts after a digit: a footnote mark as in `49¹`, or cents as in `9⁹⁹`. */
const raised = /(?<=\d)[⁰¹²³⁴-⁹]+/gu;

/**
 * The text in lower case, without Latin accents, and with Unicode compatibility characters (NFKD) replaced, as in the
 * search index. Superscripts after a digit become a word of their own, because NFKD turns `49¹` into 491.
 */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  // oxlint-disable-next-line no-control-regex -- the plain ASCII case is most texts and needs no second pass
  if (/^[\u0000-\u007f]*$/u.test(lower)) return lower;
  return lower
    .replaceAll(raised, ' $&')
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replaceAll('ß', 'ss')
    .replaceAll('’', "'");
}

/**
 * A light English stem: removes plural, `-ing`, `-ed`, `-ment`, `-ation`, `-ly`, final `e` and `y`. Words of other
 * languages change so little that they still match themselves. `word` must be folded (`fold`).
 */
export function stem(word: string): string {
  let out = word.replace(/'s?$/u, '');
  if (out.length <= 3 || /\d/u.test(out)) return out;
  if (out.endsWith('ies') && out.length > 4) out = `${out.slice(0, -3)}y`;
  else if (/(?:ss|sh|ch|x|z)es$/u.test(out)) out = out.slice(0, -2);
  else if (/[^suioa]s$/u.test(out) || /[aeo]es$|[aeio]os$/u.test(out)) out = out.slice(0, -1);
  for (const suffix of ['ment', 'ation', 'ing', 'ed', 'ly']) {
    const base = out.slice(0, -suffix.length);
    if (!out.endsWith(suffix) || base.length < (suffix === 'ly' ? 5 : 3) || !vowel.test(base)) continue;
    out = suffix === 'ing' || suffix === 'ed' || suffix === 'ation' ? base.replace(/([^aeiouylsz])\1$/u, '$1') : base;
    break;
  }
  // `cancelled` and `cancel` both become `cancel`, and `installed` and `install` both become `instal`. `bill` and
  // `call` keep both letters, because they are too short to have a doubled ending.
  if (out.endsWith('ll') && out.length > 5) out = out.slice(0, -1);
  return out.length > 3 ? out.replace(/e$/u, '').replace(/y$/u, 'i') : out;
}

const particle = /^\p{Script=Hiragana}{1,3}$/u;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** A word that an answer should contain. */
export type Term = {
  stem: string;
  /** 1 for a word that may name the subject, less for a generic word. */
  weight: number;
};

/** The weight of a generic word, relative to 1 for a word that names the subject. */
export const genericWeight = 0.25;

/**
 * The content words of a question: each stem once, in order, at most `limit`. Scripts without blanks between words are
 * supported, too.
 */
export function terms(question: string, limit = 64): Term[] {
  const found = new Map<string, Term>();
  for (const word of words(fold(question.slice(0, 4_000)))) {
    if (word === '' || stopWords.has(word) || particle.test(word)) continue;
    const root = stem(word);
    if (!found.has(root))
      found.set(root, { stem: root, weight: genericWords.has(root) || /^\d{1,2}$/u.test(root) ? genericWeight : 1 });
    if (found.size >= limit) break;
  }
  return [...found.values()];
}

/**
 * Splits a text into words at all characters that are not letters or digits. Only scripts without blanks use the
 * segmenter, which is slow.
 */
function words(folded: string): string[] {
  const split = (text: string): string[] => text.split(/[^\p{L}\p{M}\p{N}]+/u);
  if (!unspaced.test(folded)) return split(folded);
  return [...segmenter.segment(folded)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? split(segment) : [],
  );
}

const spaced = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;
const escaped = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

const wordHere = /(?<![\p{L}\p{M}\p{N}])[\p{L}\p{M}\p{N}]+/uy;

/**
 * Builds a function that returns which of the stems a text contains. The function searches the text for the beginnings
 * of the stems, and applies `stem` only to the words found. So it is cheap to match one question with many passages.
 */
export function matcher(stems: readonly string[]): (text: string) => Set<string> {
  const wanted = stems
    .map((word) => ({ word, solid: !spaced.test(word), root: escaped(word) }))
    .filter(({ root }) => root !== '')
    // `stem` changes a final `y` to `i`, so the search for the beginning of a word leaves this letter out.
    .map(({ root, ...rest }) => ({ ...rest, root: rest.solid ? rest.word : root.replace(/(?<=..)[iy]$/u, '') }));
  return (text) => {
    const folded = fold(text);
    const speaks = ({ word, solid, root }: (typeof wanted)[number]): boolean => {
      if (solid) return folded.includes(word);
      for (let at = folded.indexOf(root); at >= 0; at = folded.indexOf(root, at + root.length)) {
        wordHere.lastIndex = at;
        const found = wordHere.exec(folded)?.[0];
        if (found !== undefined && stem(found) === word) return true;
      }
      return false;
    };
    return new Set(wanted.filter(speaks).map(({ word }) => word));
  };
}
