/** The vector search, tested on made-up vectors whose nearest neighbours are known. */
import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@lancedb/lancedb';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DamagedIndex } from '../../clients/knowledge/search/damage.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import type { IndexRow, Query, Search, VectorRow } from '../../clients/knowledge/search/search.ts';
import type { Meaning } from '../../models/rules/knowledge/retrieval.ts';

const root = mkdtempSync(join(tmpdir(), 'vectors-'));
const table = { org_id: 'org_a', mode: 'test' as const };
const model = 'endpoint:some/Model v2';
const vectors = { ...table, model };
let uri: string;
let search: Search;
let now: number;
let folders = 0;
const others: Search[] = [];

/** Another process's view: a connection and caches of its own. */
function anotherProcess(): Search {
  const other = createSearch({ uri, model });
  others.push(other);
  return other;
}

beforeEach(() => {
  folders += 1;
  uri = join(root, String(folders));
  now = Date.now();
  search = createSearch({ uri, model, clock: () => now });
});
afterEach(() => {
  for (const one of [search, ...others.splice(0)]) one.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Vector parts of two numbers each, in the directions of these angles (in degrees). */
const parts = (...angles: number[]): Float32Array[] =>
  angles.map((angle) => Float32Array.of(Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)));
const whole = (...angles: number[]): Float32Array => Float32Array.from(parts(...angles).flatMap((part) => [...part]));
const meaning = (angles: number[], rest: Partial<Meaning> = {}): Meaning => ({
  model,
  parts: parts(...angles),
  weights: angles.map(() => 1),
  ...rest,
});

type Tags = Partial<Pick<VectorRow, 'segments' | 'authority' | 'language'>>;
const wordsOf = (source: string, text: string, tags: Tags = {}, generation = 1): IndexRow => ({
  id: `${source}:${generation}:0`,
  source_id: source,
  generation: String(generation),
  segments: [],
  authority: 'normal',
  heading: '',
  text,
  ...tags,
});
const vectorOf = (source: string, angles: number[], tags: Tags = {}, generation = 1): VectorRow => ({
  id: `${source}:${generation}:0`,
  source_id: source,
  generation,
  segments: [],
  authority: 'normal',
  language: 'en',
  vector: whole(...angles),
  ...tags,
});

async function sources(query: Partial<Query>, by: Search = search): Promise<string[]> {
  const { candidates } = await by.query(table, { text: '', filter: undefined, limit: 20, ...query });
  return candidates.map(({ id }) => id.split(':')[0]!).toSorted();
}

describe('the vector search', () => {
  it('the vector search ranks by the weighted cosines of the vector’s parts, and returns those cosines', async () => {
    await search.addVectors(vectors, [vectorOf('a', [0, 90]), vectorOf('b', [80, 0]), vectorOf('c', [180, 180])]);
    const ask = async (weights: number[], limit = 1) => {
      const asked = { text: '', meaning: meaning([0, 0], { weights }), filter: undefined, limit };
      return (await search.query(table, asked)).candidates;
    };
    const [first, ...none] = await ask([1, 0.3]);
    expect(none).toEqual([]);
    expect(first).toMatchObject({ id: 'a:1:0', authority: 'normal' });
    expect(first).not.toHaveProperty('text_score');
    expect(first!.cosines!.map((cosine) => cosine.toFixed(3))).toEqual(['1.000', '0.000']);
    expect(await ask([0.3, 1])).toMatchObject([{ id: 'b:1:0' }]);
    expect(await ask([0, 0], 3)).toEqual([]);
  });

  it('the vector search returns cosines for lexical matches too, however distant, and none for chunks without a vector', async () => {
    await search.add(table, [wordsOf('near', 'silver'), wordsOf('far', 'gold card'), wordsOf('none', 'gold ring')]);
    await search.addVectors(vectors, [vectorOf('near', [0]), vectorOf('far', [180])]);
    const found = await search.query(table, { text: 'gold', meaning: meaning([0]), filter: undefined, limit: 2 });
    const by = new Map(found.candidates.map((candidate) => [candidate.id, candidate]));
    expect([...by.keys()].toSorted()).toEqual(['far:1:0', 'near:1:0', 'none:1:0']);
    expect(by.get('far:1:0')).toMatchObject({ text_score: expect.any(Number), cosines: [-1] });
    expect(by.get('near:1:0')).toMatchObject({ cosines: [1] });
    expect(by.get('none:1:0')).toMatchObject({ text_score: expect.any(Number) });
    expect(by.get('none:1:0')).not.toHaveProperty('cosines');
    const one = await search.query(table, { text: 'gold', meaning: meaning([0]), filter: undefined, limit: 1 });
    expect(one.candidates.map(({ id, cosines }) => [id, cosines])).toContainEqual(['near:1:0', [1]]);
  });

  it('the search reports how near passages of different sources are to each other, and leaves out copies and translations', async () => {
    const angles = { a: 0, copy: 0.1, b: 40, c: 90, d: 180 };
    await search.addVectors(vectors, [
      ...Object.entries(angles).map(([source, angle]) => vectorOf(source, [angle])),
      vectorOf('translation', [30], { language: 'de' }),
    ]);
    const asked = { text: '', meaning: meaning([0]), filter: undefined, limit: 1 };
    const { neighbours } = await search.query(table, asked);
    const cosine = (angle: number): number => Math.cos((angle * Math.PI) / 180);
    const mean = [30, ...Object.values(angles)].reduce((sum, angle) => sum + cosine(angle), 0) / 6;
    expect(neighbours).toMatchObject({ sampled: 6, rows: 6 });
    // The copy of the first passage and its translation are left out, so the nearest one lies at 40 degrees.
    expect(neighbours!.near[0]![0]).toBeCloseTo(cosine(40) - mean, 2);
  });

  it.each<[string, Partial<Query>, string[]]>([
    ['nothing', {}, ['business', 'none', 'personal']],
    ['a tag', { filter: { tags: ['business'], untagged: true } }, ['business', 'none']],
    ['a tag, strictly', { filter: { tags: ['business'], untagged: false } }, ['business']],
    ['a tier', { authority: 'primary' }, ['none']],
    ['all but what is outdated', { without: ['personal:1', 'none:2'] }, ['business', 'none']],
  ])('the vector search filters by %s, before and after the rows are indexed', async (_, query, expected) => {
    await search.addVectors(vectors, [
      vectorOf('personal', [0], { segments: ['personal'] }),
      vectorOf('business', [90], { segments: ['business'] }),
      vectorOf('none', [180], { authority: 'primary' }),
    ]);
    expect(await sources({ meaning: meaning([0]), ...query })).toEqual(expected);
    for (let at = 0; at < 25; at += 1)
      await search.addVectors(vectors, [vectorOf(`later${at}`, [0], { segments: ['x'] })]);
    expect(await search.maintain(vectors)).toMatchObject({ unindexed: 0, fragments: 1 });
    const left = (await sources({ meaning: meaning([0]), ...query, limit: 40 })).filter(
      (id) => !id.startsWith('later'),
    );
    expect(left).toEqual(expected);
  });

  it('the vector search never returns vectors of another organization, mode or model', async () => {
    await search.addVectors({ ...table, model: 'other' }, [vectorOf('a', [0])]);
    await search.addVectors({ org_id: 'org_b', mode: 'test', model }, [vectorOf('b', [0])]);
    await search.addVectors({ org_id: 'org_a', mode: 'live', model }, [vectorOf('c', [0])]);
    expect(await sources({ meaning: meaning([0]) })).toEqual([]);
    expect(await sources({ meaning: meaning([0], { model: 'other' }) })).toEqual(['a']);
    expect(await sources({ meaning: meaning([0], { model: 'endpoint:some/model v2' }) })).toEqual([]);
    expect(await search.listTables()).toHaveLength(3);
  });

  it('the vector search ignores vectors of another length, and starts a new table when such vectors are added', async () => {
    await search.addVectors(vectors, [vectorOf('a', [0, 0])]);
    expect(await sources({ meaning: meaning([0]) })).toEqual([]);
    await search.addVectors(vectors, [vectorOf('b', [0])]);
    expect(await sources({ meaning: meaning([0, 0]) })).toEqual([]);
    expect(await sources({ meaning: meaning([0]) })).toEqual(['b']);
  });

  it('the vector search stores one vector per chunk, and reports which chunks of a source have one', async () => {
    await search.addVectors(vectors, [vectorOf('a', [0]), vectorOf('a', [0], {}, 2), vectorOf('b', [90])]);
    await search.addVectors(vectors, [vectorOf('a', [180]), vectorOf('c', [90])]);
    const { candidates } = await search.query(table, {
      text: '',
      meaning: meaning([0]),
      filter: undefined,
      limit: 20,
    });
    expect(candidates.map(({ id }) => id).toSorted()).toEqual(['a:1:0', 'a:2:0', 'b:1:0', 'c:1:0']);
    expect(candidates.find(({ id }) => id === 'a:1:0')).toMatchObject({ cosines: [-1] });
    expect(await search.chunksWithVectors(vectors, ['a', 'c', 'z'])).toEqual(new Set(['a:1:0', 'a:2:0', 'c:1:0']));
    expect(await search.chunksWithVectors(vectors, [])).toEqual(new Set());
  });
});

describe('the background sample of cosines', () => {
  const background = async () =>
    (await search.query(table, { text: '', meaning: meaning([0]), filter: undefined, limit: 1 })).background;

  it('the sample of an index’s usual cosines covers a small index completely and a large index with 256 passages', async () => {
    expect(await background()).toEqual([]);
    await search.addVectors(vectors, [vectorOf('a', [0]), vectorOf('b', [180])]);
    expect(await background()).toEqual([[1], [-1]]);
    const many = Array.from({ length: 1_000 }, (_, at) => vectorOf(`m${at}`, [at % 180]));
    await search.addVectors(vectors, many);
    const sample = await background();
    expect(sample).toHaveLength(256);
    expect(Math.abs(sample.reduce((sum, [cosine]) => sum + cosine!, 0) / 256)).toBeLessThan(0.1);
    expect(await background()).toEqual(sample);
  });

  it('the sample of an index’s usual cosines stays the same while few passages change, and is renewed after a while', async () => {
    const many = Array.from({ length: 100 }, (_, at) => vectorOf(`m${at}`, [at]));
    await search.addVectors(vectors, many);
    expect(await background()).toHaveLength(100);
    await search.addVectors(vectors, [vectorOf('more', [0])]);
    expect(await background()).toHaveLength(100);
    now += 61_000;
    expect(await background()).toHaveLength(101);
    await search.removeSources(
      table,
      many.slice(50).map(({ source_id }) => source_id),
    );
    expect(await background()).toHaveLength(51);
  });
});

describe('vectors of a source', () => {
  it('new tags of a source reach its vectors of every embedding model', async () => {
    const former = { ...table, model: 'former' };
    await search.add(table, [wordsOf('a', 'gold'), wordsOf('a', 'gold', {}, 2)]);
    for (const key of [vectors, former]) await search.addVectors(key, [vectorOf('a', [0]), vectorOf('a', [0], {}, 2)]);
    await anotherProcess().retag(table, 'a', { segments: ['staff'], authority: 'primary' }, '1.7');
    const query = { filter: { tags: ['staff'], untagged: false }, authority: 'primary' as const };
    for (const asked of [meaning([0]), meaning([0], { model: 'former' })]) {
      const { candidates } = await search.query(table, { text: '', meaning: asked, limit: 5, ...query });
      expect(candidates).toMatchObject([{ id: 'a:1:0', authority: 'primary' }]);
    }
    expect(await search.listSources(vectors)).toEqual(
      expect.arrayContaining([
        { source_id: 'a', generation: '1', chunks: 1, segments: ['staff'], authority: 'primary' },
        { source_id: 'a', generation: '2', chunks: 1, segments: [], authority: 'normal' },
      ]),
    );
  });

  it('vectors are removed with their source, or with all versions of the source but the current one', async () => {
    const rows = ['a', 'b', 'c'].flatMap((source) => [1, 2].map((at) => vectorOf(source, [0], {}, at)));
    await search.addVectors(vectors, rows);
    const reader = anotherProcess();
    await reader.removeSource(table, 'a');
    await reader.removeSource(table, 'b', '2.5');
    await reader.removeBatch(table, 'c', '1');
    const left = (await search.listSources(vectors)).map(({ source_id, generation }) => source_id + generation);
    expect(left.toSorted()).toEqual(['b2', 'c1', 'c2']);
    await reader.removeSources(table, ['b', 'c']);
    expect(await search.listSources(vectors)).toEqual([]);
  });

  it('the vector tables can be dropped, and the source is still found by its words', async () => {
    await search.add(table, [wordsOf('a', 'gold')]);
    await search.addVectors(vectors, [vectorOf('a', [0])]);
    expect((await search.listTables()).map((key) => key.model === undefined)).toEqual([true, false]);
    for (const key of await search.listTables()) if (key.model !== undefined) await search.dropTable(key);
    expect(await search.listTables()).toEqual([table]);
    expect(await sources({ text: 'gold', meaning: meaning([0]) })).toEqual(['a']);
    expect(await sources({ text: 'silver', meaning: meaning([0]) })).toEqual([]);
  });
});

describe('a damaged vector table', () => {
  it('a damaged vector table does not prevent lexical answers, is reported, and can be recreated', async () => {
    await search.add(table, [wordsOf('a', 'gold')]);
    await search.addVectors(vectors, [vectorOf('a', [0]), vectorOf('b', [0])]);
    await search.check(vectors);
    const [folder] = readdirSync(uri).filter((name) => name.includes('some-model'));
    for (const file of readdirSync(join(uri, folder!, 'data'))) truncateSync(join(uri, folder!, 'data', file), 10);
    const reader = anotherProcess();
    await reader.check(table);
    await expect(reader.check(vectors)).rejects.toThrow(DamagedIndex);
    const asked = { text: 'gold', meaning: meaning([0]), filter: undefined, limit: 5 };
    expect(await reader.query(table, asked)).toMatchObject({
      candidates: [{ id: 'a:1:0' }],
      background: [],
      degraded: true,
    });
    await reader.dropTable(vectors);
    await reader.addVectors(vectors, [vectorOf('b', [0])]);
    expect(await anotherProcess().query(table, asked)).toMatchObject({ background: [[1]], degraded: false });
  });
});

describe('a large number of vectors', () => {
  it.each([
    ['a length that is a multiple of 8', 'IvfRq', 32],
    ['another length', 'IvfHnswSq', 33],
  ])(
    'with vectors of %s, the index (%s) finds nearly all exact neighbours, and new rows before they are indexed',
    async (...of) => {
      const [, type, pairs] = of;
      const seeded = (at: number): number => ((at * 7_919) % 36_000) / 100;
      const anglesOf = (at: number): number[] =>
        Array.from({ length: pairs }, (_, pair) => seeded(at * (2 * pair + 1) ** 2));
      const angles = anglesOf(20_011);
      const asked = whole(...angles);
      const rowsOf = (from: number, count: number): VectorRow[] =>
        Array.from({ length: count }, (_, index) => {
          const at = from + index;
          return vectorOf(`m${at}`, anglesOf(at), { segments: [at % 50 === 0 ? 'few' : 'many'] });
        });
      const rows = rowsOf(0, 10_500);
      await search.addVectors(vectors, rows);
      const indexed = async (): Promise<string[]> => {
        const [name = ''] = readdirSync(uri);
        const opened = await (await connect(uri)).openTable(name.replace(/\.lance$/u, ''));
        const all = await opened.listIndices();
        return all.flatMap(({ columns, indexType }) => (columns.includes('vector') ? [indexType] : []));
      };
      expect(await indexed()).toEqual([]);
      const exact = (filter: (row: VectorRow) => boolean): string[] =>
        rows
          .filter(filter)
          .map(({ id, vector }) => ({ id, dot: vector.reduce((sum, x, at) => sum + x * asked[at]!, 0) }))
          .toSorted((a, b) => b.dot - a.dot)
          .slice(0, 20)
          .map(({ id }) => id);
      const found = async (filter?: Query['filter']) =>
        (await search.query(table, { text: '', meaning: meaning(angles), filter, limit: 20 })).candidates.map(
          ({ id }) => id,
        );
      const few = { tags: ['few'], untagged: false };
      const shared = async (): Promise<number[]> => {
        const [all, some] = [await found(), await found(few)];
        const [nearest, nearestOfFew] = [exact(() => true), exact(({ segments }) => segments[0] === 'few')];
        return [nearest.filter((id) => all.includes(id)).length, nearestOfFew.filter((id) => some.includes(id)).length];
      };
      expect(Math.min(...(await shared()))).toBeGreaterThanOrEqual(19);
      await search.maintain(vectors);
      expect(await indexed()).toEqual([type]);
      expect(Math.min(...(await shared()))).toBeGreaterThanOrEqual(18);
      rows.push(...rowsOf(10_500, 1_200), vectorOf('late', angles));
      await search.addVectors(vectors, rows.slice(10_500));
      expect(await found()).toContain('late:1:0');
      expect((await search.maintain(vectors)).unindexed).toBe(0);
      expect(await found()).toContain('late:1:0');
      expect(Math.min(...(await shared()))).toBeGreaterThanOrEqual(18);
      await search.check(vectors);
    },
  );
});
