import { describe, expect, it } from '@jest/globals';
import {
  batchOf,
  compareIndex,
  generationOf,
  isCurrent,
  isCurrentBatch,
  liveBatch,
  type IndexedSource,
  type Standing,
} from '../../../models/rules/knowledge/reconcile.ts';

const record = (rest: Partial<Standing> = {}): Standing => ({
  source_id: 'd',
  generation: 3,
  live_generation: 3,
  answers: true,
  chunk_count: 1,
  segments: ['a', 'b'],
  authority: 'normal',
  ...rest,
});
const begun = (rest: Partial<Standing> = {}): Standing => {
  const { live_generation: _, ...without } = record({ generation: 1, answers: false, ...rest });
  return without;
};
const row = (generation: number | string, rest: Partial<IndexedSource> = {}): IndexedSource => ({
  source_id: 'd',
  generation: String(generation),
  chunks: 1,
  segments: ['a', 'b'],
  authority: 'normal',
  ...rest,
});
const nothing = { outdated: [], retagged: [], miscounted: [] };
const batch = (...names: (string | number)[]) => names.map((name) => ({ source_id: 'd', batch: String(name) }));
const of = (generation: number) => [{ source_id: 'd', generation }];

describe('compareIndex', () => {
  it.each<[string, Standing[], IndexedSource[], Partial<typeof nothing> | object]>([
    ['what agrees', [record()], [row(3)], {}],
    ['tags in another order', [record()], [row(3, { segments: ['b', 'a'] })], {}],
    ['what the index does not have', [record()], [], { miscounted: of(3) }],
    ['an older generation alone', [record()], [row(2)], { outdated: batch(2), miscounted: of(3) }],
    ['an older generation beside', [record()], [row(2), row(3)], { outdated: batch(2) }],
    ['a generation that the record has not come to', [record()], [row(3), row(4)], { outdated: batch(4) }],
    ['a generation that is being written', [record({ generation: 4 })], [row(3), row(4)], {}],
    [
      'one that is being written, while the one that answers is lost',
      [record({ generation: 4 })],
      [row(4)],
      { miscounted: of(3) },
    ],
    ['the first generation, not published yet', [begun()], [row(1)], {}],
    ['a source that was begun and has no rows', [begun()], [], {}],
    ['a source that is gone', [], [row(1), row(2)], { outdated: batch(1, 2) }],
    ['other tags', [record()], [row(3, { segments: ['a'] })], { retagged: ['d'] }],
    ['tags that the record has no more', [record({ segments: [] })], [row(3)], { retagged: ['d'] }],
    ['another tier', [record({ authority: 'primary' })], [row(3)], { retagged: ['d'] }],
    [
      'rows of one generation with two kinds of tags',
      [record({ chunk_count: 2 })],
      [row(3), row(3, { segments: [] })],
      { retagged: ['d'] },
    ],
    ['rows that are there twice', [record({ chunk_count: 4 })], [row(3, { chunks: 8 })], { miscounted: of(3) }],
    [
      'rows that are there twice, with other tags',
      [record({ chunk_count: 4 })],
      [row(3, { chunks: 4 }), row(3, { chunks: 4, segments: [] })],
      { miscounted: of(3), retagged: ['d'] },
    ],
    ['rows of which some are lost', [record({ chunk_count: 4 })], [row(3, { chunks: 3 })], { miscounted: of(3) }],
    ['a source of which nothing could be read', [record({ chunk_count: 0 })], [], {}],
    ['the rows of the attempt that answers', [record({ claimed: 2, live_attempt: 2 })], [row('3.2')], {}],
    [
      'those of another attempt beside them',
      [record({ claimed: 2, live_attempt: 2 })],
      [row('3.1'), row('3.2'), row(3)],
      { outdated: batch('3.1', 3) },
    ],
    [
      'what the last claim is writing',
      [record({ generation: 4, claimed: 5, live_attempt: 2 })],
      [row('3.2'), row('4.4'), row('4.5')],
      { outdated: batch('4.4') },
    ],
    [
      'rows that were put back beside what is written',
      [record({ generation: 4, live_attempt: 1 })],
      [row('3.1'), row(4)],
      {},
    ],
    ['other tags of what is being written', [record({ generation: 4 })], [row(3), row(4, { segments: [] })], {}],
    ['a page of a set that is being built, without rows', [record({ answers: false })], [], {}],
    [
      'a page of a set that is being built, tagged otherwise',
      [record({ answers: false })],
      [row(3, { segments: [] })],
      {},
    ],
  ])(
    'compareIndex reports exactly the index rows that are outdated, have other tags or are miscounted: %s',
    (_, standing, rows, expected) => {
      expect(compareIndex(standing, rows)).toEqual({ ...nothing, ...expected });
    },
  );
});

describe('isCurrent', () => {
  it.each([
    [{ generation: 2, live_generation: 1 }, [1, 2]],
    [{ generation: 2, live_generation: 2 }, [2]],
    [{ generation: 1 }, [1]],
  ])('of a source with %j, the current generations are %j', (source, current) => {
    expect([0, 1, 2, 3].filter((generation) => isCurrent(source, generation))).toEqual(current);
  });
});

describe('batches', () => {
  it.each([
    [3, undefined, '3'],
    [3, 1, '3.1'],
    [3, 12, '3.12'],
    [30, 1, '30.1'],
  ])('the batch of generation %j and attempt %j is named %s', (generation, attempt, name) => {
    expect([batchOf(generation, attempt), generationOf(name)]).toEqual([name, generation]);
  });

  it('the live batch of a source and the batch being indexed are its only current batches', () => {
    const source = { generation: 4, claimed: 7, live_generation: 3, live_attempt: 5 };
    expect(liveBatch(source)).toBe('3.5');
    expect(liveBatch({ generation: 1 })).toBeUndefined();
    const all = ['3', '3.5', '3.7', '4', '4.5', '4.7'];
    expect(all.filter((batch) => isCurrentBatch(source, batch))).toEqual(['3.5', '4.7']);
  });
});
