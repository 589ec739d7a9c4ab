import { describe, expect, it } from '@jest/globals';
import { findingsOf, type Reviewed } from '../../intelligence/offline/review.ts';
import { executabilityOf } from '../../models/rules/tasks/review.ts';
import type { Executable, Step } from '../../models/rules/tasks/execution.ts';

const clear: Reviewed = {
  title: 'Send the budget sheet to Ada',
  description: 'The sheet of November, as a PDF. Done when Ada has confirmed that she has it.',
  assigned_to: 'usr_1',
  priority: 'medium',
  status: 'pending',
  due_date: '2026-12-01',
  email_execution_enabled: false,
};
const without = (...fields: (keyof Reviewed)[]): Reviewed =>
  Object.fromEntries(Object.entries(clear).filter(([field]) => !fields.includes(field as keyof Reviewed))) as Reviewed;
const today = '2026-11-18';

describe('findingsOf', () => {
  it('the review of a complete task finds nothing missing or vague, and suggests the same title and description', () => {
    expect(findingsOf(clear, today)).toEqual({
      missing: [],
      vague: [],
      suggestion: { title: clear.title, description: clear.description },
    });
  });

  it.each(['assigned_to', 'due_date', 'description'] as const)(
    'the review of a task without %s reports this field as missing',
    (field) => {
      const { missing, suggestion } = findingsOf(without(field), today);
      expect(missing.map((one) => one.field)).toEqual([field]);
      expect(suggestion.description).toContain('To be settled: ');
    },
  );

  it('the review of a task accepts an assignee outside of the organization', () => {
    expect(findingsOf({ ...without('assigned_to'), assignee_email: 'eve@example.com' }, today).missing).toEqual([]);
  });

  it.each([
    ['Fix it', 'title', ['it']],
    ['Send some stuff to Ada', 'title', ['some', 'stuff']],
    ['Improve the dashboard', 'title', ['improve']],
    ['Send the sheet asap', 'title', ['asap']],
    ['Maybe call the bank', 'title', ['maybe']],
    ['Invoices', 'title', ['Invoices']],
  ] as const)('the review of a task reports the title %j as vague', (title, field, words) => {
    expect(
      findingsOf({ ...clear, title }, today).vague.flatMap((one) => (one.field === field ? one.words : [])),
    ).toEqual(words);
  });

  it.each([
    'Report that the page is down',
    'List the orders of it-services',
    'Renew this licence',
    'Ask IT for access',
    'Sign the contract and send it',
    'Deploy version 2',
  ])('the review of a task does not report the title %j as vague', (title) => {
    const { vague } = findingsOf({ ...clear, title }, today);
    expect(vague).toEqual([]);
  });

  it('a due date in the past is reported as vague for an open task', () => {
    expect(findingsOf({ ...clear, due_date: '2026-11-17' }, today).vague).toMatchObject([{ field: 'due_date' }]);
    expect(findingsOf({ ...clear, due_date: '2026-11-18' }, today).vague).toEqual([]);
    expect(findingsOf({ ...clear, due_date: '2026-11-17', status: 'completed' }, today).vague).toEqual([]);
  });

  it.each([
    ['we need to fix the login bug asap', 'Fix the login bug'],
    ['please send the sheet.', 'Send the sheet'],
    ['Could you call the bank?', 'Call the bank'],
    ['TODO: delete the staging database', 'Delete the staging database'],
    ['asap', 'Asap'],
  ])('the review of a task with the title %j suggests the title %j', (title, suggested) => {
    expect(findingsOf({ ...clear, title }, today).suggestion.title).toBe(suggested);
  });

  it('the description that the review of a task suggests contains the quote from the meeting', () => {
    const { suggestion } = findingsOf({ ...without('description'), source_quote: 'I will send it.' }, today);
    expect(suggestion.description).toBe(
      'Said in the meeting: “I will send it.”\n\nTo be settled: how to tell that it is done.',
    );
  });
});

describe('executabilityOf', () => {
  const nothing: Executable = { connections: {}, email_execution_enabled: false, mailable: false };
  const linear: Executable = { ...nothing, connections: { linear: 'connected', github: 'broken' } };
  const task = { status: 'pending', execution_status: 'not_started' as const };

  it('a task without any connected service is not executable, and every reason is given', () => {
    const { possible, reasons, steps } = executabilityOf(task, nothing);
    expect([possible, reasons.length, steps.map(({ applies }) => applies)]).toEqual([
      false,
      4,
      [false, false, false, false],
    ]);
  });

  it('a task with one connected service is executable, whatever the state of the other services', () => {
    const { possible, reasons, steps } = executabilityOf(task, linear);
    expect([possible, reasons]).toEqual([true, []]);
    expect(steps).toMatchObject([
      { integration: 'linear', applies: true },
      { integration: 'github', applies: false, reason: expect.stringContaining('again') },
      { integration: 'slack', applies: false },
      { integration: 'email', applies: false },
    ]);
  });

  it.each([
    [{ ...task, execution_status: 'running' as const }, 'executed'],
    [{ ...task, status: 'cancelled' }, 'cancelled'],
  ])('the task %j is not executable, and the reason contains “%s”', (standing, why) => {
    const { possible, reasons } = executabilityOf(standing, linear);
    expect([possible, reasons.join(' ')]).toEqual([false, expect.stringContaining(why)]);
  });

  it('an execution step that has succeeded is not executed again', () => {
    const steps: Step[] = [{ integration: 'linear', status: 'succeeded', attempts: 1, tries: 1 }];
    const { possible, reasons } = executabilityOf({ ...task, steps }, linear);
    expect([possible, reasons[0]]).toEqual([false, 'It has succeeded already.']);
  });
});
