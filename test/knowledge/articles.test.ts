/** Articles: documents whose text is written and changed over the API. */
import { describe, expect, it } from '@jest/globals';
import { modelsIn } from '../kit/database.ts';
import { system, until } from '../kit/harness.ts';
import { findPassages } from '../../models/knowledge/knowledge.ts';

const api = system();
modelsIn('shared');

async function fresh() {
  const org = await api.newOrg();
  const token = (await api.newKey(org)).token;
  const at = (method: string, rest: string, body?: unknown) =>
    api.request(method, `/orgs/${org.orgId}${rest}`, { token, ...(body === undefined ? {} : { body }) });
  const write = (body: object) => at('POST', '/documents/text', body);
  const ask = async (query: string) => (await at('POST', '/kb/query', { query })).body;
  const indexed = (docId: string) => api.processed(org.orgId, token, docId);
  return { org, token, at, write, ask, indexed };
}

const boxes = '# Safe deposit boxes\n\nA small safe deposit box costs 60 EUR a year.';

describe('POST /orgs/{orgId}/documents/text', () => {
  it('a new article answers a formerly unanswered question, and resolves the unanswered questions whose ids the request gives', async () => {
    const { at, write, ask, indexed } = await fresh();
    const question = 'What does a small safe deposit box cost?';
    expect((await ask(question)).has_context).toBe(false);
    const gap = await until(async () => (await at('GET', '/kb/gaps?status=open')).body.gaps[0], 'the gap');
    const gaps = { gap_ids: [...gap.gap_ids, 'gap_of_nobody'] };
    const { status, body } = await write({ name: 'Boxes: what/who?', text: boxes, segments: ['Personal'], ...gaps });
    expect({ status, resolved: body.resolved, document: body.document }).toMatchObject({
      status: 201,
      resolved: gap.gap_ids.length,
      document: {
        filename: 'Boxes what-who.md',
        mime_type: 'text/markdown',
        segments: ['personal'],
        status: 'uploaded',
      },
    });
    expect(await indexed(body.document.doc_id)).toMatchObject({ status: 'indexed' });
    expect((await ask(question)).answer).toContain('60 EUR');
    expect((await at('GET', '/kb/gaps?status=open')).body.count).toBe(0);
    expect((await at('GET', '/documents')).body.documents[0]).not.toHaveProperty('text');
  });

  it('writing an article with the same text again returns the existing document', async () => {
    const { write } = await fresh();
    const first = (await write({ name: 'Boxes', text: boxes })).body.document;
    const again = await write({ name: 'Other name', text: boxes });
    expect([again.status, again.body.duplicate, again.body.document.doc_id]).toEqual([200, true, first.doc_id]);
  });

  it('an article with an empty or overlong text, an empty name or an unknown field is refused', async () => {
    const { write } = await fresh();
    for (const wrong of [{ text: '  ' }, { text: 'x'.repeat(200_001) }, { name: '' }, { colour: 'red' }])
      expect((await write({ name: 'Boxes', text: boxes, ...wrong })).status).toBe(400);
  });
});

