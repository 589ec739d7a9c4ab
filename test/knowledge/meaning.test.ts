/**
 * Knowledge found by embeddings, over HTTP with the real models: documents are found by words at once and by embeddings
 * seconds later, never across segments, organizations or modes.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../kit/cli.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import {
  removeDataDir,
  startProcess,
  systemEnv,
  withEmbedding,
  type Running,
  type SystemEnv,
} from '../kit/processes.ts';

let env: SystemEnv;
let api: Api;
const running: Running[] = [];

beforeAll(async () => {
  env = systemEnv('meaning', { ...withEmbedding(), FLEETS: 'documents,backlog,sources', LIMITS: 'plan_documents=100' });
  running.push(...(await Promise.all(['api/server.ts', 'test/kit/worker.ts'].map((one) => startProcess(one, env)))));
  api = apiAt(running[0]!.url);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await removeDataDir(env);
});

const embedder = async (): Promise<Running> => startProcess('test/kit/worker.ts', { ...env, FLEETS: 'embedding' });
async function whileEmbedding<T>(work: () => Promise<T>): Promise<T> {
  const worker = await embedder();
  try {
    return await work();
  } finally {
    await worker.stop();
  }
}

type Upload = { name: string; content: string; segments?: string };
type Candidate = { source_id: string; name: string; cosines: number[] | null; text_score: number | null };

async function place(
  files: readonly Upload[] = [],
  mode: 'test' | 'live' = 'test',
  of?: Awaited<ReturnType<Api['newOrg']>>,
) {
  const org = of ?? (await api.newOrg());
  const { orgId } = org;
  const { token } = await api.newKey(org, { mode });
  const get = async (docId: string) =>
    (await api.request('GET', `/orgs/${orgId}/documents/${docId}`, { token })).body.document;
  const it = {
    org,
    orgId,
    token,
    get,
    async add({ segments, ...file }: Upload): Promise<string> {
      const { body } = await api.upload(orgId, token, file, segments === undefined ? {} : { segments });
      const { doc_id: docId } = body.document;
      expect((await api.processed(orgId, token, docId)).status).toBe('indexed');
      return docId;
    },
    /**
     * The candidates for an answer, in order. A question whose embedding came too late, as on a busy machine, is
     * repeated.
     */
    candidates: async (query: string, more: object = {}): Promise<Candidate[]> =>
      until(async () => {
        const { status, body } = await api.request('POST', `/orgs/${orgId}/kb/query`, {
          token,
          body: { query, explain: true, ...more },
        });
        expect(status).toBe(200);
        return body.explain.degraded === false && (body.explain.candidates as Candidate[]);
      }, 'the vector of the question'),
    embedded: async (docId: string) =>
      until(async () => ((await get(docId)).embedded_at as string | null) ?? false, `the vectors of ${docId}`),
  };
  for (const file of files) await it.add(file);
  return it;
}

const hours = { name: 'hours.md', content: 'Our branches open at nine in the morning and close at five.' };
/** A question that shares no word with the passage that it is about. */
const inOtherWords = 'Wie sind die Öffnungszeiten?';

const waiting = async (): Promise<number> => {
  const text = await (await fetch(new URL('/metrics', running[0]!.url))).text();
  return Number(/^knowledge_passages_to_embed (\S+)$/mu.exec(text)?.[1]);
};

