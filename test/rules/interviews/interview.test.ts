import { describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { criteriaOf } from '../../../models/rules/interviews/criteria.ts';
import {
  allowedIn,
  interviewStatuses,
  isFinal,
  lookPause,
  newState,
  next,
  operationNames,
  operations,
  refusalOf,
  rejoinPause,
  unique,
  type InterviewStatus,
  type Operation,
} from '../../../models/rules/interviews/interview.ts';
import { nextInvitation } from '../../../models/rules/interviews/invitation.ts';

/** The transitions of the API contract, written down a second time: for each state, where each operation leads. */
const expected: Record<InterviewStatus, Partial<Record<Operation, InterviewStatus>>> = {
  draft: { update: 'draft', schedule: 'scheduled', start: 'bot_deployed', cancel: 'cancelled', delete: 'draft' },
  scheduled: { update: 'scheduled', start: 'bot_deployed', cancel: 'cancelled', delete: 'scheduled' },
  bot_deployed: {
    join: 'in_progress',
    join_failed: 'scheduled',
    no_show: 'cancelled',
    refuse: 'cancelled',
    rejoin: 'bot_deployed',
    cancel: 'cancelled',
    delete: 'bot_deployed',
  },
  in_progress: {
    no_show: 'cancelled',
    rejoin: 'in_progress',
    end: 'evaluating',
    cancel: 'cancelled',
    delete: 'in_progress',
  },
  evaluating: {
    evaluate: 'evaluating',
    score: 'completed',
    decide: 'evaluating',
    scorecard: 'evaluating',
    cancel: 'cancelled',
    delete: 'evaluating',
  },
  completed: { decide: 'completed', scorecard: 'completed', delete: 'completed' },
  cancelled: { delete: 'cancelled' },
};
const all = interviewStatuses.flatMap((status) => operationNames.map((operation) => [status, operation] as const));

describe('next', () => {
  it.each(all)(
    'in state %s the operation %s leads to the state that the API contract says, or is refused',
    (status, operation) => {
      expect(next(status, operation)).toBe(expected[status][operation]);
    },
  );

  it('the refusal of an operation names the state, the operation and the allowed operations', () => {
    for (const [status, operation] of all) {
      const { message, transition } = refusalOf(status, operation);
      expect(transition).toEqual({ from: status, operation, allowed: Object.keys(expected[status]) });
      expect(message).toContain(status);
    }
  });

  it('no operation leaves a final state of an interview, and every other state can be cancelled', () => {
    for (const status of interviewStatuses) {
      const leads = allowedIn(status).filter((operation) => next(status, operation) !== status);
      expect([status, leads.length === 0]).toEqual([status, isFinal(status)]);
      expect(isFinal(status) || next(status, 'cancel') === 'cancelled').toBe(true);
    }
  });

  it('every state of an interview can be reached from a draft', () => {
    const reached = new Set<InterviewStatus>(['draft']);
    for (const status of reached)
      for (const operation of operationNames) reached.add(next(status, operation) ?? status);
    expect([...reached].toSorted()).toEqual([...interviewStatuses].toSorted());
  });
});

describe('docs/interviews.md', () => {
  it('docs/interviews.md shows the states that allow each operation and the state that follows', async () => {
    const text = await readFile(new URL('../../../docs/interviews.md', import.meta.url), 'utf8');
    const rows = text
      .split('\n')
      .filter((line) => /^\| `\w+` +\|/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, 4)
          .map((cell) => cell.trim()),
      );
    const table = operationNames.map((operation) => {
      const { from, to } = operations[operation];
      const states = from.length === interviewStatuses.length ? 'every state' : from.join(', ');
      return [`\`${operation}\``, states, to];
    });
    expect(rows.filter(([name]) => operationNames.some((operation) => name === `\`${operation}\``))).toEqual(table);
  });
});

describe('pauses', () => {
  it('the pauses before a bot rejoins and before a silent bot is polled again grow up to a maximum', () => {
    expect([1, 2, 3, 4, 5, 9].map(rejoinPause)).toEqual([15_000, 30_000, 60_000, 120_000, 180_000, 180_000]);
    expect([0, 1, 4, 9].map(lookPause)).toEqual([60_000, 120_000, 960_000, 960_000]);
  });
});

describe('criteriaOf', () => {
  it('an interview uses the given criteria without duplicates, or else the skills, or else default criteria', () => {
    expect(criteriaOf(['Clarity', ' clarity ', 'SQL'], ['Go'])).toEqual(['Clarity', 'SQL']);
    expect(criteriaOf(undefined, ['Go'])).toEqual(['Go']);
    expect(criteriaOf([], [])).toHaveLength(3);
    expect(criteriaOf(undefined, unique(Array.from({ length: 30 }, (_, n) => `Skill ${n}`)))).toHaveLength(20);
  });
});

describe('newState', () => {
  it('a new interview is a draft, or in the state to which its first transitions lead', () => {
    expect(newState([], undefined)).toMatchObject({ status: 'draft', seq: 0 });
    const at = '2026-11-20T09:00:00.000Z';
    const moves = [{ seq: 1, from: 'draft', to: 'scheduled', operation: 'schedule', actor: 'usr_1', at }] as const;
    expect(newState(moves, at)).toMatchObject({ status: 'scheduled', seq: 1, dueAt: at });
  });
});

describe('nextInvitation', () => {
  it('a candidate whose address was replaced and restored gets an update with the new room link', () => {
    const now = new Date('2026-11-20T09:00:00.000Z');
    const planned = {
      status: 'scheduled' as const,
      history: [],
      candidate: { email: 'ada@candidate.example' },
      scheduled_at: new Date('2026-11-21T09:00:00.000Z'),
    };
    const first = nextInvitation(planned, undefined, now)!;
    expect(nextInvitation({ ...planned, invited: first }, undefined, now)).toBeUndefined();
    const update = nextInvitation({ ...planned, invited: first, replaced: 2 }, undefined, now)!;
    expect(update).toEqual({ ...first, sequence: 1, replaced: 2 });
    expect(nextInvitation({ ...planned, invited: update, replaced: 2 }, undefined, now)).toBeUndefined();
    // The link of an external call stays the same.
    const elsewhere = 'https://meet.example/1';
    const invited = nextInvitation(planned, elsewhere, now)!;
    expect(nextInvitation({ ...planned, invited, replaced: 2 }, elsewhere, now)).toBeUndefined();
  });
});
