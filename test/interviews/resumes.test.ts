/** Resumes over HTTP: stored and used in the questions; an unreadable resume blocks nothing. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { truncatedXlsx } from '../kit/badfiles.ts';
import { encryptedPdf, pdfText, twiceDeflated } from '../kit/badpdfs.ts';
import { interviewing } from '../kit/interviewing.ts';
import { systemEnv } from '../kit/processes.ts';

const kit = await interviewing(systemEnv('shared'));
const { api } = kit;
const org = await api.newOrg();
const mine = kit.of(org);
afterAll(() => kit.close());

const lines = [
  'Ana Gomez',
  'ana@example.com',
  'Built a ledger in Go for two million customers',
  'Senior Developer at Contoso, 2019 - 2023',
];
function upload(id: string, name: string, content: Uint8Array, token = org.owner.token) {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(content)]), name);
  return api.request('POST', `/orgs/${org.orgId}/interviews/${id}/resume`, { token, form });
}
const bodies = (data: { questions: { body: string }[] }) => data.questions.map(({ body }) => body).join('\n');

describe('POST /orgs/{orgId}/interviews/{interviewId}/resume', () => {
  it('an uploaded PDF resume is read, and its content appears in the interview questions', async () => {
    const id = await mine.create({ skills: ['Go', 'SQL'], question_count: 6 });
    const { status, body } = await upload(id, 'cv.pdf', pdfText(lines));
    expect(status).toBe(200);
    expect(body.data.candidate).toEqual({ name: null, email: null, resume_parsed: true });
    expect(bodies(body.data)).toContain('Built a ledger in Go for two million customers');
    expect(bodies(body.data)).toContain('does not mention “SQL”');
    expect(body.data.questions).toHaveLength(6);
    expect(JSON.stringify(await kit.db.collection<{ _id: string }>('resumes').findOne({ _id: id }))).toContain(
      'Ana Gomez',
    );
  });
  it('uploading a second resume rewrites the questions for that resume', async () => {
    const id = await mine.create({ skills: ['Go'] });
    await upload(id, 'cv.pdf', pdfText(lines));
    const { body } = await upload(id, 'cv2.pdf', pdfText(['Led the move of the shop to Go and Kubernetes in 2024']));
    expect(bodies(body.data)).toContain('Led the move of the shop');
    expect(bodies(body.data)).not.toContain('ledger');
  });
  it('a resume is used again when new questions are generated, until a member writes the questions', async () => {
    const id = await mine.create({ skills: ['Go'], question_count: 6 });
    await upload(id, 'cv.pdf', pdfText(lines));
    const { body } = await mine.call('PUT', `/${id}`, { skills: ['Go', 'Rust'] });
    expect(bodies(body.data)).toContain('Built a ledger in Go for two million customers');
    expect(bodies(body.data)).toContain('does not mention “Rust”');
    expect(body.data.questions).toHaveLength(6);
    // A change of other fields keeps the questions.
    const renamed = await mine.call('PUT', `/${id}`, { candidate_name: 'Ana' });
    expect(renamed.body.data.questions).toEqual(body.data.questions);
    const second = await upload(id, 'cv2.pdf', pdfText(['Led the move of the shop to Go and Kubernetes in 2024']));
    expect(bodies(second.body.data)).toContain('Led the move of the shop');
    const own = await mine.call('PUT', `/${id}`, { questions: [{ category: 'technical', body: 'What is a join?' }] });
    expect(bodies(own.body.data)).toBe('What is a join?');
  });
  it('questions of a draft are rewritten for an uploaded resume, unless a member changed them', async () => {
    const prompt = 'A solo interview for a senior Go developer, 6 questions';
    const { draft } = (await mine.call('POST', '/draft', { prompt })).body.data;
    const { questions_signature: _signature, ...unsigned } = draft;
    const [first, ...rest] = draft.questions as { category: string; body: string }[];
    const [own, later] = [
      { ...first, body: 'Why us?' },
      { ...first, body: 'Why now?' },
    ];
    const created = async (body: object, change?: object) => {
      const id = await mine.create(body);
      if (change) await mine.call('PUT', `/${id}`, change);
      return bodies((await upload(id, 'cv.pdf', pdfText(lines))).body.data);
    };
    const ledger = 'Built a ledger in Go for two million customers';
    // In these three interviews no member changed the questions of the draft: it was stored as made, without its
    // signature, or saved again with another name.
    for (const followed of [
      await created(draft),
      await created(unsigned),
      await created(draft, { questions: draft.questions, candidate_name: 'Ana' }),
    ])
      expect(followed).toContain(ledger);
    for (const changed of [
      await created({ ...draft, questions: [own, ...rest] }),
      await created({ ...draft, questions: rest, question_count: rest.length }),
      await created(draft, { questions: [later, ...rest] }),
    ])
      expect(changed).not.toContain(ledger);
  });
  it('a resume does not change questions that a member wrote', async () => {
    const id = await mine.create({ questions: [{ category: 'technical', body: 'What is a join?' }] });
    const { body } = await upload(id, 'cv.pdf', pdfText(lines));
    expect([bodies(body.data), body.data.candidate.resume_parsed]).toEqual(['What is a join?', true]);
  });
  it.each([
    ['encrypted', 'cv.pdf', () => encryptedPdf('x', 'password'), /password/],
    ['damaged', 'cv.pdf', () => Buffer.from('garbage'), /damaged/],
    ['a damaged DOCX', 'cv.docx', () => truncatedXlsx().subarray(0, 200), /damaged|incomplete/],
    ['a decompression bomb', 'cv.pdf', () => twiceDeflated(), /memory/],
  ])(
    'uploading a resume that is %s reports why it could not be read, and the interview can still be started',
    async (_, name, make, reason) => {
      const id = await mine.create();
      const { status, body } = await upload(id, name, make());
      expect(status).toBe(200);
      expect(body.data.candidate.resume_parsed).toBe(false);
      expect(body.data.candidate.resume_error).toMatch(reason);
      expect((await mine.call('POST', `/${id}/start`)).status).toBe(200);
    },
  );
  it.each([
    ['text', 'cv.txt', Buffer.from('Ana'), 415],
    ['an empty file', 'cv.pdf', Buffer.alloc(0), 400],
  ])('uploading a resume refuses %s', async (_, name, content, status) => {
    expect((await upload(await mine.create(), name, content)).status).toBe(status);
  });
  it('uploading a resume answers 404 to strangers and for an unknown interview', async () => {
    const stranger = await api.newUser();
    const id = await mine.create();
    expect((await upload(id, 'cv.pdf', pdfText(lines), stranger.token)).status).toBe(404);
    expect((await upload('int_none', 'cv.pdf', pdfText(lines))).status).toBe(404);
  });
  it('a resume is deleted with its interview', async () => {
    const id = await mine.create();
    await upload(id, 'cv.pdf', pdfText(lines));
    await mine.call('DELETE', `/${id}`);
    expect(await kit.db.collection('resumes').countDocuments({ _id: id } as never)).toBe(0);
  });
});
