/**
 * Sets of questions to help centres, with the passages that are accepted as answers: real questions of a bank's
 * customers (in the folder BANKING), and the tests' fixtures.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const kinds = ['answered', 'unanswered', 'out_of_scope', 'courtesy', 'person', 'not_person'] as const;
export type Kind = (typeof kinds)[number];

/** A passage, from whichever system found it. */
export type Said = { name: string; heading: string; text: string };

export type AskedQuestion = {
  text: string;
  language: string;
  kind: Kind;
  intent?: string;
  /** Whether the passage is accepted as an answer to the question. */
  accepts(passage: Said): boolean;
};

export type AnswerSet = {
  name: string;
  documents: { name: string; bytes: Buffer<ArrayBuffer> }[];
  questions: AskedQuestion[];
};

const folder = (): string => process.env['BANKING'] ?? join(import.meta.dirname, '../../shared/data/banking');

type Section = { id: string; file: string; heading: string };
type BankingQuestion = { text: string; language: string; kind: Kind; intent?: string; accepts?: string[] };

async function readDocuments(path: string, names: readonly string[]): Promise<AnswerSet['documents']> {
  return Promise.all(names.map(async (name) => ({ name, bytes: Buffer.from(await readFile(join(path, name))) })));
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** Questions of a bank's real customers; undefined when the folder is missing. */
export async function readBanking(): Promise<AnswerSet | undefined> {
  const from = folder();
  const names = await readdir(join(from, 'articles')).catch(() => undefined);
  if (names === undefined) {
    console.log(
      `  No questions of bank customers at ${from}: set BANKING to their folder. They are made from BANKING77`,
    );
    console.log('  (PolyAI task-specific-datasets) and CLINC150 (oos-eval), which are too large to be kept here.');
    return undefined;
  }
  const sections = new Map(
    (await readJson<Section[]>(join(from, 'sections.json'))).map((section) => [section.id, section]),
  );
  const isOf = ({ file, heading }: Section, passage: Said): boolean =>
    passage.name === file && (file.endsWith('.csv') ? passage.text : passage.heading).includes(heading);
  const questions = await readJson<BankingQuestion[]>(join(from, 'questions.json'));
  return {
    name: 'bank customers',
    documents: await readDocuments(join(from, 'articles'), names.toSorted()),
    questions: questions.map(({ accepts = [], ...question }) => ({
      ...question,
      accepts: (passage) => accepts.some((id) => isOf(sections.get(id)!, passage)),
    })),
  };
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/\s+/gu, ' ');

/** The help centre of the tests. Its questions name the words that the answer must contain. */
export async function readFixtures(): Promise<AnswerSet> {
  const from = join(import.meta.dirname, '../test/fixtures');
  const bank = ['help.md', 'business.md', 'cards.docx', 'fees.xlsx', 'branches.csv', 'security.txt'];
  const files = [...bank, 'insurance.md', 'hilfe.md'];
  type Table = { answered: [question: string, answer: string][]; unanswered: string[] };
  const { answered, unanswered } = await readJson<Table>(join(from, 'relevance.json'));
  return {
    name: 'fixtures',
    documents: await readDocuments(from, files),
    questions: [
      ...answered.map(([text, answer]) => ({
        text,
        language: 'en',
        kind: 'answered' as const,
        accepts: ({ heading, text: said }: Said) => plain(`${heading} ${said}`).includes(plain(answer)),
      })),
      ...unanswered.map((text) => ({ text, language: 'en', kind: 'unanswered' as const, accepts: () => false })),
    ],
  };
}
