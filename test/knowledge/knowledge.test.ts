/**
 * Questions over HTTP: a bank's help centre, segments, strict mode, follow-up questions, unanswered questions, and a
 * language model.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { apiAt, system, until, type Api } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { defined } from '../../models/rules/base/defined.ts';

const fixture = async (name: string) => new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
type Script = {
  documents: { filename: string; segments: string[] }[];
  questions: { question: string; segment?: string; source: string | null; contains: string | null }[];
};
const script = JSON.parse(await readFile(new URL('../fixtures/questions.json', import.meta.url), 'utf8')) as Script;

/** A new organization in which these documents are indexed. */
async function knowing(
  api: Api,
  documents: { name: string; content: string | Uint8Array<ArrayBuffer>; segments?: string }[],
) {
  const org = await api.newOrg();
  const { token } = await api.newKey(org);
  for (const { segments, ...file } of documents) {
    const { body } = await api.upload(org.orgId, token, file, segments ? { segments } : {});
    expect((await api.processed(org.orgId, token, body.document.doc_id)).status).toBe('indexed');
  }
  const ask = async (query: string, more: object = {}) =>
    api.request('POST', `/orgs/${org.orgId}/kb/query`, { token, body: { query, ...more } });
  return { org, orgId: org.orgId, token, ask };
}
type Place = Awaited<ReturnType<typeof knowing>>;

describe('the help centre of a bank', () => {
  let bank: Place;
  beforeAll(async () => {
    const documents = script.documents.map(async ({ filename, segments }) => ({
      name: filename,
      content: await fixture(filename),
      segments: segments.join(),
    }));
    bank = await knowing(system(), await Promise.all(documents));
  });

  it.each(script.questions)(
    'the help centre of a bank answers “$question” from the source $source (null: finds no answer)',
    async ({ question, segment, source, contains }) => {
      const { status, body } = await bank.ask(question, segment ? { context: { productType: segment } } : {});
      expect(status).toBe(200);
      expect(body.generated_by).toBe('extractive');
      if (source === null) {
        expect(body).toMatchObject({ has_context: false, sources: [] });
        return;
      }
      expect(body.has_context).toBe(true);
      expect(body.answer).toContain(contains);
      expect(body.sources[0]).toMatchObject({ type: 'document', name: source });
      expect(body.sources[0].score).toBeGreaterThan(0);
    },
  );

  it('the help centre of a bank computes a new answer for a repeated Idempotency-Key, so that no deleted document is cited', async () => {
    const place = await knowing(system(), [{ name: 'a.md', content: 'The heron account has no monthly fee.' }]);
    const ask = async () =>
      system().request('POST', `/orgs/${place.orgId}/kb/query`, {
        token: place.token,
        body: { query: 'heron account fee' },
        headers: { 'idempotency-key': 'once' },
      });
    const { body } = await ask();
    expect(body.has_context).toBe(true);
    await system().request('DELETE', `/orgs/${place.orgId}/documents/${body.sources[0].id}`, { token: place.token });
    expect((await ask()).body).toMatchObject({ has_context: false, sources: [] });
  });

  it.each([
    ['Do you sell umbrellas to pilots?', 'I could not find anything'],
    ['Verkaufen Sie auch Regenschirme für Piloten?', 'nichts gefunden'],
    ['Est-ce que vous vendez des parapluies aux pilotes ?', "Je n'ai rien trouvé"],
    ['¿Venden ustedes paraguas para los pilotos?', 'No he encontrado nada'],
  ])('the help centre of a bank says in the question’s language that nothing was found: %s', async (question, says) => {
    const { body } = await bank.ask(question);
    expect([body.has_context, body.sources]).toEqual([false, []]);
    expect(body.answer).toContain(says);
  });

  it('the help centre of a bank understands a follow-up question together with the conversation history', async () => {
    const history = [
      { role: 'customer', body: 'When is the branch in Rostock open on weekdays?' },
      { role: 'ai', body: '8:30-16:30' },
    ];
    const { body } = await bank.ask('And on Saturday?', { conversation_history: history, explain: true });
    expect(body.explain.searched).toContain('Rostock');
    expect(body.sources.map((s: { name: string }) => s.name)).toContain('branches.csv');
  });

  it.each([
    [{}],
    [{ query: '' }],
    [{ query: '   ' }],
    [{ query: 'x'.repeat(2001) }],
    [{ query: { $ne: 1 } }],
    [{ query: 'a', context: { productType: {} } }],
    [{ query: 'a', context: { admin: true } }],
  ])('the help centre of a bank answers 400 for %j', async (body) => {
    const { status } = await system().request('POST', `/orgs/${bank.orgId}/kb/query`, { token: bank.token, body });
    expect(status).toBe(400);
  });

  it.each([
    '" OR 1=1 --',
    'text:* AND (',
    '🦩🦩',
    'the of and',
    '\u0000',
    "'; DROP TABLE chunks; --",
    'Überweisung',
    '口座を開設する',
  ])('the help centre of a bank accepts %j as an ordinary question', async (query) => {
    expect((await bank.ask(query)).status).toBe(200);
  });
});

