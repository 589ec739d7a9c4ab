/**
 * Classifies the sentences of test/fixtures/reading.json and relevance.json, and returns those that are classified
 * wrongly.
 */
import { readFile } from 'node:fs/promises';
import { readMessage } from '../../intelligence/offline/language/reading.ts';
import type { Embedding } from '../../clients/embedding/embedding.ts';
import { languageOfFirst, type Language } from '../../models/rules/language/language.ts';

/** The languages of the tables. */
const languages = ['en', 'de', 'fr', 'es'] as const;
type ByLanguage = Record<(typeof languages)[number], string[]>;
/**
 * Each row of `asked` has a description of what is expected, the message, and the expected search texts: the first one
 * (`first`), the last one (`last`), or those of all readings (`readings`).
 */
type Sentences = {
  calls: ByLanguage;
  noCalls: ByLanguage;
  /** Messages to shops, travel, utility and software companies, in more languages. The rules were not tuned on them. */
  elsewhere: Record<'calls' | 'noCalls', Record<string, string[]>>;
  /**
   * Sentences of which only one clause calls for a person, and misleading sentences without a call. No weight was
   * fitted on them, but they were known when the rule was chosen.
   */
  clauses: Record<'calls' | 'noCalls', string[]>;
  courtesies: [text: string, kind: string, language: Language][];
  comeAlong: string[];
  languages: ByLanguage;
  asked: {
    first: [string, string, string][];
    last: [string, string, string][];
    readings: [string, string, string[][]][];
  };
};

const read = async <T>(name: string): Promise<T> =>
  JSON.parse(await readFile(new URL(`../fixtures/${name}`, import.meta.url), 'utf8')) as T;

const sentencesForReading = async (): Promise<Sentences> => read<Sentences>('reading.json');

export type Outcome = { size: number; wrong: string[] };

const of = (rows: readonly unknown[], wrong: readonly (string | undefined)[]): Outcome => ({
  size: rows.length,
  wrong: wrong.filter((text) => text !== undefined),
});

const joined = (...outcomes: readonly Outcome[]): Outcome => ({
  size: outcomes.reduce((sum, { size }) => sum + size, 0),
  wrong: outcomes.flatMap(({ wrong }) => wrong),
});

/** Returns for each table the number of sentences, and the sentences that are classified wrongly. */
export async function readTables(embedding: Pick<Embedding, 'local' | 'model'>): Promise<Record<string, Outcome>> {
  const tables = await sentencesForReading();
  const relevance = await read<{ answered: [string, string][]; unanswered: string[] }>('relevance.json');
  const intentOf = async (text: string) => (await readMessage({ embedding }, text, [])).intent;
  const expecting = async (texts: readonly string[], right: (intent: string) => boolean): Promise<Outcome> =>
    of(texts, await Promise.all(texts.map(async (text) => (right(await intentOf(text)) ? undefined : text))));
  const flat = (table: ByLanguage): string[] => languages.flatMap((language) => table[language]);
  const calls = flat(tables.calls);
  const same = async (
    rows: readonly (readonly [string, string, unknown])[],
    get: (message: string) => Promise<unknown>,
  ) =>
    of(
      rows,
      await Promise.all(
        rows.map(async ([name, message, expected]) =>
          JSON.stringify(await get(message)) === JSON.stringify(expected) ? undefined : name,
        ),
      ),
    );
  const askings = async (message: string) => (await readMessage({ embedding }, message, [])).askings;
  return {
    calls: await expecting(calls, (intent) => intent === 'person'),
    'calls in capitals': await expecting(
      calls.map((text) => text.toUpperCase()),
      (intent) => intent === 'person',
    ),
    'calls in parted letters': await expecting(
      calls.map((text) => text.normalize('NFD')),
      (intent) => intent === 'person',
    ),
    'the language of calls': of(
      calls,
      languages.flatMap((language) =>
        tables.calls[language].map((text) => (languageOfFirst([text]) === language ? undefined : text)),
      ),
    ),
    'no calls': await expecting(flat(tables.noCalls), (intent) => intent !== 'person'),
    'calls elsewhere': await expecting(Object.values(tables.elsewhere.calls).flat(), (intent) => intent === 'person'),
    'no calls elsewhere': await expecting(
      Object.values(tables.elsewhere.noCalls).flat(),
      (intent) => intent !== 'person',
    ),
    'calls in a clause': await expecting(tables.clauses.calls, (intent) => intent === 'person'),
    'no calls in a clause': await expecting(tables.clauses.noCalls, (intent) => intent !== 'person'),
    courtesies: of(
      tables.courtesies,
      await Promise.all(
        tables.courtesies.map(async ([text, kind, language]) => {
          const message = await readMessage({ embedding }, text, []);
          return message.intent === kind && message.language === language ? undefined : text;
        }),
      ),
    ),
    'questions with a courtesy': await expecting(tables.comeAlong, (intent) => intent === 'question'),
    questions: await expecting(
      [...flat(tables.languages), ...relevance.answered.map(([text]) => text), ...relevance.unanswered],
      (intent) => intent === 'question',
    ),
    'what is searched for': joined(
      await same(tables.asked.first, async (message) => (await askings(message))[0].text),
      await same(tables.asked.last, async (message) => (await askings(message)).at(-1)?.text),
      await same(tables.asked.readings, async (message) =>
        (await askings(message)).map(({ readings }) => readings.map(({ text }) => text)),
      ),
    ),
  };
}
