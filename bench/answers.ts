/**
 * Answers to customers in their own words: right, or honestly none. The whole system without a language model, beside BM25
 * alone and beside the bare embedding models, each peer with the threshold that suits it best on the very set it is shown on.
 */
import { createEmbedder } from '../clients/embedding/embedder.ts';
import { models } from '../clients/embedding/vectors.ts';
import { createSearch, type Search } from '../clients/search/search.ts';
import { findEmbedding } from '../engines/embedding/embedding.ts';
import { apiAt, until, type Api, type TestOrg } from '../test/kit/harness.ts';
import { readBanking, readFixtures, type AnswerSet, type AskedQuestion, type Said } from './answersets.ts';
import { inLanes, onStage, type Stage } from './stage.ts';

type Outcome =
  'right' | 'somewhere' | 'wrong' | 'offered' | 'offered_wrong' | 'missed' | 'honest' | 'false' | 'good' | 'bad';
type Asked = { question: AskedQuestion; outcome: Outcome };
type Passage = Said & { id: string };

const lanes = 4;
/** Of what nothing answers, this share may be answered: where the peers' thresholds are put. */
const allowedFalse = 0.1;

export async function run(): Promise<void> {
  const banking = await readBanking();
  for (const set of [...(banking ? [banking] : []), await readFixtures()]) {
    await onStage(async (stage) => {
      const { asked, passages } = await throughTheSystem(stage, set);
      console.log(`${set.name}: ${set.documents.length} documents, ${set.questions.length} questions`);
      report('the system', asked);
      const search = createSearch({ uri: `${stage.dataDir}/peer` });
      report('BM25 alone', await byScores(set, passages, await bm25(search, passages)));
      search.close();
      report('the models alone', await byScores(set, passages, await cosines(passages)));
    });
  }
}

