import { describe, expect, it } from '@jest/globals';
import { giveLease, takeLease } from '../../models/base/lease.ts';
import { modelsIn } from '../kit/database.ts';

modelsIn('leases');
/** Times of now and later, because MongoDB removes leases that ran out long ago. */
const begin = Date.now();
const at = (seconds: number): Date => new Date(begin + seconds * 1000);

describe('a lease', () => {
  it('of many processes that ask for a lease at the same time, one gets it, and only that one may prolong it', async () => {
    const asked = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => ((await takeLease('sweep', 6_000, at(0), `p${n}`)) ? [`p${n}`] : [])),
    );
    const [holder, ...others] = asked.flat();
    expect(others).toEqual([]);
    const rival = holder === 'p0' ? 'p1' : 'p0';
    expect(await takeLease('sweep', 6_000, at(5), rival)).toBe(false);
    expect(await takeLease('sweep', 6_000, at(5), holder)).toBe(true);
    expect(await takeLease('sweep', 6_000, at(10), rival)).toBe(false);
    // A lease that is not prolonged runs out.
    expect(await takeLease('sweep', 6_000, at(11), rival)).toBe(true);
    expect(await takeLease('sweep', 6_000, at(12), holder)).toBe(false);
  });

  it('a released lease is free at once, and no process can release the lease of another', async () => {
    expect(await takeLease('merge', 60_000, at(0), 'one')).toBe(true);
    await giveLease('merge', 'other');
    expect(await takeLease('merge', 60_000, at(1), 'other')).toBe(false);
    await giveLease('merge', 'one');
    expect(await takeLease('merge', 60_000, at(1), 'other')).toBe(true);
  });
});
