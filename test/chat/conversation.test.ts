/**
 * A conversation is processed: answers, members' replies and status changes are shown once and in order, even when
 * processes die.
 */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { answering, expectNothingOfSleeper } from '../kit/answering.ts';
import { shownBy, typesOf, withoutGaps } from '../kit/conversing.ts';
import { until } from '../kit/harness.ts';
import { startOpenAiServer, type OpenAiServer, type Script } from '../kit/openai-server.ts';
import { deathOf, startProcess } from '../kit/processes.ts';
import type { Fault } from '../kit/worker.ts';
import { startSaved } from '../../workflows/start.ts';
import { greet } from '../../api/chat/greeting.ts';
import type { StreamSocket } from '../../api/live/stream.ts';
import { processTree } from '../../clients/crawl/render/browser.ts';
import { actOn } from '../../models/chat/act.ts';
import { DocumentModel } from '../../models/knowledge/document.ts';
import { ConversationModel, refineConversation } from '../../models/chat/conversation.ts';
import { markRead } from '../../models/chat/unread.ts';
import { conversationWriter, streamOf } from '../../models/chat/log.ts';
import { lastSeq } from '../../models/live/frame.ts';
import { newId } from '../../models/base/ids.ts';
import { insertMessage, MessageModel } from '../../models/chat/message.ts';
import { ownSentences } from '../../models/rules/language/escalation.ts';

const system = answering('conversation');
const { newCustomer, ctx, workerEnv, startWorker, ensureWorker, runningWorker, stopWorkers, newOrg } = system;
let model: OpenAiServer;

beforeAll(async () => {
  model = await startOpenAiServer();
});
afterEach(() => model.reset());
afterAll(() => model.close());

/** A member replies or acts, through the same code as the inbox. The act `end` is the customer's. */
async function act(
  orgId: string,
  convId: string,
  what: 'reply' | 'resolve' | 'reopen' | 'end',
  body?: string,
): Promise<void> {
  const now = new Date();
  const done = await actOn(orgId, convId, what, {
    now,
    attend: true,
    ...(body === undefined ? {} : { message: { body, byCustomer: false } }),
  });
  if (body !== undefined) {
    await insertMessage({
      _id: newId('message'),
      org_id: orgId,
      conv_id: convId,
      mode: done.mode,
      role: 'agent',
      body,
      position: done.position,
      at: now,
      sender_name: 'Kim',
      shown: false,
    });
  }
  await startSaved(ctx(), ConversationModel, done, done.pending ?? []);
}

type Customer = Awaited<ReturnType<typeof newCustomer>>;

/** A customer whose questions found no answer, so that the agent escalated the conversation without being asked to. */
async function newMissed(orgId: string): Promise<Customer> {
  const customer = await newCustomer(orgId);
  for (const body of ['Do you sell umbrellas?', 'Is there parking for zeppelins?']) await customer.ask(body);
  expect(await customer.settled()).toMatchObject({ status: 'escalated', ticket: { reason: 'no_context' } });
  return customer;
}

/** The message's final state, and the frames that the customer gets after it. */
async function outcomeOf(customer: Customer, id: string, before: number) {
  const { ticket } = await customer.settled();
  const message = await MessageModel.findById(id).lean();
  return { state: message?.state, reason: ticket?.reason, shown: typesOf((await customer.frames()).slice(before)) };
}

