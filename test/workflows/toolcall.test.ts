/** The story of a tool call: it waits for whoever has to agree, or for the limit of calls, as long as each has, and shows it. */
import { describe, expect, it } from '@jest/globals';
import { detailsOf, stories } from './story.ts';
import type { CallStep } from '../../activities/chat/toolcall.ts';
import { until } from '../kit/harness.ts';
import { waitMs } from '../../models/rules/mcp/call.ts';
import { decided, toolCall } from '../../workflows/toolcall.ts';

const { tell } = stories();
const ref = { orgId: 'org_1', callId: 'call_1' };
const about = { orgId: 'org_1', tool: 'cancel_order', tier: 'admin_approve' } as const;
const ended = (outcome: 'ok' | 'expired' | 'rate_limited'): CallStep => ({ kind: 'ended', outcome, about });
const minute = 60_000;

/** Activities that take these steps, one after the other. */
const taking = (...steps: CallStep[]) => ({ advanceCall: async () => steps.shift()! });

describe('toolCall', () => {
  it('of a tool that nobody has to agree to is one activity', async () => {
    const { calls, result, skippedMs } = await tell(toolCall, [ref], taking(ended('ok')));
    expect([calls, result]).toEqual([['advanceCall'], 'ok']);
    expect(skippedMs).toBeLessThan(minute);
  });

  it.each(['customer', 'step_up', 'member'] as const)(
    'waits for the %s as long as they have, not longer, and then asks what came of it',
    async (awaited) => {
      const waiting: CallStep = { kind: 'waiting', awaited, withinMs: waitMs[awaited], about };
      const { calls, result, skippedMs } = await tell(toolCall, [ref], taking(waiting, ended('expired')));
      expect([calls.length, result]).toEqual([2, 'expired']);
      expect(skippedMs).toBeGreaterThanOrEqual(waitMs[awaited]);
      expect(skippedMs).toBeLessThan(waitMs[awaited] + minute);
    },
  );

  it('goes on at once when somebody has decided, and tells operators whom it waits for until then', async () => {
    const waiting: CallStep = { kind: 'waiting', awaited: 'member', withinMs: waitMs.member, about };
    let seen = '';
    const { result, skippedMs } = await tell(toolCall, [ref], taking(waiting, ended('ok')), async (handle) => {
      seen = await until(async () => {
        const details = await detailsOf(handle);
        return details.includes('waits for') && details;
      }, 'it to wait');
      await handle.signal(decided);
    });
    expect(result).toBe('ok');
    expect(skippedMs).toBeLessThan(waitMs.member);
    for (const shown of ['org_1', 'cancel_order', 'admin_approve', 'a member to approve'])
      expect(seen).toContain(shown);
  });

  it('misses no decision that comes while a step runs', async () => {
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
    const { skippedMs } = await tell(toolCall, [ref], { advanceCall }, async (handle) => {
      await until(async () => running, 'the step to run');
      await handle.signal(decided);
      resolve();
    });
    expect(skippedMs).toBeLessThan(waitMs.member);
  });

  it('waits for the limit of calls each time until the next minute', async () => {
    const held: CallStep = { kind: 'held_back', withinMs: minute, about };
    const steps = taking(held, held, held, ended('rate_limited'));
    const { calls, result, skippedMs } = await tell(toolCall, [ref], steps);
    expect([calls.length, result]).toEqual([4, 'rate_limited']);
    expect(skippedMs).toBeGreaterThanOrEqual(3 * minute);
  });

  it('takes a step again that failed, as long as it takes', async () => {
    let tries = 0;
    const advanceCall = async (): Promise<CallStep> => {
      tries += 1;
      if (tries < 8) throw new Error('MongoDB is away.');
      return ended('ok');
    };
    expect((await tell(toolCall, [ref], { advanceCall })).result).toBe('ok');
  });
});
