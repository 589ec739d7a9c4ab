/**
 * When no answer is certain, passages that may help are offered: over HTTP, in a conversation, and with a model that
 * decides. Passages are compared by embeddings from an endpoint.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { MongoClient } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { apiAt, until, type Api, type TestOrg } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';
import { removeDataDir, startProcess, systemEnv, type Running } from '../kit/processes.ts';
import { ChatClient, mint } from '../kit/socket.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';

const help = `# Cash and cards

## Cash in the euro area

Three withdrawals a month are free of charge, each further one costs 2 EUR.

## Cash in other currencies

Withdrawals outside the euro area cost 2 percent of the sum.

## A card that a machine has kept

Call the machine's bank, then order another card in the app.

## Spending limits

Every card may spend 5,000 EUR a day.

## Where the card is accepted

Wherever you see the sign of the network.

## Moving house

Tell us the address of your new flat within a month.

## Opening hours

The branch in Rostock opens at nine.

## Statements on paper

They are sent by post and cost 1.20 EUR.

## Youth accounts

Young people open one together with a parent.

## Joint accounts

Two people share one account and both may sign.
`;
/** Questions that this help centre almost answers. */
const near = [
  'When do you close on Saturday in Rostock?',
  'Can I open an account for my company?',
  'Is paper recycled?',
];

const env = systemEnv('offers', { FLEETS: 'documents,backlog,sources,embedding,conversations' });
const running: Running[] = [];
let mongo: MongoClient;
let model: OpenAiServer;
let api: Api;
let org: TestOrg;
let key: string;
/** The same API with a language model that decides whether a passage answers. */
let judging: Api;

beforeAll(async () => {
  model = await startOpenAiServer();
  mongo = await openClient(env['MONGODB_URI']!);
  const vectors = { ...env, OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'k', OPENAI_EMBEDDING_MODEL: 'e' };
  running.push(
    ...(await Promise.all([
      startProcess('api/server.ts', vectors),
      startProcess('test/kit/worker.ts', vectors),
      startProcess('api/server.ts', { ...vectors, OPENAI_MODEL: 'm' }),
    ])),
  );
  api = apiAt(running[0]!.url);
  judging = apiAt(running[2]!.url);
  org = await api.newOrg();
  key = (await api.newKey(org)).token;
  const { body } = await api.upload(org.orgId, key, { name: 'help.md', content: help });
  expect((await api.processed(org.orgId, key, body.document.doc_id)).status).toBe('indexed');
  await until(async () => (await ask(near[0]!)).body.confidence === 'low', 'the vectors');
  // An embedding that takes longer than 1.5 s is given up, and none is requested for the next 15 s. Earlier ones are
  // cached.
  for (const at of [api, judging]) {
    for (const query of [...near, 'Kann ich ein Account open für die company?', 'other currencies']) {
      await until(async () => {
        // A member asks, because the questions of members are not recorded as unanswered.
        const asked = { token: org.owner.token, body: { query, explain: true } };
        const { status, body } = await at.request('POST', `/orgs/${org.orgId}/kb/query`, asked);
        return status === 200 && !body.explain.degraded;
      }, `the vector of ${query}`);
    }
  }
});
afterEach(() => model.reset());
afterAll(async () => {
  await Promise.all(running.map((process) => process.stop()));
  await model.close();
  await mongo.close();
  await removeDataDir(env);
});

const ask = async (query: string, at = api, more: object = {}) =>
  at.request('POST', `/orgs/${org.orgId}/kb/query`, { token: key, body: { query, ...more } });
const gaps = async (): Promise<string[]> => {
  const { body } = await api.request('GET', `/orgs/${org.orgId}/kb/gaps`, { token: key });
  return body.gaps.map(({ question }: { question: string }) => question);
};

describe('POST /orgs/{orgId}/kb/query', () => {
  it('without a confident answer, the query route offers the headings and sources of the nearest passages in the question’s language', async () => {
    const { status, body } = await ask(near[0]!);
    expect(status).toBe(200);
    expect(body).toMatchObject({ has_context: true, confidence: 'low', sources: [{ name: 'help.md' }] });
    expect(body.offers.length).toBeGreaterThan(0);
    expect(body.offers.length).toBeLessThanOrEqual(3);
    const [{ heading, question, source }] = body.offers;
    expect(heading).toContain('Opening hours');
    expect(source).toEqual({ type: 'document', id: expect.stringMatching(/^doc_/), name: 'help.md' });
    expect(question).toBe(heading);
    expect(body.answer).toBe(
      [
        ownSentences.mayHelp.en,
        ...body.offers.map((offer: { heading: string; says: string }) => `- ${offer.heading}: ${offer.says}`),
      ].join('\n'),
    );
    expect(JSON.stringify(body.offers)).not.toContain(':1:');
    expect((await ask('Kann ich ein Account open für die company?')).body.answer).toContain(ownSentences.mayHelp.de);
    // The first question was asked before embeddings were available, so it was recorded as unanswered.
    expect((await ask(near[2]!)).body.confidence).toBe('low');
    expect(await gaps()).not.toContain(near[2]);
  });

  it('the question that the query route suggests with an offered passage is answered from that passage with high confidence', async () => {
    for (const question of near) {
      const { body } = await ask(question);
      expect(body.offers).not.toEqual([]);
      for (const offer of body.offers) {
        const conversation_history = [{ role: 'customer', body: 'Do you sell umbrellas?' }];
        const taken = await ask(offer.question, api, { conversation_history });
        expect(taken.body).toMatchObject({ has_context: true, confidence: 'high' });
        expect(taken.body).not.toHaveProperty('offers');
        expect(taken.body.sources[0].id).toBe(offer.source.id);
      }
    }
  });

  it('the query route reports high confidence for an answer, and no confidence when nothing was found', async () => {
    expect((await ask('other currencies')).body).toMatchObject({ has_context: true, confidence: 'high' });
    const { body } = await ask('Xylophones?');
    expect(body.has_context).toBe(false);
    expect(body).not.toHaveProperty('confidence');
  });

  it('the query route lets a configured language model decide whether the nearest passages answer the question', async () => {
    const sentence = 'The branch in Rostock opens at nine.';
    model.reply = () => JSON.stringify({ answered: true, sources: [1], answer: sentence });
    expect((await ask(near[0]!, judging)).body).toMatchObject({
      answer: sentence,
      confidence: 'high',
      generated_by: 'model',
    });
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('opens at nine');
    model.reply = () => JSON.stringify({ answered: false, sources: [], answer: '' });
    expect((await ask(near[1]!, judging)).body).toMatchObject({ has_context: false, sources: [] });
    expect(await gaps()).toContain(near[1]);
  });
});

