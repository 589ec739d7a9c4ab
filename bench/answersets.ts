/**
 * Sets of questions to help centres, with the passages that are accepted as answers. There are questions of a bank's
 * real customers (in the folder BANKING), questions of people to public services (SUPPORT), and the tests' fixtures.
 * One of the fixtures is in four languages.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const kinds = [
  'answered',
  'unanswered',
  'out_of_scope',
  'courtesy',
  'person',
  'not_person',
  'followup',
] as const;
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

const folderOf = (variable: string, name: string): string =>
  process.env[variable] ?? join(import.meta.dirname, '../../shared/data', name);

type Section = { id: string; file: string; heading: string; nth?: number };
type StoredQuestion = { text: string; language?: string; kind: Kind; intent?: string; accepts?: string[] };

async function readDocuments(path: string, names: readonly string[]): Promise<AnswerSet['documents']> {
  return Promise.all(names.map(async (name) => ({ name, bytes: Buffer.from(await readFile(join(path, name))) })));
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8')) as T;
}

/** Questions of a bank's real customers; undefined when the folder is missing. */
export async function readBanking(): Promise<AnswerSet | undefined> {
  const from = folderOf('BANKING', 'banking');
  const source = 'BANKING77 (PolyAI task-specific-datasets) and CLINC150 (oos-eval)';
  if (!(await exists(from, 'BANKING', source))) return undefined;
  const { documents, sections } = await readFolder(from);
  const questions = await readJson<StoredQuestion[]>(join(from, 'questions.json'));
  const isOf = ({ file, heading }: Section, passage: Said): boolean =>
    passage.name === file && (file.endsWith('.csv') ? passage.text : passage.heading).includes(heading);
  return {
    name: 'bank customers',
    documents,
    questions: questions.map(({ accepts = [], language = 'en', ...question }) => ({
      ...question,
      language,
      accepts: (passage) => accepts.some((id) => isOf(sections.get(id)!, passage)),
    })),
  };
}

/** A turn of a conversation before the question. */
export type EarlierTurn = { role: 'customer' | 'agent'; text: string };
export type ServiceQuestion = AskedQuestion & {
  /** The turns before the question; empty unless the kind is `followup`. */
  history: readonly EarlierTurn[];
  needsHistory: boolean;
};
export type ServiceSet = AnswerSet & { questions: ServiceQuestion[] };

/** People's questions to public services, with conversations; undefined when the folder is missing. */
export async function readServices(): Promise<ServiceSet | undefined> {
  const from = folderOf('SUPPORT', 'support');
  if (!(await exists(from, 'SUPPORT', 'Doc2Dial'))) return undefined;
  type Stored = StoredQuestion & { history?: EarlierTurn[]; needs_history?: boolean };
  const { documents, sections } = await readFolder(from);
  const questions = await readJson<Stored[]>(join(from, 'questions.json'));
  const texts = new Map(documents.map(({ name, bytes }) => [name, sectionsOf(bytes.toString('utf8'))]));
  const isOf = ({ file, heading, nth = 0 }: Section, passage: Said): boolean => {
    if (passage.name !== file || plain(passage.heading.split(' > ').at(-1)!) !== plain(heading)) return false;
    const alike = texts.get(file)!.filter((section) => plain(section.heading) === plain(heading));
    return alike.length < 2 || words(alike[nth]?.text ?? '').includes(words(passage.text).slice(0, 60));
  };
  return {
    name: 'public services',
    documents,
    questions: questions.map(({ accepts = [], history = [], needs_history: needsHistory = false, ...question }) => ({
      ...question,
      language: 'en',
      history,
      needsHistory,
      accepts: (passage) => accepts.some((id) => isOf(sections.get(id)!, passage)),
    })),
  };
}

async function exists(from: string, variable: string, source: string): Promise<boolean> {
  const found = await readdir(join(from, 'articles')).catch(() => undefined);
  if (found !== undefined) return true;
  console.log(`  No questions at ${from}: set ${variable} to their folder. They are made from`);
  console.log(`  ${source}, which is too large to be kept here.`);
  return false;
}

async function readFolder(from: string) {
  const names = await readdir(join(from, 'articles'));
  const sections = await readJson<Section[]>(join(from, 'sections.json'));
  return {
    documents: await readDocuments(join(from, 'articles'), names.toSorted()),
    sections: new Map(sections.map((section) => [section.id, section])),
  };
}

/** The headed sections of a Markdown text, in order. */
function sectionsOf(markdown: string): { heading: string; text: string }[] {
  return markdown
    .split(/^#+ +/mu)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { heading, text: lines.join('\n') };
    });
}

const words = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
const plain = (text: string): string => text.toLowerCase().replaceAll(/\s+/gu, ' ').trim();

/** A help centre in four languages at once, so that each question has its answer in four documents. */
export async function readLanguages(): Promise<AnswerSet> {
  const from = join(import.meta.dirname, '../test/fixtures/languages');
  const names = await readdir(join(from, 'en'));
  const paths = ['en', 'de', 'fr', 'es'].flatMap((language) => names.map((name) => `${language}/${name}`));
  const documents = await readDocuments(from, paths.toSorted());
  const headings = new Map(
    documents.map(({ name, bytes }) => [
      name,
      [...bytes.toString('utf8').matchAll(/^## (.+)$/gmu)].map(([, of]) => of!),
    ]),
  );
  type Stored = { text: string; language: string; kind: Kind; section?: string | string[] };
  const questions = await readJson<Stored[]>(join(from, 'questions.json'));
  const isOf = (section: string, { name, heading }: Said): boolean => {
    const [file = '', nth = ''] = section.split('#');
    const own = headings.get(name.replace('-', '/'))?.[Number(nth) - 1];
    return name.endsWith(`-${file}`) && heading.split(' > ').at(-1) === own;
  };
  return {
    name: 'four languages',
    documents: documents.map(({ name, bytes }) => ({ name: name.replace('/', '-'), bytes })),
    questions: questions.map(({ section = [], ...question }) => ({
      ...question,
      accepts: (passage) => [section].flat().some((one) => isOf(one, passage)),
    })),
  };
}

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
