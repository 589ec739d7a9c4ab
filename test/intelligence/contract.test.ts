/**
 * Guarantees of every implementation of a language model's jobs: a model at a loopback endpoint, the built-in rules,
 * and the fallback of a failing model. The last part tests what the fallback adds.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelJobs } from '../../intelligence/fallback.ts';
import { withFallback } from '../../intelligence/fallback.ts';
import type { AnswerAsk, Listener, ToolAsk } from '../../intelligence/intelligence.ts';
import { createOffline } from '../../intelligence/offline/offline.ts';
import { decisions } from '../../models/rules/interviews/interview.ts';
import type { Interviewed } from '../../models/rules/interviews/evaluation.ts';
import type { ApprovedTool } from '../../models/rules/mcp/tool.ts';
import { intelligenceAt, modelAt, withoutEmbedding } from '../kit/intelligence.ts';
import { startOpenAiServer, type ChatRequest, type OpenAiServer } from '../kit/openai-server.ts';
import { judgedPassage as passage } from '../kit/judged.ts';

const gold = passage('gold', 'The gold card costs 49 EUR a year.');
const asked: AnswerAsk = {
  body: 'What does the gold card cost a year?',
  history: [],
  language: 'en',
  found: {
    confidence: 'high',
    hits: [gold, passage('blue', 'The blue card is free for students.')],
    offers: [],
    asking: 'What does the gold card cost a year?',
    degraded: false,
    sentences: async () => new Map(),
  },
  mayOffer: true,
};
const unanswered: AnswerAsk = {
  ...asked,
  body: 'Who feeds the parrot?',
  found: { ...asked.found, asking: 'Who feeds the parrot?' },
};
const offering: AnswerAsk = { ...asked, found: { ...asked.found, confidence: 'low', hits: [], offers: [gold] } };

const tool = {
  source_name: 'order_status',
  tool_name: 'order_status',
  description: 'The delivery status of an order by its order number.',
  input_schema: { type: 'object', properties: { order_number: { type: 'string' } }, required: ['order_number'] },
  kind: 'resource',
  risk_tier: 'read_private',
  auth_scope: 'public',
  enabled: true,
  timeout_ms: 1_000,
  allowed_channels: ['chat'],
  pin: 'pin',
} satisfies ApprovedTool;
const wanting = (body: string): ToolAsk => ({
  body,
  history: [],
  request: [],
  toolbox: { offered: [tool], email: undefined, made: [] },
  now: new Date('2026-11-18T10:00:00Z'),
});

const said = [
  ['Ann', 'The launch of the shop is on the first of December.'],
  ['Bob', 'I will send the price list to Ann by Friday.'],
  ['Ann', 'Thanks. The budget of 5,000 euros is decided.'],
  ['Bob', 'The printer delivers the flyers on Monday.'],
].map(([speaker, text], n) => ({ id: `s${n}`, speaker: speaker!, text: text!, at: new Date(n), is_ai: false }));
const members = [
  { userId: 'ann', name: 'Ann Lee', email: 'ann@example.com' },
  { userId: 'bob', name: 'Bob Miller', email: 'bob@example.com' },
];
const meeting = { said, members, startedAt: new Date('2026-11-18T10:00:00Z'), zone: 'UTC' };

const question = { question_id: 'q_1', category: 'technical', body: 'Describe a project with PostgreSQL.' };
const told = 'I migrated our billing to PostgreSQL in 2023, because the reports took 40 minutes.';
const interviewed: Interviewed = {
  questions: [question],
  criteria: ['Depth', 'Clarity'],
  said: [
    {
      id: 'a',
      speaker: 'Candidate',
      text: told,
      at: new Date(0),
      is_ai: false,
      role: 'candidate',
      question_id: 'q_1',
    },
  ],
};
const order = { role_title: 'Engineer', skills: ['Go'], criteria: [], count: 2, categories: ['technical'] };
const task = {
  title: 'Fix the export',
  priority: 'medium',
  status: 'pending',
  email_execution_enabled: false,
} as const;

/** Replies of a model that does each job well. */
function reply({ tools, messages, response_format }: ChatRequest): string | { calls: object[] } {
  const whole = messages.map(({ content }) => content).join('\n');
  if (tools) {
    const order_number = /A-\d+/u.exec(messages.at(-1)!.content)?.[0];
    if (!messages.at(-1)!.content.includes('order')) return 'NONE';
    return { calls: [{ name: 'order_status', arguments: { ...(order_number && { order_number }) } }] };
  }
  const { name } = (response_format as { json_schema: { name: string } }).json_schema;
  const replies: Record<string, object> = {
    support_answer: whole.includes('parrot')
      ? { answered: false, sources: [], answer: '' }
      : { answered: true, sources: [1], answer: 'The gold card costs 49 EUR a year.' },
    support_question: { question: 'Is the gold card free for students?' },
    interview_draft: {
      role_title: 'Analyst',
      skills: ['SQL'],
      evaluation_criteria: [],
      question_count: 3,
      mode: null,
      when: 'tomorrow at 3pm',
      meeting_url: null,
      candidate_email: 'li@example.com',
      candidate_name: null,
    },
    interview_questions: {
      questions: [
        { category: 'technical', body: 'How do you test a service in Go?' },
        { category: 'technical', body: 'How do you find a leak in Go?' },
      ],
    },
    follow_up: { follow_up: 'You spoke of 40 minutes: what did you measure first?' },
    interview_summary: { summary: 'The candidate migrated billing to PostgreSQL.' },
    interview_scores: {
      scores: interviewed.criteria.map((criterion) => ({ criterion, score: 7, quote: told })),
      strengths: ['Gives reasons.'],
      concerns: [],
      recommendation: 'next_round',
    },
    meeting_summary: {
      summary: 'The shop opens soon. Bob sends the prices. The budget is decided. Flyers come on Monday.',
      key_points: ['The budget of 5,000 euros is decided.'],
      action_items: ['Bob: send the price list'],
    },
    meeting_tasks: {
      tasks: [
        {
          title: 'Send the price list to Ann',
          quote: 'I will send the price list to Ann by Friday',
          assignee: 'Bob',
          due: 'by Friday',
          priority: null,
        },
      ],
    },
    task_review: { vague: [], title: 'Fix the export', description: 'Which export?' },
  };
  return JSON.stringify(replies[name]);
}

