/**
 * Benchmark of retrieval quality on Cranfield. Every abstract is a Markdown document that the workers' code reads,
 * chunks, indexes and embeds. Every question goes to `POST /kb/query`, alone and with an irrelevant sentence before or
 * after it. The peer is LanceDB over whole abstracts, without chunking and rules. `npm run bench -- retrieval --upload`
 * also uploads each abstract through the API and the workers (some minutes longer).
 */
import { join } from 'node:path';
import { connect, Index, MatchQuery } from '@lancedb/lancedb';
import { defaultLimits } from '../clients/files/limits.ts';
import { readMarkdown } from '../clients/files/text.ts';
import { toChunks } from '../models/rules/knowledge/chunks.ts';
import { until } from '../test/kit/harness.ts';
import { readCranfield, ndcg10 } from './cranfield.ts';
import type { Cranfield } from './cranfield.ts';
import { inLanes, onStage } from './stage.ts';
import { storeDocuments, storeVectors } from './store.ts';
import type { Stage } from './stage.ts';

const target = 0.41;
/** The maximum loss of nDCG from an irrelevant sentence. It is as large as the noise of 225 questions. */
const allowedLoss = 0.01;
const fillers = {
  'a sentence before it': (text: string): string => `I am new here and I hope that you can help me. ${text}`,
  'a sentence behind it': (text: string): string => `${text} Thank you very much for your time.`,
};
const folder = (): string => process.env['CRANFIELD'] ?? join(import.meta.dirname, '../../shared/data/cranfield');

export async function run(): Promise<void> {
  const data = await readCranfield(folder());
  await onStage(async (stage) => {
    const { alone: ours, ...filled } = await throughTheSystem(stage, data);
    const peer = await throughLance(stage, data);
    console.log(
      `Cranfield, ${data.documents.length} documents, ${data.questions.length} questions, nDCG@10 (gain 5 - grade):`,
    );
    console.log(`  documents, chunks, POST /kb/query  ${ours.toFixed(4)}   (to reach: ${target})`);
    for (const [name, score] of Object.entries(filled)) console.log(`    ${name.padEnd(33)}${score.toFixed(4)}`);
    console.log(`  LanceDB directly, whole abstracts  ${peer.toFixed(4)}`);
    const worst = Math.min(...Object.values(filled));
    if (ours < target || worst < ours - allowedLoss) process.exitCode = 1;
  });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const markdown = ({ title, text }: Cranfield['documents'][number]): string => `# ${title}\n\n${text}\n`;

/**
 * Uploads every document and waits until all are indexed. Returns a map from document id to the number in the
 * collection.
 */
async function upload(stage: Stage, documents: Cranfield['documents']): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${stage.key}` };
  const url = `${stage.base}/orgs/${stage.orgId}/documents`;
  const uploaded = new Map<string, number>();
  await inLanes(documents, 8, async (document) => {
    const form = new FormData();
    form.set('file', new Blob([markdown(document)], { type: 'text/markdown' }), `${document.id}.md`);
    const response = await fetch(url, { method: 'POST', headers, body: form });
    const body = (await response.json()) as { document?: { doc_id: string } };
    if (body.document === undefined)
      throw new Error(`Document ${document.id}: ${response.status} ${JSON.stringify(body)}`);
    uploaded.set(body.document.doc_id, document.id);
  });
  await inLanes([...uploaded.keys()], 4, async (docId) => {
    for (;;) {
      const response = await fetch(`${url}/${docId}`, { headers });
      const { document } = (await response.json()) as {
        document: { status: string; error?: string; embedded_at: string | null };
      };
      if (document.status === 'indexed' && document.embedded_at !== null) return;
      if (document.status === 'failed') throw new Error(`Document ${uploaded.get(docId)}: ${document.error}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  return uploaded;
}

/** Runs the workers' code in this process: the Markdown reader, chunking, embedding and indexing. */
async function store(stage: Stage, documents: Cranfield['documents']): Promise<Map<string, number>> {
  const named = new Map(documents.map((document) => [`doc_cranfield${document.id}`, document]));
  const stored = [...named].map(([id, document]) => ({
    id,
    filename: `${document.id}.md`,
    segments: [],
    chunks: toChunks(readMarkdown(Buffer.from(markdown(document)), defaultLimits).list, { title: String(document.id) }),
  }));
  await storeDocuments(stage, stored);
  await storeVectors(stage, stored);
  return new Map([...named].map(([id, document]) => [id, document.id]));
}

type Scores = { alone: number } & Record<keyof typeof fillers, number>;

async function throughTheSystem(stage: Stage, { documents, questions, judgements }: Cranfield): Promise<Scores> {
  // Two of the 1,400 abstracts have neither title nor text, so they are not uploaded.
  const real = documents.filter(({ title, text }) => title !== '' || text !== '');
  const began = performance.now();
  const uploaded = await (process.argv.includes('--upload') ? upload : store)(stage, real);
  console.log(`  ${uploaded.size} documents indexed in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const asked = async (worded: (text: string) => string): Promise<number> => {
    const scores: number[] = [];
    await inLanes(questions, 4, async ({ number, text }) => {
      const ranking = await rank(stage, worded(text), uploaded);
      scores.push(ndcg10(ranking, judgements.get(number) ?? new Map<number, number>()));
    });
    return mean(scores);
  };
  const alone = await asked((text) => text);
  const filled: Record<string, number> = {};
  for (const [name, worded] of Object.entries(fillers)) filled[name] = await asked(worded);
  return { alone, ...filled } as Scores;
}

type Explained = { degraded: boolean; candidates: { source_id: string; cosines: number[] | null }[] };

/** The numbers of the found documents, best first. */
async function rank(stage: Stage, query: string, uploaded: ReadonlyMap<string, number>): Promise<number[]> {
  const ask = async (): Promise<Explained | undefined> => {
    const response = await fetch(`${stage.url}/v1/orgs/${stage.orgId}/kb/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, explain: true }),
    });
    const { explain } = (await response.json()) as { explain: Explained };
    // On a busy machine the models may not answer in time, and the search is lexical only. Such results must not be
    // counted.
    return explain.degraded || explain.candidates.some(({ cosines }) => cosines === null) ? undefined : explain;
  };
  const { candidates } = await until(ask, `an answer by meaning to ${query}`);
  return [...new Set(candidates.map((candidate) => uploaded.get(candidate.source_id) ?? 0))];
}

async function throughLance(stage: Stage, { documents, questions, judgements }: Cranfield): Promise<number> {
  const db = await connect(join(stage.dataDir, 'peer'));
  const table = await db.createTable(
    'cranfield',
    documents.map((document) => ({ id: document.id, text: `${document.title}\n${document.text}` })),
  );
  const config = Index.fts({
    stem: true,
    removeStopWords: true,
    lowercase: true,
    asciiFolding: true,
    withPosition: false,
  });
  await table.createIndex('text', { config });
  const scores: number[] = [];
  for (const { number, text } of questions) {
    const rows = await table
      .query()
      .fullTextSearch(new MatchQuery(text, 'text'))
      .select(['id', '_score'])
      .limit(10)
      .toArray();
    const ranking = rows.map((row) => Number((row as { id: unknown }).id));
    scores.push(ndcg10(ranking, judgements.get(number) ?? new Map<number, number>()));
  }
  db.close();
  return mean(scores);
}
