import { describe, expect, it } from '@jest/globals';
import {
  executionOutcome,
  isFinal,
  maxTries,
  planSteps,
  stepIntegrations,
  stepStatuses,
  stepWaitMs,
  unsettledMs,
  type Executable,
  type Step,
  type StepStatus,
} from '../../../models/rules/tasks/execution.ts';
import { integrationStatuses } from '../../../models/rules/integrations/integration.ts';
import { issueText, slackTaskText, taskMail } from '../../../models/rules/tasks/tasktext.ts';

const all: Executable = {
  connections: { linear: 'connected', github: 'connected', slack: 'connected' },
  email_execution_enabled: true,
  mailable: true,
};
const step = (integration: Step['integration'], status: StepStatus, more: Partial<Step> = {}): Step => ({
  integration,
  status,
  attempts: 2,
  tries: 2,
  ...more,
});

describe('the steps of an execution', () => {
  it('an execution plans all applicable steps in a fixed order', () => {
    expect(planSteps([], all)).toEqual(
      stepIntegrations.map((integration) => ({ integration, status: 'running', attempts: 0, tries: 0 })),
    );
  });

  it.each(
    (['linear', 'github', 'slack'] as const).flatMap((integration) =>
      integrationStatuses.map((status) => [integration, status] as const),
    ),
  )(
    'the %s step with a %s connection runs when connected, fails when broken, and is skipped when disconnected',
    (integration, status) => {
      const connections = { ...all.connections, [integration]: status };
      const expected = { connected: 'running', broken: 'failed', disconnected: 'skipped' }[status];
      const planned = planSteps([], { ...all, connections }).find((one) => one.integration === integration);
      expect([planned!.status, planned!.error !== undefined]).toEqual([expected, status !== 'connected']);
    },
  );

  it.each([
    [true, true, 'running'],
    [true, false, 'skipped'],
    [false, true, 'skipped'],
    [false, false, 'skipped'],
  ])(
    'with mails allowed: %s and a recipient: %s, the mail step of an execution is %s',
    (email_execution_enabled, mailable, expected) => {
      const planned = planSteps([], { ...all, email_execution_enabled, mailable });
      expect(planned.find(({ integration }) => integration === 'email')!.status).toBe(expected);
    },
  );

  it.each(stepStatuses.filter((status) => status !== 'running'))(
    'a new execution plans a step with the earlier status %s again, unless the step succeeded',
    (status) => {
      const first_at = new Date(0);
      const before = step('github', status, { first_at, url: 'https://x.example', error: 'It failed.', target: 'C1' });
      const planned = planSteps([before], all).find(({ integration }) => integration === 'github')!;
      if (status === 'succeeded') expect(planned).toEqual(before);
      // A repeated step first looks at its old target for what an earlier attempt created.
      else
        expect(planned).toEqual({
          integration: 'github',
          status: 'running',
          attempts: 2,
          tries: 0,
          first_at,
          target: 'C1',
        });
    },
  );
});

describe('executionOutcome', () => {
  const subsets = stepStatuses.reduce<StepStatus[][]>(
    (sets, one) => [...sets, ...sets.map((set) => [...set, one])],
    [[]],
  );
  it.each(subsets.map((set) => [set.join(', ') || 'none', set] as const))(
    'an execution with step statuses %s completes when none runs, none failed, and one succeeded or was suppressed',
    (_, set) => {
      const expected = set.includes('running')
        ? 'running'
        : set.includes('failed') || !(set.includes('succeeded') || set.includes('suppressed'))
          ? 'failed'
          : 'completed';
      expect(executionOutcome(set.map((status) => step('linear', status)))).toBe(expected);
    },
  );
});

describe('wait times', () => {
  const usual = { retryAfterMs: undefined, unanswered: false, random: 0 };
  it.each(stepIntegrations)(
    'the waits between attempts of the %s step never get shorter, and no wait follows the last attempt',
    (integration) => {
      const tries = Array.from({ length: maxTries(integration) }, (_, at) => at + 1);
      const waits = tries.map((count) => stepWaitMs(integration, count, usual));
      expect(waits.at(-1)).toBeUndefined();
      const made = waits.slice(0, -1) as number[];
      expect(made.length).toBeGreaterThanOrEqual(4);
      expect(made).toEqual(made.toSorted((a, b) => a - b));
    },
  );
  it('a step’s next attempt waits for Retry-After, up to an hour, and at least 10 s after an attempt without a reply', () => {
    expect(stepWaitMs('github', 1, { ...usual, retryAfterMs: 42_000 })).toBe(42_000);
    expect(stepWaitMs('github', 1, { ...usual, retryAfterMs: 86_400_000 })).toBe(3_600_000);
    expect(stepWaitMs('github', 1, { ...usual, unanswered: true })).toBe(unsettledMs);
    expect(stepWaitMs('github', 1, { ...usual, random: 1 })).toBe(1_200);
  });
});

describe('isFinal', () => {
  it.each([
    [{}, false],
    [{ status_code: 503, retryAfterMs: 1_000 }, false],
    [{ permanent: true }, true],
    // The next execution retries the step after the service is connected again.
    [{ unauthorized: true, permanent: false }, true],
  ])('a step is given up after a refusal with the properties %j: %s', (refusal, expected) => {
    expect(isFinal(refusal)).toBe(expected);
  });
});

describe('the text of a task in other services', () => {
  const told = {
    task_id: 'task_1',
    title: 'Call <!channel> the bank',
    priority: 'high' as const,
    due_date: '2026-12-24',
  };
  it('the text of an issue contains the task’s id and the task fields for which the service has no field', () => {
    expect(issueText(told, { fields: true })).toBe('Priority high · Due 2026-12-24 · Task task_1');
    expect(issueText({ ...told, description: 'A *list*', assignee: '@ada [x](y)' }, { fields: false })).toBe(
      'A *list*\n\nAssigned to ada  x (y) · Task task_1',
    );
  });
  it.each([
    ['Los Angeles', '2026-12-25T01:00:00.000Z'],
    ['Tokyo', '2026-12-23T23:00:00.000Z'],
  ])('every text of a task from a meeting in %s names the day there of the due date %s', (_, due_date) => {
    const due = { ...told, due_date, due_day: '2026-12-24' };
    expect(issueText(due, { fields: true })).toContain('Due 2026-12-24');
    expect(slackTaskText(due, undefined)).toContain('due 2026-12-24');
    expect(taskMail(due, 'Bank').text).toContain('Due: 2026-12-24');
  });
  it('text from a meeting is shown literally in an issue', () => {
    const text = issueText({ ...told, description: '# @all', source_quote: '``` @all' }, { fields: false });
    expect(text).toBe('```\n# @all\n```\n\nSaid in a meeting:\n\n````\n``` @all\n````\n\nTask task_1');
  });
  it('a Slack message about a task mentions only the assignee', () => {
    expect(slackTaskText(told, 'U1')).toBe(
      '*Task* for <@U1>: Call &lt;!channel&gt; the bank\nPriority high · due 2026-12-24 · Task task_1',
    );
  });
  it('a task mail has a subject of one line', () => {
    expect(taskMail({ ...told, title: 'A\r\nBcc: x@y.example' }, 'Bank').subject).toBe('Task: A Bcc: x@y.example');
  });
});
