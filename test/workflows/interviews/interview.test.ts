/**
 * Tests the workflow of an interview on a server that skips time: its clock, a bot that fails, drops out or meets
 * nobody, and its end.
 */
import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowUpdateFailedError, type WorkflowHandle } from '@temporalio/client';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import { ask, moves, outside, world } from './interviewworld.ts';
import type { InterviewActivities } from '../../../activities/interviews/interview.ts';
import { newState, type InterviewState, type Move } from '../../../models/rules/interviews/interview.ts';
import type { BotState } from '../../../models/rules/interviews/bot.ts';
import { endMove, joinMove, refuseMove, type RoomMove } from '../../../models/rules/interviews/room.ts';
import { searchAttributes } from '../../../workflows/attributes.ts';
import {
  botReported,
  interview,
  removeInterviewNow,
  reloadInterview,
  roomChanged,
} from '../../../workflows/interviews/interview.ts';
import { readRefusal } from '../../../workflows/base/refusal.ts';

const ref = { orgId: 'org_1', interviewId: 'int_1' };
const { tell, now, pass } = stories();
const minute = 60_000;
const dayMs = 86_400_000;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

/**
 * Waits until the workflow has nothing left to do at the current server time; the server's clock does not wait for
 * activities.
 */
async function idle(handle: WorkflowHandle): Promise<void> {
  for (let seen = 0; seen < 2;) {
    // A query is answered after the workflow tasks that came before it.
    await detailsOf(handle);
    const { pendingActivities } = (await handle.describe()).raw;
    // A failed activity waits for the server's clock before its retry.
    const isBusy = pendingActivities?.some(({ lastFailure }) => lastFailure == null) ?? false;
    seen = isBusy ? 0 : seen + 1;
  }
}

/** Advances the server's clock minute by minute until the condition holds. */
async function later(handle: WorkflowHandle, holds: () => boolean): Promise<void> {
  for (;;) {
    await idle(handle);
    if (holds()) return;
    await pass(minute);
  }
}

/**
 * A service that refuses every request. `isHopeless`: whether it was asked more often than any workflow should ask, so
 * that a test ends when its workflow does not.
 */
function refusing() {
  let asked = 0;
  return {
    asked: () => asked,
    isHopeless: () => asked > 200,
    refuse: async (): Promise<never> => {
      asked += 1;
      throw new Error('the service answered 401');
    },
  };
}

/** The times of the status changes, in minutes since the first one. */
const minutes = (history: readonly Move[]) =>
  history.map(({ at }) => Math.round((Date.parse(at) - Date.parse(history[0]!.at)) / minute));

