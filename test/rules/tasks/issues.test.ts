import { describe, expect, it } from '@jest/globals';
import { inboundTriedForMs } from '../../../models/rules/events/inbound.ts';
import {
  changeByGithub,
  changeByLinear,
  changeByStanding,
  differing,
  noteOf,
  type IssueFacts,
} from '../../../models/rules/tasks/issues.ts';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const facts: IssueFacts = { title: 'Call the bank', text: 'Soon.', priority: 2, due: null, status: 'pending' };

describe('differing', () => {
  it('all fields of a task are sent to an issue whose values are not known yet', () => {
    expect(differing(facts, undefined, now)).toEqual({ news: facts, held: false });
  });

  it('a field of a task is sent again when it differs from the value that is still being sent', () => {
    const known = { ...facts, sending: { title: 'Call the bank' } };
    expect(differing({ ...facts, title: 'Write to the bank' }, known, now)).toEqual({
      news: { title: 'Write to the bank' },
      held: false,
    });
  });

  it('a task’s value is sent to the issue again when a different value was sent later and got no reply', () => {
    const known = { ...facts, sending: { status: 'completed' as const, due: '2026-03-02' } };
    expect(differing(facts, known, now)).toEqual({ news: { due: null, status: 'pending' }, held: false });
    expect(differing({ ...facts, status: 'completed' }, known, now).news).toEqual({ due: null, status: 'completed' });
  });

  it('a field changed in the issue is not sent to the issue while the change is being written into the task', () => {
    const known = { ...facts, coming: { status: 'in_progress' as const } };
    const wanted = { ...facts, title: 'Write to the bank' };
    const title = { title: 'Write to the bank' };
    expect(differing(wanted, { ...known, coming_at: ago(inboundTriedForMs - 1) }, now)).toEqual({
      news: title,
      held: true,
    });
    expect(differing(wanted, { ...known, coming_at: ago(inboundTriedForMs) }, now)).toEqual({
      news: { ...title, status: 'pending' },
      held: false,
    });
    const arrived = { ...wanted, status: 'in_progress' as const };
    expect(differing(arrived, { ...known, coming_at: now }, now)).toEqual({ news: title, held: false });
  });
});

describe('noteOf', () => {
  const lost = { ...facts, sending: { status: 'completed' as const, title: 'Sent' } };

  it('a sent value without a reply is stored as the issue’s value when another value is sent', () => {
    const known = { ...lost, ...noteOf({ status: 'pending' }, lost) };
    expect(known).toEqual({ ...facts, status: 'completed', sending: { status: 'pending' } });
    expect(changeByGithub({ title: facts.title, state: 'closed' }, known).moves).toBe(false);
    expect(differing(facts, known, now).news).toEqual({ status: 'pending' });
  });

  it('a value that is sent again still counts as being sent until the service replies', () => {
    const known = { ...lost, ...noteOf({ status: 'completed', title: 'Sent' }, lost) };
    expect(known).toEqual(lost);
    const wanted = { ...facts, status: 'completed' as const, title: 'Sent' };
    expect(differing(wanted, known, now).news).toEqual({ status: 'completed', title: 'Sent' });
  });
});

describe('changeByLinear', () => {
  it('a Linear event changes the task when it sets a field back to a value that was sent to Linear earlier', () => {
    const known = { ...facts, title: 'Written in Linear', sending: null };
    expect(changeByLinear({ title: 'Call the bank' }, known).names).toEqual(['title']);
  });

  it('a Linear event changes nothing in the task when its values are known or still being sent to Linear', () => {
    const known = { ...facts, sending: { priority: 1 } };
    expect(changeByLinear({ title: 'Call the bank', priority: 1, dueDate: null }, known).names).toEqual([]);
  });
});

describe('a due date with an hour', () => {
  it('a Linear event changes the due date of a task only when it names another day than the task shows', () => {
    const task = {
      title: 'Call the bank',
      priority: 'high' as const,
      due_date: '2026-12-05T01:00:00.000Z',
      due_day: '2026-12-04',
    };
    const changed = (dueDate: string) => changeByLinear({ dueDate }, undefined).changeOf(task);
    expect(changed('2026-12-04')).toEqual({});
    expect(changed('2026-12-05')).toEqual({ due_date: '2026-12-05' });
  });
});

describe('changeByStanding', () => {
  const stands = { title: 'Call the bank', priority: 2, dueDate: null, state: { id: 's1', type: 'unstarted' } };
  const started = { id: 's2', type: 'started' };
  it.each([
    ['an issue as it is known', {}, {}],
    ['what was just sent there', { priority: 1 }, {}],
    ['a title that Linear spaces in its own way', { title: ' Call  the bank ' }, {}],
    ['a title', { title: 'Theirs' }, { title: 'Theirs' }],
    ['a due date', { dueDate: '2026-03-02' }, { due: '2026-03-02' }],
    ['a move', { state: started }, { status: 'in_progress' }],
    ['a move within one status', { state: { id: 's3', type: 'backlog' } }, {}],
    ['a state of a type that is not known here', { state: { id: 's4', type: 'waiting' } }, {}],
  ])('a comparison with the current issue changes a task only where the issue has changed: %s', (_, change, news) =>
    expect(changeByStanding({ ...stands, ...change }, { ...facts, sending: { priority: 1 } }, 's1').facts).toEqual(
      news,
    ),
  );

  it('an issue state that was known before does not change the status of the task', () =>
    expect(changeByStanding(stands, { ...facts, status: 'in_progress' }, 's1').facts).toEqual({}));

  it('the current state of an issue changes only the fields of the task that differ', () => {
    const { changeOf } = changeByStanding({ ...stands, title: 'Theirs', state: started }, facts, 's1');
    const task = { title: 'Call the bank', priority: 'high' as const };
    expect(changeOf(task)).toEqual({ title: 'Theirs', status: 'in_progress' });
  });
});