describe('GET and PUT /orgs/{orgId}/documents/{docId}/text', () => {
  it('the changed text of an article replaces the former text in answers, and one of two concurrent changes gets 409', async () => {
    const { at, write, ask, indexed } = await fresh();
    const { doc_id: docId } = (await write({ name: 'Boxes', text: boxes })).body.document;
    await indexed(docId);
    const read = (await at('GET', `/documents/${docId}/text`)).body;
    expect(read).toMatchObject({ doc_id: docId, name: 'Boxes.md', text: boxes });
    const change = (to: string) =>
      at('PUT', `/documents/${docId}/text`, { text: boxes.replace('60', to), based_on: read.sha256 });
    const both = await Promise.all([change('65'), change('75')]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const price = both[0].status === 200 ? '65' : '75';
    await indexed(docId);
    expect((await ask('What does a small safe deposit box cost?')).answer).toContain(`${price} EUR`);
    const late = await change('85');
    expect([late.status, late.body.error]).toEqual([409, expect.stringContaining('changed this text meanwhile')]);
    expect((await at('GET', `/documents/${docId}/text`)).body.text).toContain(price);
    expect((await at('POST', `/documents/${docId}/reprocess`, {})).status).toBe(202);
    await indexed(docId);
    expect((await ask('What does a small safe deposit box cost?')).answer).toContain(`${price} EUR`);
  });

  it('an article is dated by the last change of its text, and not by its upload or its last processing', async () => {
    const { org, at, write, indexed } = await fresh();
    const { doc_id: docId, created_at, sha256 } = (await write({ name: 'Boxes', text: boxes })).body.document;
    await indexed(docId);
    const dated = async (generation: number) =>
      (await findPassages(org.orgId, 'test', [`${docId}:${generation}:0`])).map((passage) => passage.dated);
    expect(await dated(1)).toEqual([new Date(created_at)]);
    const change = { text: boxes.replace('60', '65'), based_on: sha256 };
    const changed = new Date((await at('PUT', `/documents/${docId}/text`, change)).body.document.updated_at);
    expect(changed.getTime()).toBeGreaterThan(Date.parse(created_at));
    await indexed(docId);
    expect(await dated(2)).toEqual([changed]);
    expect((await at('POST', `/documents/${docId}/reprocess`, {})).status).toBe(202);
    await indexed(docId);
    expect(await dated(3)).toEqual([changed]);
  });

  it('the text of an uploaded UTF-8 file can be changed, and reading a table or another encoding as text gets 409', async () => {
    const { org, token, at, indexed } = await fresh();
    const upload = async (name: string, content: string | Uint8Array<ArrayBuffer>) =>
      (await api.upload(org.orgId, token, { name, content })).body.document;
    const note = await upload('note.txt', 'The vault opens at nine.');
    await indexed(note.doc_id);
    const change = { text: 'The vault opens at ten.', based_on: note.sha256, name: 'Vault' };
    const changed = await at('PUT', `/documents/${note.doc_id}/text`, change);
    expect(changed.body.document).toMatchObject({ filename: 'Vault.md', doc_id: note.doc_id });
    await indexed(note.doc_id);
    for (const [name, content, why] of [
      ['fees.csv', 'fee,price\ncard,5', 'Only texts'],
      ['latin.txt', Uint8Array.from([0x47, 0x72, 0xfc, 0xdf, 0x65]), 'not in UTF-8'],
    ] as const) {
      const { doc_id } = await upload(name, content);
      const { status, body } = await at('GET', `/documents/${doc_id}/text`);
      expect([status, body.error]).toEqual([409, expect.stringContaining(why)]);
    }
  });

  it('a text file that is renamed to a Markdown name is read as Markdown, and otherwise as plain text', async () => {
    const { org, token, at, indexed } = await fresh();
    const upload = { name: 'note.txt', content: 'The vault opens at nine.' };
    let { document } = (await api.upload(org.orgId, token, upload)).body;
    const { doc_id: docId } = document;
    const headingAfter = async (generation: number, change: { text: string; name?: string }) => {
      await indexed(docId);
      const changed = await at('PUT', `/documents/${docId}/text`, { ...change, based_on: document.sha256 });
      ({ document } = changed.body);
      await indexed(docId);
      const [passage] = await findPassages(org.orgId, 'test', [`${docId}:${generation}:0`]);
      return { type: document.mime_type, name: document.filename, heading: passage?.heading };
    };
    const text = '# Opening hours\n\nThe vault opens at ten.';
    const kept = await headingAfter(2, { text });
    expect(kept).toMatchObject({
      type: 'text/plain',
      name: 'note.txt',
      heading: expect.not.stringMatching(/^Opening/),
    });
    const renamed = await headingAfter(3, { text: `${text} It closes at five.`, name: 'Vault' });
    expect(renamed).toEqual({ type: 'text/markdown', name: 'Vault.md', heading: 'Opening hours' });
  });

  it('replacing a text with the text of another document gets 409, and a request of another organization gets 404', async () => {
    const { at, write, indexed } = await fresh();
    const one = (await write({ name: 'Boxes', text: boxes })).body.document;
    const other = (await write({ name: 'Vault', text: 'The vault opens at nine.' })).body.document;
    await indexed(other.doc_id);
    const same = await at('PUT', `/documents/${other.doc_id}/text`, { text: boxes, based_on: other.sha256 });
    expect([same.status, same.body.error]).toEqual([409, expect.stringContaining('very text')]);
    const stranger = await fresh();
    expect((await stranger.at('GET', `/documents/${one.doc_id}/text`)).status).toBe(404);
    const theirs = await stranger.at('PUT', `/documents/${one.doc_id}/text`, { text: 'x', based_on: one.sha256 });
    expect(theirs.status).toBe(404);
  });
});
