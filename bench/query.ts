/**
 * Benchmark of questions per second: `POST /kb/query` (key check, segment filter, index, passages from MongoDB, tiers,
 * an extractive answer) compared with the same search in LanceDB directly. Both have 100,000 chunks, the same filter
 * and limit, and eight callers. There are three parts: lexical search only; with precomputed question vectors; and with
 * questions that are embedded on the same machine. The third part asks real questions about the tests' help centre,
 * whose passages have real vectors. All other passages have mixtures of these vectors, so that they are as alike as
 * real ones are.
 */
import { Agent, request } from 'node:http';
import { connect, MatchQuery } from '@lancedb/lancedb';
import type { Passage } from '../models/rules/knowledge/retrieval.ts';
import { askedSegments, segmentFilter } from '../models/rules/knowledge/segments.ts';
import { readFixtures, type AnswerSet } from './answersets.ts';
import { readPassages } from './calibrate/corpus.ts';
import { storeDocuments, type Stored, type StoredVectors } from './store.ts';
import {
  cpuByKind,
  onStage,
  peakMemory,
  processesOf,
  quantile,
  startBeside,
  type Kind as ProcessKind,
  type Stage,
} from './stage.ts';
import { givenModel, mixturesOf, numbersOf, passageVector, questionParts } from './vectors.ts';
import { createEmbedder } from '../clients/embedding/embedder.ts';
import { models, vectorsName } from '../clients/embedding/vectors.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import { comparedTexts, packVectors } from '../models/rules/knowledge/compared.ts';
import { randomNumbers } from '../test/kit/random.ts';

const chunkCount = Number(process.argv[3] ?? 100_000);
const chunksPerDocument = 20;
const callers = 8;
const roundMs = 5_000;
const rounds = 3;
/** The limit with which `retrieve` queries the index. */
const limit = 20;
/**
 * The goals: the minimum ratio of the API's rate to LanceDB's, the minimum rate in questions a second, and the maximum
 * p99 of the API in ms.
 */
const targets = {
  words: { share: 0.6, rate: 0, p99: 100 },
  'vectors given': { share: 0.6, rate: 0, p99: 120 },
  'questions embedded': { share: 0, rate: 40, p99: 300 },
};
type Kind = keyof typeof targets;

const syllables = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'ha',
  'je',
  'ki',
  'lo',
  'mu',
  'na',
  'pe',
  'qui',
  'ro',
  'su',
  'ta',
  've',
  'wi',
  'xo',
  'zu',
];
const vocabulary = Array.from({ length: 30_000 }, (_, index) => {
  let word = '';
  for (let rest = index + 400; rest > 0; rest = Math.floor(rest / 20)) word += syllables[rest % 20] ?? '';
  return word;
});

/** Word frequencies follow Zipf's law: the n-th most common word occurs about 1/n as often as the first. */
function corpus() {
  const random = randomNumbers(7);
  const word = (): string => vocabulary[Math.floor(Math.exp(random() * Math.log(vocabulary.length))) - 1] ?? '';
  const segments = (): string[] => {
    const draw = random();
    if (draw < 0.3) return [];
    if (draw < 0.55) return ['business'];
    if (draw < 0.8) return ['personal'];
    return draw < 0.9 ? ['all'] : ['business', 'personal'];
  };
  const sentence = (): string => Array.from({ length: 12 }, () => word()).join(' ');
  return Array.from({ length: Math.ceil(chunkCount / chunksPerDocument) }, (_, index) => ({
    id: `doc_bench${String(index).padStart(8, '0')}`,
    filename: `${index}.md`,
    segments: segments(),
    chunks: Array.from({ length: chunksPerDocument }, () => ({
      heading: `${word()} ${word()}`,
      text: Array.from({ length: 7 + Math.floor(random() * 6) }, () => `${sentence()}.`).join(' '),
    })),
  }));
}

type Corpus = ReturnType<typeof corpus>;

type Questions = () => string;

/**
 * A question is six words of a sentence that a business customer may see, so it has an answer. There are as many
 * questions as sentences, so few are repeated.
 */
function questionsOf(documents: Corpus): Questions {
  const random = randomNumbers(11);
  const open = documents.filter(({ segments }) => segments.length === 0 || segments.includes('business'));
  const oneOf = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  return () => {
    const sentence = oneOf(oneOf(oneOf(open)?.chunks ?? [])?.text.split('. ') ?? []);
    return `What about ${sentence?.replace('.', '').split(' ').slice(0, 6).join(' ')}?`;
  };
}

/** The questions of a help centre, each with a different name at its end, so that none is asked twice. */
function questionsOfSet({ questions }: AnswerSet): Questions {
  const random = randomNumbers(13);
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const answered = questions.filter(({ kind }) => kind === 'answered');
  return () => `${oneOf(answered).text.replace(/\s*[?.!]$/u, '')}, ${oneOf(vocabulary)}?`;
}

