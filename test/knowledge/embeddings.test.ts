/**
 * The embedding service of the product, with the real models: vector parts, shared processes, and failures, which only
 * cause a question to be answered by its words.
 */
import { getPriority } from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { useMeter, type Meter } from '../../clients/base/meter.ts';
import { createEmbedding, type Embedding, type EmbeddingOptions } from '../../clients/embedding/embedding.ts';
import { createLocal, type Local, type LocalOptions } from '../../clients/embedding/local.ts';
import { modelNames, widths } from '../../clients/embedding/vectors.ts';
import { isAlive } from '../../engines/takelock.mjs';
import { until } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';

const folder = process.env['TEST_EMBEDDING']!;
const opened: Embedding[] = [];
const open = (options: EmbeddingOptions = {}): Embedding => {
  // On a busy machine, a process takes seconds to start.
  const embedding = createEmbedding({ obtain: async () => folder, questionMs: 60_000, ...options });
  opened.push(embedding);
  return embedding;
};
/** The service, once its models are available. */
const ready = async (options: EmbeddingOptions = {}): Promise<Embedding> => {
  const embedding = open(options);
  await until(async () => embedding.state().state !== 'starting', 'the models');
  return embedding;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedding) => embedding.close()));
});

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);
const cut = (vector: Float32Array): Float32Array[] => {
  let from = 0;
  return widths.map((width) => vector.slice(from, (from += width)));
};

describe('with the embedded models', () => {
  let shared: Embedding;
  beforeAll(async () => {
    shared = await ready();
    // The other services are closed after their test.
    opened.splice(opened.indexOf(shared), 1);
  });
  afterAll(() => shared.close());

  it('the vectors of questions and passages have one part of norm 1 for each model, in the same order', async () => {
    const parts = await shared.question('How do I order a card?');
    const [passage] = await shared.passages([{ heading: 'Cards', text: 'Order one in the app.' }]);
    expect(parts.map(({ length }) => length)).toEqual(widths);
    for (const part of [...parts, ...cut(passage!)]) expect(lengthOf(part)).toBeCloseTo(1, 3);
  });

  it('a message is classified by the parts of its embedding that the models me5 and USE made', async () => {
    const [me5, use] = await shared.question('Where is my money?');
    expect(await shared.local!.reading('Where is my money?')).toEqual(Float32Array.from([...me5!, ...use!]));
  });

  it('sentences get vectors of the model USE, which are close when the sentences mean the same, also across languages', async () => {
    const sentences = await shared.local!.sentences(['The card is free.', 'La carte est gratuite.', 'It rains.']);
    const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
    expect(sentences.map(({ length }) => length)).toEqual([512, 512, 512]);
    expect(dot(sentences[0]!, sentences[1]!)).toBeGreaterThan(dot(sentences[0]!, sentences[2]!) + 0.3);
  });

  it('the embedding of a question fails at once while the models are still being obtained', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const embedding = open({ obtain: async () => promise });
    await expect(embedding.question('hello')).rejects.toThrow('not there yet');
    expect(embedding.state()).toEqual({ state: 'starting' });
    resolve(folder);
    await until(async () => embedding.state().state === 'ready', 'the models');
    expect(await embedding.question('hello')).toHaveLength(widths.length);
  });

  it('when the embedding models cannot be obtained, the embedding state is `failed` with the reason', async () => {
    const states: unknown[] = [];
    const embedding = open({
      obtain: async () => Promise.reject(new Error('no route to host')),
      onState: (state) => states.push(state),
    });
    await until(async () => embedding.state().state === 'failed', 'the failure');
    expect(states).toEqual([{ state: 'failed', reason: 'no route to host' }]);
    await expect(embedding.question('hello')).rejects.toThrow('no route to host');
    await expect(embedding.local!.sentences(['hello'])).rejects.toThrow('no route to host');
  });

  it('after the embedding models failed to load, loading is retried only after a while, and not for every question', async () => {
    let now = 0;
    const embedding = open({ obtain: async () => '/nowhere', now: () => now });
    await until(async () => embedding.state().state === 'ready', 'the folder');
    await expect(embedding.question('hello')).rejects.toThrow('no such file');
    expect(embedding.state()).toMatchObject({ state: 'failed', reason: expect.stringContaining('no such file') });
    await expect(embedding.question('hello')).rejects.toThrow('a moment ago');
    now += 15_001;
    await expect(embedding.question('hello')).rejects.toThrow('no such file');
  });
});

