/**
 * Tests the workflow of a tool call: it waits for an approval or for the rate limit until the deadline, and shows whom
 * it waits for.
 */
import { describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { stories } from '../story.ts';
import { detailsOf } from '../storyserver.ts';
import type { CallStep } from '../../../activities/chat/toolcall.ts';
import { until } from '../../kit/harness.ts';
import { waitMs } from '../../../models/rules/mcp/call.ts';
import { decided, toolCall } from '../../../workflows/chat/toolcall.ts';

const { tell } = stories();
const ref = { orgId: 'org_1', callId: 'call_1' };
const about = { orgId: 'org_1', tool: 'cancel_order', tier: 'admin_approve' } as const;
const ended = (outcome: 'ok' | 'expired' | 'rate_limited'): CallStep => ({ kind: 'ended', outcome, about });
const minute = 60_000;

/** The durations of the workflow's timers in ms, and how many of them fired, after the workflow has ended. */
async function timersOf(handle: WorkflowHandle): Promise<{ setMs: number[]; fired: number }> {
  await handle.result();
  const events = (await handle.fetchHistory()).events ?? [];
  const set = events.flatMap(({ timerStartedEventAttributes: timer }) => timer?.startToFireTimeout ?? []);
  return {
    setMs: set.map(({ seconds, nanos }) => Number(seconds) * 1_000 + (nanos ?? 0) / 1_000_000),
    fired: events.filter(({ timerFiredEventAttributes: fired }) => fired).length,
  };
}

/** The number of scheduled activities, after the workflow has ended. */
async function handedOver(handle: WorkflowHandle): Promise<number> {
  await handle.result();
  const events = (await handle.fetchHistory()).events ?? [];
  return events.filter(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled).length;
}

/** Activities that return these steps, one after the other. */
const taking = (...steps: CallStep[]) => ({ advanceCall: async () => steps.shift()! });

describe('toolCall', () => {
  it('a call of a tool that needs no approval completes as a local activity in the workflow’s own task', async () => {
    let timers: unknown;
    let handed: unknown;
    const { calls, result } = await tell(toolCall, [ref], taking(ended('ok')), async (handle) => {
      timers = await timersOf(handle);
      handed = await handedOver(handle);
    });
    expect([calls, result, timers, handed]).toEqual([['advanceCall'], 'ok', { setMs: [], fired: 0 }, 0]);
  });

  it('a call of a slow tool is finished by a normal activity instead of a local one', async () => {
    let handed: unknown;
    const { calls, result } = await tell(
      toolCall,
      [ref],
      taking({ kind: 'calling', about }, ended('ok')),
      async (handle) => {
        handed = await handedOver(handle);
      },
    );
    expect([calls.length, result, handed]).toEqual([2, 'ok', 1]);
  });

  it.each(['customer', 'step_up', 'member'] as const)(
    'the tool call workflow waits for a decision of the kind “%s” until its deadline, and then checks the outcome',
    async (awaited) => {
      const waiting: CallStep = { kind: 'waiting', awaited, withinMs: waitMs[awaited], about };
      let timers: unknown;
      const { calls, result } = await tell(toolCall, [ref], taking(waiting, ended('expired')), async (handle) => {
        timers = await timersOf(handle);
      });
      expect([calls.length, result, timers]).toEqual([2, 'expired', { setMs: [waitMs[awaited]], fired: 1 }]);
    },
  );

  it('the tool call workflow shows operators who has to decide about the call, and continues at once after the decision', async () => {
    const waiting: CallStep = { kind: 'waiting', awaited: 'member', withinMs: waitMs.member, about };
    let seen = '';
    let timers: unknown;
    const { result } = await tell(toolCall, [ref], taking(waiting, ended('ok')), async (handle) => {
      seen = await until(async () => {
        const details = await detailsOf(handle);
        return details.includes('a member') && details;
      }, 'it to wait');
      await handle.signal(decided);
      timers = await timersOf(handle);
    });
    expect([result, timers]).toEqual(['ok', { setMs: [waitMs.member], fired: 0 }]);
    for (const shown of ['cancel_order', 'admin_approve', '| waits for | a member to approve: cancel_order, since '])
      expect(seen).toContain(shown);
  });

  it('the tool call workflow misses no decision that comes while a step runs', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const steps: CallStep[] = [{ kind: 'waiting', awaited: 'member', withinMs: waitMs.member, about }, ended('ok')];
    let running = false;
    const advanceCall = async () => {
      const step = steps.shift()!;
      if (step.kind === 'waiting') {
        running = true;
        await promise;
      }
      return step;
    };
    let timers: unknown;
    await tell(toolCall, [ref], { advanceCall }, async (handle) => {
      await until(async () => running, 'the step to run');
      await handle.signal(decided);
      resolve();
      timers = await timersOf(handle);
    });
    expect(timers).toMatchObject({ fired: 0 });
  });

  it('the tool call workflow waits until the next minute whenever the rate limit is reached', async () => {
    const held: CallStep = { kind: 'held_back', withinMs: minute, about };
    const steps = taking(held, held, held, ended('rate_limited'));
    let timers: unknown;
    const { calls, result } = await tell(toolCall, [ref], steps, async (handle) => {
      timers = await timersOf(handle);
    });
    expect([calls.length, result]).toEqual([4, 'rate_limited']);
    expect(timers).toEqual({ setMs: [minute, minute, minute], fired: 3 });
  });

  it('the tool call workflow retries a failed step until it succeeds', async () => {
    let tries = 0;
    const advanceCall = async (): Promise<CallStep> => {
      tries += 1;
      if (tries < 8) throw new Error('MongoDB is away.');
      return ended('ok');
    };
    expect((await tell(toolCall, [ref], { advanceCall })).result).toBe('ok');
  });
});