describe('a message whose conversation is resolved before a worker takes it', () => {
  /** The messages that are sent before a worker is started, by case. Each case has its own customer. */
  const early = {
    resolve: ['What does the gannet card cost?'],
    end: ['What does the gannet card cost?'],
    missing: ['Do you sell umbrellas?', 'Is there parking for zeppelins?', 'Where do the geese go?'],
    calling: ['I want to talk to a human'],
    taken: ['What does the gannet card cost?'],
  } as const;
  type Case = keyof typeof early;
  const asked = new Map<Case, { customer: Awaited<ReturnType<typeof newCustomer>>; ids: string[] }>();
  beforeAll(async () => {
    const orgId = await newOrg();
    for (const name of Object.keys(early) as Case[]) {
      const customer = await newCustomer(orgId);
      const ids = [];
      for (const body of early[name]) ids.push(await customer.say(body));
      asked.set(name, { customer, ids });
      if (name === 'taken') await act(orgId, customer.convId, 'reply', 'Kim here.');
      else await act(orgId, customer.convId, name === 'end' ? 'end' : 'resolve');
    }
    // This worker also serves the next `describe` blocks, until one of them needs another worker or none.
    await ensureWorker();
  });
  const statusesShown = (frames: Awaited<ReturnType<Awaited<ReturnType<typeof newCustomer>>['frames']>>) =>
    frames.flatMap(({ type, body }) => (type === 'status' ? [body['status']] : []));

  it.each(['resolve', 'end'] as const)(
    'a message is still answered when the action “%s” has resolved its conversation before a worker takes the message',
    async (what) => {
      const { customer, ids } = asked.get(what)!;
      expect((await customer.answered(ids[0]!)).body).toContain('12 EUR');
      expect((await customer.settled()).status).toBe('resolved');
      const frames = await customer.frames();
      expect([withoutGaps(frames), statusesShown(frames)]).toEqual([true, ['resolved']]);
      expect(typesOf(frames)).toContain('ack');
    },
  );

  it('a question without an answer in a resolved conversation is not counted, and does not escalate', async () => {
    const { customer, ids } = asked.get('missing')!;
    for (const id of ids) expect((await customer.answered(id)).body).toBe(ownSentences.notFound.en);
    const { status, misses, ticket, events } = await customer.settled();
    expect([status, misses, ticket, events]).toEqual(['resolved', 0, undefined, []]);
  });

  it('a message that asks for a person escalates even a resolved conversation, and the answer says that a person was called', async () => {
    const { customer, ids } = asked.get('calling')!;
    expect((await customer.answered(ids[0]!)).body).toBe(ownSentences.called.en);
    expect(await customer.settled()).toMatchObject({ status: 'escalated', ticket: { reason: 'asked' } });
    expect(statusesShown(await customer.frames())).toEqual(['resolved', 'escalated']);
  });

  it('the agent leaves a message to the member who has taken over the conversation before a worker takes the message', async () => {
    const { customer, ids } = asked.get('taken')!;
    expect((await customer.settled()).status).toBe('pending');
    expect((await MessageModel.findById(ids[0]).lean())?.state).toBe('left');
  });
});

