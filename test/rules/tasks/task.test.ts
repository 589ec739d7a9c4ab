import { describe, expect, it } from '@jest/globals';
import { checkAssignee, checkLinking, dueDateOf, outdatesReview } from '../../../models/rules/tasks/task.ts';

const path = ['body', 'due_date'];

describe('dueDateOf', () => {
  it.each([
    ['2026-12-01', '2026-12-01'],
    ['2026-12-01T10:00:00+01:00', '2026-12-01T09:00:00.000Z'],
    ['2026-12-01T10:00:00Z', '2026-12-01T10:00:00.000Z'],
  ])('the due date %s is stored as %s', (given, stored) => {
    expect(dueDateOf(given, path)).toBe(stored);
  });

  it.each(['1815-12-10', '9999-01-01T00:00:00Z'])(
    'the due date %s is refused with an error that names the field',
    (given) => {
      expect(() => dueDateOf(given, path)).toThrow(
        expect.objectContaining({ code: 'VALIDATION', details: [expect.objectContaining({ path })] }),
      );
    },
  );
});

describe('checkAssignee', () => {
  it('a member, nobody, or no change is accepted as the assignee', () => {
    for (const given of ['usr_1', null, undefined]) expect(() => checkAssignee(given, ['usr_1'])).not.toThrow();
  });

  it('a user who is not a member is refused as the assignee', () => {
    expect(() => checkAssignee('usr_2', ['usr_1'])).toThrow(expect.objectContaining({ code: 'VALIDATION' }));
  });
});

describe('checkLinking', () => {
  it.each([
    [{}, 'mtg_1', true],
    [{ session_id: 'mtg_1' }, null, true],
    [{ session_id: 'mtg_1', source_quote: 'I will.' }, 'mtg_1', true],
    [{ session_id: 'mtg_1', source_quote: 'I will.' }, undefined, true],
    [{ session_id: 'mtg_1', source_quote: 'I will.' }, 'mtg_2', false],
    [{ session_id: 'mtg_1', source_quote: 'I will.' }, null, false],
  ] as const)('the task %j may change its meeting to %s: %s', (task, asked, allowed) => {
    const check = () => checkLinking(task, asked);
    if (allowed) expect(check).not.toThrow();
    else expect(check).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
  });
});

describe('outdatesReview', () => {
  it('a task’s review is outdated by a change of the title, and not by a change of the status', () => {
    expect(outdatesReview(['status', 'title'])).toBe(true);
    expect(outdatesReview(['status', 'email_execution_enabled'])).toBe(false);
  });
});
