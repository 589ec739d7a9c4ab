/**
 * Detects the language in which a customer writes, by common words, so no model is needed in memory. The language
 * decides the agent's fixed sentences, which embedding models compare a question with the passages, and how a vector is
 * shifted (clients/embedding/centring.ts). A vector of an undetected language is treated like an English one.
 * Escalation does not depend on the language.
 */
import { fold } from './words.ts';
import { knownLanguages, wordsOf, type Known } from './words/index.ts';

export const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'] as const;
export type Language = (typeof languages)[number];
export const interviewLanguages = ['en', 'de', 'fr', 'es'] as const;
export type InterviewLanguage = (typeof interviewLanguages)[number];
/** Language names for the prompt of a model. */
export const languageNames = { en: 'English', de: 'German', fr: 'French', es: 'Spanish' } as const;
/** The languages that contain each word. A word that several languages share counts less. */
const speakers = new Map<string, Set<Known>>();
for (const language of knownLanguages) {
  const { functionWords, telling } = wordsOf[language];
  for (const word of [...functionWords, ...telling]) {
    speakers.set(word, (speakers.get(word) ?? new Set<Known>()).add(language));
  }
}

/** `signs`: characters that only one known language uses. `letters`: letters that a few languages use. */
const signs: Partial<Record<Known, RegExp>> = { de: /ß/u, es: /[¡¿ñ]/u, pt: /[ãõ]/u, pl: /[ąęłńśźż]/u };
const letters: Partial<Record<Known, RegExp>> = {
  de: /[äöü]/u,
  fr: /[àâçèêëîïôœùû]/u,
  es: /[áíóú]/u,
  it: /[àèìòù]/u,
  pt: /[áâãçêíóõú]/u,
};
/** The score that a match of `letters` adds to a language; a word that only this language has adds 1. */
const letter = 0.75;
/** The maximum number of characters that are examined; more characters do not improve the result. */
const charactersRead = 500;

/** The language of a text; undefined when the text is too short to tell, or in none of the agent's languages. */
export function languageOf(text: string): Language | undefined {
  const read = text.slice(0, charactersRead).normalize('NFC').toLowerCase();
  const told = new Map<Known, number>();
  const tell = (language: Known, much: number) => told.set(language, (told.get(language) ?? 0) + much);
  // A letter in a code such as `A-1042` is no word.
  const prose = fold(read).replace(/\S*\d\S*/gu, ' ');
  for (const word of prose.split(/[^\p{L}\p{M}]+/u)) {
    const known = speakers.get(word);
    for (const language of known ?? []) tell(language, 1 / known!.size);
  }
  for (const language of knownLanguages) {
    if (signs[language]?.test(read) === true) tell(language, 1);
    // `letters` count only when the text also has a known word of the language. Alone, they may belong to a language
    // that is not in the list.
    if (told.has(language) && letters[language]?.test(read) === true) tell(language, letter);
  }
  const [first, second] = [...told].toSorted(([, one], [, other]) => other - one);
  if (!first || first[1] === second?.[1]) return undefined;
  return languages.find((language) => language === first[0]);
}

/**
 * The language for an interview, detected in `text` (a job description or a request); English when the detected
 * language is not an interview language.
 */
export const interviewLanguageOf = (text: string): InterviewLanguage =>
  interviewLanguages.find((language) => language === languageOf(text)) ?? 'en';

/**
 * The language to answer in: the language of the first text whose language is detected; English by default. `texts` are
 * newest first.
 */
export function languageOfFirst(texts: readonly string[]): Language {
  for (const text of texts) {
    const language = languageOf(text);
    if (language) return language;
  }
  return 'en';
}