/** The service of the current test, or of the tests that share one. */
let local: Local;
const start = async (options: Partial<LocalOptions> = {}): Promise<Local> => {
  local = createLocal({ obtain: async () => folder, questionMs: 60_000, ...options });
  await until(async () => local.state().state === 'ready', 'the models');
  return local;
};
const ask = (text: string) => local.parts(text, modelNames);
/** Everything that is counted from now on. */
const counting = () => {
  const counted: Parameters<Meter['count']>[] = [];
  useMeter({ count: (...given) => void counted.push(given), observe: () => undefined });
  return counted;
};
const passage = { heading: 'Cards', text: 'Order one in the app.' };

describe('the embedding processes, started once', () => {
  beforeAll(() => start());
  afterAll(() => local.close());

  it('questions and passages are embedded in separate processes, and the process for passages has a lower priority', async () => {
    expect(local.pids()).toEqual({ questions: undefined, passages: undefined });
    await ask('hello');
    await local.sentences(['hello']);
    expect(local.pids()).toEqual({ questions: expect.any(Number), passages: undefined });
    await local.passages([passage]);
    const { questions, passages } = local.pids();
    expect([getPriority(questions), getPriority(passages)]).toEqual([0, 10]);
  });

  it('a text that is too long for the embedding cache still gets its vectors', async () => {
    const long = 'card '.repeat(300);
    expect(await ask(long)).toHaveLength(modelNames.length);
    const [vector] = await local.sentences([long]);
    expect(lengthOf(vector!)).toBeCloseTo(1, 3);
  });

  it('the embedding processes cache the vectors of sentences, so that only new ones are embedded', async () => {
    const counted = counting();
    const [free, rain] = await local.sentences(['The card is free.', 'It rains.', 'It rains.']);
    const again = await local.sentences(['It rains.', 'The card is free.', 'It snows.']);
    expect(again.slice(0, 2)).toEqual([rain, free]);
    expect(await local.sentences(['It snows.'])).toEqual([again[2]]);
    const made = counted.filter(([name]) => name === 'embedding_texts_total');
    expect(made.map(([, labels, texts]) => [labels['kind'], texts])).toEqual([
      ['sentence', 2],
      ['sentence', 1],
    ]);
  });

  // This test is the last one, because it stops the process.
  it('the embedding processes embed a repeated question only once', async () => {
    const [together, again] = await Promise.all([ask('Where is my card?'), ask('Where is my card?')]);
    process.kill(local.pids().questions!, 'SIGSTOP');
    expect(await ask('Where is my card?')).toEqual(together);
    expect(again).toEqual(together);
  });
});