describe('segments over HTTP', () => {
  it('a strict organization hides untagged content from questions with a segment, and a lenient organization shows it', async () => {
    const place = await knowing(system(), [
      { name: 'tagged.md', content: 'The ibis plan for companies costs forty euros.', segments: 'business' },
      { name: 'shared.md', content: 'The ibis plan is paid by direct debit.', segments: 'shared' },
      { name: 'untagged.md', content: 'The ibis plan for people costs four euros.' },
    ]);
    const names = async (context: object) =>
      (
        await place.ask('What does the ibis plan cost and how is it paid?', { context, explain: true })
      ).body.explain.candidates
        .map((c: { name: string }) => c.name)
        .toSorted();
    expect(await names({ productType: 'Business' })).toEqual(['shared.md', 'tagged.md', 'untagged.md']);
    expect(await names({ productType: 'personal' })).toEqual(['shared.md', 'untagged.md']);
    expect(await names({})).toEqual(['shared.md', 'tagged.md', 'untagged.md']);
    const config = await system().request('PUT', `/support/config/orgs/${place.orgId}`, {
      token: place.token,
      body: { kb_segment_strict: true },
    });
    expect(config.status).toBe(200);
    expect(await names({ productType: 'business' })).toEqual(['shared.md', 'tagged.md']);
    expect(await names({ productType: 'personal' })).toEqual(['shared.md']);
    expect(await names({})).toEqual(['shared.md', 'tagged.md', 'untagged.md']);
  });
});

describe('GET and PATCH /orgs/{orgId}/kb/gaps', () => {
  it('unanswered questions are grouped, counted, resolved, and reopened when asked again', async () => {
    const place = await knowing(system(), [
      { name: 'a.md', content: 'The crane card is yellow.', segments: 'business' },
    ]);
    const gaps = async (query = '') =>
      (await system().request('GET', `/orgs/${place.orgId}/kb/gaps${query}`, { token: place.token })).body;
    await place.ask('Do you sell umbrellas?');
    await place.ask('do you sell   umbrellas?');
    await place.ask('Umbrellas: do you sell those?');
    await place.ask('Which colour is the crane card?', { context: { productType: 'personal' } });
    await place.ask('Which colour is the crane card?');

    const { gaps: found, count } = await gaps();
    expect(count).toBe(2);
    expect(found[0]).toMatchObject({
      question: 'Which colour is the crane card?',
      count: 1,
      why_missing: 'out_of_segment',
      status: 'open',
    });
    expect(found[1]).toMatchObject({ count: 3, why_missing: 'nothing_found', status: 'open' });
    expect(found[1].gap_ids).toHaveLength(2);

    // No accessible passage was near the question.
    expect(found.map(({ near }: { near: object[] }) => near)).toEqual([[], []]);

    const patch = (body: object, token = place.token) =>
      system().request('PATCH', `/orgs/${place.orgId}/kb/gaps`, { token, body });
    const changed = await patch({ gap_ids: [...found[1].gap_ids, 'gap_of_nobody'], status: 'resolved' });
    expect([changed.status, changed.body.updated]).toEqual([200, 2]);
    expect((await gaps('?status=resolved')).gaps.map((g: { count: number }) => g.count)).toEqual([3]);
    expect((await gaps('?status=open')).count).toBe(1);
    await place.ask('Do you sell umbrellas?');
    expect((await gaps('?status=open')).count).toBe(2);
    expect((await patch({ gap_ids: [], status: 'resolved' })).status).toBe(400);

    const other = await system().newOrg();
    const stranger = await system().newKey(other);
    const theirs = await system().request('PATCH', `/orgs/${other.orgId}/kb/gaps`, {
      token: stranger.token,
      body: { gap_ids: found[0].gap_ids, status: 'resolved' },
    });
    expect(theirs.body.updated).toBe(0);
  });

  it('unanswered questions are listed page by page, and a higher limit than 100 is taken as 100', async () => {
    const place = await knowing(system(), [{ name: 'a.md', content: 'The crane card is yellow.' }]);
    await place.ask('Do you sell umbrellas?');
    await place.ask('Where can I park a bicycle?');
    const gaps = (query: string) =>
      system().request('GET', `/orgs/${place.orgId}/kb/gaps?${query}`, { token: place.token });
    const first = (await gaps('limit=1')).body;
    const second = (await gaps(`limit=1&cursor=${first.cursor}`)).body;
    expect([...first.gaps, ...second.gaps].map(({ question }) => question)).toEqual([
      'Where can I park a bicycle?',
      'Do you sell umbrellas?',
    ]);
    expect([first.count, second.count, second.cursor]).toEqual([2, 2, null]);
    const all = await gaps('limit=200');
    expect([all.status, all.body.gaps.length, all.body.cursor]).toEqual([200, 2, null]);
    expect((await gaps('cursor=AAAA')).status).toBe(400);
  });
});