describe('a customer’s message', () => {
  let orgId: string;
  beforeAll(async () => {
    await ensureWorker();
    orgId = await newOrg();
  });

  it('a customer’s message is answered from the documents, with sources and a record of how the answer was found', async () => {
    const customer = await newCustomer(orgId);
    const id = await customer.say('What does the gannet card cost?', 'c1');
    const answer = await customer.answered(id);
    expect(answer).toMatchObject({ role: 'ai', answers: id, has_context: true });
    expect(answer.body).toContain('12 EUR');
    expect(answer.sources).toEqual([
      { type: 'document', id: expect.stringMatching(/^doc_/), name: 'a.md', title: 'a', score: expect.any(Number) },
    ]);
    expect(answer.record).toMatchObject({
      searched: 'What does the gannet card cost?',
      tools: [],
      strict: false,
      segments: [],
      generated_by: 'extractive',
      // There was one attempt, unless an attempt was lost because the machine was busy.
      attempts: (await MessageModel.findById(id).lean())?.attempts,
      ms: { total: expect.any(Number) },
    });
    const record = answer.record as { shown: string[]; retrieved: { chunk_id: string; used: boolean }[] };
    expect(record.retrieved.filter(({ used }) => used).every(({ chunk_id: c }) => record.shown.includes(c))).toBe(true);
    const frames = await customer.frames();
    const types = typesOf(frames);
    const begun = types.lastIndexOf('typing');
    expect([types[0], ...types.slice(begun)]).toEqual(['ack', 'typing', 'reply_start', 'reply_chunk', 'reply_end']);
    if (answer.record?.attempts === 1) expect(begun).toBe(1);
    expect(withoutGaps(frames)).toBe(true);
    expect(frames[0]!.body).toMatchObject({ client_message_id: 'c1', message_id: id });
    expect(frames.at(-1)!.body).toEqual({
      message_id: answer._id,
      body: answer.body,
      sources: answer.sources,
      has_context: true,
      confidence: 'high',
      timestamp: answer.at.toISOString(),
    });
    expect([...shownBy(frames.slice(0, -1)).values()]).toEqual([{ text: answer.body, ends: 0 }]);
    expect((await customer.messages()).map(({ role }) => role)).toEqual(['customer', 'ai']);
  });

  it('a worker that answers customers’ messages keeps no spare child process for reading files', () => {
    const { pid } = runningWorker().child;
    expect(processTree(pid!)).toEqual([pid]);
  });

  it('the second answer to a repeated question differs from the first, and the question is not counted as unanswered', async () => {
    const customer = await newCustomer(orgId);
    const bodies: string[] = [];
    for (let times = 0; times < 3; times += 1)
      bodies.push((await customer.ask('What must be called at once when a gannet card is lost?')).body);
    expect(bodies[0]).toContain('night line');
    expect(new Set(bodies).size).toBeGreaterThan(1);
    expect(bodies[1]).not.toBe(bodies[0]);
    expect((await customer.conversation()).misses).toBe(0);
  });

  it('a message that refers to the previous message is understood together with that message', async () => {
    const customer = await newCustomer(orgId);
    await customer.ask('What does the gannet card cost?');
    const answer = await customer.ask('And for students?');
    expect(answer.body).toContain('free for students');
  });

  it('a question without an answer gets the “not found” sentence, and the second one in a row escalates the conversation', async () => {
    const customer = await newCustomer(orgId);
    const first = await customer.ask('Do you sell umbrellas?');
    expect(first).toMatchObject({ body: ownSentences.notFound.en, has_context: false, sources: [] });
    expect((await customer.conversation()).status).toBe('open');
    const second = await customer.ask('Is there parking for zeppelins?');
    expect(second.body).toBe(ownSentences.notFoundAgain.en);
    const { status, ticket, events } = await customer.settled();
    expect([status, ticket?.reason, events.map(({ type }) => type)]).toEqual([
      'escalated',
      'no_context',
      ['ticket.created', 'ticket.escalated'],
    ]);
    const told = (await customer.frames()).slice(-3);
    expect(typesOf(told)).toEqual(['reply_end', 'escalated', 'status']);
    expect(told.slice(1).map(({ body }) => body)).toEqual([{ ticket_id: ticket!.ticket_id }, { status: 'escalated' }]);
  });

  it('after the agent escalated for lack of answers, the agent gives only answers of high confidence until a member takes over', async () => {
    const customer = await newMissed(orgId);
    const outcome = async (body: string) => {
      const before = (await customer.frames()).length;
      return outcomeOf(customer, await customer.say(body), before);
    };
    const reason = 'no_context';
    for (const body of ['Do you rent out elephants?', 'Thanks!'])
      expect(await outcome(body)).toEqual({ state: 'left', reason, shown: ['ack'] });
    const known = 'What does the gannet card cost?';
    expect(await outcome(known)).toEqual({ state: 'answered', reason, shown: ['ack', 'reply_end'] });
    expect((await customer.messages()).at(-1)?.body).toContain('12 EUR');
    await act(orgId, customer.convId, 'reply', 'Kim here.');
    await customer.settled();
    // The conversation now waits for the member Kim. The API shows the message, and a worker shows the status. They do
    // so in any order.
    const { shown, ...left } = await outcome(known);
    expect(left).toEqual({ state: 'left', reason });
    expect(shown.toSorted()).toEqual(['ack', 'escalated', 'status']);
  });

  it('after an escalation for lack of answers, the agent confirms a request for a person once, and updates the ticket’s reason', async () => {
    const customer = await newMissed(orgId);
    const { ticket, events } = await customer.conversation();
    expect((await customer.ask('I want to talk to a human')).body).toBe(ownSentences.called.en);
    const asked = await customer.settled();
    expect(asked).toMatchObject({
      status: 'escalated',
      ticket: { ...ticket, reason: 'asked', updated_at: expect.any(Date) },
    });
    expect(asked.events).toEqual(events);
    for (const body of ['I want to talk to a human', 'What does the gannet card cost?']) {
      const before = (await customer.frames()).length;
      const id = await customer.say(body);
      expect(await outcomeOf(customer, id, before)).toEqual({ state: 'left', reason: 'asked', shown: ['ack'] });
    }
  });

  it('an answered question resets the count of questions without an answer', async () => {
    const customer = await newCustomer(orgId);
    await customer.ask('Do you sell umbrellas?');
    await customer.ask('What does the gannet card cost?');
    expect((await customer.ask('Do you sell umbrellas?')).body).toBe(ownSentences.notFound.en);
    expect((await customer.settled()).status).toBe('open');
  });

  it('a request for a person escalates the conversation without a search', async () => {
    const customer = await newCustomer(orgId);
    const answer = await customer.ask('Ich möchte mit einem Mitarbeiter sprechen');
    expect(answer).toMatchObject({ body: ownSentences.called.de, record: { searched: null, retrieved: [] } });
    expect(await customer.settled()).toMatchObject({ status: 'escalated', ticket: { reason: 'asked' } });
    const id = await customer.say('Was kostet die gannet card?');
    await customer.settled();
    expect((await MessageModel.findById(id).lean())?.state).toBe('left');
  });

  it('the “not found” sentence is in the language of the question, or of the previous message if the question is too short', async () => {
    const said = [
      ['Verkaufen Sie Regenschirme?', 'IBAN?', 'de'],
      ['Vendez-vous des parapluies ?', 'هل تبيعون المظلات؟', 'fr'],
      ['¿Venden paraguas?', 'Do you sell umbrellas?', 'es', 'en'],
      ['هل تبيعون المظلات؟', '???', 'en'],
    ] as const;
    await Promise.all(
      said.map(async ([first, second, language, then = language]) => {
        const customer = await newCustomer(orgId);
        expect((await customer.ask(first)).body).toBe(ownSentences.notFound[language]);
        expect((await customer.ask(second)).body).toBe(ownSentences.notFoundAgain[then]);
      }),
    );
  });

  it('a greeting or thanks is answered without a search, and is not counted as a question without an answer', async () => {
    const customer = await newCustomer(orgId);
    for (const [said, answer] of [
      ['Hello!', ownSentences.greeting.en],
      ['Do you sell umbrellas?', ownSentences.notFound.en],
      ['Merci beaucoup', ownSentences.thanks.fr],
    ])
      expect((await customer.ask(said!)).body).toBe(answer);
    expect((await customer.settled()).misses).toBe(1);
  });

  it('messages sent together are answered one by one in their order', async () => {
    const customer = await newCustomer(orgId);
    const ids = [];
    for (const body of ['What does the gannet card cost?', 'Is it free for students?', 'I lost my gannet card.'])
      ids.push(await customer.say(body));
    await customer.settled();
    const answers = (await customer.messages()).filter(({ role }) => role === 'ai');
    expect(answers.map(({ answers: to }) => to)).toEqual(ids);
    const frames = await customer.frames();
    expect(withoutGaps(frames)).toBe(true);
    expect(frames.filter(({ type }) => type === 'reply_end').map(({ body }) => body['message_id'])).toEqual(
      answers.map(({ _id }) => _id),
    );
  });

  it('a message that is resent with the same client_message_id is stored once and answered once', async () => {
    const customer = await newCustomer(orgId);
    const ids = await Promise.all([1, 2, 3].map(() => customer.say('What does the gannet card cost?', 'same')));
    expect(new Set(ids).size).toBe(1);
    await customer.answered(ids[0]!);
    expect((await customer.messages()).map(({ role }) => role)).toEqual(['customer', 'ai']);
  });

  it('a member’s reply and every status change are shown once, in order', async () => {
    const customer = await newCustomer(orgId);
    await customer.ask('A real person please');
    await customer.settled();
    await act(orgId, customer.convId, 'reply', 'Kim here.');
    await customer.settled();
    await act(orgId, customer.convId, 'resolve');
    await customer.settled();
    const frames = (await customer.frames()).filter(({ type }) =>
      ['agent_reply', 'status', 'escalated'].includes(type),
    );
    expect(frames.map(({ type, body }) => [type, body['status'] ?? body['sender_name']])).toEqual([
      ['escalated', undefined],
      ['status', 'escalated'],
      ['agent_reply', 'Kim'],
      ['status', 'pending'],
      ['status', 'resolved'],
    ]);
  });
});

