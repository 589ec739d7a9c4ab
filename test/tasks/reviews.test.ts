/** Reviews of tasks: over HTTP by rules, and by a language model whose reply is checked. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startOpenAiServer, type OpenAiServer } from '../kit/openai-server.ts';
import { system, type TestOrg } from '../kit/harness.ts';
import { intelligenceAt } from '../kit/intelligence.ts';
import type { Reviewed } from '../../intelligence/offline/review.ts';

const api = system();
let org: TestOrg;
let server: OpenAiServer;
beforeAll(async () => {
  org = await api.newOrg();
  server = await startOpenAiServer();
});
afterAll(() => server.close());
afterEach(() => server.reset());

const call = (method: string, path = '', body?: object, by = org.owner) =>
  api.request(method, `/orgs/${org.orgId}/tasks${path}`, { token: by.token, ...(body ? { body } : {}) });

describe('POST /orgs/{orgId}/tasks/{taskId}/lira-review', () => {
  it('reviewing a task lists what is missing or vague, suggests a better wording, and says why the task cannot be executed', async () => {
    const { task_id: id } = (await call('POST', '', { title: 'we need to fix it asap' })).body.data;
    const { status, body } = await call('POST', `/${id}/lira-review`);
    expect([status, body.data]).toEqual([
      200,
      {
        task_id: id,
        review_status: 'needs_changes',
        missing: ['assigned_to', 'due_date', 'description'].map((field) => ({ field, message: expect.any(String) })),
        vague: [
          { field: 'title', words: ['it'], message: expect.any(String) },
          { field: 'title', words: ['asap'], message: expect.any(String) },
        ],
        suggestion: {
          title: 'Fix it',
          description: 'To be settled: who does it; until when; how to tell that it is done.',
        },
        executable: false,
        blockers: expect.arrayContaining(['Linear is not connected.']),
        steps: ['linear', 'github', 'slack', 'email'].map((integration) => ({
          integration,
          applies: false,
          reason: expect.any(String),
        })),
        generated_by: 'extractive',
      },
    ]);
    expect((await call('GET', `/${id}`)).body.data.review_status).toBe('needs_changes');
  });

  it('a review marks a task that lacks nothing as ready, and a later change of its content removes the mark', async () => {
    const full = {
      title: 'Send the budget sheet to Ada',
      description: 'Done when Ada has confirmed it.',
      assigned_to: org.owner.userId,
      due_date: '2999-01-01',
    };
    const { task_id: id } = (await call('POST', '', full)).body.data;
    expect((await call('POST', `/${id}/lira-review`)).body.data).toMatchObject({ review_status: 'ready', vague: [] });
    const { data: kept } = (await call('PUT', `/${id}`, { status: 'in_progress' })).body;
    expect(kept.review_status).toBe('ready');
    const { data: changed } = (await call('PUT', `/${id}`, { title: 'Send the sheet' })).body;
    expect(changed.review_status).toBe('not_reviewed');
  });

  it('reviewing a task is for members: others get 404, as for an unknown task', async () => {
    const { task_id: id } = (await call('POST', '', { title: 'Send the sheet' })).body.data;
    const outside = await call('POST', `/${id}/lira-review`, undefined, await api.newUser());
    expect([outside.status, (await call('POST', '/task_none/lira-review')).status]).toEqual([404, 404]);
  });
});

describe('a review by a model', () => {
  const failures: unknown[] = [];
  const reviewed: Reviewed = {
    title: 'Fix it for the 3 customers',
    description: 'The export is broken.',
    priority: 'medium',
    status: 'pending',
    email_execution_enabled: false,
  };
  const review = () => {
    failures.length = 0;
    const ai = intelligenceAt(server.baseUrl, (error) => failures.push(error));
    return ai.reviewTask({ task: reviewed, today: '2026-11-18' });
  };
  const good = {
    vague: [{ field: 'description', words: 'broken', message: 'Say what happens.' }],
    title: 'Repair the export for the 3 customers',
    description: 'The export is broken. What happens?',
  };
  const reply = (value: object) => ({ kind: 'reply' as const, content: JSON.stringify(value) });

  it('a review by a model adds remarks to those of the rules, and suggests a wording', async () => {
    server.script(reply(good));
    expect(await review()).toMatchObject({
      missing: [{ field: 'assigned_to' }, { field: 'due_date' }],
      vague: [
        { field: 'title', words: ['it'] },
        { field: 'description', words: ['broken'], message: 'Say what happens.' },
      ],
      suggestion: { title: good.title, description: good.description },
      generated_by: 'model',
    });
  });

  it.each([
    ['a number that the task does not have', { ...good, title: 'Repair the export by 17:30' }, '17'],
    ['words that nobody wrote', { ...good, vague: [{ field: 'title', words: 'never said', message: 'No.' }] }, 'never'],
  ])(
    'a model’s review with %s is requested once more, and then the review by the rules is used instead',
    async (_, value, named) => {
      server.script(reply(value), reply(value));
      expect(await review()).toMatchObject({
        generated_by: 'extractive',
        suggestion: { title: 'Fix it for the 3 customers' },
      });
      expect([failures.length, server.requests.length]).toEqual([1, 2]);
      expect(server.requests[1]!.body.messages.at(-1)!.content).toContain(named);
    },
  );
});
