/**
 * Embeddings by the real models in a separate process: the vectors are right, and neither a text nor a crash causes
 * more than a failed call.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createEmbedder,
  type EmbedOptions,
  EmbeddingFailed,
  type Embedder,
  type EmbedderOptions,
} from '../../clients/embedding/embedder.ts';
import {
  dimensions,
  maxCharacters,
  modelNames,
  models,
  type EmbeddingText,
  type ModelName,
} from '../../clients/embedding/vectors.ts';
import { isAlive } from '../../engines/takelock.mjs';
import { until } from '../kit/harness.ts';

/** One embedder for the tests that leave its process alone, because loading the models takes longer than they do. */
let shared: Embedder;
beforeAll(() => {
  // The timeout is generous, because machines may be busy. Another test covers the timeout.
  shared = createEmbedder({ folder: process.env['TEST_EMBEDDING']!, timeoutMs: 60_000 });
});
afterAll(() => shared.close());

let embedder: Embedder;
const start = (options: Partial<EmbedderOptions> = {}): Embedder =>
  (embedder = createEmbedder({ folder: process.env['TEST_EMBEDDING']!, ...options }));

const question = (text: string): EmbeddingText => ({ kind: 'question', text });
const passage = (text: string, heading?: string): EmbeddingText => ({ kind: 'passage', text, heading });

/** The cosine similarity of two vectors, per model. */
function cosines(a: Float32Array, b: Float32Array): Record<ModelName, number> {
  let from = 0;
  const entries = modelNames.map((name) => {
    const begin = from;
    from += models[name].dimensions;
    return [name, a.slice(begin, from).reduce((sum, x, i) => sum + x * b[begin + i]!, 0)];
  });
  return Object.fromEntries(entries) as Record<ModelName, number>;
}