describe('a customer’s message that reopens a resolved conversation', () => {
  beforeAll(ensureWorker);

  it('a conversation that a customer’s message reopens shows its new status even when the API process died before storing that message', async () => {
    const orgId = await newOrg([]);
    const customer = await newCustomer(orgId);
    const { convId } = customer;
    await customer.ask('Hello!');
    await act(orgId, convId, 'resolve');
    await customer.settled();
    // Performs only the first write of `acceptMessage`, as a process does that dies after it.
    const message = { body: 'Again.', byCustomer: true };
    await actOn(orgId, convId, 'message', { now: new Date(), message, attend: true });
    await customer.settled();
    expect((await customer.frames()).at(-1)).toMatchObject({ type: 'status', body: { status: 'open' } });
    await until(async () => !(await customer.conversation()).pending?.length, 'the intent to be settled');
  });

  it('a message that reopens a conversation shows the status “open” once, and leaves no workflow signal unsent', async () => {
    const orgId = await newOrg([]);
    const customer = await newCustomer(orgId);
    await customer.ask('Hello!');
    await act(orgId, customer.convId, 'resolve');
    await customer.settled();
    // When Temporal answers too slowly for the start, the sweeper settles the intent later.
    await until(async () => !(await customer.conversation()).pending?.length, 'the intent to resolve to be settled');
    await customer.ask('Hello!');
    const { status, pending } = await customer.settled();
    expect([status, pending ?? []]).toEqual(['open', []]);
    const told = (await customer.frames()).flatMap(({ type, body }) => (type === 'status' ? [body['status']] : []));
    expect(told).toEqual(['resolved', 'open']);
  });
});

