import { describe, expect, it } from '@jest/globals';
import { changedFields, taskEvents, type TaskFacts } from '../../../models/rules/tasks/events.ts';
import { executionStatuses, taskStatuses } from '../../../models/rules/tasks/task.ts';

const facts: TaskFacts = {
  title: 'Send the sheet',
  priority: 'medium',
  status: 'pending',
  email_execution_enabled: false,
  execution_status: 'not_started',
};

describe('taskEvents', () => {
  it.each([
    [facts, ['task_created']],
    [{ ...facts, assigned_to: 'usr_1' }, ['task_created', 'task_assigned']],
    [{ ...facts, assigned_to: 'usr_1', status: 'completed' }, ['task_created', 'task_assigned', 'task_completed']],
  ] as const)('a new task %j causes the events %j', (after, events) => {
    expect(taskEvents(undefined, after)).toEqual(events);
  });

  it('a task without a change causes no event', () => {
    expect(taskEvents(facts, { ...facts })).toEqual([]);
  });

  it.each([
    ['title', 'Other'],
    ['description', 'More'],
    ['assignee_email', 'ada@example.com'],
    ['priority', 'urgent'],
    ['task_type', 'bug'],
    ['due_date', '2026-12-01'],
    ['session_id', 'mtg_1'],
    ['email_execution_enabled', true],
    ['status', 'in_progress'],
    ['status', 'cancelled'],
  ] as const)('a change of the task field %s to %j causes the event task_updated', (field, value) => {
    expect(taskEvents(facts, { ...facts, [field]: value })).toEqual(['task_updated']);
    expect(changedFields(facts, { ...facts, [field]: value })).toEqual([field]);
  });

  it.each(taskStatuses.flatMap((from) => taskStatuses.map((to) => [from, to] as const)))(
    'a task’s status change from %s to %s causes task_completed only when the task becomes completed',
    (from, to) => {
      const expected = from === to ? [] : to === 'completed' ? ['task_completed'] : ['task_updated'];
      expect(taskEvents({ ...facts, status: from }, { ...facts, status: to })).toEqual(expected);
    },
  );

  it('a new assignee causes the event task_assigned, and the removal of the assignee causes task_updated', () => {
    const [ada, bob] = [
      { ...facts, assigned_to: 'usr_ada' },
      { ...facts, assigned_to: 'usr_bob' },
    ];
    expect(taskEvents(facts, ada)).toEqual(['task_assigned']);
    expect(taskEvents(ada, bob)).toEqual(['task_assigned']);
    expect(taskEvents(ada, facts)).toEqual(['task_updated']);
  });

  it.each(executionStatuses.flatMap((from) => executionStatuses.map((to) => [from, to] as const)))(
    'an execution status change from %s to %s causes task_executed only when a running execution ended',
    (from, to) => {
      const ended = from === 'running' && (to === 'completed' || to === 'failed');
      expect(taskEvents({ ...facts, execution_status: from }, { ...facts, execution_status: to })).toEqual(
        ended ? ['task_executed'] : [],
      );
    },
  );

  it('several events of one change are sent in a fixed order', () => {
    const before = { ...facts, execution_status: 'running' as const };
    const after: TaskFacts = {
      ...facts,
      title: 'Other',
      assigned_to: 'usr_1',
      status: 'completed',
      execution_status: 'failed',
    };
    expect(taskEvents(before, after)).toEqual(['task_assigned', 'task_updated', 'task_completed', 'task_executed']);
  });
});