describe('interview', () => {
  it('the interview workflow notifies the candidate when the interview is scheduled, rescheduled and cancelled', async () => {
    const { invited, activities } = world({ dueAt: new Date(Date.now() + 30 * dayMs).toISOString(), invites: true });
    await tell(interview, [ref], activities, async (handle) => {
      await until(() => invited.length === 1);
      await handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      await until(() => invited.length === 2);
      await ask(handle, 'cancel');
    });
    expect(invited).toEqual(['draft', 'scheduled', 'cancelled']);
  });

  it('the interview workflow goes from draft to scores, with every status change in the history, and shows its state to operators', async () => {
    const { record, activities } = world();
    const shown: unknown[] = [];
    const { result, calls } = await tell(interview, [ref], activities, async (handle) => {
      // The caller can store the change at once: the reply contains what the workflow itself stores afterwards.
      expect(await ask(handle, 'start')).toMatchObject({
        seq: 2,
        state: { status: 'bot_deployed', seq: 2 },
        moves: [{ operation: 'schedule' }, { operation: 'start' }],
      });
      await until(() => record.state.bot !== undefined);
      shown.push((await handle.describe()).typedSearchAttributes.get(searchAttributes.status), await detailsOf(handle));
      await ask(handle, 'join');
      await ask(handle, 'end');
      await until(() => record.state.summarized === true);
      await ask(handle, 'evaluate');
      await ask(handle, 'score');
    });
    expect(result).toBe('completed');
    expect(moves(record.history)).toEqual([
      ['draft', 'scheduled', 'schedule', 'usr_1'],
      ['scheduled', 'bot_deployed', 'start', 'usr_1'],
      ['bot_deployed', 'in_progress', 'join', 'usr_1'],
      ['in_progress', 'evaluating', 'end', 'usr_1'],
      ['evaluating', 'evaluating', 'evaluate', 'usr_1'],
      ['evaluating', 'completed', 'score', 'usr_1'],
    ]);
    expect(record.history.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(calls.filter((name) => name === 'summarizeInterview')).toHaveLength(2);
    expect(shown[0]).toBe('bot_deployed');
    expect(shown[1]).toMatch(
      /^bot_deployed: people to join\n[^]*\| until \| 20\d\d-[^]*\n\nLast move: scheduled → bot_deployed by `start` of usr_1 at /,
    );
  });

  it('an interview that is scheduled a month ahead is started by its workflow’s timer, to the minute', async () => {
    const begun = await now();
    const dueAt = new Date(begun + 31 * dayMs).toISOString();
    const { record, activities } = world({ dueAt });
    record.state = newState(
      [{ seq: 1, from: 'draft', to: 'scheduled', operation: 'schedule', actor: 'usr_1', at: dueAt }],
      dueAt,
    );
    const { result, skippedMs } = await tell(interview, [ref], activities);
    // The interview is cancelled, because nobody joined.
    expect(result).toBe('cancelled');
    expect(moves(record.history)).toEqual([
      ['scheduled', 'bot_deployed', 'start', 'clock'],
      ['bot_deployed', 'cancelled', 'no_show', 'clock', 'candidate_no_show'],
    ]);
    expect(Math.abs(Date.parse(record.history[0]!.at) - Date.parse(dueAt))).toBeLessThan(minute);
    expect(minutes(record.history)).toEqual([0, 10]);
    expect(skippedMs).toBeGreaterThanOrEqual(31 * dayMs);
  });

  it('the interview workflow starts a rescheduled interview by its timer at the new time', async () => {
    const begun = await now();
    const { record, activities } = world({ deploy: [{ refused: 'bad_link' }, outside('bot_2')] });
    record.due = new Date(begun + 30 * dayMs).toISOString();
    await tell(interview, [ref], activities, async (handle) => {
      await handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      expect(record.state).toMatchObject({ status: 'scheduled', dueAt: record.due });
      record.due = new Date((await now()) + dayMs).toISOString();
      await handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      await pass(dayMs);
      await later(handle, () => record.state.status === 'in_progress');
      await ask(handle, 'cancel');
    });
    const [, start] = record.history;
    expect([start!.operation, start!.actor]).toEqual(['start', 'clock']);
    expect(Math.abs(Date.parse(start!.at) - Date.parse(record.due))).toBeLessThan(minute);
  });

  it('the clock does not start an interview more than 15 minutes late, and the failure “late” disappears when a member sets another time', async () => {
    const dueAt = new Date((await now()) - 16 * minute).toISOString();
    const { record, activities } = world({ dueAt });
    record.state = { ...newState([], dueAt), status: 'scheduled' };
    const { calls } = await tell(interview, [ref], activities, async (handle) => {
      await until(() => record.state.startedFor !== undefined);
      expect(record.state).toMatchObject({ status: 'scheduled', failure: 'late', startedFor: dueAt });
      await idle(handle);
      expect(await detailsOf(handle)).toMatch(/failed last \| late/);
      record.due = new Date((await now()) + 60 * minute).toISOString();
      await handle.executeUpdate(reloadInterview, { args: [{ actor: 'usr_1' }] });
      expect(record.state).toMatchObject({ status: 'scheduled', dueAt: record.due });
      expect(record.state.failure).toBeUndefined();
      expect(await detailsOf(handle)).not.toMatch(/failed last \| late/);
      await pass(60 * minute);
      await later(handle, () => record.state.bot !== undefined);
      expect(record.state.failure).toBeUndefined();
      await ask(handle, 'cancel');
    });
    expect(moves(record.history)).toEqual([
      ['scheduled', 'bot_deployed', 'start', 'clock'],
      ['bot_deployed', 'cancelled', 'cancel', 'usr_1'],
    ]);
    expect(calls.filter((name) => name === 'deployBot')).toHaveLength(1);
  });

  it('the clock starts an interview that is at most 15 minutes late', async () => {
    const dueAt = new Date((await now()) - 10 * minute).toISOString();
    const { record, activities } = world({ dueAt });
    record.state = { ...newState([], dueAt), status: 'scheduled' };
    await tell(interview, [ref], activities, async (handle) => {
      await until(() => record.state.bot !== undefined);
      await ask(handle, 'cancel');
    });
    expect(moves(record.history)[0]).toEqual(['scheduled', 'bot_deployed', 'start', 'clock']);
  });

  it('an interview for which no bot can join within 15 minutes returns to scheduled, and does not start again by itself', async () => {
    const dueAt = new Date((await now()) + dayMs).toISOString();
    const { record, activities } = world({ dueAt, deploy: [{ refused: 'bad_link' }] });
    record.state = { ...newState([], dueAt), status: 'scheduled' };
    const { calls, result } = await tell(interview, [ref], activities, async (handle) => {
      await pass(dayMs);
      await later(handle, () => record.history.length === 2);
      expect(record.state).toMatchObject({ status: 'scheduled', failure: 'bad_link', startedFor: dueAt });
      await ask(handle, 'cancel');
    });
    expect(result).toBe('cancelled');
    expect(moves(record.history)).toEqual([
      ['scheduled', 'bot_deployed', 'start', 'clock'],
      ['bot_deployed', 'scheduled', 'join_failed', 'clock', 'bad_link'],
      ['scheduled', 'cancelled', 'cancel', 'usr_1'],
    ]);
    expect(minutes(record.history).slice(0, 2)).toEqual([0, 15]);
    expect(calls.filter((name) => name === 'deployBot').length).toBeGreaterThanOrEqual(6);
  });

  it('the interview workflow sends another bot after one that failed before joining, and continues when that one joins', async () => {
    const { record, activities, dismissed, collected } = world({
      deploy: [outside('bot_1'), outside('bot_2')],
      looks: [
        { phase: 'failed', reason: 'service' },
        { phase: 'waiting' },
        { phase: 'recording' },
        { phase: 'done', reason: 'ended' },
      ],
    });
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await until(() => record.state.bot?.id === 'bot_1');
      await handle.signal(botReported);
      await later(handle, () => record.state.summarized === true);
      await ask(handle, 'score');
    });
    expect(moves(record.history).slice(2)).toEqual([
      ['bot_deployed', 'in_progress', 'join', 'bot'],
      ['in_progress', 'evaluating', 'end', 'bot', 'ended'],
      ['evaluating', 'completed', 'score', 'usr_1'],
    ]);
    expect([dismissed, collected]).toEqual([['bot_2'], ['bot_2']]);
  });

  it.each<['come in' | 'left', BotState[]]>([
    ['come in', [{ phase: 'waiting' }, { phase: 'recording' }]],
    ['left', [{ phase: 'recording' }, { phase: 'recording' }, { phase: 'done', reason: 'ended' }]],
  ])(
    'when the report that a bot has %s arrives during a poll, the interview workflow does not wait for the next poll',
    async (what, looks) => {
      const held = Promise.withResolvers<void>();
      let asked = 0;
      const { record, activities } = world({ deploy: [outside('bot_1')], looks });
      const look = activities.lookAtBot;
      const slow: InterviewActivities = {
        ...activities,
        lookAtBot: async (input) => {
          const seen = await look(input);
          asked += 1;
          if (asked === (what === 'come in' ? 1 : 2)) await held.promise;
          return seen;
        },
      };
      await tell(interview, [ref], slow, async (handle) => {
        await ask(handle, 'start');
        await until(() => record.state.bot !== undefined);
        await handle.signal(botReported);
        if (what === 'left') {
          await until(() => record.state.status === 'in_progress');
          await handle.signal(botReported);
        }
        await until(() => asked === (what === 'come in' ? 1 : 2));
        const before = await now();
        // The bot's state changes after the poll, and the report arrives during it.
        await handle.signal(botReported);
        held.resolve();
        await until(() => record.state.status === (what === 'come in' ? 'in_progress' : 'evaluating'));
        // Without the report, the next poll would be due a minute later.
        expect((await now()) - before).toBeLessThan(minute);
        await ask(handle, 'cancel');
      });
    },
  );

  it('the interview workflow collects a transcript at once when its completion is reported during a poll', async () => {
    const held = Promise.withResolvers<void>();
    const { record, activities, collected } = world({ transcripts: [false, false, false, false, true] });
    record.state = { ...newState([], undefined), status: 'evaluating', bot: { kind: 'recall', id: 'bot_1' } };
    const collect = activities.collectTranscript;
    const slow: InterviewActivities = {
      ...activities,
      collectTranscript: async (input) => {
        const done = await collect(input);
        if (collected.length === 4) await held.promise;
        return done;
      },
    };
    await tell(interview, [ref], slow, async (handle) => {
      // The fourth poll comes after 5, 15 and 30 s, and the next would come a minute later. While an activity runs, the
      // server's clock does not jump.
      await until(() => collected.length === 1);
      await pass(48_000);
      await until(() => collected.length === 4);
      const before = await now();
      await handle.signal(botReported);
      held.resolve();
      await until(() => record.state.summarized === true);
      expect((await now()) - before).toBeLessThan(minute);
      await ask(handle, 'cancel');
    });
  });

  it('the interview workflow waits for a transcript that the service is still writing', async () => {
    const { record, activities, collected } = world({
      deploy: [outside('bot_1')],
      looks: [{ phase: 'recording' }, { phase: 'processing' }],
      transcripts: [false, false, true],
    });
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await later(handle, () => record.state.summarized === true);
      await ask(handle, 'cancel');
    });
    expect(collected).toEqual(['bot_1', 'bot_1', 'bot_1']);
  });

  it('the interview workflow still evaluates an interview when the service refuses every request for the transcript', async () => {
    const { record, activities, dismissed } = world();
    record.state = { ...newState([], undefined), status: 'evaluating', bot: { kind: 'recall', id: 'bot_1' } };
    const begun = await now();
    const away = refusing();
    const { calls, result } = await tell(
      interview,
      [ref],
      { ...activities, collectTranscript: away.refuse },
      async (handle) => {
        await later(handle, () => record.state.summarized === true || away.isHopeless());
        expect(record.state.summarized).toBe(true);
        // The pauses take half an hour, and each of the nine requests up to five minutes. Once the workflow has ended,
        // the server's clock may jump by years.
        expect((await now()) - begun).toBeLessThan(120 * minute);
        await ask(handle, 'score');
      },
    );
    expect([result, dismissed]).toEqual(['completed', ['bot_1']]);
    expect(calls.filter((name) => name === 'summarizeInterview')).toHaveLength(1);
  });

  it('the interview workflow ends an interview after four hours even when the service refuses every request for the bot’s state', async () => {
    const { record, activities } = world();
    const joinedAt = new Date((await now()) - 230 * minute).toISOString();
    const bot = { kind: 'recall', id: 'bot_1' } as const;
    record.state = { ...newState([], undefined), status: 'in_progress', bot, joinedAt };
    const away = refusing();
    await tell(interview, [ref], { ...activities, lookAtBot: away.refuse }, async (handle) => {
      await later(handle, () => record.state.summarized === true || away.isHopeless());
      expect(moves(record.history)).toEqual([['in_progress', 'evaluating', 'end', 'clock', 'maximum_length']]);
      await ask(handle, 'cancel');
    });
  });

  /** The state of an interview whose bot was sent `ms` ago, and waits for people. */
  const waitingFor = async (ms: number): Promise<InterviewState> => {
    const sentAt = new Date((await now()) - ms).toISOString();
    return {
      ...newState([], undefined),
      status: 'bot_deployed',
      bot: { kind: 'recall', id: 'bot_1' },
      sent: 1,
      orders: 1,
      joiningSince: sentAt,
      waitingSince: sentAt,
    };
  };

  it('an interview is not cancelled as a no-show while the service refuses every request for the bot’s state', async () => {
    const { record, activities } = world();
    record.state = await waitingFor(11 * minute);
    const away = refusing();
    const look = activities.lookAtBot;
    const lookAtBot: InterviewActivities['lookAtBot'] = (input) => (away.asked() < 25 ? away.refuse() : look(input));
    await tell(interview, [ref], { ...activities, lookAtBot }, async (handle) => {
      await later(handle, () => record.history.length > 0);
      await ask(handle, 'cancel');
    });
    expect(moves(record.history)[0]).toEqual(['bot_deployed', 'in_progress', 'join', 'bot']);
  });

  it('after four hours of refused requests for the bot’s state, an interview returns to scheduled, and its bot is dismissed', async () => {
    const { record, activities, dismissed } = world();
    record.state = await waitingFor(220 * minute);
    const away = refusing();
    await tell(interview, [ref], { ...activities, lookAtBot: away.refuse }, async (handle) => {
      await later(handle, () => record.history.length > 0 || away.isHopeless());
      expect(moves(record.history)).toEqual([['bot_deployed', 'scheduled', 'join_failed', 'clock', 'service']]);
      await ask(handle, 'cancel');
    });
    expect(dismissed).toEqual(['bot_1']);
  });

  it('an interview stays in progress when its bot is lost, and the transcripts of both bots are collected', async () => {
    const { record, activities, dismissed, collected } = world({
      deploy: [outside('bot_1'), { refused: 'service' }, outside('bot_2')],
      looks: [{ phase: 'recording' }, { phase: 'failed', reason: 'service' }, { phase: 'recording' }],
    });
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await later(handle, () => record.state.failure === 'service' && record.state.status === 'in_progress');
      await ask(handle, 'rejoin');
      await until(() => record.state.failure === 'service' && record.state.orders === 2 && !record.state.rejoin);
      await ask(handle, 'rejoin');
      await until(() => record.state.bot?.id === 'bot_2');
      expect(record.state.failure).toBeUndefined();
      await ask(handle, 'end');
      await until(() => record.state.summarized === true);
      await ask(handle, 'score');
    });
    expect(record.history.map(({ operation }) => operation)).toEqual([
      'schedule',
      'start',
      'join',
      'rejoin',
      'rejoin',
      'end',
      'score',
    ]);
    expect([dismissed, collected]).toEqual([['bot_2'], ['bot_1', 'bot_2']]);
  });

  it('an interview is cancelled as a no-show when a bot in a call meets nobody', async () => {
    const { record, activities } = world({
      deploy: [outside('bot_1')],
      looks: [{ phase: 'recording' }, { phase: 'done', reason: 'nobody_came' }],
    });
    expect((await tell(interview, [ref], activities, async (handle) => void (await ask(handle, 'start')))).result).toBe(
      'cancelled',
    );
    expect(moves(record.history).at(-1)).toEqual(['in_progress', 'cancelled', 'no_show', 'bot', 'candidate_no_show']);
  });

  it('an interview in which people have talked ends when its second bot meets nobody', async () => {
    const { record, activities, collected } = world({
      deploy: [outside('bot_1'), outside('bot_2')],
      looks: [
        { phase: 'recording' },
        { phase: 'failed', reason: 'service' },
        { phase: 'recording' },
        { phase: 'done', reason: 'nobody_came' },
      ],
    });
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await later(handle, () => record.state.failure === 'service' && record.state.status === 'in_progress');
      await ask(handle, 'rejoin');
      await later(handle, () => record.state.summarized === true);
      await ask(handle, 'score');
    });
    expect([record.history.map(({ operation }) => operation).slice(-2), collected]).toEqual([
      ['end', 'score'],
      ['bot_1', 'bot_2'],
    ]);
  });

  it('an interview is cancelled when its bot has been in a waiting room for 10 minutes, and the bot leaves', async () => {
    const { record, activities, dismissed } = world({ deploy: [outside('bot_1')], looks: [{ phase: 'waiting' }] });
    await tell(interview, [ref], activities, async (handle) => void (await ask(handle, 'start')));
    expect(minutes(record.history)).toEqual([0, 0, 10]);
    expect([record.history.at(-1)!.operation, dismissed]).toEqual(['no_show', ['bot_1']]);
  });

  it('the interview workflow ends an interview that is still in progress after four hours', async () => {
    const { record, activities } = world();
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await until(() => record.state.bot !== undefined);
      await ask(handle, 'join');
      await pass(4 * 60 * minute);
      await later(handle, () => record.state.summarized === true);
      await ask(handle, 'cancel');
    });
    expect(moves(record.history)[3]).toEqual(['in_progress', 'evaluating', 'end', 'clock', 'maximum_length']);
    expect(minutes(record.history)[3]).toBe(240);
  });

  it('an interview is cancelled with the reason when the candidate refuses consent', async () => {
    const { record, activities } = world();
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await ask(handle, 'refuse', 'consent_refused');
    });
    expect(moves(record.history).at(-1)).toEqual(['bot_deployed', 'cancelled', 'refuse', 'usr_1', 'consent_refused']);
  });

  it.each<[string, RoomMove[], string, string[][]]>([
    [
      'agreed and ended',
      [joinMove, endMove('interviewer_ended')],
      'evaluating',
      [
        ['join', 'candidate'],
        ['end', 'interviewer', 'interviewer_ended'],
      ],
    ],
    ['refused', [refuseMove], 'cancelled', [['refuse', 'candidate', 'consent_refused']]],
  ])(
    'the interview workflow makes each status change once for participants who %s while the workflow was unreachable',
    async (_, room, status, made) => {
      const { record, activities } = world({ room });
      await tell(interview, [ref], activities, async (handle) => {
        await ask(handle, 'start');
        await until(() => record.state.bot !== undefined);
        await handle.signal(roomChanged);
        await handle.signal(roomChanged);
        await until(() => record.state.status === status);
        if (status !== 'cancelled') {
          await handle.signal(roomChanged);
          await ask(handle, 'cancel');
        }
      });
      const seen = record.history
        .slice(2)
        .map(({ operation, actor, cause }) => [operation, actor, ...(cause ? [cause] : [])]);
      expect(seen).toEqual([...made, ...(status === 'cancelled' ? [] : [['cancel', 'usr_1']])]);
    },
  );

  it.each<[string, RoomMove, string[]]>([
    ['agreed', joinMove, ['bot_deployed', 'in_progress', 'join', 'candidate']],
    ['refused', refuseMove, ['bot_deployed', 'cancelled', 'refuse', 'candidate', 'consent_refused']],
  ])(
    'an interview is not cancelled as a no-show when the candidate %s in the room and the workflow has no signal of it',
    async (_, move, made) => {
      const { record, activities } = world({ room: [move] });
      record.state = { ...(await waitingFor(11 * minute)), bot: { kind: 'room', id: 'int_1:1' } };
      await tell(interview, [ref], activities, async (handle) => {
        await until(() => record.history.length > 0);
        if (record.state.status === 'in_progress') await ask(handle, 'cancel');
      });
      expect(moves(record.history)[0]).toEqual(made);
    },
  );

  it('the interview workflow refuses an operation that its state does not allow, with the reason from the transition table', async () => {
    const { activities } = world();
    await tell(interview, [ref], activities, async (handle) => {
      const refused = await ask(handle, 'end').catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(WorkflowUpdateFailedError);
      expect(readRefusal((refused as WorkflowUpdateFailedError).cause)?.transition).toEqual({
        from: 'draft',
        operation: 'end',
        allowed: ['update', 'schedule', 'start', 'cancel', 'delete'],
      });
      await ask(handle, 'cancel');
    });
  });

  it('the interview workflow stores no score when the interview is cancelled during scoring', async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    let begun = false;
    const { record, activities } = world({
      score: async () => {
        begun = true;
        await held;
        return 'scored';
      },
    });
    const outcomes: unknown[] = [];
    await tell(interview, [ref], activities, async (handle) => {
      for (const command of ['start', 'join', 'end'] as const) await ask(handle, command);
      const scores = [1, 2].map(() => ask(handle, 'score').catch((error: WorkflowUpdateFailedError) => error));
      await until(() => begun);
      await ask(handle, 'cancel');
      release();
      for (const error of await Promise.all(scores))
        outcomes.push(readRefusal((error as WorkflowUpdateFailedError).cause));
    });
    expect(record.history.at(-1)!.to).toBe('cancelled');
    expect(outcomes).toHaveLength(2);
    expect(outcomes).not.toContain(undefined);
  });

  it('the interview workflow keeps its status when there is nothing to score', async () => {
    const { record, activities } = world({ score: async () => 'silent' });
    await tell(interview, [ref], activities, async (handle) => {
      for (const command of ['start', 'join', 'end'] as const) await ask(handle, command);
      const refused = await ask(handle, 'score').catch((error: unknown) => error);
      expect(readRefusal((refused as WorkflowUpdateFailedError).cause)?.message).toContain('nothing to score');
      expect(record.state.status).toBe('evaluating');
      await ask(handle, 'cancel');
    });
  });

  it('an interview continues when its bot is in the call at the no-show deadline, although no poll has found the bot yet', async () => {
    const waiting = { phase: 'waiting' } as const;
    const looks: BotState[] = [waiting, waiting, waiting, { phase: 'recording' }];
    const { record, activities } = world({ deploy: [outside('bot_1')], looks });
    await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await until(() => record.state.bot !== undefined);
      // The polls after 1, 3 and 7 minutes find the bot waiting; the next one would be due after 15.
      await pass(12 * minute);
      await until(() => record.state.status !== 'bot_deployed');
      expect(record.state.status).toBe('in_progress');
      await ask(handle, 'cancel');
    });
  });

  it('the workflow of a deleted interview makes the bot leave, and deletes the data again after all running requests', async () => {
    const { record, activities, dismissed } = world({ deploy: [outside('bot_1')] });
    const { calls, skippedMs } = await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await later(handle, () => record.state.status === 'in_progress');
      await handle.signal(removeInterviewNow);
    });
    expect(dismissed).toEqual(['bot_1']);
    const removals = ['removeInterview', 'forgetInterview'];
    expect(calls.filter((name) => removals.includes(name))).toEqual([...removals, 'removeInterview']);
    expect(skippedMs).toBeGreaterThanOrEqual(5 * minute);
  });

  it('the interview workflow keeps a deleted interview’s record and retries until the service has deleted the recordings', async () => {
    const { record, activities } = world({ deploy: [outside('bot_1')] });
    const asked: unknown[] = [];
    activities.eraseRecordings = async ({ known }) => asked.push(known) > 5;
    const { calls, skippedMs } = await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'start');
      await later(handle, () => record.state.status === 'in_progress');
      await handle.signal(removeInterviewNow);
    });
    expect(asked).toHaveLength(6);
    expect(asked[0]).toMatchObject({ sent: 1, orders: 1, bot: { kind: 'recall', id: 'bot_1' } });
    const last = calls.filter((name) => name === 'eraseRecordings' || name === 'forgetInterview');
    expect(last.at(-1)).toBe('forgetInterview');
    expect(last.filter((name) => name === 'forgetInterview')).toHaveLength(1);
    expect(skippedMs).toBeGreaterThanOrEqual(2 * 60 * minute);
  });

  it('nothing is left of an interview that is deleted while its last status change is being stored', async () => {
    const { activities } = world();
    const stored = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { storeInterview } = activities;
    activities.storeInterview = async (said) => {
      if (said.state.status === 'cancelled') {
        begun.resolve();
        await stored.promise;
      }
      return storeInterview(said);
    };
    const { calls } = await tell(interview, [ref], activities, async (handle) => {
      await ask(handle, 'cancel');
      await begun.promise;
      await handle.signal(removeInterviewNow);
      stored.resolve();
    });
    const removals = ['removeInterview', 'forgetInterview'];
    expect(calls.filter((name) => removals.includes(name))).toEqual([...removals, 'removeInterview']);
  });

  it('the interview workflow retries every step through outages until it succeeds', async () => {
    const { record, activities } = world();
    let calls = 0;
    const flaky = Object.fromEntries(
      Object.entries(activities).map(([name, activity]) => [
        name,
        async (input: never) => {
          if (calls++ % 3 !== 2) throw new Error('MongoDB does not answer');
          return (activity as (input: never) => Promise<unknown>)(input);
        },
      ]),
    ) as unknown as InterviewActivities;
    const { result } = await tell(interview, [ref], flaky, async (handle) => {
      for (const command of ['start', 'join', 'end', 'score'] as const) await ask(handle, command);
    });
    expect([result, record.history.map(({ seq }) => seq)]).toEqual(['completed', [1, 2, 3, 4, 5]]);
  });

  it('a new interview workflow continues from the record when the previous workflow was lost', async () => {
    const { record, activities } = world();
    record.state = {
      ...newState([], undefined),
      status: 'in_progress',
      seq: 3,
      joinedAt: new Date(await now()).toISOString(),
    };
    await tell(interview, [ref], activities, async (handle) => {
      expect(await ask(handle, 'end')).toMatchObject({ seq: 4, moves: [{ seq: 4, operation: 'end' }] });
      await ask(handle, 'score');
    });
    expect(record.state).toMatchObject({ status: 'completed', seq: 5 });
  });
});