describe('a question by a member', () => {
  it('an unanswered question is recorded when it is asked with an API key, and not when a member asks it', async () => {
    const place = await knowing(system(), [{ name: 'a.md', content: 'The crane card is yellow.' }]);
    const tried = await system().request('POST', `/orgs/${place.orgId}/kb/query`, {
      token: place.org.owner.token,
      body: { query: 'Do you sell umbrellas?' },
    });
    expect([tried.status, tried.body.has_context]).toEqual([200, false]);
    const gaps = async () =>
      (await system().request('GET', `/orgs/${place.orgId}/kb/gaps`, { token: place.token })).body;
    expect((await gaps()).count).toBe(0);
    await place.ask('Does the crane card insure crocodiles, hippos, rhinos and zebras?');
    const [gap] = (await gaps()).gaps;
    expect(gap).toMatchObject({ count: 1, why_missing: 'not_relevant' });
    const nearest = {
      source_id: expect.stringMatching(/^doc_/),
      name: 'a.md',
      heading: 'a',
      score: expect.any(Number),
    };
    expect(gap.near).toEqual([nearest]);
    // A passage of a deleted document is not shown.
    const { status } = await system().request('DELETE', `/orgs/${place.orgId}/documents/${gap.near[0].source_id}`, {
      token: place.token,
    });
    expect(status).toBe(200);
    expect((await gaps()).gaps[0].near).toEqual([]);
  });
});

