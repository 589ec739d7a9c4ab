/**
 * Messages are classified by embeddings with the real models: accuracy on tables of sentences, and the agent's replies.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answering } from '../kit/answering.ts';
import { until } from '../kit/harness.ts';
import { withEmbedding } from '../kit/processes.ts';
import { readTables, type Outcome } from '../kit/reading.ts';
import { createEmbedding, type Embedding } from '../../clients/embedding/embedding.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';

describe('the tables of sentences', () => {
  let embedding: Embedding;
  let tables: Record<string, Outcome>;
  beforeAll(async () => {
    // Hundreds of sentences wait for one process, so each may wait long.
    embedding = createEmbedding({ obtain: async () => process.env['TEST_EMBEDDING']!, questionMs: 600_000 });
    await until(async () => embedding.state().state !== 'starting', 'the models');
    tables = await readTables(embedding);
  });
  afterAll(() => embedding.close());

  it.each([
    'calls',
    'calls in capitals',
    'calls in parted letters',
    'the language of calls',
    'no calls',
    'courtesies',
    'questions with a courtesy',
    'questions',
    'what is searched for',
  ])(
    'at least 97 %% of the sample sentences of the kind “%s” are classified correctly (a call is a request for a person)',
    (name) => {
      const { size, wrong } = tables[name]!;
      expect({ name, wrong: wrong.length <= 0.03 * size ? [] : wrong }).toEqual({ name, wrong: [] });
    },
  );

  it.each([
    ['calls elsewhere', 0.2],
    ['no calls elsewhere', 0.05],
    ['calls in a clause', 0.2],
    ['no calls in a clause', 0.2],
  ])(
    'of the unseen sample sentences “%s”, at most a share of %d is misclassified (a call is a request for a person)',
    (name, most) => {
      const { size, wrong } = tables[name]!;
      expect({ name, wrong: wrong.length <= most * size ? [] : wrong }).toEqual({ name, wrong: [] });
    },
  );
});

describe('a message, with the embedding models', () => {
  const { newCustomer, newOrg, startWorker, stopWorkers } = answering('reading');
  let orgId: string;
  beforeAll(async () => {
    await startWorker(withEmbedding());
    orgId = await newOrg();
    // The first message loads the models, which on busy cores takes longer than a message waits for them.
    await until(async () => {
      const { record } = await (await newCustomer(orgId)).ask('Hartelijk bedankt voor de moeite!');
      return record?.['searched'] === null;
    }, 'messages to be read by meaning');
  });
  afterAll(stopWorkers);

  /**
   * On busy cores an embedding may come too late, and then only words count. So the message is repeated by another
   * customer.
   */
  const understood = (said: string) =>
    until(async () => {
      const customer = await newCustomer(orgId);
      const told = await customer.ask(said);
      return told.record?.['searched'] === null && { customer, told };
    }, `${said} to be read by meaning`);

  it.each([
    ['Das hat mir echt weitergeholfen, danke Ihnen', ownSentences.thanks.de],
    ['how are you doing this morning?', ownSentences.small_talk.en],
    ['Rede ich hier mit einem Computer?', ownSentences.bot.de],
    ['Buenos días a todo el equipo', ownSentences.greeting.es],
    ['you are a useless piece of junk', ownSentences.insult.en],
    ['Merci, vous êtes adorable', ownSentences.thanks.fr],
    ['Teşekkür ederim!', ownSentences.thanks.en],
  ])(
    'a message that asks nothing causes no search, and is not counted as a question without an answer: %s',
    async (said, answer) => {
      const { customer, told } = await understood(said);
      expect(told).toMatchObject({ body: answer, record: { searched: null } });
      expect(await customer.settled()).toMatchObject({ status: 'open', misses: 0 });
    },
  );

  it('a request for a person is recognized by meaning, also in Polish', async () => {
    const { customer } = await understood('Chcę rozmawiać z żywym konsultantem');
    expect(await customer.settled()).toMatchObject({ status: 'escalated', ticket: { reason: 'asked' } });
  });
});