describe('the embedding processes', () => {
  afterEach(() => local.close());

  it('the embedding process for questions can be started before the first question', async () => {
    const started = createLocal({ obtain: async () => folder, questionMs: 60_000, warm: true });
    try {
      await until(async () => started.state().state === 'ready', 'the process');
      expect(started.pids()).toEqual({ questions: expect.any(Number), passages: undefined });
    } finally {
      await started.close();
    }
    await start();
  });

  it('when an embedding process is killed, the failure is reported and the next question starts another process', async () => {
    await start();
    await ask('hello');
    const pid = local.pids().questions!;
    process.kill(pid, 'SIGSTOP');
    const asked = ask('Where is my card?');
    process.kill(pid, 'SIGKILL');
    await expect(asked).rejects.toThrow('ended with SIGKILL');
    expect(local.state()).toEqual({ state: 'failed', reason: expect.stringContaining('SIGKILL') });
    expect(await ask('Where is my card?')).toHaveLength(modelNames.length);
    expect(local.state()).toEqual({ state: 'ready' });
  });

  it('the embedding processes are not restarted for a while after crashing repeatedly', async () => {
    let now = 0;
    await start({ now: () => now });
    for (let times = 0; times < 2; times += 1) {
      const asked = ask(`question ${times}`);
      process.kill(local.pids().questions!, 'SIGKILL');
      await expect(asked).rejects.toThrow('SIGKILL');
    }
    await expect(ask('hello')).rejects.toThrow('a moment ago');
    now += 15_001;
    expect(await ask('hello')).toHaveLength(modelNames.length);
  });

  it('when the embedding process for passages fails, questions are answered by their own process and the failure is reported', async () => {
    const counted = counting();
    await start();
    for (let times = 0; times < 2; times += 1) {
      const asked = local.passages([passage]);
      process.kill(local.pids().passages!, 'SIGKILL');
      await expect(asked).rejects.toThrow('SIGKILL');
    }
    expect(await ask('hello')).toHaveLength(modelNames.length);
    expect(local.state()).toEqual({ state: 'failed', reason: expect.stringContaining('SIGKILL') });
    await expect(local.passages([passage])).rejects.toThrow('a moment ago');
    expect(counted).toEqual([
      ['embedding_processes_started_total', { process: 'passages' }, 1],
      ['embedding_failures_total', { kind: 'passage' }, 1],
      ['embedding_processes_started_total', { process: 'passages' }, 1],
      ['embedding_failures_total', { kind: 'passage' }, 1],
      ['embedding_processes_started_total', { process: 'questions' }, 1],
      ['embedding_texts_total', { kind: 'question' }, 1],
      ['embedding_failures_total', { kind: 'passage' }, 1],
    ]);
  });

  it('an embedding process that hangs is killed, and a new process answers the next questions', async () => {
    await start({ questionMs: 100 });
    // The first question may time out, because the process has to start.
    await until(() => ask('hello').catch(() => undefined), 'the process');
    const pid = local.pids().questions!;
    process.kill(pid, 'SIGSTOP');
    await expect(ask('Where is my card?')).rejects.toThrow('timeout');
    await until(async () => !isAlive(pid), 'the hung process to be gone');
    expect(await until(() => ask('Where is my card?').catch(() => undefined), 'an answer')).toHaveLength(3);
  });
});

describe('with an embedding model at an endpoint', () => {
  let server: OpenAiServer;
  beforeAll(async () => {
    server = await startOpenAiServer();
  });
  afterEach(() => server.reset());
  afterAll(() => server.close());
  const endpoint = () => ({ baseUrl: server.baseUrl, embeddingModel: 'e' });

  it('vectors from an endpoint have norm 1, and a repeated question is sent to the endpoint once', async () => {
    const embedding = open({ obtain: undefined, endpoint: endpoint() });
    expect([embedding.model, embedding.local]).toEqual(['endpoint:e', undefined]);
    const [passage] = await embedding.passages([{ heading: 'Cards', text: 'Order one.' }]);
    const [part] = await embedding.question('cards');
    expect(await embedding.question('cards')).toEqual([part]);
    expect(server.requests.map(({ body }) => body.input)).toEqual([['Cards\nOrder one.'], ['cards']]);
    expect([passage!.length, part!.length]).toEqual([512, 512]);
    for (const vector of [passage!, part!]) expect(lengthOf(vector)).toBeCloseTo(1, 5);
  });

  it('with an embedding model at an endpoint, messages are still classified by the embedded models', async () => {
    const embedding = await ready({ endpoint: endpoint() });
    expect(embedding.model).toBe('endpoint:e');
    expect(await embedding.local!.reading('hello')).toHaveLength(896);
    expect(server.requests).toEqual([]);
  });

  it('a question whose embedding failed is sent to the endpoint again when it is repeated', async () => {
    const embedding = open({ obtain: undefined, endpoint: endpoint() });
    server.script({ kind: 'garbage' });
    await expect(embedding.question('cards')).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(await embedding.question('cards')).toHaveLength(1);
  });
});

describe('without any embedding model', () => {
  it('without any embedding model there are no vectors, and every request for one fails', async () => {
    const embedding = open({ obtain: undefined, endpoint: {} });
    expect([embedding.model, embedding.local, embedding.state()]).toEqual([undefined, undefined, { state: 'off' }]);
    await expect(embedding.question('cards')).rejects.toThrow('No embedding model');
  });
});
