import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { grouped } from '../../models/base/grouped.ts';

/**
 * Returns work for groups, and the started groups. The work of a group ends when the test resolves the group's `end`.
 */
function held() {
  const groups: { items: readonly number[]; end: ReturnType<typeof Promise.withResolvers<void>> }[] = [];
  const work = async (items: readonly number[]): Promise<(number | Error)[]> => {
    const end = Promise.withResolvers<void>();
    groups.push({ items, end });
    await end.promise;
    return items.map((item) => (item < 0 ? new Error(`no ${item}`) : item * 2));
  };
  return { groups, work };
}

describe('grouped', () => {
  it('calls to a grouped function in the same turn of the event loop run together as one group', async () => {
    const { groups, work } = held();
    const ask = grouped(work, { atOnce: 2, max: 3 });
    const first = [ask(1), ask(2)];
    await turn();
    const second = ask(3);
    await turn();
    const later = [ask(4)];
    await turn();
    later.push(ask(5), ask(6), ask(7));
    await turn();
    await turn();
    expect(groups.map(({ items }) => items)).toEqual([[1, 2], [3]]);
    groups[0]!.end.resolve();
    expect(await Promise.all(first)).toEqual([2, 4]);
    await turn();
    // A group holds at most three items, so the fourth is in the next group.
    expect(groups.map(({ items }) => items)).toEqual([[1, 2], [3], [4, 5, 6]]);
    for (const at of [1, 2]) groups[at]!.end.resolve();
    expect(await second).toBe(6);
    await turn();
    groups[3]!.end.resolve();
    expect(await Promise.all(later)).toEqual([8, 10, 12, 14]);
  });

  it('a call to a grouped function fails when its own item or its whole group fails, and the next group still runs', async () => {
    const { groups, work } = held();
    const ask = grouped(work, { atOnce: 1, max: 10 });
    const mixed = Promise.allSettled([ask(1), ask(-1)]);
    await turn();
    await turn();
    const broken = Promise.allSettled([ask(2), ask(3)]);
    groups[0]!.end.resolve();
    expect((await mixed).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await turn();
    groups[1]!.end.reject(new Error('the database is away'));
    expect((await broken).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const next = ask(4);
    await turn();
    await turn();
    groups[2]!.end.resolve();
    expect(await next).toBe(8);
  });
});
