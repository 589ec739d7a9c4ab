/**
 * Questions in customers' own words to the bank's help centre, in four languages, through the API with the real models.
 * The questions were written before any result was seen, and nothing was tuned on them. Only the bonus for the topic of
 * a conversation was set after a look at the follow-up questions.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import pLimit from 'p-limit';
import { readLanguages } from '../../bench/answersets.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';
import { apiAt, until, type Api } from '../kit/harness.ts';
import { removeDataDir, startProcess, systemEnv, withEmbedding, type Running } from '../kit/processes.ts';

const fixture = async (name: string) => new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
const table = JSON.parse(await readFile(new URL('../fixtures/paraphrases.json', import.meta.url), 'utf8')) as {
  answered: [language: string, question: string, heading: string][];
  unanswered: [language: string, question: string][];
};
const followups = JSON.parse(await readFile(new URL('../fixtures/followups.json', import.meta.url), 'utf8')) as {
  said: string[];
  asked: string;
  heading: string | null;
}[];
const files = ['help.md', 'business.md', 'cards.docx', 'fees.xlsx', 'branches.csv', 'security.txt'];
const codes =
  '# Fee codes\n\n## Codes of 2026\n\nF-203: a letter that came back, 2.10 EUR.\n\nF-204: a statement on paper, 1.20 EUR.\n\n' +
  '## Zephyr Plus\n\nZephyr Plus is our account for sailors. It costs 7 EUR a month.\n';

type Candidate = {
  chunk_id: string;
  name: string;
  heading: string;
  text: string;
  score: number;
  features: object | null;
};
type Explained = {
  confidence: 'high' | 'low' | 'none';
  thresholds: { answer: number; offer: number } | null;
  offers: string[];
  degraded: boolean;
  candidates: Candidate[];
};

const env = systemEnv('paraphrases', {
  FLEETS: 'documents,backlog,sources,embedding',
  LIMITS: 'sandbox_documents=100',
  ...withEmbedding(),
});
const running: Running[] = [];
let api: Api;
let place: { orgId: string; token: string };

type Upload = { name: string; content: string | Uint8Array<ArrayBuffer>; segments?: string };

/** Uploads documents and waits until they are indexed and have vectors. */
async function add(documents: readonly Upload[], { orgId, token }: typeof place): Promise<void> {
  // Documents that are uploaded together are read by the fleet `backlog`, two at a time and at low priority. Four at a
  // time keep it busy, and none waits long.
  const few = pLimit(4);
  const upload = async ({ segments, ...file }: Upload): Promise<void> => {
    const { body } = await api.upload(orgId, token, file, segments === undefined ? {} : { segments });
    expect((await api.processed(orgId, token, body.document.doc_id)).status).toBe('indexed');
  };
  await Promise.all(documents.map((document) => few(upload, document)));
  await until(async () => {
    const { body } = await api.request('GET', `/orgs/${orgId}/documents?limit=100`, { token });
    return (body.documents as { embedded_at: string | null }[]).every((document) => document.embedded_at !== null);
  }, 'the vectors of all documents');
}

async function organization(documents: readonly Upload[]): Promise<typeof place> {
  const org = await api.newOrg();
  const made = { orgId: org.orgId, token: (await api.newKey(org)).token };
  await add(documents, made);
  return made;
}

/** Asks again when the embedding came too late, as on a busy machine, because this test is about embeddings. */
async function explained(query: string, more: object = {}, { orgId, token } = place): Promise<Explained> {
  return until(async () => {
    const { status, body } = await api.request('POST', `/orgs/${orgId}/kb/query`, {
      token,
      body: { query, explain: true, ...more },
    });
    expect(status).toBe(200);
    const explain = body.explain as Explained;
    return !explain.degraded && explain;
  }, 'the vector of the question');
}

beforeAll(async () => {
  const [server, worker] = await Promise.all([
    startProcess('api/server.ts', env),
    startProcess('test/kit/worker.ts', env),
  ]);
  running.push(server, worker);
  api = apiAt(server.url);
  const documents = files.map(async (name) => ({ name, content: await fixture(name) }));
  place = await organization([...(await Promise.all(documents)), { name: 'codes.md', content: codes }]);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await removeDataDir(env);
});

