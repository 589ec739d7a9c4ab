/** A help centre with questions. The platform's code chunks, indexes and embeds it, without database and workers. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { AnswerSet, AskedQuestion } from '../answersets.ts';
import { readCsv } from '../../clients/files/csv.ts';
import { readDocx } from '../../clients/files/docx.ts';
import { defaultLimits, type Blocks, type Limits } from '../../clients/files/limits.ts';
import { readMarkdown, readText } from '../../clients/files/text.ts';
import { readXlsx } from '../../clients/files/xlsx.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { toChunks } from '../../models/rules/knowledge/chunks.ts';
import { partWeights } from '../../models/rules/knowledge/relevance.ts';
import type { Passage, Proposed } from '../../models/rules/knowledge/retrieval.ts';
import { languageOf } from '../../models/rules/language/language.ts';

const readers: Record<string, (bytes: Buffer, limits: Limits) => Blocks | Promise<Blocks>> = {
  '.md': readMarkdown,
  '.csv': readCsv,
  '.docx': readDocx,
  '.xlsx': readXlsx,
  '.txt': readText,
};

/** Computes vectors with the models that come with the platform. */
export type Embed = {
  question(text: string): Promise<readonly Float32Array[]>;
  passages(texts: readonly { heading: string; text: string }[]): Promise<Float32Array[]>;
};

/** A question with the passages that the search finds. */
export type Posed = {
  question: AskedQuestion;
  found: { passage: Passage; candidate: Proposed['candidates'][number] }[];
  background: Pick<Proposed, 'background' | 'neighbours'>;
  /** Ids of the passages that are accepted as answering the question. */
  accepted: ReadonlySet<string>;
};
export type Corpus = { name: string; passages: number; posed: Posed[] };

/** The limit of results of a search, high enough to return every passage of a help centre. */
const limit = 500;

export async function readCorpus(set: AnswerSet, embed: Embed): Promise<Corpus> {
  const folder = await mkdtemp(join(tmpdir(), 'support-calibrate-'));
  const search = createSearch({ uri: folder });
  const table = { org_id: 'org_calibrate', mode: 'test' as const };
  const model = 'calibrate-1';
  try {
    const passages = await readPassages(set);
    await search.add(
      table,
      passages.map((passage) => ({ ...passage, generation: '1' })),
    );
    const vectors = await embed.passages(passages);
    await search.addVectors(
      { ...table, model },
      passages.map((passage, at) => ({
        ...passage,
        generation: 1,
        language: languageOf(passage.text),
        vector: vectors[at]!,
      })),
    );
    const byId = new Map(passages.map((passage) => [passage.id, passage]));
    const posed: Posed[] = [];
    for (const question of set.questions) {
      if (!['answered', 'unanswered', 'out_of_scope'].includes(question.kind)) continue;
      const parts = await embed.question(question.text);
      const meaning = { model, parts, weights: partWeights(parts.length, languageOf(question.text) === 'en') };
      const ask = { text: question.text, meaning, filter: undefined, limit };
      const { candidates, ...background } = await search.query(table, ask);
      const found = candidates.map((candidate) => ({ passage: byId.get(candidate.id)!, candidate }));
      const accepted = new Set(passages.filter((passage) => question.accepts(passage)).map(({ id }) => id));
      posed.push({ question, found, background, accepted });
    }
    return { name: set.name, passages: passages.length, posed };
  } finally {
    search.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The passages of a help centre as the product cuts them. */
export async function readPassages({ documents }: AnswerSet): Promise<Passage[]> {
  const passages: Passage[] = [];
  for (const { name, bytes } of documents) {
    const blocks = await readers[extname(name)]!(bytes, defaultLimits);
    for (const { heading, text, ordinal } of toChunks(blocks.list, { title: name.replace(/\.\w+$/u, '') })) {
      const rest = { source_id: name, type: 'document', name, segments: [], authority: 'normal' } as const;
      passages.push({ id: `${name}:1:${ordinal}`, heading, text, ...rest });
    }
  }
  return passages;
}