describe('an uploaded document', () => {
  it('an uploaded document is found by words at once, and by embeddings once its status says that it is embedded', async () => {
    const here = await place();
    const before = await waiting();
    const docId = await here.add(hours);
    expect(await here.get(docId)).toMatchObject({ status: 'indexed', embedded_at: null });
    await until(async () => (await waiting()) === before + 1, 'the passage to be counted');
    expect(await here.candidates('When do branches open?')).toMatchObject([{ source_id: docId, cosines: null }]);
    expect(await here.candidates(inOtherWords)).toEqual([]);
    await whileEmbedding(async () => {
      expect(await here.embedded(docId)).toEqual(expect.any(String));
      expect(await here.candidates(inOtherWords)).toMatchObject([
        { source_id: docId, cosines: expect.any(Array), text_score: null },
      ]);
      const [both] = await here.candidates('When do branches open?');
      expect(both).toMatchObject({ source_id: docId, cosines: expect.any(Array), text_score: expect.any(Number) });
      // The next document wakes the waiting worker, or starts its workflow again.
      const next = await here.add({ name: 'fees.md', content: 'The gold card costs 49 EUR a year.' });
      await here.embedded(next);
      await until(async () => (await waiting()) === 0, 'nothing to wait any more');
    });
    const list = await api.request('GET', `/orgs/${here.orgId}/documents`, { token: here.token });
    expect(list.body.documents.map((one: { embedded_at: unknown }) => one.embedded_at)).toEqual([
      expect.any(String),
      expect.any(String),
    ]);
  });

  it('a document that is replaced, retagged or deleted before it is embedded is found in its new state, or not at all', async () => {
    const here = await place();
    const [gone, tagged, again] = [
      await here.add({ name: 'gone.md', content: 'You can visit us from nine to five.' }),
      await here.add({ ...hours, segments: 'personal' }),
      await here.add({ name: 'again.md', content: 'The office is closed on Sundays.' }),
    ];
    const at = (docId: string) => `/orgs/${here.orgId}/documents/${docId}`;
    await api.request('DELETE', at(gone), { token: here.token });
    await api.request('PATCH', `${at(tagged)}/segments`, { token: here.token, body: { segments: ['staff'] } });
    await api.request('POST', `${at(again)}/reprocess`, { token: here.token, body: {} });
    await api.processed(here.orgId, here.token, again);
    await whileEmbedding(async () => {
      for (const docId of [tagged, again]) await here.embedded(docId);
      const asked = async (productType: string) =>
        (await here.candidates(inOtherWords, { context: { productType } }))
          .map(({ source_id }) => source_id)
          .toSorted();
      await until(async () => (await asked('staff')).length === 2, 'both that are left');
      expect(await asked('staff')).toEqual([tagged, again].toSorted());
      expect(await asked('personal')).toEqual([again]);
    });
  });
});

describe('a document of a few pages', () => {
  it('a document of a few pages is found by its meaning as soon as it is indexed', async () => {
    const here = await place();
    await whileEmbedding(async () => {
      // Once a first document has its vectors, the worker polls and its models are loaded.
      await here.embedded(await here.add({ name: 'fees.md', content: 'The gold card costs 49 EUR a year.' }));
      const parts = Array.from({ length: 8 }, (_, n) => `# Rule ${n}\n\n${`Rule ${n} is about parcels. `.repeat(8)}`);
      const content = `${parts.join('\n\n')}\n\n# Hours\n\n${hours.content}`;
      const { body } = await api.upload(here.orgId, here.token, { name: 'rules.md', content });
      const { doc_id: docId } = body.document;
      const seen: string[] = [];
      for (let done = false; !done;) {
        done = (await here.get(docId)).status === 'indexed';
        const found = (await here.candidates(inOtherWords)).filter(({ source_id }) => source_id === docId);
        seen.push(found.some(({ cosines }) => cosines !== null) ? 'answers' : 'says nothing');
      }
      expect(seen.at(-1)).toBe('answers');
      expect((await here.get(docId)).embedded_at).toEqual(expect.any(String));
      const { body: listed } = await api.request('GET', `/orgs/${here.orgId}/kb/gaps`, { token: here.token });
      expect(listed.gaps).toEqual([]);
    });
  });

  it('unanswered questions are not recorded while vectors are missing, and are recorded once the vectors exist', async () => {
    const here = await place();
    const nonsense = 'Who won the chess championship of 1997?';
    const docId = await here.add(hours);
    const ask = async (query: string) =>
      (await api.request('POST', `/orgs/${here.orgId}/kb/query`, { token: here.token, body: { query } })).body;
    const gaps = async () =>
      (
        (await api.request('GET', `/orgs/${here.orgId}/kb/gaps`, { token: here.token })).body.gaps as {
          question: string;
        }[]
      ).map(({ question }) => question);
    for (const query of [inOtherWords, nonsense]) expect(await ask(query)).toMatchObject({ has_context: false });
    expect(await gaps()).toEqual([]);
    await whileEmbedding(async () => {
      await here.embedded(docId);
      await until(async () => (await gaps()).length > 0, 'the gap');
      expect(await gaps()).toEqual([nonsense]);
    });
  });
});

describe('docs add --wait', () => {
  it('docs add --wait waits until the document is embedded, not only until it is indexed', async () => {
    const { orgId, token } = await place();
    const path = join(env.DATA_DIR, hours.name);
    await writeFile(path, hours.content);
    const given = { HOME: env.DATA_DIR, SUPPORT_URL: api.url, SUPPORT_API_KEY: token };
    const adding = runCli(['docs', 'add', path, '--wait', '--json'], given);
    await until(async () => {
      const { body } = await api.request('GET', `/orgs/${orgId}/documents`, { token });
      return body.documents[0]?.status === 'indexed';
    }, 'the document to answer by its words');
    const { code, stdout } = await whileEmbedding(() => adding);
    const { files } = JSON.parse(stdout) as { files: { document: { embedded_at: string | null } }[] };
    expect([code, files]).toMatchObject([0, [{ document: { embedded_at: expect.any(String) } }]]);
  });
});

