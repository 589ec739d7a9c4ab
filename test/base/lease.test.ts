import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { giveLease, renewalTurns, takeLease } from '../../models/base/lease.ts';
import { modelsIn } from '../kit/database.ts';

modelsIn('leases');
afterEach(() => void jest.useRealTimers());

/** Sets the clock of this process an hour ahead. The timers are left alone, because MongoDB's driver needs them. */
function setClockAhead(): void {
  jest.useFakeTimers({
    now: Date.now() + 3_600_000,
    doNotFake: [
      ...(['hrtime', 'performance', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
    ],
  });
}

describe('a lease', () => {
  it('only one of many processes that ask for a lease gets the lease, and only that process may prolong the lease', async () => {
    const asked = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => ((await takeLease('sweep', 60_000, `p${n}`)) ? [`p${n}`] : [])),
    );
    const [holder, ...others] = asked.flat();
    expect(others).toEqual([]);
    const rival = holder === 'p0' ? 'p1' : 'p0';
    expect(await takeLease('sweep', 60_000, rival)).toBe(false);
    expect(await takeLease('sweep', 60_000, holder)).toBe(true);
    expect(await takeLease('sweep', 60_000, rival)).toBe(false);
    // A lease that is not prolonged runs out. One of no length has run out at once.
    expect(await takeLease('sweep', 0, holder)).toBe(true);
    expect(await takeLease('sweep', 60_000, rival)).toBe(true);
    expect(await takeLease('sweep', 60_000, holder)).toBe(false);
  });

  it('a process whose clock is ahead keeps its lease no longer than others, and takes no lease that another process holds', async () => {
    expect(await takeLease('held', 60_000, 'one')).toBe(true);
    setClockAhead();
    expect(await takeLease('held', 60_000, 'ahead')).toBe(false);
    expect(await takeLease('ended', 0, 'ahead')).toBe(true);
    jest.useRealTimers();
    expect(await takeLease('ended', 60_000, 'one')).toBe(true);
  });

  it('a released lease is free at once, and no process can release the lease of another', async () => {
    expect(await takeLease('merge', 60_000, 'one')).toBe(true);
    await giveLease('merge', 'other');
    expect(await takeLease('merge', 60_000, 'other')).toBe(false);
    await giveLease('merge', 'one');
    expect(await takeLease('merge', 60_000, 'other')).toBe(true);
  });

  it('of concurrent attempts to renew a credential, in one process or in several, only one proceeds at a time', async () => {
    const [one, other] = [renewalTurns('org_1:slack'), renewalTurns('org_1:slack')];
    const claimed = await Promise.all([one, one, one, other, other, other].map((turns) => turns.claim()));
    expect(claimed.filter(Boolean)).toHaveLength(1);
    const [first, second] = claimed.indexOf(true) < 3 ? [one, other] : [other, one];
    expect(await renewalTurns('org_2:slack').claim()).toBe(true);
    await first.end();
    expect(await second.claim()).toBe(true);
    expect(await first.claim()).toBe(false);
  });
});
