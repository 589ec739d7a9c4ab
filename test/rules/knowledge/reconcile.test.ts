import { describe, expect, it } from '@jest/globals';
import {
  compareIndex,
  isCurrent,
  type IndexedSource,
  type Standing,
} from '../../../models/rules/knowledge/reconcile.ts';

const record = (rest: Partial<Standing> = {}): Standing => ({
  source_id: 'd',
  generation: 3,
  live_generation: 3,
  answers: true,
  segments: ['a', 'b'],
  authority: 'normal',
  ...rest,
});
const begun = (rest: Partial<Standing> = {}): Standing => {
  const { live_generation: _, ...without } = record({ generation: 1, answers: false, ...rest });
  return without;
};
const row = (generation: number, rest: Partial<IndexedSource> = {}): IndexedSource => ({
  source_id: 'd',
  generation: String(generation),
  chunks: 1,
  segments: ['a', 'b'],
  authority: 'normal',
  ...rest,
});
const nothing = { outdated: [], retagged: [], missing: [] };
const of = (generation: number) => [{ source_id: 'd', generation }];

describe('compareIndex', () => {
  it.each<[string, Standing[], IndexedSource[], Partial<typeof nothing> | object]>([
    ['what agrees', [record()], [row(3)], {}],
    ['tags in another order', [record()], [row(3, { segments: ['b', 'a'] })], {}],
    ['what the index does not have', [record()], [], { missing: of(3) }],
    ['an older generation alone', [record()], [row(2)], { outdated: of(2), missing: of(3) }],
    ['an older generation beside', [record()], [row(2), row(3)], { outdated: of(2) }],
    ['a generation that the record has not come to', [record()], [row(3), row(4)], { outdated: of(4) }],
    ['a generation that is being written', [record({ generation: 4 })], [row(3), row(4)], {}],
    [
      'one that is being written, while the one that answers is lost',
      [record({ generation: 4 })],
      [row(4)],
      { missing: of(3) },
    ],
    ['the first generation, not published yet', [begun()], [row(1)], {}],
    ['a source that was begun and has no rows', [begun()], [], {}],
    ['a source that is gone', [], [row(1), row(2)], { outdated: [...of(1), ...of(2)] }],
    ['other tags', [record()], [row(3, { segments: ['a'] })], { retagged: ['d'] }],
    ['tags that the record has no more', [record({ segments: [] })], [row(3)], { retagged: ['d'] }],
    ['another tier', [record({ authority: 'primary' })], [row(3)], { retagged: ['d'] }],
    [
      'rows of one generation with two kinds of tags',
      [record()],
      [row(3), row(3, { segments: [] })],
      { retagged: ['d'] },
    ],
    ['other tags of what is being written', [record({ generation: 4 })], [row(3), row(4, { segments: [] })], {}],
    ['a page of a set that is being built, without rows', [record({ answers: false })], [], {}],
    [
      'a page of a set that is being built, tagged otherwise',
      [record({ answers: false })],
      [row(3, { segments: [] })],
      {},
    ],
  ])('%s', (_, standing, rows, expected) => {
    expect(compareIndex(standing, rows)).toEqual({ ...nothing, ...expected });
  });
});

describe('isCurrent', () => {
  it.each([
    [{ generation: 2, live_generation: 1 }, [1, 2]],
    [{ generation: 2, live_generation: 2 }, [2]],
    [{ generation: 1 }, [1]],
  ])('of %j are %j', (source, current) => {
    expect([0, 1, 2, 3].filter((generation) => isCurrent(source, generation))).toEqual(current);
  });
});
