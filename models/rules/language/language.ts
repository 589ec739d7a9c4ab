/**
 * Tells in which of the agent's languages a customer writes. Pure and based on words, so it costs a worker no memory.
 * It only chooses the language of the agent's own sentences, and must not decide what is found or whether a person is
 * called.
 */
import { fold } from './words.ts';
import { knownLanguages, wordsOf, type Known } from './words/index.ts';

export const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'] as const;
export type Language = (typeof languages)[number];
/** The languages of interviews. */
export const interviewLanguages = ['en', 'de', 'fr', 'es'] as const;
export type InterviewLanguage = (typeof interviewLanguages)[number];
/** For a model that is told which one to write in. */
export const languageNames = { en: 'English', de: 'German', fr: 'French', es: 'Spanish' } as const;
/** The known languages that have each word: a word that several languages share counts less. */
const speakers = new Map<string, Set<Known>>();
for (const language of knownLanguages) {
  const { functionWords, telling } = wordsOf[language];
  for (const word of [...functionWords, ...telling]) {
    speakers.set(word, (speakers.get(word) ?? new Set<Known>()).add(language));
  }
}

/** Signs and letters that only one known language uses, and letters that few languages use. */
const signs: Partial<Record<Known, RegExp>> = { de: /ß/u, es: /[¡¿ñ]/u, pt: /[ãõ]/u, pl: /[ąęłńśźż]/u };
const letters: Partial<Record<Known, RegExp>> = {
  de: /[äöü]/u,
  fr: /[àâçèêëîïôœùû]/u,
  es: /[áíóú]/u,
  it: /[àèìòù]/u,
  pt: /[áâãçêíóõú]/u,
};
/** A letter counts less than a word that only one language has. */
const letter = 0.75;
/** How much of a text is read, in characters; more does not improve the result. */
const charactersRead = 500;

/** The language of a text; undefined when the text is too short to tell, or is in none of these languages. */
export function languageOf(text: string): Language | undefined {
  const read = text.slice(0, charactersRead).normalize('NFC').toLowerCase();
  const told = new Map<Known, number>();
  const tell = (language: Known, much: number) => told.set(language, (told.get(language) ?? 0) + much);
  for (const word of fold(read).split(/[^\p{L}\p{M}]+/u)) {
    const known = speakers.get(word);
    for (const language of known ?? []) tell(language, 1 / known!.size);
  }
  for (const language of knownLanguages) {
    if (signs[language]?.test(read) === true) tell(language, 1);
    // Letters alone could belong to a language that is not known here.
    if (told.has(language) && letters[language]?.test(read) === true) tell(language, letter);
  }
  const [first, second] = [...told].toSorted(([, one], [, other]) => other - one);
  if (!first || first[1] === second?.[1]) return undefined;
  return languages.find((language) => language === first[0]);
}

/** In which language an interview about a text is held: English when the text's is none of them. */
export const interviewLanguageOf = (text: string): InterviewLanguage =>
  interviewLanguages.find((language) => language === languageOf(text)) ?? 'en';

/**
 * The language to answer in: that of the newest text whose language can be told (the texts come newest first); English
 * when there is none.
 */
export function languageOfFirst(texts: readonly string[]): Language {
  for (const text of texts) {
    const language = languageOf(text);
    if (language) return language;
  }
  return 'en';
}
