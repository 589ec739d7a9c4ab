/** Tests the workflow of a conversation: it never runs its activity twice at once, and ends when nobody writes. */
import { describe, expect, it } from '@jest/globals';
import { stories } from '../story.ts';
import type { Attended } from '../../../activities/chat/conversation.ts';
import { attend, conversation } from '../../../workflows/chat/conversation.ts';

const ref = { orgId: 'org_1', convId: 'conv_1' };
const { tell } = stories();
const done: Attended = { kind: 'done' };

/** A promise that `open` resolves. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}

describe('conversation', () => {
  it('the conversation workflow runs its activity once when it starts, and ends after a minute without another message', async () => {
    const seen: object[] = [];
    const { calls, skippedMs } = await tell(conversation, [ref], {
      attendTo: async (given) => {
        seen.push(given);
        return done;
      },
    });
    expect([calls, seen]).toEqual([['attendTo'], [ref]]);
    expect(skippedMs).toBeGreaterThanOrEqual(60_000);
  });

  it('the conversation workflow processes messages that arrive during its activity together, and never concurrently', async () => {
    const [first, go] = [gate(), gate()];
    let [running, most] = [0, 0];
    const attendTo = async () => {
      most = Math.max(most, (running += 1));
      first.open();
      await go.passed;
      running -= 1;
      return done;
    };
    const { calls } = await tell(conversation, [ref], { attendTo }, async (handle) => {
      await first.passed;
      for (let said = 0; said < 3; said += 1) await handle.signal(attend);
      go.open();
    });
    expect([calls, most]).toEqual([['attendTo', 'attendTo'], 1]);
  });

  it('the conversation workflow processes a message that arrives before the minute is over', async () => {
    const attended = gate();
    let times = 0;
    const attendTo = async () => {
      times += 1;
      attended.open();
      return done;
    };
    await tell(conversation, [ref], { attendTo }, async (handle) => {
      await attended.passed;
      await handle.signal(attend);
    });
    expect(times).toBe(2);
  });

  it('the conversation workflow starts one timer for all messages of a minute, and answers by local activities', async () => {
    const attended = [gate(), gate(), gate()];
    let times = 0;
    const attendTo = async () => {
      attended[times++]!.open();
      return done;
    };
    let events: Record<string, unknown>[] = [];
    await tell(conversation, [ref], { attendTo }, async (handle) => {
      for (const [at, { passed }] of attended.entries()) {
        await passed;
        if (at < 2) await handle.signal(attend);
      }
      await handle.result();
      events = ((await handle.fetchHistory()).events ?? []) as never;
    });
    const count = (kind: string) => events.filter((event) => event[`${kind}EventAttributes`] != null).length;
    // The second timer is for the minute after the last message.
    expect([count('timerStarted'), count('timerCanceled'), count('activityTaskScheduled')]).toEqual([2, 0, 0]);
  });

  it('the conversation workflow ends as cancelled when an operator cancels it while it waits', async () => {
    const attended = gate();
    const attendTo = async () => {
      attended.open();
      return done;
    };
    const ended = tell(conversation, [ref], { attendTo }, async (handle) => {
      await attended.passed;
      await handle.cancel();
    });
    await expect(ended).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) });
  });

  it('the conversation workflow gives work that takes long to a normal activity instead of a local one', async () => {
    const outcomes: Attended[] = [{ kind: 'long' }, done];
    let scheduled = 0;
    await tell(conversation, [ref], { attendTo: async () => outcomes.shift()! }, async (handle) => {
      await handle.result();
      const events = (await handle.fetchHistory()).events ?? [];
      scheduled = events.filter(({ activityTaskScheduledEventAttributes: each }) => each).length;
    });
    expect([outcomes, scheduled]).toEqual([[], 1]);
  });

  it('the conversation workflow retries its activity through an outage until it succeeds', async () => {
    let failures = 12;
    const { calls } = await tell(conversation, [ref], {
      attendTo: async () => {
        if (failures-- > 0) throw new Error('MongoDB is away');
        return done;
      },
    });
    expect(calls).toHaveLength(13);
  });

  describe('with a turn that waits for a decision', () => {
    const hour = 3_600_000;
    const waiting: Attended = { kind: 'waiting', for: 'pact_1', withinMs: hour };

    it('the conversation workflow repeats a turn that waits for a decision as soon as the decision is stored', async () => {
      const [attended, again] = [gate(), gate()];
      const outcomes = [waiting, done];
      const attendTo = async () => {
        (outcomes.length === 2 ? attended : again).open();
        return outcomes.shift()!;
      };
      const { calls } = await tell(conversation, [ref], { attendTo }, async (handle) => {
        await attended.passed;
        await handle.signal(attend);
        // The server skips no time before the workflow's result is awaited, so the second turn can only come from the
        // signal.
        await again.passed;
      });
      expect(calls).toEqual(['attendTo', 'attendTo']);
    });

    it('the conversation workflow repeats a turn that waits for a decision when none came before the deadline', async () => {
      const outcomes = [waiting, done];
      const { calls, skippedMs } = await tell(conversation, [ref], { attendTo: async () => outcomes.shift()! });
      expect(calls).toEqual(['attendTo', 'attendTo']);
      expect(skippedMs).toBeGreaterThanOrEqual(hour);
    });
  });
});
