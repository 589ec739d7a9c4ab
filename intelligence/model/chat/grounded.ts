/**
 * Checks a model's answer against the passages that it cites. A sentence with a number, name or code that the passages
 * do not contain is removed as invented. The check works in every language, but a false sentence without numbers, names
 * and codes passes. Pure.
 */
import { languageOf } from '../../../models/rules/language/language.ts';
import { figuresIn, numbersIn } from '../numbers.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { fold, stem } from '../../../models/rules/language/words.ts';

export type Grounds = {
  /** The texts of the cited passages, with their headings, names and addresses. */
  cited: readonly string[];
  /**
   * The customer's messages and session context. Names may come from them; numbers too, but only in a sentence that
   * also has a number from a cited passage.
   */
  told: readonly string[];
};
export type Held = { text: string; /** The removed sentences. */ dropped: string[] };

const signs: readonly (readonly [sign: string, code: string])[] = [
  ['€', 'eur'],
  ['$', 'usd'],
  ['£', 'gbp'],
  ['¥', 'jpy'],
];
/** Words that are often capitalized but are not names: "I", days, months, currencies and titles. */
const calendar = new Set(
  (
    'i mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday january february march april may ' +
    'june july august september october november december euro euros dollar dollars mr mrs ms ok'
  ).split(' '),
);

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.&+-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
/** Whether a word is a code, which has inner capitals or digits: `IBAN`, `PayPal`, `T-500`. */
const isCode = (token: string): boolean =>
  /\p{Lu}.*\p{Lu}|\p{Ll}\p{Lu}/u.test(token) ||
  (/\p{L}/u.test(token) && /\d/u.test(token) && /^[\p{Lu}\p{N}-]+$/u.test(token));
const isCapital = (token: string): boolean => /^\p{Lu}/u.test(token);
/** Whether a word begins a sentence, where a capital letter does not show that the word is a name. */
const begins = (text: string, at: number): boolean => /(?:^|[.:!?…>›→"'“„«(\n–—-])\s*$/u.test(text.slice(0, at));
/** The mark of a list item: the number of a step, or a bullet. */
const mark = /^\s*(?:\d{1,2}[.)]|[-–•*])\s+/u;

/** The answer without the sentences that the passages do not support; empty when no sentence is left. */
export function holdAgainst(text: string, { cited, told }: Grounds): Held {
  const known = {
    numbers: numbersIn(cited.join('\n')),
    toldNumbers: numbersIn(told.join('\n')),
    words: fold([...cited, ...told].join('\n')).replaceAll(/[€$£¥]/gu, (sign) => ` ${codeOf(sign)} `),
    language: languageOf(cited.join('\n')),
  };
  const dropped: string[] = [];
  const lines = text.split('\n').flatMap((line) => {
    const [lead = ''] = mark.exec(line) ?? [];
    const all = sentences(line.slice(lead.length));
    const kept = all.filter((sentence) => isSupported(sentence, known) || (dropped.push(sentence), false));
    return kept.length === 0 && all.length > 0 ? [] : [lead + kept.join(' ')];
  });
  if (dropped.length === 0) return { text, dropped };
  return {
    text: lines
      .join('\n')
      .replaceAll(/\n{3,}/gu, '\n\n')
      .trim(),
    dropped,
  };
}

const codeOf = (sign: string): string => signs.find(([each]) => each === sign)?.[1] ?? sign;

type Known = { numbers: Set<string>; toldNumbers: Set<string>; words: string; language: string | undefined };

function isSupported(sentence: string, known: Known): boolean {
  const figures = figuresIn(sentence);
  const stands = (forms: readonly string[], numbers: Set<string>): boolean => forms.some((form) => numbers.has(form));
  const borne = figures.filter((forms) => stands(forms, known.numbers));
  const others = figures.filter((forms) => !stands(forms, known.numbers));
  if (others.length > 0 && (borne.length === 0 || !others.every((forms) => stands(forms, known.toldNumbers))))
    return false;
  const language = languageOf(sentence);
  // German capitalizes every noun, and a translation may change names. So in German and in translations, a capital
  // letter does not show that a name was invented. Codes and numbers stay the same in every language.
  const capitalsTell =
    language !== 'de' && (language === undefined || known.language === undefined || language === known.language);
  for (const { 0: token, index } of sentence.matchAll(word)) {
    const judged = isCode(token) || (capitalsTell && isCapital(token) && !begins(sentence, index));
    if (judged && !isKnownWord(token, known.words)) return false;
  }
  return true;
}

function isKnownWord(token: string, words: string): boolean {
  const folded = fold(token).replace(/'s?$/u, '');
  return calendar.has(folded) || words.includes(folded) || (folded.length > 4 && words.includes(stem(folded)));
}