describe('the product that is searched', () => {
  let orgId: string;
  beforeAll(async () => {
    await ensureWorker();
    orgId = await newOrg([
      { name: 'personal.md', content: 'The heron account costs 1 EUR a month.', segments: 'personal' },
      { name: 'business.md', content: 'The heron account costs 9 EUR a month.', segments: 'business' },
    ]);
  });
  const question = 'What does the heron account cost?';

  it.each(['business', 'all', '', ' ', { $ne: 'personal' }, ['business'], null])(
    'the agent answers from documents of the product that is set in the session, whatever product the page sends: %j',
    async (productType) => {
      const customer = await newCustomer(orgId, { productType: 'personal' });
      await refineConversation(orgId, customer.convId, { productType, segments: ['business'] });
      const answer = await customer.ask(question);
      expect([answer.body, answer.record?.['segments']]).toEqual([
        'The heron account costs 1 EUR a month.',
        ['personal'],
      ]);
    },
  );

  it('when the session sets no product, the agent answers from documents of the product that the page sends', async () => {
    const customer = await newCustomer(orgId);
    await refineConversation(orgId, customer.convId, { productType: 'business' });
    expect((await customer.ask(question)).body).toBe('The heron account costs 9 EUR a month.');
  });
});

describe('a message that arrives while a member marks the conversation as read', () => {
  beforeAll(stopWorkers);

  it('a message that is counted as unread before a member reads the conversation, but stored afterwards, stays unread', async () => {
    const customer = await newCustomer(newId('org'));
    const { org_id: orgId } = await customer.conversation();
    const messages = MessageModel.collection;
    const insertOne = messages.insertOne.bind(messages);
    messages.insertOne = async (...told) => {
      await markRead(orgId, customer.convId, new Date());
      return insertOne(...told);
    };
    try {
      await customer.say('My card was stolen!');
    } finally {
      messages.insertOne = insertOne;
    }
    expect((await customer.conversation()).unread).toBe(1);
  });
});

describe('the greeting of a socket that connects', () => {
  it('a new socket first gets the conversation’s current status, and then starts at the client’s resume number, if any', async () => {
    const customer = await newCustomer(newId('org'));
    await customer.say('Hello');
    const chosen = await customer.conversation();
    await actOn(chosen.org_id, chosen._id, 'escalate', { now: new Date() });
    const { status } = await customer.conversation();
    await conversationWriter(chosen, () => new Date()).append({ type: 'status', body: { status } });
    const last = await lastSeq(streamOf(chosen));
    for (const [resumeFrom, then] of [
      [undefined, last],
      [last, last],
      [0, 0],
    ] as const) {
      const told: [string, Record<string, unknown>][] = [];
      const socket = { seq: 0, tell: (type: string, body: Record<string, unknown>) => told.push([type, body]) };
      expect(await greet(socket as unknown as StreamSocket, chosen, resumeFrom)).toBe(true);
      const welcome = { conv_id: chosen._id, status, mode: 'test', reachable: false };
      expect([socket.seq, told[0]]).toEqual([then, ['welcome', welcome]]);
    }
  });

  it('a socket that connects gets no frame when its conversation has been deleted', async () => {
    const customer = await newCustomer(newId('org'));
    const chosen = await customer.conversation();
    await ConversationModel.deleteOne({ _id: chosen._id });
    const socket = { tell: () => expect(true).toBe(false) };
    expect(await greet(socket as unknown as StreamSocket, chosen, undefined)).toBe(false);
  });
});

describe('the reply limit of test mode', () => {
  it('over the reply limit of test mode, the answer names the limit, and the question does not count as unanswered', async () => {
    await startWorker({ LIMITS: 'test_replies_per_minute=1' });
    const orgId = await newOrg();
    const live = await newCustomer(orgId, { mode: 'live' });
    const bodies: string[] = [];
    // The minute of the limit may change in between, so more than two messages may be needed.
    const customer = await newCustomer(orgId);
    for (let asked = 0; asked < 4 && bodies.at(-1) !== ownSentences.overTestLimit.en; asked += 1)
      bodies.push((await customer.ask('What does the gannet card cost?')).body);
    expect(bodies[0]).toContain('12 EUR');
    expect(bodies.at(-1)).toBe(ownSentences.overTestLimit.en);
    expect(await customer.settled()).toMatchObject({ misses: 0, status: 'open' });
    for (let asked = 0; asked < 2; asked += 1)
      expect((await live.ask('Do you sell umbrellas?')).body).not.toBe(ownSentences.overTestLimit.en);
    await stopWorkers();
  });
});