describe('the help centre, asked in customers’ own words', () => {
  it('the help centre answers over half of the questions right, offers the right section for most others, and seldom errs', async () => {
    const outcomes: Record<string, string[]> = { right: [], offered: [], wrong: [], missed: [] };
    for (const [, question, heading] of table.answered) {
      const { confidence, offers, candidates, degraded } = await explained(question);
      expect(degraded).toBe(false);
      const shown =
        confidence === 'high' ? candidates.slice(0, 1) : candidates.filter((one) => offers.includes(one.chunk_id));
      const found = shown.some((one) => one.heading.includes(heading));
      const outcome = found
        ? confidence === 'high'
          ? 'right'
          : 'offered'
        : confidence === 'high'
          ? 'wrong'
          : 'missed';
      outcomes[outcome]!.push(question);
    }
    // Measured: of 25 questions 15 are right, 6 are offered sections, 3 are wrong and 1 is missed. With one threshold
    // of cosines for all organizations it was 13, 10, 1 and 1. But then two thirds of the questions to public services
    // that nothing answers got an answer (decision 154). The 8-bit model rounds a little differently on other
    // processors.
    expect(outcomes['right']!.length).toBeGreaterThanOrEqual(14);
    expect(outcomes['right']!.length + outcomes['offered']!.length).toBeGreaterThanOrEqual(20);
    expect(outcomes['wrong']!.length).toBeLessThanOrEqual(4);
    for (const language of ['de', 'fr', 'es']) {
      const asked = table.answered.filter(([of]) => of === language).map(([, question]) => question);
      expect(asked.some((question) => outcomes['right']!.includes(question))).toBe(true);
    }
  });

  it('most follow-ups are answered from the section that they refer to, and few new subjects are mistaken for follow-ups', async () => {
    const outcomes: Record<string, string[]> = { right: [], offered: [], wrong: [], missed: [], honest: [], false: [] };
    for (const { said, asked, heading } of followups) {
      const history = said.map((body, at) => ({ role: at % 2 === 0 ? 'customer' : 'ai', body }));
      const { confidence, offers, candidates } = await explained(asked, { conversation_history: history });
      const sure = confidence === 'high';
      const shown = sure ? candidates.slice(0, 1) : candidates.filter((one) => offers.includes(one.chunk_id));
      const found = heading !== null && shown.some((one) => one.heading.includes(heading));
      const answered = found ? (sure ? 'right' : 'offered') : sure ? 'wrong' : 'missed';
      outcomes[heading === null ? (sure ? 'false' : 'honest') : answered]!.push(asked);
    }
    // Measured: 11 right, 2 offered, 5 wrong, 1 missed; 4 of 5 questions on a new subject without an answer got none.
    expect(outcomes['right']!.length).toBeGreaterThanOrEqual(11);
    expect(outcomes['wrong']!.length).toBeLessThanOrEqual(6);
    expect(outcomes['false']!.length).toBeLessThanOrEqual(1);
    expect(outcomes['honest']).toContain('do you do mortgages');
  });

  it('the help centre gives no answer to unanswerable questions, and offers sections for at most half of them', async () => {
    const seen = await Promise.all(
      table.unanswered.map(async ([, question]) => (await explained(question)).confidence),
    );
    expect(seen.filter((confidence) => confidence === 'high')).toEqual([]);
    expect(seen.filter((confidence) => confidence === 'low').length).toBeLessThanOrEqual(6);
  });

  it.each([
    ['F-204', 'F-204'],
    ['What is the fee code F-204?', 'F-204'],
    ['what does zephyr plus cost', 'Zephyr Plus'],
    ['phishing@lindenbank.example', 'phishing@lindenbank.example'],
    ['Are TAN lists accepted?', 'TAN lists'],
  ])('the help centre still finds names, numbers and codes by words: %s', async (question, said) => {
    const { confidence, candidates } = await explained(question);
    expect(confidence).toBe('high');
    expect(candidates[0]!.text).toContain(said);
  });

  it('`explain` shows the probability and the features of each candidate for an answer, and the thresholds', async () => {
    const { confidence, thresholds, candidates } = await explained("J'ai oublié le code de l'application");
    expect(confidence).toBe('high');
    expect(candidates[0]).toMatchObject({ heading: expect.stringContaining('Forgotten app code') });
    expect(candidates[0]!.features).toEqual({ above: expect.any(Number), share: expect.any(Number), foreign: 1 });
    expect(thresholds!.answer).toBeGreaterThan(thresholds!.offer);
    expect(candidates[0]!.score).toBeGreaterThanOrEqual(thresholds!.answer);
    expect(candidates.map(({ score }) => score)).toEqual(
      candidates.map(({ score }) => score).toSorted((a, b) => b - a),
    );
  });
});

