/**
 * The help centre of a bank in `fixtures`, split into chunks as the workers do, in a separate index and without a
 * database.
 */
import { readFile } from 'node:fs/promises';
import { readCsv } from '../../clients/files/csv.ts';
import { readDocx } from '../../clients/files/docx.ts';
import { defaultLimits } from '../../clients/files/limits.ts';
import { readByWords } from '../../intelligence/offline/language/question.ts';
import type { Blocks, Limits } from '../../clients/files/limits.ts';
import { readMarkdown, readText } from '../../clients/files/text.ts';
import { readXlsx } from '../../clients/files/xlsx.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { toChunks } from '../../models/rules/knowledge/chunks.ts';
import { extract } from '../../intelligence/offline/knowledge/extractive.ts';
import type { ExtractiveAnswer } from '../../intelligence/offline/knowledge/extractive.ts';
import { retrieve, type Retrieval } from '../../agent/knowledge/retrieve.ts';
import type { Passage } from '../../models/rules/knowledge/retrieval.ts';

type Reader = (bytes: Buffer, limits: Limits) => Blocks | Promise<Blocks>;
const files: Record<string, Reader> = {
  'help.md': readMarkdown,
  'business.md': readMarkdown,
  'cards.docx': readDocx,
  'fees.xlsx': readXlsx,
  'branches.csv': readCsv,
  'security.txt': readText,
};

export type HelpCentre = {
  /** The passages that are found, and the answer extracted from their sentences. */
  ask(question: string): Promise<{ retrieval: Retrieval<Passage>; answer: ExtractiveAnswer | undefined }>;
  close(): void;
};

/** `uri` is an empty folder for the index. `more` are further Markdown documents by name. */
export async function helpCentre(uri: string, more: Record<string, string> = {}): Promise<HelpCentre> {
  const search = createSearch({ uri });
  const table = { org_id: 'org_bank', mode: 'test' as const };
  const passages = new Map<string, Passage>();
  const add = (name: string, blocks: Blocks): void => {
    for (const { heading, text, ordinal } of toChunks(blocks.list, { title: name.replace(/\.\w+$/u, '') })) {
      const id = `${name}:1:${ordinal}`;
      const rest = { source_id: name, type: 'document', name, segments: [], authority: 'normal' } as const;
      passages.set(id, { id, heading, text, ...rest });
    }
  };
  for (const [name, read] of Object.entries(files))
    add(name, await read(await readFile(new URL(`../fixtures/${name}`, import.meta.url)), defaultLimits));
  for (const [name, text] of Object.entries(more)) add(name, readMarkdown(Buffer.from(text), defaultLimits));
  await search.add(
    table,
    [...passages.values()].map((passage) => ({ ...passage, generation: '1' })),
  );
  return {
    async ask(question) {
      const retrieval = await retrieve(
        {
          search: (ask) => search.query(table, ask),
          hydrate: async (ids) => ids.flatMap((id) => passages.get(id) ?? []),
          sentences: async () => new Map(),
        },
        { question, askings: readByWords(question).askings, asked: undefined, strict: false },
      );
      const answer = extract(
        retrieval.asking,
        retrieval.hits.map(({ passage }) => passage),
      );
      return { retrieval, answer };
    },
    close: () => search.close(),
  };
}
