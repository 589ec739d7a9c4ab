/**
 * Scores without a language model, on answers of five kinds: concrete, vague, off the subject, lists of keywords, and
 * copies of the job's text.
 * The answers were written before the rules. The rules were developed on every third question; these tests use the
 * other questions.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmbedding, type Embedding } from '../../clients/embedding/embedding.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';
import { until } from '../kit/harness.ts';

const kinds = ['concrete', 'vague', 'off_subject', 'keywords', 'copied'] as const;
type Kind = (typeof kinds)[number];
type Item = { role: string; criterion: string; question: string; answers: Record<Kind, string> };

const fixture = fileURLToPath(new URL('../fixtures/interviewanswers.json', import.meta.url));
let judged: Item[];
let embedding: Embedding;
beforeAll(async () => {
  const items = JSON.parse(await readFile(fixture, 'utf8')) as Item[];
  judged = items.filter((_, at) => at % 3 !== 0);
  embedding = createEmbedding({ obtain: async () => process.env['TEST_EMBEDDING']!, questionMs: 600_000 });
  await until(async () => embedding.state().state !== 'starting', 'the models');
});
afterAll(() => embedding.close());

async function numberOf(
  { role, criterion, question, answers }: Item,
  kind: Kind,
  local: Embedding['local'],
): Promise<number> {
  const said = {
    id: '1',
    speaker: 'Candidate',
    text: answers[kind],
    at: new Date(0),
    is_ai: false,
    role: 'candidate' as const,
    question_id: 'q_1',
  };
  const questions = [{ question_id: 'q_1', category: 'technical', body: question }];
  const offline = createOffline({ embedding: { model: undefined, local } });
  const made = await offline.score({ interviewed: { questions, criteria: [criterion], said: [said] }, role });
  expect(made).toMatchObject({ recommendation: 'undecided', generated_by: 'rules', confidence: 'low' });
  expect(answers[kind]).toContain(made!.scores[0]!.quote);
  return made!.scores[0]!.score;
}

/** The share of pairs of a concrete answer and one of another kind in which the concrete one has the higher score. */
async function shareBefore(others: readonly Kind[], local: Embedding['local']): Promise<number> {
  const pairs = judged.flatMap((item) => others.map((kind) => ({ item, kind })));
  const won: boolean[] = [];
  for (const { item, kind } of pairs)
    won.push((await numberOf(item, 'concrete', local)) > (await numberOf(item, kind, local)));
  return won.filter(Boolean).length / won.length;
}

describe('a concrete answer', () => {
  it.each(kinds.slice(1))(
    'a concrete answer scores higher than an answer of the kind %s, in at least nine of ten pairs',
    async (kind) => {
      expect(await shareBefore([kind], embedding.local)).toBeGreaterThanOrEqual(0.9);
    },
  );

  it('without embedding models, a concrete answer scores higher than a vague, keyword or copied answer in nine of ten pairs', async () => {
    expect(await shareBefore(['vague', 'keywords', 'copied'], undefined)).toBeGreaterThanOrEqual(0.9);
  });
});

it('vague answers and lists of keywords all score 0, because they tell of no action', async () => {
  const given: number[] = [];
  for (const item of judged)
    for (const kind of ['vague', 'keywords'] as const) given.push(await numberOf(item, kind, embedding.local));
  expect(new Set(given)).toEqual(new Set([0]));
});