let server: OpenAiServer;
beforeAll(async () => {
  server = await startOpenAiServer();
  server.reply = reply as OpenAiServer['reply'];
});
afterAll(() => server.close());
afterEach(() => {
  server.reset();
  server.reply = reply as OpenAiServer['reply'];
});

const offline = createOffline({ embedding: withoutEmbedding });
/** Intelligence whose model always fails, because no server listens at its endpoint. */
const failing = (failed?: (error: unknown) => void) => intelligenceAt('http://127.0.0.1:1/v1', failed);

/** Records what a customer sees while an answer is written, and how often the answer was restarted. */
function watching() {
  const seen = { shown: '', again: 0 };
  const listener: Listener = {
    async piece(text) {
      seen.shown += text;
    },
    async again() {
      seen.shown = '';
      seen.again += 1;
    },
  };
  return { seen, listener };
}

const implementations: readonly [name: string, jobs: () => ModelJobs, by: string][] = [
  ['a model', () => modelAt(server.baseUrl), 'model'],
  ['the built-in rules', () => offline, 'extractive'],
  ['the fallback of a model that fails', failing, 'extractive'],
];

describe.each(implementations)('%s', (_, jobsOf, by) => {
  it('answer() uses the words of the passages, names the used passages, and shows the whole answer', async () => {
    const { seen, listener } = watching();
    const written = await jobsOf().answer(asked, { listener });
    expect(written).toMatchObject({
      text: expect.stringContaining('49 EUR'),
      used: ['gold'],
      by: { generated_by: by },
    });
    expect(seen.shown).toBe(written.text);
  });

  it('answer() returns the same result with and without a listener', async () => {
    const { listener } = watching();
    expect(await jobsOf().answer(asked)).toEqual(await jobsOf().answer(asked, { listener }));
  });

  it('answer() shows and returns no text when the passages do not answer the question', async () => {
    const { seen, listener } = watching();
    const written = await jobsOf().answer(unanswered, { listener });
    expect([written.text, written.used, written.by.generated_by, seen.shown]).toEqual([undefined, [], by, '']);
  });

  it('rewrite() turns a message into one line for the search', async () => {
    const history = [{ role: 'customer', body: 'What does the gold card cost?' }];
    const body = 'And for students?';
    const rewritten = await jobsOf().rewrite({ body, history, read: await offline.read({ body, history }) });
    expect(rewritten).toMatch(/^[^\n]*gold card[^\n]*$/u);
  });

  it('chooseTool() returns either a call with the customer’s arguments, or the names of missing arguments, or undefined', async () => {
    const choose = async (body: string) => jobsOf().chooseTool(wanting(body));
    expect([
      await choose('What is the delivery status of order A-1042?'),
      await choose('What is the delivery status of my order?'),
      await choose('Do you sell parrots?'),
    ]).toEqual([{ call: { tool, arguments: { order_number: 'A-1042' } } }, { missing: ['order_number'] }, undefined]);
  });

  it('draftInterview() reads the fields of an interview from the prompt, and returns the time in the prompt’s own words', async () => {
    const prompt = 'Interview an analyst who knows SQL tomorrow at 3pm, li@example.com, 3 questions';
    const { words, generated_by } = await jobsOf().draftInterview({ prompt });
    expect(words).toMatchObject({ candidate_email: 'li@example.com', question_count: 3, skills: ['SQL'] });
    expect([words.when.includes('tomorrow at 3pm'), prompt.includes(words.when), generated_by]).toEqual([
      true,
      true,
      by,
    ]);
  });

  it('writeQuestions() returns the requested number of distinct questions in the requested categories', async () => {
    const { questions, generated_by } = await jobsOf().writeQuestions(order);
    expect([questions.length, new Set(questions.map(({ body }) => body)).size]).toEqual([2, 2]);
    expect([new Set(questions.map(({ category }) => category)), generated_by]).toEqual([new Set(['technical']), by]);
  });

  it('suggest() returns a follow-up to the last answer', async () => {
    const suggestions = await jobsOf().suggest({
      questions: [question],
      asked: ['q_1'],
      said: interviewed.said,
      language: 'en',
    });
    expect(suggestions.filter(({ kind }) => kind === 'follow_up')).toEqual([
      { kind: 'follow_up', body: expect.stringMatching(/\S.{8,}/u) },
    ]);
  });

  it('summarizeInterview() returns a summary with the questions and answers of the interview', async () => {
    const { answered, items, summary, generated_by } = await jobsOf().summarizeInterview(interviewed);
    expect([answered, items[0]!.answer, summary.length > 0, generated_by]).toEqual([1, told, true, by]);
  });

  it('score() rates each criterion from 0 to 10, and gives no score to a silent candidate', async () => {
    const scored = await jobsOf().score({ interviewed, role: 'Engineer' });
    expect(scored!.scores.map(({ criterion }) => criterion)).toEqual(interviewed.criteria);
    for (const { score } of scored!.scores) expect(score >= 0 && score <= 10).toBe(true);
    expect(decisions).toContain(scored!.recommendation);
    expect(scored!.generated_by === 'model').toBe(by === 'model');
    expect(await jobsOf().score({ interviewed: { ...interviewed, said: [] }, role: 'Engineer' })).toBeUndefined();
  });

  it('summarizeMeeting() returns a summary, key points and action items', async () => {
    const made = await jobsOf().summarizeMeeting({ ...meeting, mode: 'short' });
    expect(made).toEqual({
      summary: expect.stringMatching(/\S/u),
      key_points: expect.arrayContaining([expect.stringMatching(/\S/u)]),
      action_items: expect.any(Array),
      generated_by: by,
    });
  });

  it('findTasks() quotes the transcript and returns due date and assignee', async () => {
    const { tasks, generated_by } = await jobsOf().findTasks(meeting);
    expect([tasks.length, generated_by]).toEqual([1, by]);
    expect(tasks[0]).toMatchObject({ segment: 's1', assignee: { userId: 'bob' }, due: '2026-11-20' });
    expect(said[1]!.text).toContain(tasks[0]!.quote);
  });

  it('reviewTask() says what a task lacks and suggests words for it', async () => {
    const { missing, suggestion, generated_by } = await jobsOf().reviewTask({ task, today: '2026-11-18' });
    expect(missing.map(({ field }) => field)).toEqual(['assigned_to', 'due_date', 'description']);
    expect([suggestion.title, generated_by]).toEqual(['Fix the export', by]);
  });
});

