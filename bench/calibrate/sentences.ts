/**
 * The training sentences of the classifiers for messages: bench/calibrate/reading/LANGUAGE.txt. A line `== NAME` begins
 * a class; each following line is a sentence. `{a|b}` means either alternative; of all combinations of a line, a few
 * are used. The sentences in words/ are only for the word classifier, which recognizes a kind of sentence only by words
 * that it has seen.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SentenceClass } from '../../intelligence/offline/language/classifier.ts';
import { fold } from '../../models/rules/language/words.ts';
import { randomNumbers } from '../../test/kit/random.ts';

export type Example = { language: string; is: SentenceClass; text: string };

const folders = { all: join(import.meta.dirname, 'reading'), words: join(import.meta.dirname, 'words') };
/**
 * Maximum number of sentences from one line. It is higher for the class `no_person`, where a mistake would silence the
 * agent.
 */
const mostOfLine = { no_person: 24, others: 8 };
/** The word "and" that joins two sentences, by language. */
// prettier-ignore
const joints: Readonly<Record<string, string>> = {
  en: ' and ', de: ' und ', fr: ' et ', es: ' y ', it: ' e ', pt: ' e ', nl: ' en ', pl: ' i ', tr: ' ve ', ru: ' и ', sv: ' och ', cs: ' a ',
  ar: ' و', zh: '，', ja: '、',
};

/** The normalized form in which sentences are compared. */
export const keyOf = (text: string): string =>
  fold(text)
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim() || text;

/** All combinations of a line's alternatives. */
function spelledOut(line: string): string[] {
  const [, before = '', choices, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/u.exec(line) ?? [];
  if (choices === undefined) return [line.replaceAll(/\s+/gu, ' ').trim()];
  const rest = spelledOut(after);
  return choices
    .split('|')
    .flatMap((choice) => rest.map((end) => `${before}${choice}${end}`.replaceAll(/ +/gu, ' ').trim()));
}

/** The sentences of the files. `without`: the normalized forms of sentences to exclude from training. */
export async function readExamples(of: keyof typeof folders, without: ReadonlySet<string>): Promise<Example[]> {
  const folder = folders[of];
  const random = randomNumbers(7);
  const seen = new Set<string>();
  const examples: Example[] = [];
  for (const file of (await readdir(folder)).toSorted()) {
    const language = file.slice(0, -'.txt'.length);
    let is: SentenceClass = 'question';
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n').filter((text) => text.trim() !== '')) {
      if (line.startsWith('== ')) {
        is = line.slice(3).trim() as SentenceClass;
        continue;
      }
      const shuffled = spelledOut(line).map((text) => ({ text, at: random() }));
      for (const { text } of shuffled
        .toSorted((a, b) => a.at - b.at)
        .slice(0, is === 'no_person' ? mostOfLine.no_person : mostOfLine.others)) {
        const key = keyOf(text);
        if (without.has(key) || seen.has(`${is} ${key}`)) continue;
        seen.add(`${is} ${key}`);
        examples.push({ language, is, text });
      }
    }
  }
  return examples;
}

/**
 * Classes where a mistake is expensive. Some of their sentences are also added in lower case, because many people write
 * so.
 */
const writtenSmall: readonly SentenceClass[] = ['person', 'no_person'];
const shareSmall = 0.2;

export function smallExamples(examples: readonly Example[]): Example[] {
  const random = randomNumbers(13);
  return examples
    .filter(({ is, text }) => writtenSmall.includes(is) && text !== text.toLowerCase() && random() < shareSmall)
    .map((example) => ({ ...example, text: example.text.toLowerCase() }));
}

const bare = (text: string): string => text.replaceAll(/[\s.!?¿¡,…。！？]+$/gu, '').trim();
const small = (text: string): string =>
  /^(?:I\b|.?[\p{Lu}]{2})/u.test(text) ? text : text.slice(0, 1).toLowerCase() + text.slice(1);

/** Joins two sentences with a comma or an "and". The joined sentence has the class of the more important half. */
export function joinedExamples(examples: readonly Example[]): Example[] {
  const random = randomNumbers(11);
  const joined: Example[] = [];
  for (const [language, own] of Map.groupBy(examples, (example) => example.language)) {
    const texts = (is: SentenceClass, longest = Infinity): string[] =>
      own.filter((example) => example.is === is && example.text.length < longest).map(({ text }) => text);
    const [greetings, thanks, questions, persons] = [
      texts('greeting', 22),
      texts('thanks', 25),
      texts('question'),
      texts('person'),
    ];
    const one = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!;
    const join = (is: SentenceClass, first: string, second: string, joint = ', '): void =>
      void joined.push({ language, is, text: `${bare(first)}${joint}${small(second)}` });
    const joint = (): string => (random() < 0.5 ? ', ' : joints[language]!);
    for (const text of questions) {
      if (random() < 0.35) join('question', one(greetings), text);
      if (random() < 0.2) join('question', one(thanks), text);
      if (random() < 0.15) join('question', text, one(thanks));
    }
    for (const text of texts('tells')) {
      if (random() < 0.5) join('tells', one(greetings), text);
      join('question', text, one(questions), joint());
      join('person', text, one(persons), joint());
    }
    for (const text of persons) {
      if (random() < 0.25) join('person', one(greetings), text);
      if (random() < 0.1) join('person', text, one(thanks));
    }
    for (const text of texts('no_person')) if (random() < 0.15) join('no_person', one(greetings), text);
  }
  return joined;
}
