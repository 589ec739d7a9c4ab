/**
 * Benchmark of the embedded models: how long a question waits, when idle and while passages are embedded; what a
 * passage costs; and how much memory the two processes take. For comparison, the peer calls the same models directly in
 * one process, without a cache of headings.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocal, type Local } from '../clients/embedding/local.ts';
import { openModels } from '../clients/embedding/model.ts';
import { maxCharacters, modelNames } from '../clients/embedding/vectors.ts';
import { createFiles, sniffFile } from '../clients/files/files.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import { readBanking, readFixtures, type AnswerSet } from './answersets.ts';
import { readCranfield } from './cranfield.ts';
import { cpuMs, peakMemory, quantile, timed } from './stage.ts';
import { startProcess } from '../test/kit/processes.ts';

type Passage = { heading: string; text: string };

const passageCount = 500;
const questionCount = 300;
/** The peer embeds every fifth passage. */
const directShare = 5;
/** The number of passages in one call, like a batch of the background work. */
const batch = 32;
/** The longest possible texts, which reveal a process's peak memory. */
const longest: readonly string[] = ['card account '.repeat(maxCharacters), '漢字'.repeat(maxCharacters)];

export async function run(): Promise<void> {
  const folder = await findEmbedding((line) => console.log(`  ${line}`));
  const { passages, questions } = await realTexts();
  console.log(
    `${passages.length} passages of ${meanLength(passages)} characters on average, ${questions.length} questions`,
  );
  await direct(folder, passages, questions);
  const local = createLocal({ obtain: async () => folder, questionMs: 60_000 });
  try {
    while (local.state().state !== 'ready') await new Promise((resolve) => setTimeout(resolve, 20));
    await throughTheProduct(local, passages, questions);
  } finally {
    await local.close();
  }
  await throughAService(folder, questions);
}

/**
 * Asks an embedding service the same questions, and measures the CPU time that HTTP adds in this process and in the
 * service.
 */
async function throughAService(folder: string, questions: readonly string[]): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'support-embedding-'));
  const service = await startProcess('workers/embedding.ts', {
    DATA_DIR: dataDir,
    EMBEDDING: folder,
    PORT: '0',
    LOG_LEVEL: 'warn',
  });
  const local = createLocal({ obtain: async () => folder, urls: [service.url], questionMs: 60_000 });
  try {
    await local.parts('Is anybody there?', modelNames);
    const before = [process.cpuUsage(), await cpuMs(service.child.pid)] as const;
    const asked = questions.slice(0, questionCount);
    const seen = await askAll(local, asked);
    const own = process.cpuUsage(before[0]);
    const served = (await cpuMs(service.child.pid)) - before[1];
    console.log(
      `question to an embedding service, idle: ${seen}; besides the models ${((own.user + own.system) / 1000 / asked.length).toFixed(1)} ms of CPU here and ${(served / asked.length).toFixed(1)} ms there`,
    );
  } finally {
    await local.close();
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const meanLength = (passages: readonly Passage[]): number =>
  Math.round(passages.reduce((sum, { text }) => sum + text.length, 0) / passages.length);

async function throughTheProduct(local: Local, passages: readonly Passage[], questions: readonly string[]) {
  await local.parts('Is anybody there?', modelNames);
  const idle = await askAll(local, questions.slice(0, questionCount));
  console.log(`question, idle: ${idle} (asked for: p50 under 10)`);

  const before = await cpuMs(local.pids().passages);
  const done = new AbortController();
  const background = embedAll(local, passages).finally(() => done.abort());
  const meanwhile: number[] = [];
  for (let at = questionCount; !done.signal.aborted && at < questions.length; at += 1) {
    // The moments are random, so that they do not depend on when the embedding of a passage begins and ends.
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 100));
    meanwhile.push(await timed(() => local.parts(questions[at]!, modelNames)));
  }
  await background;
  console.log(`question, while passages are embedded: ${described(meanwhile)} (asked for: p99 under 40)`);
  const each = ((await cpuMs(local.pids().passages)) - before) / passages.length;
  console.log(
    `passage with heading: ${each.toFixed(1)} ms of CPU; 10,000 take ${((each * 10_000) / 60_000).toFixed(1)} CPU minutes (asked for: at most 15)`,
  );

  for (const text of longest) {
    await local.parts(text, modelNames);
    await local.passages([{ heading: text, text }]);
  }
  await local.sentences(passages.slice(0, 64).map(({ text }) => text));
  const { questions: asking, passages: reading } = local.pids();
  const peaks = [await peakMemory(asking!), await peakMemory(reading!)];
  console.log(
    `resident at most: questions ${peaks[0]}, passages ${peaks[1]}, both ${(peaks[0] ?? 0) + (peaks[1] ?? 0)} MiB (asked for: 350 each, 600 both)`,
  );
}

async function direct(folder: string, passages: readonly Passage[], questions: readonly string[]): Promise<void> {
  const opened = await openModels(folder);
  await opened.embed({ kind: 'question', text: 'Is anybody there?' }, modelNames);
  const times: number[] = [];
  for (const text of questions.slice(0, questionCount))
    times.push(await timed(() => opened.embed({ kind: 'question', text }, modelNames)));
  console.log(`the models directly: question ${described(times)}`);
  const before = process.cpuUsage();
  // The passages are taken evenly from all passages, because the first ones, from a help centre, are short.
  const some = passages.filter((_, at) => at % directShare === 0);
  for (const { text, heading } of some) {
    await opened.embed({ kind: 'passage', text }, modelNames);
    if (heading !== '') await opened.embed({ kind: 'passage', text: heading }, modelNames);
  }
  const { user, system } = process.cpuUsage(before);
  console.log(
    `the models directly: passage with heading ${((user + system) / 1000 / some.length).toFixed(1)} ms of CPU`,
  );
}

async function embedAll(local: Local, passages: readonly Passage[]): Promise<void> {
  for (let at = 0; at < passages.length; at += batch) await local.passages(passages.slice(at, at + batch));
}

async function askAll(local: Local, questions: readonly string[]): Promise<string> {
  const times: number[] = [];
  for (const question of questions) times.push(await timed(() => local.parts(question, modelNames)));
  return described(times);
}

function described(times: readonly number[]): string {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms of ${times.length}`;
}

/**
 * Passages with headings as the product chunks them, and customers' questions. If there are too few passages, abstracts
 * of the Cranfield collection are added.
 */
async function realTexts(): Promise<{ passages: Passage[]; questions: string[] }> {
  const sets = [await readBanking(), await readFixtures()].filter((set) => set !== undefined);
  const passages = (await Promise.all(sets.map(chunksOf))).flat();
  const questions = sets.flatMap((set) => set.questions.map(({ text }) => text));
  const cranfield = await readCranfield(
    process.env['CRANFIELD'] ?? join(import.meta.dirname, '../../shared/data/cranfield'),
  ).catch(() => undefined);
  for (const { title, text } of cranfield?.documents ?? []) passages.push({ heading: title, text });
  return { passages: passages.slice(0, passageCount), questions: [...new Set(questions)] };
}

async function chunksOf({ documents }: AnswerSet): Promise<Passage[]> {
  const files = createFiles();
  const folder = await mkdtemp(join(tmpdir(), 'support-bench-'));
  try {
    const chunks: Passage[] = [];
    for (const { name, bytes } of documents) {
      const path = join(folder, name);
      await writeFile(path, bytes);
      chunks.push(...(await files.chunk(path, await sniffFile(path, name), { filename: name })));
    }
    return chunks;
  } finally {
    await files.close();
    await rm(folder, { recursive: true });
  }
}