describe('a worker that is killed while it answers', () => {
  const faults: [Fault, string][] = [
    ['answer claimed', 'What does the gannet card cost?'],
    ['answer begun', 'What does the gannet card cost?'],
    ['between chunks', 'What does the gannet card cost?'],
    ['answer unstored', 'What does the gannet card cost?'],
    ['answer stored', 'What does the gannet card cost?'],
    ['answer ended', 'What does the gannet card cost?'],
    ['escalated', 'I want to talk to a human'],
    ['before settling', 'I want to talk to a human'],
  ];
  let orgId: string;
  /** For each fault: the customer whose answer killed the worker, the message, and the signal that ended the worker. */
  const left = new Map<Fault, { customer: Customer; id: string; signal: unknown }>();
  /** A question that only the customer in `missing` asks. */
  const unanswered = 'Do you sell blue umbrellas?';
  let missing: { customer: Customer; id: string };

  /**
   * Kills one worker at each fault, each time with another customer's message. The next worker finds the unfinished
   * answers.
   */
  beforeAll(async () => {
    await stopWorkers();
    orgId = await newOrg();
    for (const [fault, body] of faults) {
      const customer = await newCustomer(orgId);
      const id = await customer.say(body);
      const faultOf = [customer.convId, id].join(',');
      const signal = await deathOf(startWorker({ FAULT: fault, FAULT_OF: faultOf }));
      left.set(fault, { customer, id, signal });
    }
    const customer = await newCustomer(orgId);
    const id = await customer.say(unanswered);
    await deathOf(startWorker({ FAULT: 'answer unstored', FAULT_OF: [customer.convId, id].join(',') }));
    missing = { customer, id };
    await startWorker();
  });
  afterAll(stopWorkers);

  it.each(faults)(
    'when a worker is killed at the step “%s”, another worker finishes exactly one answer without a missing frame',
    async (fault) => {
      const { customer, id, signal } = left.get(fault)!;
      expect(signal).toBe('SIGKILL');
      const answer = await customer.answered(id);
      const standing = await customer.settled();
      const frames = await customer.frames();
      expect((await customer.messages()).map(({ role }) => role)).toEqual(['customer', 'ai']);
      expect([withoutGaps(frames), [...shownBy(frames)]]).toEqual([
        true,
        [[answer._id, { text: answer.body, ends: 1 }]],
      ]);
      expect(typesOf(frames).filter((type) => type === 'ack')).toHaveLength(1);
      const person = answer.body === ownSentences.called.en;
      expect([standing.status, standing.events.length]).toEqual(person ? ['escalated', 2] : ['open', 0]);
      expect(typesOf(frames).filter((type) => ['escalated', 'status'].includes(type))).toHaveLength(person ? 2 : 0);
    },
  );

  it('a question without an answer that a killed worker had already counted is not counted again by the next worker', async () => {
    const answer = await missing.customer.answered(missing.id);
    expect(answer.body).toBe(ownSentences.notFound.en);
    expect(await missing.customer.settled()).toMatchObject({ status: 'open', misses: 1 });
    // At least two attempts; a busy machine may have lost one more.
    const attempts = (await MessageModel.findById(missing.id).lean())?.attempts;
    expect(attempts).toBeGreaterThanOrEqual(2);
    expect(answer.record).toMatchObject({ attempts });
    const counted = { org_id: orgId, mode: 'test', question: unanswered };
    const gaps = await mongoose.connection.collection('gaps').find(counted).toArray();
    expect(gaps).toMatchObject([{ count: 1, askers: [{ count: 1 }] }]);
  });

  // Only the activity is paused here. test/soak/ freezes whole processes, whose pollers hold on to tasks for a minute.
  it.each(['between chunks', 'answer unstored'] as const)(
    'a worker that was suspended at the step “%s” writes nothing when it resumes after another worker has answered',
    async (fault) => {
      await stopWorkers();
      await expectNothingOfSleeper(system, orgId, fault, 'sleep');
    },
  );
});

describe('a worker that is killed while it answers in a conversation that was escalated for lack of answers', () => {
  const known = 'What does the gannet card cost?';
  const announced = ['typing', 'reply_start', 'reply_chunk'];
  /** Each case also lists the frames that the customer gets. A stored answer is part of the history, so it is shown. */
  const cases: [Fault, 'takes over' | 'does nothing', 'left' | 'answered', string[]][] = [
    ['answer claimed', 'takes over', 'left', []],
    ['answer unstored', 'takes over', 'left', []],
    ['answer stored', 'takes over', 'answered', ['reply_end']],
    ['answer unstored', 'does nothing', 'answered', ['reply_end']],
  ];
  type Left = { customer: Customer; id: string; before: number; signal: unknown };
  const left: Left[] = [];

  beforeAll(async () => {
    await ensureWorker();
    const orgId = await newOrg();
    const customers: Customer[] = [];
    for (const _ of cases) customers.push(await newMissed(orgId));
    await stopWorkers();
    for (const [index, [fault, member]] of cases.entries()) {
      const customer = customers[index]!;
      const before = (await customer.frames()).length;
      const id = await customer.say(known);
      const signal = await deathOf(startWorker({ FAULT: fault, FAULT_OF: [customer.convId, id].join(',') }));
      if (member === 'takes over') await act(orgId, customer.convId, 'reply', 'Kim here.');
      left.push({ customer, id, before, signal });
    }
    await startWorker();
  });
  afterAll(stopWorkers);

  it.each(cases)(
    'when a worker dies at “%s” and the member then %s, the escalated customer’s message is “%s” (“left”: to the member)',
    async (fault, member, state, shown) => {
      const { customer, id, before, signal } = left[cases.findIndex(([f, m]) => f === fault && m === member)]!;
      expect(signal).toBe('SIGKILL');
      const outcome = await outcomeOf(customer, id, before);
      expect(outcome).toMatchObject({ state, reason: 'no_context' });
      expect(outcome.shown.filter((type) => type === 'reply_end' || announced.includes(type))).toEqual(shown);
      const roles = (await customer.messages()).slice(4).map(({ role }) => role);
      expect(roles.includes('ai')).toBe(state === 'answered');
    },
  );
});

