/**
 * Embedding models in other processes, called as services: the vectors are the same, and a service that hangs or dies
 * costs no question its vector.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmbedding, type Embedding } from '../../clients/embedding/embedding.ts';
import { TextRefused } from '../../clients/embedding/embedder.ts';
import { createRemoteEmbedder, maxTexts } from '../../clients/embedding/remote.ts';
import { startEmbeddingService, type EmbeddingService } from '../../clients/embedding/service.ts';
import { apiAt, until } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import {
  removeDataDir,
  startProcess,
  systemEnv,
  withEmbedding,
  type Running,
  type SystemEnv,
} from '../kit/processes.ts';

const folder = (): string => process.env['TEST_EMBEDDING']!;
const obtain = async (): Promise<string> => folder();
const opened: Embedding[] = [];
/** The embedding as a server process opens it. `urls`: the addresses of the services. */
function embeddingOf(urls: readonly string[]): Embedding {
  const one = createEmbedding({ obtain, urls, questionMs: 60_000 });
  opened.push(one);
  return one;
}

let env: SystemEnv;
/** The running services; a test removes the one that it kills. */
let services: Running[];
beforeAll(async () => {
  env = systemEnv('embeddingservice', withEmbedding());
  services = await Promise.all([0, 1].map(() => startProcess('workers/embedding.ts', env)));
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await Promise.all(services.map((one) => one.stop()));
  await removeDataDir(env);
});
const urls = (): string[] => services.map(({ url }) => url);

it('an embedding service returns the same vectors of questions, sentences and passages as a local process', async () => {
  const [remote, own] = [embeddingOf(urls()), embeddingOf([])];
  await until(async () => own.state().state === 'ready', 'the models');
  const passages = Array.from({ length: 5 }, (_, n) => ({ heading: 'Fees', text: `Card ${n} costs ${n} EUR a year.` }));
  for (const ask of [
    (by: Embedding) => by.question('What does a card cost?'),
    (by: Embedding) => by.local!.sentences(['One sentence.', 'Another one.']),
    (by: Embedding) => by.passages(passages),
    (by: Embedding) => by.local!.storedSentences(['Stored.'], { patient: true }),
  ])
    expect(await ask(remote)).toEqual(await ask(own));
});

it('many texts are embedded in calls no larger than the service takes, and the vectors keep their order', async () => {
  const sizes: number[] = [];
  /** Answers each text, which is a number, with a vector of that number. */
  async function answer(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const { texts } = (await json(incoming)) as { texts: { text: string }[] };
    sizes.push(texts.length);
    const numbers = texts.flatMap(({ text }) => Array.from({ length: 512 }, () => Number(text)));
    reply.end(Buffer.from(Float32Array.from(numbers).buffer));
  }
  const { url, close } = await listening(createServer((incoming, reply) => void answer(incoming, reply)));
  const embedder = createRemoteEmbedder({ urls: [url], pool: 'passages', timeoutMs: 60_000, nextAfterMs: 60_000 });
  const texts = Array.from({ length: 2 * maxTexts + 1 }, (_, n) => ({ kind: 'passage' as const, text: String(n) }));
  const vectors = await embedder.embed(texts, { models: ['use'] });
  expect(vectors.map(([first]) => first)).toEqual(texts.map((_, n) => n));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(maxTexts);
  await embedder.close();
  await close();
});

it('a text that one embedding service refuses counts as refused, even when another service is down', async () => {
  const [refusing, gone] = await Promise.all(
    [0, 1].map(() => listening(createServer((_, reply) => void reply.writeHead(422).end('no vector')))),
  );
  await gone!.close();
  const failures: Error[] = [];
  const options = { pool: 'passages' as const, timeoutMs: 60_000, nextAfterMs: 60_000 };
  const ask = (...hosts: string[]): Promise<unknown> =>
    createRemoteEmbedder({ ...options, urls: hosts, onFailure: (failure) => failures.push(failure) }).embed([
      { kind: 'passage', text: 'Poison.' },
    ]);
  await expect(ask(gone!.url, refusing!.url)).rejects.toThrow(TextRefused);
  await expect(ask(refusing!.url, gone!.url)).rejects.toThrow(TextRefused);
  expect(failures).toEqual([]);
  await expect(ask(gone!.url)).rejects.toThrow('does not answer');
  expect(failures).toHaveLength(1);
  await refusing!.close();
});

