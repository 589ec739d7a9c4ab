/** The document routes, from upload to deletion, with the real workers. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { system, until, type TestOrg } from '../kit/harness.ts';

const api = system();
const fixture = async (name: string) => new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
const text = (content: string, name = 'note.md') => ({ name, content });
const ask = (orgId: string, token: string, query: string, more: object = {}) =>
  api.request('POST', `/orgs/${orgId}/kb/query`, { token, body: { query, ...more } });

let org: TestOrg;
let key: string;
beforeAll(async () => {
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
});

/** A new organization, for tests that count documents. */
async function fresh() {
  const org = await api.newOrg();
  return { org, orgId: org.orgId, token: (await api.newKey(org)).token };
}

describe('POST /orgs/{orgId}/documents', () => {
  it.each(['help.md', 'cards.docx', 'fees.xlsx', 'branches.csv', 'security.txt'])(
    'the uploaded file %s is stored by the request and indexed afterwards',
    async (name) => {
      const { status, body } = await api.upload(
        org.orgId,
        key,
        { name, content: await fixture(name) },
        { segments: 'Personal, R&D', authority: 'primary' },
      );
      expect(status).toBe(201);
      expect(body.document).toMatchObject({
        filename: name,
        status: 'uploaded',
        mode: 'test',
        segments: ['personal', 'r_and_d'],
        authority: 'primary',
        chunk_count: 0,
        indexed_at: null,
      });
      const done = await api.processed(org.orgId, key, body.document.doc_id);
      expect(done).toMatchObject({ status: 'indexed', doc_id: body.document.doc_id });
      expect(done.chunk_count).toBeGreaterThan(0);
    },
  );

  it('uploading a document returns 200 and the existing document for the same bytes, even under another name or concurrently', async () => {
    const { orgId, token } = await fresh();
    const replies = await Promise.all(
      [1, 2, 3].map((n) => api.upload(orgId, token, text('The vault opens at nine.', `v${n}.md`))),
    );
    expect(replies.map((r) => r.status).toSorted()).toEqual([200, 200, 201]);
    expect(new Set(replies.map((r) => r.body.document.doc_id)).size).toBe(1);
    expect(replies.filter((r) => r.body.duplicate === true)).toHaveLength(2);
    expect((await api.request('GET', `/orgs/${orgId}/documents`, { token })).body.count).toBe(1);
  });

  it('uploading a document answers 400 with the field’s name for a missing, second or misplaced file or an unknown field', async () => {
    const forms: [string, (form: FormData) => void][] = [
      ['file', () => undefined],
      [
        'file',
        (form) => {
          form.append('file', new Blob(['a']), 'a.md');
          form.append('file', new Blob(['b']), 'b.md');
        },
      ],
      ['document', (form) => form.append('document', new Blob(['a']), 'a.md')],
      [
        'colour',
        (form) => {
          form.append('colour', 'red');
          form.append('file', new Blob(['a']), 'a.md');
        },
      ],
      [
        'authority',
        (form) => {
          form.append('authority', 'highest');
          form.append('file', new Blob(['a']), 'a.md');
        },
      ],
      [
        'segments',
        (form) => {
          form.append('segments', 'ok,!!!');
          form.append('file', new Blob(['a']), 'a.md');
        },
      ],
    ];
    for (const [field, fill] of forms) {
      const form = new FormData();
      fill(form);
      const { status, body } = await api.request('POST', `/orgs/${org.orgId}/documents`, { token: key, form });
      expect([field, status, body.details?.[0]?.path?.[1]]).toEqual([field, 400, field]);
    }
  });

  it('uploading a document stores nothing when the form is truncated', async () => {
    const { orgId, token } = await fresh();
    const raw = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\nhalf a fi';
    const { status } = await api.request('POST', `/orgs/${orgId}/documents`, {
      token,
      raw,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect(status).toBe(400);
    expect((await api.request('GET', `/orgs/${orgId}/documents`, { token })).body.count).toBe(0);
  });

  it('uploading a document replays the first response for a repeated Idempotency-Key, and answers 409 for another body', async () => {
    const { orgId, token } = await fresh();
    const headers = { 'idempotency-key': 'upload-1' };
    const first = await api.upload(orgId, token, text('One.'), {}, headers);
    const again = await api.upload(orgId, token, text('One.'), {}, headers);
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const other = await api.upload(orgId, token, text('Two.'), {}, headers);
    expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });

  it('concurrent uploads never exceed the sandbox’s document limit, and uploads over the limit get 403 SANDBOX_LIMIT', async () => {
    const { orgId, token } = await fresh();
    const replies = await Promise.all(
      Array.from({ length: 28 }, (_, n) => api.upload(orgId, token, text(`Fact number ${n}.`, `${n}.md`))),
    );
    const refused = replies.filter((r) => r.status === 403);
    expect(replies.filter((r) => r.status === 201)).toHaveLength(25);
    expect(refused.map((r) => r.body.code)).toEqual(['SANDBOX_LIMIT', 'SANDBOX_LIMIT', 'SANDBOX_LIMIT']);
    const { doc_id: docId } = replies.find((r) => r.status === 201)!.body.document;
    expect((await api.request('DELETE', `/orgs/${orgId}/documents/${docId}`, { token })).status).toBe(200);
    expect((await api.upload(orgId, token, text('There is room again.'))).status).toBe(201);
  });

  it('in a live organization, an upload over the plan’s document limit gets 403 BETA_LIMIT_REACHED and the limit’s name', async () => {
    const org = await api.newOrg();
    await api.goLive(org);
    const { token } = await api.newKey(org, { mode: 'live' });
    const replies = await Promise.all(
      Array.from({ length: 51 }, (_, n) => api.upload(org.orgId, token, text(`Plan fact ${n}.`, `${n}.md`))),
    );
    const refused = replies.filter((r) => r.status !== 201);
    expect(refused.map((r) => [r.status, r.body.code, r.body.feature])).toEqual([
      [403, 'BETA_LIMIT_REACHED', 'documents'],
    ]);
    // Test mode has a separate limit.
    const testKey = (await api.newKey(org)).token;
    expect((await api.upload(org.orgId, testKey, text('Test fact.'))).status).toBe(201);
  });
});

describe('GET /orgs/{orgId}/documents', () => {
  it('the list of documents starts with the newest, and pages stay stable while documents are added and deleted', async () => {
    const { orgId, token } = await fresh();
    for (let n = 0; n < 5; n++) await api.upload(orgId, token, text(`Page fact ${n}.`, `${n}.md`));
    const list = (query: string) => api.request('GET', `/orgs/${orgId}/documents?${query}`, { token });
    const first = await list('limit=2');
    expect(first.body.documents.map((d: { filename: string }) => d.filename)).toEqual(['4.md', '3.md']);
    expect(first.body.count).toBe(5);
    await api.upload(orgId, token, text('Page fact 5.', '5.md'));
    await api.request('DELETE', `/orgs/${orgId}/documents/${first.body.documents[1].doc_id}`, { token });
    const second = await list(`limit=2&cursor=${first.body.cursor}`);
    expect(second.body.documents.map((d: { filename: string }) => d.filename)).toEqual(['2.md', '1.md']);
    const third = await list(`limit=2&cursor=${second.body.cursor}`);
    expect(third.body.documents.map((d: { filename: string }) => d.filename)).toEqual(['0.md']);
    expect(third.body.cursor).toBeNull();
  });

  it.each(['limit=0', 'limit=x', 'limit=1&limit=2', 'cursor=nonsense', 'limit[$gt]=1&limit=0'])(
    'the list of documents answers 400 for ?%s',
    async (query) => {
      expect((await api.request('GET', `/orgs/${org.orgId}/documents?${query}`, { token: key })).status).toBe(400);
    },
  );

  it('the list of documents accepts ?limit=101, which is over the maximum limit', async () => {
    expect((await api.request('GET', `/orgs/${org.orgId}/documents?limit=101`, { token: key })).status).toBe(200);
  });

  it('an API key lists only the documents of its mode, and a member lists both modes or the requested mode', async () => {
    const org = await api.newOrg();
    await api.goLive(org);
    const [live, test] = [(await api.newKey(org, { mode: 'live' })).token, (await api.newKey(org)).token];
    const [inLive, inTest] = await Promise.all([
      api.upload(org.orgId, live, text('Live fact.')),
      api.upload(org.orgId, test, text('Test fact.')),
    ]);
    const ids = async (token: string, query = '') =>
      (await api.request('GET', `/orgs/${org.orgId}/documents${query}`, { token })).body.documents.map(
        (d: { doc_id: string }) => d.doc_id,
      );
    const [liveId, testId] = [inLive.body.document.doc_id, inTest.body.document.doc_id];
    expect(await ids(live)).toEqual([liveId]);
    expect(await ids(test)).toEqual([testId]);
    expect((await ids(org.owner.token)).toSorted()).toEqual([liveId, testId].toSorted());
    expect(await ids(org.owner.token, '?mode=live')).toEqual([liveId]);
    expect(await ids(org.owner.token, '?environment=test')).toEqual([testId]);
    expect((await api.request('GET', `/orgs/${org.orgId}/documents/${liveId}`, { token: test })).status).toBe(404);
    expect((await api.request('GET', `/orgs/${org.orgId}/documents?mode=live`, { token: test })).status).toBe(400);
  });
});

describe('PATCH /orgs/{orgId}/documents/{docId}/segments', () => {
  it('a document is hidden at once in a lost segment, and found in a new segment once the index is updated', async () => {
    const { orgId, token } = await fresh();
    const { body } = await api.upload(orgId, token, text('The zebra tariff costs nine euros.'), {
      segments: 'personal',
    });
    const docId = body.document.doc_id;
    await api.processed(orgId, token, docId);
    const question = (productType: string) =>
      ask(orgId, token, 'What does the zebra tariff cost?', { context: { productType } });
    expect((await question('personal')).body.has_context).toBe(true);
    expect((await question('business')).body.has_context).toBe(false);

    const patched = await api.request('PATCH', `/orgs/${orgId}/documents/${docId}/segments`, {
      token,
      body: { segments: ['Business', 'business'] },
    });
    expect([patched.status, patched.body.document.segments]).toEqual([200, ['business']]);
    expect((await question('personal')).body.has_context).toBe(false);
    await until(async () => (await question('business')).body.has_context, 'the index to follow');
  });

  it.each([
    [{ segments: 'business' }],
    [{ segments: [1] }],
    [{ segments: [{ $ne: 1 }] }],
    [{}],
    [{ segments: ['  '] }],
    [{ segments: Array.from({ length: 21 }, (_, n) => `s${n}`) }],
  ])('changing a document’s segments answers 400 for %j', async (body) => {
    const { status, body: reply } = await api.request('PATCH', `/orgs/${org.orgId}/documents/doc_x/segments`, {
      token: key,
      body,
    });
    expect([status, reply.details[0].path.slice(0, 2)]).toEqual([400, ['body', 'segments']]);
  });
});

describe('PATCH /orgs/{orgId}/documents/{docId}/authority', () => {
  it('answers prefer primary sources, and use background sources only when nothing else answers', async () => {
    const { orgId, token } = await fresh();
    const [old, current] = await Promise.all([
      api.upload(orgId, token, text('The walrus account pays two percent interest.', 'old.md')),
      api.upload(orgId, token, text('The walrus account pays three percent interest.', 'current.md')),
    ]);
    const ids = [old, current].map((r) => r.body.document.doc_id);
    for (const id of ids) await api.processed(orgId, token, id);
    /**
     * The documents that could answer: the relevant candidates of the answer's tier. Checks that the quoted one is
     * among them.
     */
    const names = async () => {
      const { body } = await ask(orgId, token, 'How much interest does the walrus account pay?', { explain: true });
      const { candidates, tier } = body.explain as {
        candidates: { name: string; authority: string; relevant: boolean }[];
        tier: string;
      };
      const able = candidates.filter(({ authority, relevant }) => relevant && authority === tier);
      const quoted = body.sources.map((source: { name: string }) => source.name) as string[];
      expect(quoted).toHaveLength(1);
      expect(able.map(({ name }) => name)).toContain(quoted[0]);
      return able.map(({ name }) => name).toSorted();
    };
    expect(await names()).toEqual(['current.md', 'old.md']);
    await api.request('PATCH', `/orgs/${orgId}/documents/${ids[1]}/authority`, {
      token,
      body: { authority: 'primary' },
    });
    expect(await names()).toEqual(['current.md']);
    await api.request('PATCH', `/orgs/${orgId}/documents/${ids[1]}/authority`, {
      token,
      body: { authority: 'background' },
    });
    expect(await names()).toEqual(['old.md']);
  });
});

describe('PATCH /orgs/{orgId}/documents/{docId}/source', () => {
  it('an answer cites a document’s new title and link at once, and an untitled document by the words of its filename', async () => {
    const { orgId, token } = await fresh();
    const { body } = await api.upload(orgId, token, text('The puffin card costs 7 EUR.', 'price-list_2026.md'));
    const id = body.document.doc_id;
    await api.processed(orgId, token, id);
    const set = (given: object) =>
      api.request('PATCH', `/orgs/${orgId}/documents/${id}/source`, { token, body: given });
    const source = async () => (await ask(orgId, token, 'How much is the puffin card?')).body.sources[0];
    expect(await source()).toMatchObject({ name: 'price-list_2026.md', title: 'price list 2026' });
    expect(await source()).not.toHaveProperty('url');
    const cited = { title: 'Prices', public_url: 'https://www.bank.example/prices' };
    expect((await set(cited)).body.document).toMatchObject(cited);
    expect(await source()).toMatchObject({ title: 'Prices', url: cited.public_url });
    expect((await set({ title: null, public_url: null })).status).toBe(200);
    expect(await source()).toMatchObject({ title: 'price list 2026' });
    expect(await source()).not.toHaveProperty('url');
    for (const wrong of ['javascript:alert(1)', 'ftp://bank.example/', 'prices'])
      expect((await set({ title: null, public_url: wrong })).status).toBe(400);
    expect((await set({ title: 'No link named' })).status).toBe(400);
    const stranger = await fresh();
    const path = `/orgs/${stranger.orgId}/documents/${id}/source`;
    expect((await api.request('PATCH', path, { token: stranger.token, body: cited })).status).toBe(404);
  });
});

describe('DELETE /orgs/{orgId}/documents/{docId}', () => {
  it('deleting a document removes the document from answers before the reply is sent, and a second delete gets 404', async () => {
    const { orgId, token } = await fresh();
    const { body } = await api.upload(orgId, token, text('The heron desk closes at noon.'));
    await api.processed(orgId, token, body.document.doc_id);
    const question = () => ask(orgId, token, 'When does the heron desk close?');
    expect((await question()).body.has_context).toBe(true);
    const path = `/orgs/${orgId}/documents/${body.document.doc_id}`;
    expect(await api.request('DELETE', path, { token })).toMatchObject({
      status: 200,
      body: { doc_id: body.document.doc_id, deleted: true },
    });
    expect((await question()).body).toMatchObject({ has_context: false, sources: [] });
    expect((await api.request('DELETE', path, { token })).status).toBe(404);
    expect((await api.request('GET', path, { token })).status).toBe(404);
  });

  it('a document deleted right after its upload can be uploaded again, and answers never cite the deleted document', async () => {
    const { orgId, token } = await fresh();
    const { body } = await api.upload(orgId, token, { name: 'help.md', content: await fixture('help.md') });
    expect((await api.request('DELETE', `/orgs/${orgId}/documents/${body.document.doc_id}`, { token })).status).toBe(
      200,
    );
    const again = await api.upload(orgId, token, { name: 'help.md', content: await fixture('help.md') });
    expect(again.status).toBe(201);
    expect((await api.processed(orgId, token, again.body.document.doc_id)).status).toBe('indexed');
    const { body: answer } = await ask(orgId, token, 'How do I block a lost card?');
    expect(new Set(answer.sources.map((s: { id: string }) => s.id)).has(body.document.doc_id)).toBe(false);
  });
});

describe('POST /orgs/{orgId}/documents/{docId}/reprocess', () => {
  it('a document’s old text still answers while the document is indexed again', async () => {
    const { orgId, token } = await fresh();
    const { body } = await api.upload(orgId, token, text('The otter line is open on Sundays.'));
    const docId = body.document.doc_id;
    await api.processed(orgId, token, docId);
    const replies = await Promise.all(
      [1, 2, 3].map(() => api.request('POST', `/orgs/${orgId}/documents/${docId}/reprocess`, { token })),
    );
    expect(replies.filter((r) => r.status === 202).length).toBeGreaterThanOrEqual(1);
    for (const reply of replies) expect([202, 409]).toContain(reply.status);
    expect((await ask(orgId, token, 'When is the otter line open?')).body.has_context).toBe(true);
    await api.processed(orgId, token, docId);
    const { body: after } = await ask(orgId, token, 'When is the otter line open?', { explain: true });
    expect(after.answer).toContain('Sundays');
    expect(after.explain.candidates).toHaveLength(1);
  });

  it('reprocessing a document answers 404 for an unknown document', async () => {
    expect((await api.request('POST', `/orgs/${org.orgId}/documents/doc_x/reprocess`, { token: key })).status).toBe(
      404,
    );
  });
});

describe('documents of two organizations', () => {
  it('documents of two organizations are never mixed, even with the same file and the same question', async () => {
    const [a, b] = await Promise.all([fresh(), fresh()]);
    const shared = 'The pelican fund has a front load of one percent.';
    const [inA, inB] = await Promise.all([
      api.upload(a.orgId, a.token, text(shared)),
      api.upload(b.orgId, b.token, text(shared)),
    ]);
    expect(inA.body.document.doc_id).not.toBe(inB.body.document.doc_id);
    await api.upload(b.orgId, b.token, text('The pelican fund is closed to new money.', 'secret.md'));
    for (const [side, reply] of [
      [a, inA],
      [b, inB],
    ] as const)
      await api.processed(side.orgId, side.token, reply.body.document.doc_id);
    await until(
      async () =>
        (await ask(b.orgId, b.token, 'Is the pelican fund closed to new money?')).body.answer.includes('closed'),
      'the other organization’s note',
    );
    const { body } = await ask(a.orgId, a.token, 'Is the pelican fund closed to new money?', { explain: true });
    expect(JSON.stringify(body)).not.toContain('fund is closed');
    expect(body.explain.candidates.map((c: { source_id: string }) => c.source_id)).toEqual([inA.body.document.doc_id]);
    // Neither organization can access the other's document by its id.
    for (const [method, suffix] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/reprocess'],
    ] as const) {
      const path = `/orgs/${a.orgId}/documents/${inB.body.document.doc_id}${suffix}`;
      expect([method, (await api.request(method, path, { token: a.token })).status]).toEqual([method, 404]);
    }
  });
});