describe('a member who takes over while the agent still searches for an answer', () => {
  afterAll(stopWorkers);

  it('a member who takes over while the agent searches for an answer stops the agent from answering', async () => {
    await ensureWorker();
    const orgId = await newOrg();
    const customer = await newMissed(orgId);
    await stopWorkers();
    // The whole process is stopped: a worker in which only the activity sleeps would take the next attempt itself.
    const slow = await startWorker({ FAULT: 'answer claimed', FAULT_SIGNAL: 'SIGSTOP', FAULT_OF: orgId });
    const fallen = once(slow.child, 'message');
    const before = (await customer.frames()).length;
    const id = await customer.say('What does the gannet card cost?');
    await fallen;
    await act(orgId, customer.convId, 'reply', 'Kim here.');
    slow.child.kill('SIGCONT');
    const { state, shown } = await outcomeOf(customer, id, before);
    await slow.stop();
    expect([state, shown]).toEqual(['left', ['ack', 'agent_reply', 'status']]);
    expect((await customer.messages()).map(({ role }) => role).slice(4)).toEqual(['customer', 'agent']);
  });
});

describe('an organization whose answers come from a language model', () => {
  let orgId: string;
  const models = () => ({ OPENAI_BASE_URL: model.baseUrl, OPENAI_MODEL: 'm' });
  beforeAll(async () => {
    // The timeout is longer than a busy machine delays the model, and longer than the model stalls in these tests.
    await startWorker({ ...models(), OPENAI_TIMEOUT_MS: '60000' });
    orgId = await newOrg();
  });
  afterAll(stopWorkers);
  const question = 'What does the gannet card cost?';

  it('a sentence that the passages do not support is dropped from the answer and noted in the record', async () => {
    const made = 'With the code OSPREY-9 it costs 7 EUR.';
    model.reply = () =>
      JSON.stringify({ answered: true, sources: [1], answer: `It costs 12 EUR a year. ${made} Students pay nothing.` });
    const customer = await newCustomer(orgId);
    const answer = await customer.ask(question);
    expect(answer).toMatchObject({ body: 'It costs 12 EUR a year. Students pay nothing.', has_context: true });
    expect(answer.record).toMatchObject({ generated_by: 'model', dropped: [made] });
    const frames = await customer.frames();
    expect([...shownBy(frames)]).toEqual([[answer._id, { text: answer.body, ends: 1 }]]);
  });

  it('an answer without any supported sentence counts as no answer, and the text already shown is withdrawn', async () => {
    model.reply = () => JSON.stringify({ answered: true, sources: [1], answer: 'It costs 7 EUR. Ask Mister Osprey.' });
    const customer = await newCustomer(orgId);
    const answer = await customer.ask(question);
    expect(answer).toMatchObject({ body: ownSentences.notFound.en, has_context: false, sources: [] });
    expect(answer).not.toHaveProperty('confidence');
    const frames = await customer.frames();
    expect([...shownBy(frames.slice(0, -1))][0]?.[1].text).toBe(answer.body);
    expect((await customer.conversation()).misses).toBe(1);
  });

  it('the model gets the session’s context, in which the page can replace every value except the product', async () => {
    model.requests.length = 0;
    const context = { productType: 'retail', plan: 'gold', desk: 7 };
    const customer = await newCustomer(orgId, { productType: 'retail', context });
    await refineConversation(orgId, customer.convId, { productType: 'business', plan: 'none', url: '/fees' });
    await customer.ask(question);
    const sent = model.requests.map(({ body }) => JSON.stringify(body)).join('\n');
    const told = { productType: 'retail', plan: 'none', desk: 7, url: '/fees' };
    expect(sent).toContain(JSON.stringify(JSON.stringify(told)).slice(1, -1));
    expect(sent).not.toContain('gold');
    expect(sent).not.toContain('business');
    // The context is stored with the conversation, so it outlives the session.
    expect((await customer.conversation()).session_context?.context).toEqual(context);
  });

  it.each([
    ['writes', JSON.stringify({ answered: true, sources: [1], answer: 'It costs 12 EUR a year.' }), 'changed'],
    ['fails to write', 'no', 'model'],
  ])(
    'an answer is withdrawn when the customer loses access to its document while the model %s',
    async (_, content, why) => {
      const elsewhere = await newOrg();
      model.reply = async () => {
        await DocumentModel.updateMany({ org_id: elsewhere }, { segments: ['staff'] });
        return content;
      };
      const customer = await newCustomer(elsewhere, { productType: 'retail' });
      const answer = await customer.ask(question);
      expect(answer.body).toBe(ownSentences.notFound.en);
      expect(answer.record?.model_error).toContain(why);
      expect([...shownBy(await customer.frames())]).toEqual([[answer._id, { text: answer.body, ends: 1 }]]);
    },
  );

  const losesNothing = async (_: string, script: readonly Script[]): Promise<void> => {
    // The script is given twice, in case a busy machine loses an attempt.
    model.script(...script, ...script);
    const customer = await newCustomer(orgId);
    const answer = await customer.ask(question);
    expect(answer.body).toContain('12 EUR');
    expect(answer.record).toMatchObject({ generated_by: 'extractive', model_error: expect.stringContaining('model') });
    const frames = await customer.frames();
    expect([withoutGaps(frames), [...shownBy(frames)]]).toEqual([true, [[answer._id, { text: answer.body, ends: 1 }]]]);
    expect(shownBy(frames.slice(0, -1)).get(answer._id)?.text).toBe(answer.body);
  };
  const nonsense = { kind: 'reply', content: 'no' } as const;

  it.each<[string, readonly Script[]]>([
    ['breaks off and then fails to correct its answer', [{ kind: 'truncate', after: 60 }, nonsense]],
    ['writes an unusable answer twice', [nonsense, nonsense]],
  ])('when a model %s, the answer is quoted from the sources, and the record says why', losesNothing);

  it('an answer is streamed while the model writes, and is restarted under the same id when the worker is killed', async () => {
    await stopWorkers();
    const patient = { ...models(), OPENAI_TIMEOUT_MS: '60000' };
    const text = 'It costs 12 EUR a year, and nothing for students under 26.';
    const whole = JSON.stringify({ answered: true, sources: [1], answer: text });
    model.reply = () => whole;
    model.script({ kind: 'stall', after: whole.indexOf(' a year') });
    const worker = await startProcess('test/kit/worker.ts', workerEnv(patient));
    const customer = await newCustomer(orgId);
    const id = await customer.say(question);
    const begun = await until(async () => {
      const frames = await customer.frames();
      // How much text the first piece has is left to chance.
      return [...shownBy(frames).values()].some(({ text: seen }) => seen.startsWith('It costs')) && frames;
    }, 'the first pieces');
    expect(typesOf(begun)).not.toContain('reply_end');
    await worker.kill();
    await startWorker(patient);
    const answer = await customer.answered(id);
    expect(answer.record).toMatchObject({ generated_by: 'model', model: 'm' });
    const frames = await customer.frames();
    // At least two attempts: the killed one and the one that answered; a busy machine may have lost another.
    expect(typesOf(frames).filter((type) => type === 'reply_start').length).toBeGreaterThanOrEqual(2);
    expect([...shownBy(frames)]).toEqual([[answer._id, { text: answer.body, ends: 1 }]]);
  });

  describe('with a short timeout', () => {
    beforeAll(async () => {
      await stopWorkers();
      await startWorker({ ...models(), OPENAI_TIMEOUT_MS: '3000' });
    });

    it.each<[string, readonly Script[]]>([
      ['is over its limit', Array.from({ length: 8 }, () => ({ kind: 'status', status: 429 }))],
      ['fails', Array.from({ length: 8 }, () => ({ kind: 'status', status: 500 }))],
      ['hangs', [{ kind: 'hang' }]],
      ['stalls in the middle of its answer', [{ kind: 'stall', after: 60 }]],
    ])('when a model %s, the answer is quoted from the sources, and the record says why', losesNothing);

    it('a model that hangs while it interprets a message is not asked to answer the same message', async () => {
      const customer = await newCustomer(orgId);
      await customer.ask(question);
      model.requests.length = 0;
      model.script({ kind: 'hang' });
      const answer = await customer.ask('And what does the gannet card cost students?');
      expect(answer.record).toMatchObject({
        generated_by: 'extractive',
        model_error: expect.stringContaining('in time'),
      });
      expect(model.requests).toHaveLength(1);
    });
  });
});