describe('answers by embeddings and by words', () => {
  it('a passage of another segment or organization is not among the candidates for an answer', async () => {
    const staff = 'The emergency door of the vault opens with the code 4711.';
    const guarded = await organization([
      { name: 'staff.md', content: `# Vault\n\n${staff}\n`, segments: 'staff' },
      { name: 'all.md', content: '# Hours\n\nOur branches open at nine.\n' },
    ]);
    const question = 'How do I get into the strongroom in an emergency?';
    const open = await explained(question, { segments: ['staff'] }, guarded);
    expect(open.candidates.map(({ text }) => text)).toContain(staff);
    const closed = await explained(question, { context: { productType: 'personal' } }, guarded);
    expect(closed.candidates.map(({ text }) => text)).not.toContain(staff);
    const other = await organization([{ name: 'all.md', content: '# Hours\n\nOur branches open at nine.\n' }]);
    expect((await explained(question, {}, other)).candidates.map(({ text }) => text)).not.toContain(staff);
  });

  it('a help centre of one short document answers its own questions, and no others', async () => {
    const small = await organization([
      { name: 'hours.md', content: '# Opening hours\n\nThe vault is open from 9:00 to 16:00.\n' },
    ]);
    expect((await explained('When is the vault open?', {}, small)).confidence).toBe('high');
    expect((await explained('When can I visit the vault?', {}, small)).confidence).not.toBe('none');
    expect((await explained('How do I bake sourdough bread?', {}, small)).confidence).toBe('none');
  });
});

describe('a help centre in four languages', () => {
  const asked = { answered: 10, unanswered: 5 } as const;
  type Outcome = 'right' | 'offered' | 'wrong' | 'missed' | 'false' | 'honest';

  /** Asks the first questions of a language and counts the outcomes. */
  async function outcomesIn(language: string, where: typeof place): Promise<Record<Outcome, number>> {
    const { questions } = await readLanguages();
    const counts = { right: 0, offered: 0, wrong: 0, missed: 0, false: 0, honest: 0 };
    for (const kind of ['answered', 'unanswered'] as const) {
      const some = questions.filter((one) => one.kind === kind && one.language === language).slice(0, asked[kind]);
      for (const { text, accepts } of some) {
        const { confidence, candidates, offers } = await explained(text, {}, where);
        const shown = candidates.filter((one, at) =>
          confidence === 'high' ? at === 0 : offers.includes(one.chunk_id),
        );
        if (kind === 'unanswered') counts[confidence === 'high' ? 'false' : 'honest'] += 1;
        else if (shown.some(accepts)) counts[confidence === 'high' ? 'right' : 'offered'] += 1;
        else counts[confidence === 'high' ? 'wrong' : 'missed'] += 1;
      }
    }
    return counts;
  }

  it('questions in four languages find answers, also in other languages when their own language has no documents', async () => {
    const { documents } = await readLanguages();
    const mixed = await organization(documents.map(({ name, bytes }) => ({ name, content: new Uint8Array(bytes) })));
    // Measured in this order of languages, of 10 questions with an answer and 5 without: right 4, 4, 4, 5; offered
    // 5, 3, 2, 3; wrong 1, 1, 4, 1; answered although nothing answers them 0, 1, 1, 2.
    // The whole set is asked by `npm run bench -- answers languages`.
    for (const language of ['en', 'de', 'fr', 'es']) {
      const { right, offered, wrong, false: vain } = await outcomesIn(language, mixed);
      expect(right + offered).toBeGreaterThanOrEqual(5);
      expect(right).toBeGreaterThanOrEqual(3);
      expect(wrong).toBeLessThanOrEqual(5);
      expect(vain).toBeLessThanOrEqual(3);
    }
    const { orgId, token } = mixed;
    const { body } = await api.request('GET', `/orgs/${orgId}/documents?limit=100`, { token });
    for (const { doc_id, filename } of body.documents as { doc_id: string; filename: string }[])
      if (filename.startsWith('de-')) await api.request('DELETE', `/orgs/${orgId}/documents/${doc_id}`, { token });
    const { right, offered, wrong } = await outcomesIn('de', mixed);
    expect(right + offered).toBeGreaterThanOrEqual(5);
    expect(wrong).toBeLessThanOrEqual(3);
    const { questions } = await readLanguages();
    const answers = await Promise.all(
      questions
        .filter(({ kind, language }) => kind === 'answered' && language === 'de')
        .slice(0, asked.answered)
        .map(
          async ({ text }) =>
            (await api.request('POST', `/orgs/${orgId}/kb/query`, { token, body: { query: text } })).body,
        ),
    );
    const sure = answers.filter(({ confidence }) => confidence === 'high');
    for (const { answer } of sure) expect(answer.startsWith(ownSentences.otherLanguage.de)).toBe(true);
    expect(sure.length).toBeGreaterThan(0);
  });

  it('a help centre with two copies of each document answers nearly as well as with one copy', async () => {
    const { documents } = await readLanguages();
    const once = documents
      .filter(({ name }) => name.startsWith('en-'))
      .map(({ name, bytes }) => ({ name, content: bytes.toString('utf8') }));
    const twice = once.map(({ name, content }) => ({ name: `copy-${name}`, content: `${content}\n` }));
    const centre = await organization(once);
    const before = await outcomesIn('en', centre);
    await add(twice, centre);
    const after = await outcomesIn('en', centre);
    expect(Math.abs(before.right - after.right)).toBeLessThanOrEqual(1);
    expect(after.false).toBeLessThanOrEqual(before.false + 1);
  });
});