type Measured = { perSecond: number; p50: number; p99: number };

/** Measures eight callers, each of which asks its next question as soon as the last one is answered. */
async function drive(questions: Questions, ask: (question: string) => Promise<unknown>): Promise<Measured> {
  const times: number[] = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < began + roundMs) {
        const question = questions();
        const asked = performance.now();
        await ask(question);
        times.push(performance.now() - asked);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  return { perSecond: times.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/**
 * Queries the same tables directly with the same filter and limit. `vectors`: whether vector tables are searched too.
 */
async function direct(stage: Stage, questions: Questions, vectors: boolean): Promise<Measured> {
  const filter = segmentFilter(askedSegments(['business']), false);
  const tags = [...(filter?.tags ?? []), '-'].map((tag) => `'${tag}'`).join(', ');
  const condition = `array_has_any(labels, [${tags}])`;
  const db = await connect(stage.searchUri);
  const words = await db.openTable(`${stage.orgId}.test`);
  const meanings = await db.openTable(`${stage.orgId}.test.${givenModel}`);
  const byWords = async (question: string) =>
    words
      .query()
      .fullTextSearch(new MatchQuery(question, 'text'))
      .where(condition)
      .select(['id', 'source_id', 'authority', '_score'])
      .limit(limit)
      .toArray();
  const byMeaning = async (question: string) => {
    const { text, asking } = numbersOf(question);
    const vector = Float32Array.from(questionParts(text, asking).flatMap((part) => Array.from(part)));
    const near = meanings.query().nearestTo(vector).column('vector').distanceType('dot').nprobes(64).refineFactor(2);
    return near.where(condition).select(['id', 'source_id', 'authority', '_distance']).limit(limit).toArray();
  };
  const measured = await drive(questions, async (question) =>
    Promise.all([byWords(question), ...(vectors ? [byMeaning(question)] : [])]),
  );
  db.close();
  return measured;
}

/**
 * Sends one POST on a kept-alive connection. `fetch` is not used, because it alone would use a quarter of the machine.
 */
async function post(agent: Agent, url: string, stage: Stage, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = {
    authorization: `Bearer ${stage.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  const sent = request(`${url}/v1/orgs/${stage.orgId}/kb/query`, { method: 'POST', agent, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (piece: string) => (text += piece));
    response.on('end', () =>
      response.statusCode === 200 ? resolve(text) : reject(new Error(`HTTP ${response.statusCode}: ${text}`)),
    );
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

/**
 * `answered`, `surely` (with high confidence) and `degraded` are shares of the questions. `cpu` is the processor time
 * of a question in ms.
 */
type Served = Measured & {
  answered: number;
  surely: number;
  degraded: number;
  cpu: { api: number; models: number; mongodb: number };
};

async function overHttp(url: string, stage: Stage, questions: Questions): Promise<Served> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers });
  let [asked, answered, surely, degraded] = [0, 0, 0, 0];
  const before = await cpuByKind(stage);
  const measured = await drive(questions, async (query) => {
    const reply = await post(agent, url, stage, JSON.stringify({ query, context: { productType: 'business' } }));
    asked += 1;
    if (reply.includes('"has_context":true')) answered += 1;
    if (reply.includes('"confidence":"high"')) surely += 1;
    if (reply.includes('"degraded":true')) degraded += 1;
  });
  agent.destroy();
  const after = await cpuByKind(stage);
  const of = (kind: ProcessKind): number => (after[kind] - before[kind]) / asked;
  return {
    ...measured,
    answered: answered / asked,
    surely: surely / asked,
    degraded: degraded / asked,
    cpu: { api: of('API'), models: of('models of the API'), mongodb: of('MongoDB') },
  };
}

const median = (values: number[]): number => quantile(values, 0.5);

export async function run(): Promise<void> {
  await onStage(async (stage) => {
    const documents = corpus();
    const questions = questionsOf(documents);
    const set = await readFixtures();
    const passages = await readPassages(set);
    const embedded = await embeddedOf(passages);
    const began = performance.now();
    const stored = [...storedAs(passages), ...documents];
    const stats = await storeDocuments(stage, stored, embedded, { model: givenModel, vectorOf: passageVector });
    const seconds = Math.round((performance.now() - began) / 1_000);
    console.log(
      `  ${stats.rows} chunks with vectors stored and indexed in ${seconds} s, ${stats.unindexed} not yet in the index`,
    );
    const [words, given] = await Promise.all([startBeside(stage), startBeside(stage, 'bench/givenapi.ts')]);
    try {
      console.log(
        `${chunkCount} chunks, ${callers} callers, segment filter, ${rounds} rounds of ${roundMs / 1000} s, medians:`,
      );
      await compare('words', words.url, stage, questions);
      await compare('vectors given', given.url, stage, questions);
      await compare('questions embedded', stage.url, stage, questionsOfSet(set));
      console.log(`  peak memory: ${await memoryOf(stage)}`);
    } finally {
      await Promise.all([words.stop(), given.stop()]);
    }
  });
}

/** The documents of a help centre, each with its passages, for customers of every segment. */
const storedAs = (passages: readonly Passage[]): Stored[] =>
  [...Map.groupBy(passages, ({ name }) => name)].map(([filename, chunks], at) => ({
    id: `doc_help${String(at).padStart(8, '0')}`,
    filename,
    segments: [],
    chunks,
  }));

/**
 * The vectors of the platform's models: real ones for these passages, which are stored first, and mixtures of them for
 * all other passages. The sentences of the other passages get vectors of arbitrary real sentences, which have the same
 * size.
 */
async function embeddedOf(passages: readonly Passage[]): Promise<StoredVectors> {
  const embedder = createEmbedder({ folder: await findEmbedding((line) => console.log(`  ${line}`)) });
  const real = await embedder.embed(passages.map(({ heading, text }) => ({ kind: 'passage', heading, text })));
  const sentences = new Map<string, Int8Array>();
  for (const { text } of passages) {
    const compared = comparedTexts(text).map((one) => ({ kind: 'passage' as const, text: one }));
    sentences.set(text, packVectors(await embedder.embed(compared, { models: ['use'] })));
  }
  await embedder.close();
  const mixture = mixturesOf(real);
  const any = Int8Array.from([...sentences.values()].flatMap((packed) => [...packed]));
  const { dimensions } = models.use;
  let next = 0;
  /** The vectors of as many real sentences as the text has sentences. */
  const some = (text: string): Int8Array => {
    const size = dimensions * comparedTexts(text).length;
    next = next + size > any.length ? 0 : next;
    return any.slice(next, (next += size));
  };
  return {
    model: vectorsName,
    vectorOf: (number) => real[number] ?? mixture(number),
    sentencesOf: (text) => sentences.get(text) ?? some(text),
  };
}

/** Measures LanceDB alone and `POST /kb/query` in alternating rounds. */
async function compare(kind: Kind, url: string, stage: Stage, questions: Questions): Promise<void> {
  const peer: Measured[] = [];
  const ours: Served[] = [];
  await overHttp(url, stage, questions);
  for (let round = 0; round < rounds; round += 1) {
    peer.push(await direct(stage, questions, kind !== 'words'));
    ours.push(await overHttp(url, stage, questions));
  }
  const line = (name: string, list: Measured[]): string =>
    `    ${name.padEnd(22)} ${median(list.map((one) => one.perSecond)).toFixed(0)}/s   p50 ${median(list.map((one) => one.p50)).toFixed(1)} ms   p99 ${median(list.map((one) => one.p99)).toFixed(1)} ms`;
  const share = median(ours.map((one, index) => one.perSecond / (peer[index]?.perSecond ?? Number.NaN)));
  const rate = median(ours.map(({ perSecond }) => perSecond));
  const p99 = median(ours.map((one) => one.p99));
  const target = targets[kind];
  const percent = (of: (one: Served) => number): string => (median(ours.map(of)) * 100).toFixed(0);
  const cpu = (of: keyof Served['cpu']): string => median(ours.map((one) => one.cpu[of])).toFixed(1);
  console.log(`  ${kind}`);
  console.log(line('LanceDB directly', peer));
  console.log(line('POST /kb/query', ours));
  console.log(
    `    share ${share.toFixed(2)} (to reach: ${target.share}), ${rate.toFixed(0)}/s (to reach: ${target.rate}), p99 ${p99.toFixed(1)} ms (to stay under: ${target.p99})`,
  );
  console.log(
    `    answered or offered ${percent((one) => one.answered)} %, surely ${percent((one) => one.surely)} %, degraded ${percent((one) => one.degraded)} %; processor time of a question: API ${cpu('api')}, models ${cpu('models')}, MongoDB ${cpu('mongodb')} ms`,
  );
  if (share < target.share || rate < target.rate || p99 >= target.p99) process.exitCode = 1;
}

/** The peak memory of the API and MongoDB. */
async function memoryOf(stage: Stage): Promise<string> {
  const peaks = new Map<string, number>();
  for (const { pid, kind } of await processesOf(stage.dataDir))
    peaks.set(kind, Math.max(peaks.get(kind) ?? 0, (await peakMemory(pid)) ?? 0));
  return [...peaks].map(([name, mib]) => `${name} ${mib} MiB`).join(', ') || 'not known on this system';
}