describe('offers', () => {
  it.each([implementations[1]!, implementations[2]!])(
    'with %s, an answer offers no passages when `mayOffer` is false, and has `withheld` instead',
    async (_, jobsOf) => {
      expect(await jobsOf().answer(offering)).toMatchObject({ offers: [{ passage: 'gold' }] });
      const withheld = await jobsOf().answer({ ...offering, mayOffer: false });
      expect([withheld.text, withheld.withheld]).toEqual([undefined, true]);
    },
  );

  it('a model answers from passages of low confidence itself, and does not offer them to the customer', async () => {
    const { text, offers } = await modelAt(server.baseUrl).answer({ ...offering, mayOffer: false });
    expect([text, offers]).toEqual(['The gold card costs 49 EUR a year.', undefined]);
  });
});

describe('the fallback', () => {
  it('the fallback classifies messages by the built-in rules and calls no model', async () => {
    const ask = { body: 'I want to talk to a person', history: [] };
    expect(await intelligenceAt(server.baseUrl).read(ask)).toEqual(await offline.read(ask));
    expect(server.requests).toEqual([]);
  });

  it('the fallback returns the result of a model that works', async () => {
    const failures: unknown[] = [];
    const jobs = intelligenceAt(server.baseUrl, (error) => failures.push(error));
    expect(await jobs.answer(asked)).toEqual(await modelAt(server.baseUrl).answer(asked));
    expect(await jobs.findTasks(meeting)).toMatchObject({ generated_by: 'model' });
    expect(failures).toEqual([]);
  });

  it('the fallback records in the answer why the model failed, and reports the failure once', async () => {
    const failures: unknown[] = [];
    const { by } = await failing((error) => failures.push(error)).answer(asked);
    expect(by).toEqual({ generated_by: 'extractive', model_error: expect.stringContaining('language model') });
    expect(failures).toHaveLength(1);
  });

  it('the fallback withdraws the shown part of an answer that the model did not finish', async () => {
    const { seen, listener } = watching();
    server.script({ kind: 'truncate', after: 60 }, { kind: 'status', status: 401 });
    const written = await intelligenceAt(server.baseUrl).answer(asked, { listener });
    expect([seen.again, seen.shown, written.by.generated_by]).toEqual([1, written.text, 'extractive']);
  });

  it('with `atOnce`, the fallback answers without calling the model', async () => {
    expect(await intelligenceAt(server.baseUrl).answer(asked, { atOnce: true })).toEqual(await offline.answer(asked));
    expect(server.requests).toEqual([]);
  });

  it('with `atOnce`, the fallback writes interview questions without calling the model', async () => {
    const jobs = intelligenceAt(server.baseUrl);
    expect(await jobs.writeQuestions(order, { atOnce: true })).toEqual(await offline.writeQuestions(order));
    expect(server.requests).toEqual([]);
  });

  it('the fallback recognizes, without calling the model, which interview question was asked', async () => {
    const ask = { questions: [question], asked: [], text: question.body };
    expect(await intelligenceAt(server.baseUrl).recognizeQuestion(ask)).toBe(question.question_id);
    expect(server.requests).toEqual([]);
  });

  it('the fallback passes on an abort by the caller and does not report it as a failure of the model', async () => {
    const failures: unknown[] = [];
    const leaving = new AbortController();
    server.script({ kind: 'hang' });
    const answering = intelligenceAt(server.baseUrl, (error) => failures.push(error)).answer(asked, {
      signal: leaving.signal,
    });
    void server.next().then(() => leaving.abort(new Error('the caller left')));
    await expect(answering).rejects.toThrow('the caller left');
    expect(failures).toEqual([]);
  });

  it('the fallback passes on an error of the listener and does not report it as a failure of the model', async () => {
    const failures: unknown[] = [];
    const listener: Listener = {
      piece: async () => Promise.reject(new Error('not stored')),
      again: async () => undefined,
    };
    const jobs = intelligenceAt(server.baseUrl, (error) => failures.push(error));
    await expect(jobs.answer(asked, { listener })).rejects.toThrow('not stored');
    expect(failures).toEqual([]);
  });

  it('the report of a failed model job names the job and the context that the caller gave', async () => {
    const failures: unknown[] = [];
    const jobs = withFallback(modelAt('http://127.0.0.1:1/v1'), offline, (...failure) => failures.push(failure));
    await jobs.writeQuestions(order, { about: { org_id: 'org_1' } });
    expect(failures).toEqual([
      ['writeQuestions', expect.objectContaining({ code: 'MODEL_FAILED' }), { org_id: 'org_1' }],
    ]);
  });

  it('`asksModel` is true only when a model is configured', () => {
    expect([intelligenceAt(server.baseUrl).asksModel, offline.asksModel]).toEqual([true, false]);
  });
});