describe('with a language model and an embedding model configured', () => {
  const env = systemEnv('withmodel', { FLEETS: 'documents,backlog,sources' });
  const running: Running[] = [];
  let model: OpenAiServer;
  let place: Place;
  beforeAll(async () => {
    model = await startOpenAiServer();
    const configured = {
      ...env,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: 'k',
      OPENAI_MODEL: 'm',
      OPENAI_EMBEDDING_MODEL: 'e',
      OPENAI_TIMEOUT_MS: '8000',
    };
    const [api, worker] = await Promise.all([
      startProcess('api/server.ts', configured),
      startProcess('test/kit/worker.ts', configured),
    ]);
    running.push(api, worker);
    place = await knowing(apiAt(api.url), [
      { name: 'stork.md', content: 'The stork account has no monthly fee.' },
      { name: 'secret.md', content: 'The stork account is an internal pilot.', segments: 'staff' },
    ]);
    // This worker runs only while this block is set up. In the tests, its requests would use up the model's scripts.
    const embedder = await startProcess('test/kit/worker.ts', { ...configured, FLEETS: 'embedding' });
    await until(async () => {
      const { orgId, token } = place;
      const { body } = await apiAt(api.url).request('GET', `/orgs/${orgId}/documents`, { token });
      return body.documents.every((one: { embedded_at: string | null }) => one.embedded_at !== null);
    }, 'the vectors of both');
    await embedder.stop();
  });
  afterEach(() => model.reset());
  afterAll(async () => {
    await Promise.all(running.map((process) => process.stop()));
    await model.close();
    await removeDataDir(env);
  });

  it('the model writes the answer from the accessible sources only', async () => {
    const { status, body } = await place.ask('What is the monthly fee of the stork account?', {
      context: { productType: 'personal' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      answer: 'As the source says.',
      has_context: true,
      generated_by: 'model',
      sources: [{ name: 'stork.md' }],
    });
    const prompt = JSON.stringify(model.requests.filter((r) => r.path.includes('chat')).map((r) => r.body.messages));
    expect(prompt).toContain('no monthly fee');
    expect(prompt).not.toContain('internal pilot');
  });

  it('an unsupported sentence of the model is dropped, and an answer of only such sentences becomes no answer', async () => {
    const reply = (answer: string) => JSON.stringify({ answered: true, sources: [1], answer });
    model.reply = () => reply('There is no fee. The bonus is 500 EUR.');
    const { body } = await place.ask('What is the monthly fee of the stork account?');
    expect(body).toMatchObject({ answer: 'There is no fee.', has_context: true, confidence: 'high' });
    model.reply = () => reply('The bonus is 500 EUR.');
    const without = await place.ask('What is the monthly fee of the stork account?');
    expect(without.body).toMatchObject({ has_context: false, sources: [] });
    expect(without.body).not.toHaveProperty('confidence');
  });

  it('a question is compared with passages by embeddings, and `explain` shows the cosines of each candidate', async () => {
    // When an embedding takes too long, this question and those of the next seconds are answered by words only.
    const body = await until(async () => {
      const reply = await place.ask('stork accounts monthly', { explain: true });
      expect(reply.status).toBe(200);
      return reply.body.explain.degraded === false && reply.body;
    }, 'an answer by meaning');
    expect(body.explain.candidates[0].cosines).toEqual([expect.any(Number)]);
    expect(body.explain.candidates[0].cosines[0]).toBeGreaterThan(0.3);
  });

  it.each<[string, string, string | undefined, (orgId: string, docId: string) => string, object]>([
    ['removed', 'DELETE', 'personal', (orgId, docId) => `/orgs/${orgId}/documents/${docId}`, {}],
    [
      'put out of reach',
      'PATCH',
      'personal',
      (orgId, docId) => `/orgs/${orgId}/documents/${docId}/segments`,
      { body: { segments: ['staff'] } },
    ],
    [
      'put out of reach by kb_segment_strict',
      'PUT',
      undefined,
      (orgId) => `/support/config/orgs/${orgId}`,
      { body: { kb_segment_strict: true } },
    ],
  ])('content that is %s while the model writes is not used in the answer', async (_, method, segments, path, more) => {
    const api = apiAt(running[0]!.url);
    const file = { name: 'heron.md', content: 'The heron code is OMEGA.' };
    const { orgId, token, ask } = await knowing(api, [{ ...file, ...defined({ segments }) }]);
    const { body: list } = await api.request('GET', `/orgs/${orgId}/documents`, { token });
    model.reply = async () => {
      const { status } = await api.request(method, path(orgId, list.documents[0].doc_id), { token, ...more });
      expect(status).toBe(200);
      return JSON.stringify({ answered: true, sources: [1], answer: 'It is OMEGA.' });
    };
    const { body } = await ask('What is the heron code?', { context: { productType: 'personal' } });
    expect(body).toMatchObject({ has_context: false, sources: [] });
    expect(body.answer).not.toContain('OMEGA');
  });

  it('a question is embedded once, even when it is recorded as unanswered', async () => {
    // When an embedding comes too late, another question is asked, because no embedding is requested for a while.
    let asked = 0;
    const question = await until(async () => {
      const query = `Does hotel number ${(asked += 1)} on Mars serve breakfast?`;
      const { body } = await place.ask(query, { context: { productType: 'personal' }, explain: true });
      expect(body.has_context).toBe(false);
      return body.explain.degraded === false && query;
    }, 'a question with its vector');
    const embedded = model.requests.filter(
      ({ path, body }) => path.includes('embeddings') && body.input?.[0] === question,
    );
    expect(embedded).toHaveLength(1);
    const { token } = place;
    const { body } = await apiAt(running[0]!.url).request('GET', `/orgs/${place.orgId}/kb/gaps`, { token });
    expect(body.gaps.map((gap: { question: string }) => gap.question)).toContainEqual(
      expect.stringContaining('on Mars serve breakfast'),
    );
  });

  it('a question that the model cannot answer from the sources has has_context: false and no sources', async () => {
    model.reply = () => JSON.stringify({ answered: false, sources: [], answer: '' });
    const { body } = await place.ask('Is the stork account free of a monthly fee for pilots?');
    expect(body).toMatchObject({ has_context: false, sources: [] });
  });

  it.each([
    ['500 again and again', () => Array.from({ length: 10 }, () => ({ kind: 'status', status: 500 }) as const)],
    [
      'nothing but text that is not JSON',
      () => Array.from({ length: 10 }, () => ({ kind: 'reply', content: 'no JSON' }) as const),
    ],
    ['a hang', () => Array.from({ length: 10 }, () => ({ kind: 'hang' }) as const)],
  ])(
    'after %s from the model, a source is offered instead, and the model writes the next answer',
    async (_, failures) => {
      // The first scripted failure is used up by embedding the question. By words alone nothing is certain.
      model.script({ kind: 'status', status: 500 }, ...failures());
      const question = 'What is the monthly fee of the stork account?';
      const { status, body } = await place.ask(question, { explain: true });
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({ has_context: true, confidence: 'low', generated_by: 'extractive' }),
      ]);
      expect(body.sources).toHaveLength(1);
      expect(body.explain.model_error).toMatch(/^The configured language model .*; try again\.$/);
      model.reset();
      const next = await place.ask(question, { explain: true });
      expect([next.status, next.body.generated_by, next.body.explain.model_error]).toEqual([200, 'model', null]);
    },
  );

  it('a request that the model answers with 429 and Retry-After is retried after that time', async () => {
    model.script({ kind: 'status', status: 429, headers: { 'retry-after': '0' } });
    expect((await place.ask('What is the monthly fee of the stork account?')).body.generated_by).toBe('model');
  });
});