async function throughTheSystem(stage: Stage, set: AnswerSet): Promise<{ asked: Asked[]; passages: Passage[] }> {
  const api = apiAt(stage.url);
  const passages = new Map<string, Passage>();
  await inLanes(set.documents, lanes, async ({ name, bytes }) => {
    const { status, body } = await api.upload(stage.orgId, stage.key, { name, content: bytes });
    if (status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
    await api.processed(stage.orgId, stage.key, body.document.doc_id);
  });
  const asked: Asked[] = [];
  await inLanes(set.questions, lanes, async (question) => {
    const talks = ['courtesy', 'person', 'not_person'].includes(question.kind);
    const outcome = talks ? await inChat(api, stage, question) : await asQuestion(api, stage, question, passages);
    asked.push({ question, outcome });
  });
  return { asked, passages: [...passages.values()] };
}

type Candidate = Said & { chunk_id: string; source_id: string; relevant: boolean; score: number };

async function asQuestion(
  api: Api,
  { orgId, key }: Stage,
  question: AskedQuestion,
  passages: Map<string, Passage>,
): Promise<Outcome> {
  const { status, body } = await api.request('POST', `/orgs/${orgId}/kb/query`, {
    token: key,
    body: { query: question.text, explain: true },
  });
  if (status !== 200) throw new Error(`${question.text}: ${status} ${JSON.stringify(body)}`);
  const candidates = body.explain.candidates as Candidate[];
  for (const { chunk_id: id, name, heading, text } of candidates) passages.set(id, { id, name, heading, text });
  if (!body.has_context) return question.kind === 'answered' ? 'missed' : 'honest';
  const used = usedIn(body, candidates);
  const accepted = used.findIndex((passage) => question.accepts(passage));
  if (body.confidence === 'low') {
    if (question.kind !== 'answered') return 'offered';
    return accepted === -1 ? 'offered_wrong' : 'offered';
  }
  if (accepted === 0) return question.kind === 'answered' ? 'right' : 'honest';
  if (question.kind !== 'answered') return 'false';
  return accepted === -1 ? 'wrong' : 'somewhere';
}

/** The passages that an answer quotes, those of its first source before the others, the best first. */
function usedIn(body: { answer: string; sources: { id: string }[] }, candidates: readonly Candidate[]): Candidate[] {
  const answer = body.answer.replaceAll(/\s+/gu, ' ');
  const quoted = candidates
    .filter(({ source_id }) => body.sources.some(({ id }) => id === source_id))
    .filter(({ text }) => text.split(/\n|(?<=[.!?]) /u).some((part) => part.length > 3 && answer.includes(part.trim())))
    .toSorted((a, b) => b.score - a.score);
  const first = body.sources[0]?.id;
  return [...quoted.filter((c) => c.source_id === first), ...quoted.filter((c) => c.source_id !== first)];
}

/** A first message: whether a person was called, and whether a courtesy was taken for one. */
async function inChat(api: Api, { orgId, key }: Stage, question: AskedQuestion): Promise<Outcome> {
  const { token } = await api.newSession({ orgId } as TestOrg, { key });
  const { status, body } = await api.request('POST', `/support/chat/messages/${orgId}`, {
    token,
    body: { body: question.text },
  });
  if (status !== 202) throw new Error(`${question.text}: ${status} ${JSON.stringify(body)}`);
  const { conversation, answer } = await until(async () => {
    const seen = await api.request('GET', `/support/inbox/orgs/${orgId}/${body.conv_id}`, { token: key });
    const said = (seen.body.messages as { role: string; record?: { searched: string | null } }[]) ?? [];
    const reply = said.find(({ role }) => role === 'ai');
    return reply && { conversation: seen.body.conversation as { ticket: unknown }, answer: reply };
  }, `an answer to ${question.text}`);
  const called = conversation.ticket !== null;
  if (question.kind === 'person') return called ? 'good' : 'bad';
  if (question.kind === 'not_person') return called ? 'bad' : 'good';
  const talked = answer.record?.searched === null || question.intent === 'what_can_i_ask_you';
  return talked && !called ? 'good' : 'bad';
}

/** Scores of all passages for a question, in their order. */
type Scores = (question: AskedQuestion) => Promise<number[]>;

async function bm25(search: Search, passages: readonly Passage[]): Promise<Scores> {
  const table = { org_id: 'org_peer', mode: 'test' as const };
  const rows = passages.map((passage) => ({
    ...passage,
    source_id: passage.name,
    generation: '1',
    segments: [],
    authority: 'normal' as const,
  }));
  await search.add(table, rows);
  return async ({ text }) => {
    const { candidates } = await search.query(table, { text, filter: undefined, limit: passages.length });
    const scores = new Map(candidates.map(({ id, text_score }) => [id, text_score ?? 0]));
    return passages.map(({ id }) => scores.get(id) ?? 0);
  };
}

/** Weight of the second model's cosine beside the first one's, as measured on other collections. */
const useWeight = 0.3;

async function cosines(passages: readonly Passage[]): Promise<Scores> {
  const embedder = createEmbedder({ folder: await findEmbedding((line) => console.log(`  ${line}`)) });
  const vectors = await embedder.embed(passages.map(({ heading, text }) => ({ kind: 'passage', heading, text })));
  return async ({ text }) => {
    const [question] = await embedder.embed([{ kind: 'question', text }]);
    return vectors.map((vector) =>
      vector.reduce((sum, x, i) => sum + x * question![i]! * (i < models.me5.dimensions ? 1 : useWeight), 0),
    );
  };
}

/** What a peer answers that shows its best passage wherever the score exceeds a threshold. */
async function byScores(set: AnswerSet, passages: readonly Passage[], scores: Scores): Promise<Asked[]> {
  const best: { question: AskedQuestion; score: number; passage: Passage }[] = [];
  for (const question of set.questions) {
    if (!['answered', 'unanswered', 'out_of_scope'].includes(question.kind)) continue;
    const all = await scores(question);
    const score = Math.max(...all);
    best.push({ question, score, passage: passages[all.indexOf(score)]! });
  }
  const vain = best.filter(({ question }) => question.kind !== 'answered').map(({ score }) => score);
  const threshold = vain.toSorted((a, b) => b - a)[Math.floor(vain.length * allowedFalse)] ?? 0;
  return best.map(({ question, score, passage }) => {
    const answers = score > threshold;
    const accepted = question.accepts(passage);
    if (question.kind === 'answered') return { question, outcome: answers ? (accepted ? 'right' : 'wrong') : 'missed' };
    return { question, outcome: answers && !accepted ? 'false' : 'honest' };
  });
}

/** A line for each kind and language: how many, and the shares of what came of them in percent. */
function report(title: string, asked: readonly Asked[]): void {
  console.log(`  ${title}`);
  const groups = Map.groupBy(asked, ({ question: { kind, language } }) => `${kind} ${language}`);
  for (const [group, members] of [...groups].toSorted(([a], [b]) => a.localeCompare(b))) {
    const outcomes = Map.groupBy(members, ({ outcome }) => outcome);
    const shares = [...outcomes].map(([outcome, of]) => `${outcome} ${Math.round((100 * of.length) / members.length)}`);
    console.log(`    ${group.padEnd(16)} ${String(members.length).padStart(4)}   ${shares.toSorted().join(', ')}`);
  }
}