it('an API and a worker without embedding models of their own use the vectors of the embedding services', async () => {
  const system = systemEnv('remotemodels', { EMBEDDING: urls().join(',') });
  const [api, worker] = await Promise.all([
    startProcess('api/server.ts', system),
    startProcess('workers/main.ts', { ...system, FLEETS: 'documents,backlog,sources,embedding' }),
  ]);
  const client = apiAt(api.url);
  const org = await client.newOrg();
  const { token } = await client.newKey(org);
  const content = '# Gannet cards\n\nThe gannet card costs 12 EUR a year.\n';
  const { body } = await client.upload(org.orgId, token, { name: 'a.md', content });
  await until(async () => {
    const reply = await client.request('GET', `/orgs/${org.orgId}/documents/${body.document.doc_id}`, { token });
    return reply.body.document.embedded_at !== null;
  }, 'the vectors');
  const reply = await client.request('POST', `/orgs/${org.orgId}/kb/query`, {
    token,
    body: { query: 'What is the annual price of the gannet card?' },
  });
  expect(reply.body).toMatchObject({ degraded: false, answer: expect.stringContaining('12 EUR') });
  await Promise.all([api.stop(), worker.stop()]);
  await removeDataDir(system);
});

it('every question still gets its vector when one of two embedding services hangs or is killed', async () => {
  const embedding = embeddingOf(urls());
  const asked = (name: string) =>
    Promise.all(Array.from({ length: 12 }, (_, n) => embedding.question(`${name} ${n}?`)));
  expect(await asked('before')).toHaveLength(12);
  services[0]!.child.kill('SIGSTOP');
  expect(await asked('while one stands still')).toHaveLength(12);
  services[0]!.child.kill('SIGCONT');
  await services.shift()!.kill();
  expect(await asked('while one is away')).toHaveLength(12);
});

it('questions fail with the reason while the only embedding service is stopped, and work once the service answers again', async () => {
  const one = await startEmbeddingService({ folder: folder(), host: '127.0.0.1', port: 0 });
  const embedding = embeddingOf([one.url]);
  await embedding.question('before?');
  await one.close();
  await expect(embedding.question('away?')).rejects.toThrow('does not answer');
  expect(embedding.state()).toMatchObject({ state: 'failed', reason: expect.stringContaining(one.url) });
  const port = Number(new URL(one.url).port);
  const again = await startEmbeddingService({ folder: folder(), host: '127.0.0.1', port });
  await embedding.question('back?');
  expect(embedding.state().state).toBe('ready');
  await again.close();
});

describe('the embedding service', () => {
  let service: EmbeddingService;
  beforeAll(async () => {
    const room = { questions: 3, passages: 2 };
    service = await startEmbeddingService({ folder: folder(), host: '127.0.0.1', port: 0, room });
  });
  afterAll(() => service.close());
  const call = (body: unknown, path = '/v1/vectors') =>
    fetch(new URL(path, service.url), { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });
  const texts = (count: number) => Array.from({ length: count }, (_, n) => ({ kind: 'passage', text: `Text ${n}.` }));
  const wanted = { pool: 'passages', texts: texts(1), models: ['use'], patient: false, deadline_ms: 60_000 };

  it('a request for which the embedding service has no room gets 503 at once, and questions have a separate queue', async () => {
    const full = await call({ ...wanted, texts: texts(3) });
    expect([full.status, full.headers.get('retry-after')]).toEqual([503, '1']);
    const [passages, question] = await Promise.all([
      call({ ...wanted, texts: texts(2) }),
      call({ ...wanted, pool: 'questions', texts: [{ kind: 'question', text: 'A question?' }] }),
    ]);
    expect([passages.status, question.status]).toEqual([200, 200]);
    expect((await passages.arrayBuffer()).byteLength).toBe(2 * 512 * 4);
    // The finished requests no longer count, so the service is not full any more.
    expect((await call(wanted)).status).toBe(200);
  });

  it.each([
    ['no JSON', 'hello', 400],
    ['an unknown model', { ...wanted, models: ['gpt'] }, 400],
    ['no text', { ...wanted, texts: [] }, 400],
    ['too many texts', { ...wanted, texts: texts(257) }, 400],
    ['an unknown member', { ...wanted, user: 'x' }, 400],
  ])('the embedding service refuses a request with %s', async (_, body, status) =>
    expect((await call(body)).status).toBe(status),
  );

  it('the embedding service answers 404 for an unknown path and 200 for /health', async () => {
    expect((await call(wanted, '/v1/other')).status).toBe(404);
    expect((await fetch(new URL('/health', service.url))).status).toBe(200);
  });
});