describe('in a conversation', () => {
  const customer = async () => {
    const { token } = await mint(api, org, { key });
    const chat = await new ChatClient(org.orgId, { sessionToken: token }).connect(api.url);
    let said = 0;
    return {
      chat,
      token,
      async says(body: string) {
        said += 1;
        const at = said;
        chat.say(body, `c${at}`);
        await until(async () => chat.all('reply_end').length >= at, `the answer to ${body}`);
        return chat.all('reply_end')[at - 1]!;
      },
    };
  };
  beforeAll(async () => {
    for (const question of near) {
      await until(async () => {
        const { chat, says } = await customer();
        const { confidence } = await says(question);
        await chat.close();
        return confidence === 'low';
      }, `the worker to have the vector of ${question}`);
    }
  });
  const inInbox = async ({ convId }: ChatClient) =>
    (await api.request('GET', `/support/inbox/orgs/${org.orgId}/${convId}`, { token: key })).body;
  /** Returns the conversation's ticket or null, once all work is done: escalation comes after the answer is shown. */
  async function ticketOf(chat: ChatClient): Promise<object | null> {
    const waiting = { conv_id: chat.convId!, state: 'waiting' };
    await until(
      async () => (await mongo.db().collection('messages').countDocuments(waiting)) === 0,
      'all answers to be done with',
    );
    return (await inInbox(chat)).conversation.ticket;
  }

  it('the passages that an answer offers are kept in the history and the inbox, and choosing one gets a confident answer', async () => {
    const { chat, token, says } = await customer();
    const offer = await says(near[1]!);
    expect(offer).toMatchObject({ has_context: true, confidence: 'low', sources: [{ name: 'help.md' }] });
    const shown = offer.offers!;
    expect(shown.length).toBeGreaterThan(0);
    const path = `/support/chat/conversation/${org.orgId}/${chat.convId}`;
    const history = await api.request('GET', path, { token });
    expect(history.body.messages.at(-1)).toMatchObject({ confidence: 'low', offers: shown });
    const { messages } = await inInbox(chat);
    expect(messages.at(-1)).toMatchObject({ confidence: 'low', offers: shown, record: { confidence: 'low' } });
    expect(JSON.stringify(messages.at(-1).offers)).not.toContain(':1:');
    for (const { question, source } of shown) {
      const taken = await says(question);
      expect(taken).toMatchObject({ has_context: true, confidence: 'high', sources: [{ id: source.id }] });
    }
    expect(await ticketOf(chat)).toBeNull();
    expect(chat.faults).toEqual([]);
    await chat.close();
  });

  it('a question that follows an ignored offer of passages counts as unanswered, and the second such question escalates', async () => {
    const { chat, says } = await customer();
    await says(near[0]!);
    const second = await says(near[1]!);
    expect(second.confidence).toBe('low');
    expect(await ticketOf(chat)).toBeNull();
    const third = await says(near[2]!);
    expect(third).toMatchObject({ has_context: false, body: ownSentences.notFoundAgain.en });
    await chat.frame('escalated');
    expect(await gaps()).toEqual(expect.arrayContaining([near[1], near[2]]));
    await chat.close();
  });

  it('an answer between two questions without an answer resets the count of unanswered questions', async () => {
    const { chat, says } = await customer();
    await says(near[0]!);
    const second = await says(near[1]!);
    await says(second.offers![0]!.question);
    for (const question of [near[2]!, near[0]!]) expect((await says(question)).confidence).toBe('low');
    expect(await ticketOf(chat)).toBeNull();
    await chat.close();
  });

  it('an offer of passages between two questions without an answer resets the count of unanswered questions', async () => {
    const { chat, says } = await customer();
    expect((await says('Qqq zzz xxx?')).has_context).toBe(false);
    for (const question of [near[0]!, near[1]!]) expect((await says(question)).confidence).toBe('low');
    expect(await ticketOf(chat)).toBeNull();
    await chat.close();
  });
});
