/**
 * What the product asks for vectors, with the real models: their parts, who shares a process, and that no failure of the models
 * is more than a question that is answered by its words.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmbedding, type Embedding, type EmbeddingOptions } from '../../clients/embedding/embedding.ts';
import { models } from '../../clients/embedding/vectors.ts';
import { until } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';

const folder = process.env['TEST_EMBEDDING']!;
const opened: Embedding[] = [];
const open = (options: EmbeddingOptions = {}): Embedding => {
  // On a busy machine a process takes seconds to start.
  const embedding = createEmbedding({ obtain: async () => folder, questionMs: 60_000, ...options });
  opened.push(embedding);
  return embedding;
};
/** Once the models are there. */
const ready = async (options: EmbeddingOptions = {}): Promise<Embedding> => {
  const embedding = open(options);
  await until(async () => embedding.state().state !== 'starting', 'the models');
  return embedding;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedding) => embedding.close()));
});

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);
const cut = (vector: Float32Array, widths: readonly number[]): Float32Array[] => {
  let from = 0;
  return widths.map((width) => vector.slice(from, (from += width)));
};

describe('with the embedded models', () => {
  it('questions and passages have the same parts, each of length 1', async () => {
    const embedding = await ready();
    const parts = await embedding.question('How do I order a card?');
    const [passage] = await embedding.passages([{ heading: 'Cards', text: 'Order one in the app.' }]);
    expect(embedding.widths()).toEqual(Object.values(models).map(({ dimensions }) => dimensions));
    expect(parts.map(({ length }) => length)).toEqual(embedding.widths());
    for (const part of [...parts, ...cut(passage!, embedding.widths())]) expect(lengthOf(part)).toBeCloseTo(1, 3);
  });

  it('a message is read by the first parts of the same question', async () => {
    const embedding = await ready();
    const [me5, use] = await embedding.question('Where is my money?');
    expect(await embedding.local!.reading('Where is my money?')).toEqual(Float32Array.from([...me5!, ...use!]));
  });

  it('sentences have vectors of USE, near where they mean the same', async () => {
    const embedding = await ready();
    const sentences = await embedding.local!.sentences(['The card is free.', 'La carte est gratuite.', 'It rains.']);
    const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * b[i]!, 0);
    expect(sentences.map(({ length }) => length)).toEqual([512, 512, 512]);
    expect(dot(sentences[0]!, sentences[1]!)).toBeGreaterThan(dot(sentences[0]!, sentences[2]!) + 0.3);
  });

  it('while they are being obtained a question has no vector, and none of its callers waits', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const embedding = open({ obtain: async () => promise });
    await expect(embedding.question('hello')).rejects.toThrow('not there yet');
    expect(embedding.state()).toEqual({ state: 'starting' });
    resolve(folder);
    await until(async () => embedding.state().state === 'ready', 'the models');
    expect(await embedding.question('hello')).toHaveLength(embedding.widths().length);
  });

  it('that cannot be had, the reason is told', async () => {
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

  it('that cannot be opened are not tried again for each question', async () => {
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

describe('with an embedding model of an endpoint', () => {
  let server: OpenAiServer;
  beforeAll(async () => {
    server = await startOpenAiServer();
  });
  afterEach(() => server.reset());
  afterAll(() => server.close());
  const endpoint = () => ({ baseUrl: server.baseUrl, embeddingModel: 'e' });

  it('passages and questions have one part, of length 1, and a question is asked for once', async () => {
    const embedding = open({ obtain: undefined, endpoint: endpoint() });
    expect([embedding.model, embedding.widths(), embedding.local]).toEqual(['endpoint:e', [], undefined]);
    const [passage] = await embedding.passages([{ heading: 'Cards', text: 'Order one.' }]);
    const [part] = await embedding.question('cards');
    expect(await embedding.question('cards')).toEqual([part]);
    expect(server.requests.map(({ body }) => body.input)).toEqual([['Cards\nOrder one.'], ['cards']]);
    expect([passage!.length, part!.length, embedding.widths()]).toEqual([512, 512, [512]]);
    for (const vector of [passage!, part!]) expect(lengthOf(vector)).toBeCloseTo(1, 5);
  });

  it('messages are still read by the embedded models', async () => {
    const embedding = await ready({ endpoint: endpoint() });
    expect(embedding.model).toBe('endpoint:e');
    expect(await embedding.local!.reading('hello')).toHaveLength(896);
    expect(server.requests).toEqual([]);
  });

  it('a question that failed is asked for again', async () => {
    const embedding = open({ obtain: undefined, endpoint: endpoint() });
    server.script({ kind: 'garbage' });
    await expect(embedding.question('cards')).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(await embedding.question('cards')).toHaveLength(1);
  });
});

describe('with neither', () => {
  it('there are no vectors', async () => {
    const embedding = open({ obtain: undefined, endpoint: {} });
    expect([embedding.model, embedding.widths(), embedding.local, embedding.state()]).toEqual([
      undefined,
      [],
      undefined,
      { state: 'off' },
    ]);
    await expect(embedding.question('cards')).rejects.toThrow('No embedding model');
  });
});
