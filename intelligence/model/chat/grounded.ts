/**
 * Checks a model's answer against the passages that it cites: a sentence with a number, name or code that they do not
 * contain is dropped as invented. Pure. It works alike in every language; a false sentence without any of these passes.
 */
import { languageOf } from '../../../models/rules/language/language.ts';
import { figuresIn, numbersIn } from '../../../models/rules/language/numbers.ts';
import { sentences } from '../../../models/rules/language/sentences.ts';
import { fold, stem } from '../../../models/rules/language/words.ts';

export type Grounds = {
  /** The texts of the cited passages, with their headings, names and addresses. */
  cited: readonly string[];
  /**
   * What the customer said and what is known of the situation: names may come from there, and numbers beside a cited
   * number.
   */
  told: readonly string[];
};
export type Held = { text: string; /** The sentences that are not supported. */ dropped: string[] };

/** Currency signs and their codes. */
const signs: readonly (readonly [sign: string, code: string])[] = [
  ['€', 'eur'],
  ['$', 'usd'],
  ['£', 'gbp'],
  ['¥', 'jpy'],
];
/** Capitalized words that are no names: days and months in English, and "I". */
const calendar = new Set(
  (
    'i mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday january february march april may ' +
    'june july august september october november december euro euros dollar dollars mr mrs ms ok'
  ).split(' '),
);

const word = /[\p{L}\p{N}][\p{L}\p{M}\p{N}'’.&+-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu;
/** Words with inner capitals or digits: `IBAN`, `PayPal`, `T-500`. */
const isCode = (token: string): boolean =>
  /\p{Lu}.*\p{Lu}|\p{Ll}\p{Lu}/u.test(token) ||
  (/\p{L}/u.test(token) && /\d/u.test(token) && /^[\p{Lu}\p{N}-]+$/u.test(token));
const isCapital = (token: string): boolean => /^\p{Lu}/u.test(token);
/** Whether a capital letter marks the beginning of a sentence and not a name. */
const begins = (text: string, at: number): boolean => /(?:^|[.:!?…>›→"'“„«(\n–—-])\s*$/u.test(text.slice(0, at));
/** A step's number or a list item's bullet. */
const mark = /^\s*(?:\d{1,2}[.)]|[-–•*])\s+/u;

/** The answer without the sentences that the passages do not support; empty when none is left. */
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
  // German capitalizes every noun, and translation changes the names of things; codes and numbers stay.
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