describe('the search by embeddings', () => {
  it('the search by embeddings finds no passages of another segment, organization or mode', async () => {
    const secret = (name: string): Upload => ({
      name,
      content: 'Visiting hours are from nine to five; come and see us.',
    });
    const [here, neighbour] = [await place(), await place()];
    await api.goLive(here.org);
    const live = await place([], 'live', here.org);
    const own = await here.add({ name: 'own.md', content: 'The gold card costs 49 EUR a year.' });
    const docs = [
      [here, await here.add({ ...secret('staff.md'), segments: 'staff' })],
      [neighbour, await neighbour.add(secret('neighbour.md'))],
      [live, await live.add(secret('live.md'))],
    ] as const;
    await whileEmbedding(async () => {
      await here.embedded(own);
      for (const [where, docId] of docs) await where.embedded(docId);
    });
    const asked = { context: { productType: 'personal' } };
    for (const question of [inOtherWords, 'visiting hours'])
      expect(await here.candidates(question, asked)).toMatchObject([{ name: 'own.md' }]);
    for (const [where, docId] of docs) {
      const [nearest] = await where.candidates(inOtherWords);
      expect(nearest?.source_id).toBe(docId);
    }
    await api.request('PUT', `/support/config/orgs/${here.orgId}`, {
      token: here.org.owner.token,
      body: { kb_segment_strict: true },
    });
    await until(async () => (await here.candidates(inOtherWords, asked)).length === 0, 'strictness to hold');
    await api.request('DELETE', `/orgs/${here.orgId}/documents/${docs[0][1]}`, { token: here.token });
    expect((await here.candidates(inOtherWords)).map(({ name }) => name)).toEqual(['own.md']);
  });
});

describe('a worker that creates embeddings', () => {
  /** Slightly more passages than are embedded before a document is published, because the test is about the crash. */
  const long = (name: string): Upload => ({
    name,
    content: Array.from({ length: 64 }, (_, n) => `# Part ${n} of ${name}\n\n${`Fact ${n} of many. `.repeat(12)}`).join(
      '\n\n',
    ),
  });

  /** The embedding processes of a worker, without its process that checks the models. */
  async function childrenOf(worker: Running): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
    const found = await Promise.all(
      pids.map(async (pid) => {
        const read = async (name: string) => readFile(join('/proc', pid, name), 'utf8').catch(() => '');
        const parent = (await read('stat')).split(') ')[1]?.split(' ')[1];
        return parent === String(worker.child.pid) && (await read('cmdline')).includes('clients/embedding/child')
          ? [Number(pid)]
          : [];
      }),
    );
    return found.flat();
  }
  const embedding = async (worker: Running) =>
    until(async () => (await childrenOf(worker))[0], 'the process that embeds');

  it('when an embedding worker is killed in the middle, another worker continues, and each passage gets a vector', async () => {
    const here = await place();
    const docIds = [await here.add(long('long.md'))];
    const worker = await embedder();
    const child = await embedding(worker);
    // The embedding process is stopped, so that it cannot reach the second document.
    process.kill(child, 'SIGSTOP');
    docIds.push(await here.add(long('second.md')));
    await worker.kill();
    process.kill(child, 'SIGKILL');
    expect((await here.get(docIds[1]!)).embedded_at).toBeNull();
    await whileEmbedding(async () => Promise.all(docIds.map((docId) => here.embedded(docId))));
    const candidates = await here.candidates('Fact 7 of many', {});
    expect(new Set(candidates.map(({ cosines }) => cosines === null))).toEqual(new Set([false]));
  });

  it('documents are found by words while the embedding process hangs, and are embedded once that process is killed', async () => {
    const here = await place();
    const docId = await here.add(long('hung.md'));
    const worker = await embedder();
    try {
      const child = await embedding(worker);
      process.kill(child, 'SIGSTOP');
      expect((await here.candidates('Fact 7 of many')).length).toBeGreaterThan(0);
      const quick = await here.add(hours);
      expect((await here.candidates('When do branches open?')).map(({ source_id }) => source_id)).toContain(quick);
      expect((await here.get(quick)).embedded_at).toBeNull();
      process.kill(child, 'SIGKILL');
      await here.embedded(docId);
      await here.embedded(quick);
    } finally {
      await worker.stop();
    }
  });
});