describe('the embedding models', () => {
  // This test is the first one, because longer texts would leave more memory to reuse.
  it('the embedding process reuses the memory of a long text instead of allocating it again for each layer', async () => {
    const faults = async (): Promise<number> => {
      const stat = await readFile(`/proc/${shared.pid()}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[7]);
    };
    // 384 and 402 tokens: the attention scores of one layer take 7 and 7.8 MB.
    const text = passage('card account '.repeat(200));
    await shared.embed([text, text]);
    const before = await faults();
    await shared.embed([text, text]);
    // Page faults of 4 KiB: allocating anew in each layer causes 40,000 to 65,000 for each text, and a heap that
    // shrinks in between causes some 10,000.
    expect((await faults()) - before).toBeLessThan(40_000);
  });

  // The texts are from multilingual-e5's model card; the expected values are from another implementation of the same
  // weights.
  const questions = [
    'how much protein should a female eat',
    'wie viel Eiweiß sollte eine Frau essen?',
    'summit define',
    '南瓜的家常做法',
  ];
  const passages = [
    "As a general guideline, the CDC's average requirement of protein for women ages 19 to 70 is 46 grams per day. But, as you can see from this chart, you'll need to increase that if you're expecting or training for a marathon. Check out the chart below to see how much protein you should be eating each day.",
    'Definition of summit for English Language Learners. : 1  the highest point of a mountain : the top of a mountain. : 2  the highest level. : 3  a meeting or series of meetings between the leaders of two or more governments.',
    '1.清炒南瓜丝 原料:嫩南瓜半个 调料:葱、盐、白糖、鸡精 做法: 1、南瓜用刀薄薄的削去表面一层皮,用勺子刮去瓤 2、擦成细丝',
  ];
  const expected = {
    me5: [
      [0.932, 0.752, 0.747],
      [0.844, 0.687, 0.749],
      [0.756, 0.933, 0.686],
      [0.749, 0.681, 0.926],
    ],
    use: [
      [0.528, -0.013, 0.11],
      [0.381, -0.021, 0.108],
      [0.049, 0.35, -0.05],
      [-0.005, -0.086, 0.518],
    ],
    bge: [
      [0.899, 0.394, 0.485],
      [0.371, 0.39, 0.501],
      [0.393, 0.877, 0.392],
      [0.376, 0.37, 0.787],
    ],
  };
  // For bge, the runtime rounds to 8 bits between layers, and processors differ in rounding.
  const tolerance = { me5: 0.01, use: 0.01, bge: 0.03 };

  it('the embedding models reproduce the cosines of the original weights, in four languages', async () => {
    const asked = await shared.embed(questions.map(question));
    const said = await shared.embed(passages.map((text) => passage(text)));
    for (const [q, vector] of asked.entries()) {
      for (const [p, other] of said.entries()) {
        const found = cosines(vector, other);
        for (const name of modelNames)
          expect(Math.abs(found[name] - expected[name][q]![p]!)).toBeLessThan(tolerance[name]);
      }
    }
  });

  it('the embedding models embed a text to the same vector alone and in a batch', async () => {
    const [alone] = await shared.embed([passage(passages[0]!)]);
    const among = await shared.embed([passage(passages[1]!), passage(passages[0]!), question(questions[0]!)]);
    expect(among[1]).toEqual(alone);
  });

  it('a passage that is embedded with its heading is nearer to a question about that heading', async () => {
    const text = 'It is free on every plan and takes two working days.';
    const [asked] = await shared.embed([question('How do I order a new card?')]);
    const [bare, headed] = await shared.embed([passage(text), passage(text, 'Ordering a new card')]);
    const without = cosines(asked!, bare!);
    const withHeading = cosines(asked!, headed!);
    for (const name of modelNames) expect(withHeading[name]).toBeGreaterThan(without[name]);
  });

  it('the embedding models embed any text, however long, odd or empty, to a vector of length 1 per model', async () => {
    const texts = [
      '',
      ' \n\t',
      'x'.repeat(25 * 2 ** 20),
      '😀'.repeat(500_000),
      '\u202e'.repeat(500_000),
      '\ud800',
      '\0',
    ];
    const vectors = await shared.embed([...texts.map((text) => passage(text, text)), ...texts.map(question)]);
    for (const vector of vectors) {
      expect(vector).toHaveLength(dimensions);
      for (const squared of Object.values(cosines(vector, vector))) expect(squared).toBeCloseTo(1, 3);
    }
    // A sentence is embedded by USE alone.
    const sentences = await shared.embed(
      texts.map((text) => passage(text)),
      { models: ['use'] },
    );
    expect(sentences.map(({ length }) => length)).toEqual(texts.map(() => models.use.dimensions));
    for (const sentence of sentences) expect(Math.hypot(...sentence)).toBeCloseTo(1, 3);
  });

  it(`only the first ${maxCharacters} characters of a text are embedded`, async () => {
    const begin = 'card '.repeat(maxCharacters / 5);
    const [whole, cut] = await shared.embed([passage(`${begin}and more`), passage(begin)]);
    expect(whole).toEqual(cut);
  });

  it('the embedding process returns only the vectors of the requested models, and cached headings do not change the vectors', async () => {
    // No other test has this heading, so the first vector is made without the cache.
    const text = passage('It is free.', 'Ordering a second card');
    const [whole] = await shared.embed([text]);
    const [use] = await shared.embed([text], { models: ['use'] });
    const from = models.me5.dimensions;
    expect(use).toEqual(whole!.slice(from, from + models.use.dimensions));
    expect(await shared.embed([text])).toEqual([whole]);
  });

  it('the embedding process embeds urgent texts before those that can wait, and skips texts whose call was aborted', async () => {
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const leaving = new AbortController();
    const patient = Array.from({ length: 20 }, (_, index) => passage(`card ${index}`));
    const left = shared.embed(patient, { patient: true, signal: leaving.signal });
    const later = shared.embed(patient, { patient: true }).then(note('patient'));
    const asked = shared.embed([question('hello')]).then(note('question'));
    leaving.abort(new Error('not wanted'));
    await expect(left).rejects.toThrow('not wanted');
    await Promise.all([later, asked]);
    expect(order).toEqual(['question', 'patient']);
    await expect(shared.embed(patient, { signal: leaving.signal })).rejects.toThrow('not wanted');
  });
});

describe('the embedding process', () => {
  afterEach(() => embedder.close());

  it('the embedding process is started by the first text, with the given priority and without environment variables', async () => {
    start({ niceness: 10, startMs: 120_000 });
    expect(embedder.pid()).toBeUndefined();
    await embedder.embed([question('hello')]);
    expect(getPriority(embedder.pid())).toBe(10);
    const autogroup = `/proc/${embedder.pid()}/autogroup`;
    if (existsSync(autogroup))
      await until(async () => / nice 10$/m.test(await readFile(autogroup, 'utf8')), 'the session to step back');
    expect(await readFile(`/proc/${embedder.pid()}/environ`, 'utf8')).not.toMatch(/SECRET|TEST_|MONGO/);
  });

  it('the embedding process is ended when idle, and restarted by the next text', async () => {
    start({ idleMs: 1 });
    await embedder.embed([question('hello')]);
    await until(async () => embedder.pid() === undefined, 'the idle process to be ended');
    expect(await embedder.embed([question('hello')])).toHaveLength(1);
  });

  it('a hanging embedding process is killed after the timeout, and a new process answers the waiting calls', async () => {
    const failures: string[] = [];
    start({ timeoutMs: 5_000, onFailure: ({ message }) => failures.push(message) });
    await embedder.embed([question('hello')]);
    const pid = embedder.pid()!;
    process.kill(pid, 'SIGSTOP');
    const leaving = new AbortController();
    // The process works on the first call and has already received the one whose caller leaves.
    const first = embedder.embed([question('one'), question('two')]);
    const left = embedder.embed([question('not waited for')], { signal: leaving.signal });
    const others = ['three', 'four', 'five'].map(async (text) => embedder.embed([question(text)]));
    leaving.abort(new Error('not wanted'));
    await expect(left).rejects.toThrow('not wanted');
    await expect(first).rejects.toThrow('did not answer in time');
    for (const [vector] of await Promise.all(others)) expect(vector).toHaveLength(dimensions);
    await until(async () => !isAlive(pid), 'the hung process to be gone');
    expect(embedder.pid()).not.toBe(pid);
    expect(failures).toEqual(['The embedding process did not answer in time.']);
  });

  it('a killed embedding process fails only the text in progress, and a new process embeds the other texts', async () => {
    let started = 0;
    start({ onStart: () => (started += 1) });
    await embedder.embed([question('hello')]);
    const pid = embedder.pid()!;
    process.kill(pid, 'SIGSTOP');
    const asked = ['one', 'two', 'three'].map(async (text) => embedder.embed([question(text)]));
    const outcomes = Promise.allSettled(asked);
    process.kill(pid, 'SIGKILL');
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    await expect(asked[0]).rejects.toThrow(EmbeddingFailed);
    expect(embedder.pid()).not.toBe(pid);
    expect(started).toBe(2);
  });

  it('the vectors of all or some models are the same when the models run in parallel threads', async () => {
    const texts = [question('Where is my card?'), question(''), passage('It is free.', 'Ordering a new card')];
    const asked: EmbedOptions[] = [{}, { models: ['me5', 'use'] }, { models: ['bge'] }];
    const ask = async (one: Embedder) => Promise.all(asked.map(async (options) => one.embed(texts, options)));
    expect(await ask(start({ threads: true }))).toEqual(await ask(shared));
  });

  it('calls of the embedding process fail with the reason when the models’ files are missing', async () => {
    start({ folder: '/nowhere' });
    const asked = embedder.embed([question('hello')]);
    await expect(asked).rejects.toThrow(EmbeddingFailed);
    await expect(asked).rejects.toThrow('no such file or directory');
  });
});
