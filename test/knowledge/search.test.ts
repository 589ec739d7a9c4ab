import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withMerging } from '../../clients/knowledge/search/merging.ts';
import { createSearch } from '../../clients/knowledge/search/search.ts';
import { DamagedIndex } from '../../clients/knowledge/search/damage.ts';
import type { IndexRow, IndexTable, Query, Search } from '../../clients/knowledge/search/search.ts';
import { until } from '../kit/harness.ts';
import { newFolder } from '../kit/processes.ts';

const root = newFolder('search');
let uri: string;
let search: Search;
const others: Search[] = [];
let folders = 0;
const table: IndexTable = { org_id: 'org_a', mode: 'test' };

const row = (source: string, ordinal: number, text: string, rest: Partial<IndexRow> = {}): IndexRow => ({
  id: `${source}:1:${ordinal}`,
  source_id: source,
  generation: '1',
  segments: [],
  authority: 'normal',
  heading: '',
  text,
  ...rest,
});

const creating = new Set<string>();
/** Lets only one process at a time create a table, as the leases of workers do. */
async function exclusively(name: string, work: () => Promise<void>): Promise<void> {
  if (creating.has(name)) return;
  creating.add(name);
  await work().finally(() => creating.delete(name));
}

/** Another process's view: a connection and caches of its own. */
function anotherProcess(): Search {
  const other = createSearch({ uri, exclusively });
  others.push(other);
  return other;
}

async function ids(text: string, rest: Partial<Query> = {}, by: Search = search, key = table): Promise<string[]> {
  const { candidates } = await by.query(key, { text, filter: undefined, limit: 20, ...rest });
  return candidates.map(({ id }) => id).sort();
}

beforeEach(() => {
  folders += 1;
  uri = join(root, String(folders));
  search = createSearch({ uri, exclusively });
});
afterEach(() => {
  search.close();
  for (const other of others.splice(0)) other.close();
});

describe('adding and querying chunks', () => {
  it('the search finds nothing and throws no error while the table does not exist', async () => {
    expect(await ids('card')).toEqual([]);
    expect(await search.tiers(table)).toEqual([]);
    expect((await search.stats(table)).unindexed).toBe(0);
    expect(await search.listTables()).toEqual([]);
    expect(await search.listSources(table)).toEqual([]);
    await search.removeSource(table, 'd1');
    await search.retag(table, 'd1', { segments: ['a'], authority: 'normal' }, '1');
    expect(await search.maintain(table)).toEqual({ rows: 0, unindexed: 0, fragments: 0 });
    await search.check(table);
    await search.dropTable(table);
  });

  it('the search finds a chunk by any inflection of its words, in its text or heading', async () => {
    await search.add(table, [
      row('d1', 0, 'The fee for a replacement card is 10 EUR.', { heading: 'Cards > Stolen' }),
      row('d1', 1, 'Opening hours'),
    ]);
    expect(await ids('fees')).toEqual(['d1:1:0']);
    expect(await ids('What about stealing or stolen cards?')).toEqual(['d1:1:0']);
    expect(await ids('opened at what hour')).toEqual(['d1:1:1']);
  });

  it('the search leaves out excluded versions (generations) of a source, also when it filters by segment and authority tier', async () => {
    await search.add(table, [
      row('d1', 0, 'gold card', { segments: ['a'] }),
      row('d1', 1, 'gold card', { id: 'd1:2:0', generation: '2', segments: ['a'] }),
      row("it's", 0, 'gold card'),
    ]);
    expect(await ids('gold card', { without: ['d1:1', "it's:1"] })).toEqual(['d1:2:0']);
    const filter = { tags: ['a'], untagged: true };
    expect(await ids('gold card', { without: ['d1:2'], filter, authority: 'normal' })).toEqual(['d1:1:0', "it's:1:0"]);
  });

  it.each([
    ['German', 'Die Gebühr für Überweisungen ins Ausland beträgt 5 Euro', 'Überweisungen'],
    ['German without umlauts', 'Die Gebühr für Überweisungen ins Ausland', 'gebuhr'],
    ['French', 'Les frais de virement à l’étranger', 'étranger'],
    ['Russian', 'Комиссия за перевод за границу', 'перевод'],
    ['Japanese', '東京都の支店は九時に開きます', '支店'],
    ['Chinese', '信用卡年费为四十九欧元', '年费'],
  ])('the search finds a text in %s by one of its own words', async (_, text, question) => {
    await search.add(table, [row('d1', 0, text), row('d1', 1, 'Something in English about cards')]);
    expect(await ids(question)).toEqual(['d1:1:0']);
  });

  it('the search returns passages in the order of their scores, each with the authority tier of its source', async () => {
    await search.add(table, [
      row('d1', 0, 'gold card card card', { authority: 'primary' }),
      row('d2', 0, 'a card among many other words of no interest'),
    ]);
    const found = await search.query(table, { text: 'gold card', filter: undefined, limit: 5 });
    expect(found).toEqual({
      candidates: [
        { id: 'd1:1:0', authority: 'primary', text_score: expect.any(Number) },
        { id: 'd2:1:0', authority: 'normal', text_score: expect.any(Number) },
      ],
      background: [],
      degraded: false,
    });
  });

  it('indexing a source again stores each passage once, and removes the passages that the source no longer has', async () => {
    await search.add(table, [row('d1', 0, 'gold card'), row('d1', 1, 'silver card'), row('d2', 0, 'bronze card')]);
    await search.add(table, [row('d1', 0, 'gold card'), row('d1', 2, 'platinum card')]);
    expect(await ids('card')).toEqual(['d1:1:0', 'd1:1:2', 'd2:1:0']);
    expect(await search.stats(table)).toMatchObject({ rows: 3 });
  });

  it('the search never returns rows of another organization or mode', async () => {
    await search.add(table, [row('d1', 0, 'gold card')]);
    const neighbours: IndexTable[] = [
      { org_id: 'org_a', mode: 'live' },
      { org_id: 'org_b', mode: 'test' },
      { org_id: 'org', mode: 'test' },
    ];
    for (const key of neighbours) expect(await ids('gold card', {}, search, key)).toEqual([]);
    await search.add({ org_id: 'org_b', mode: 'live' }, [row('d9', 0, 'gold card')]);
    expect(await ids('gold')).toEqual(['d1:1:0']);
    const tables = await search.listTables();
    expect(tables).toHaveLength(2);
    expect(tables).toEqual(expect.arrayContaining([table, { org_id: 'org_b', mode: 'live' }]));
  });

  it.each(['../org_a', "a'b", 'a.live', '', 'a/b', 'org a'])(
    'the search refuses the organization id %j',
    async (org_id) => {
      await expect(ids('x', {}, search, { org_id, mode: 'test' })).rejects.toThrow('organization id');
    },
  );

  it.each([
    ['nothing', ''],
    ['blanks', ' \n\t '],
    ['stop words only', 'the of and is'],
    ['operators', 'gold AND (card OR NOT "x" +y -z ^2 ~3 *'],
    ['SQL', '\'; DROP TABLE x; -- " OR 1=1'],
    ['NUL', 'gold\u0000card'],
    ['a lone surrogate', 'gold \ud800'],
    ['emoji', '😀🏦💳'],
    ['right-to-left marks', '\u202egold\u202c'],
    ['ten thousand letters', 'x'.repeat(10_000)],
    ['ten thousand words', 'gold '.repeat(10_000)],
    ['different words', Array.from({ length: 2_000 }, (_, index) => `w${index}`).join(' ')],
  ])('the search accepts %s as a question', async (_, text) => {
    await search.add(table, [row('d1', 0, 'A gold card')]);
    expect(['', 'd1:1:0']).toContain((await ids(text, { filter: { tags: ['business'], untagged: true } })).join());
    expect(await ids('gold')).toEqual(['d1:1:0']);
  });

  it('the search treats hostile ids, texts and tags as values', async () => {
    const evil = "x') OR ('1'='1";
    await search.add(table, [row('d1', 0, 'gold card'), row(evil, 0, "it's gold\u0000 \ud800", { segments: ["a'b"] })]);
    expect(await ids('gold', { filter: { tags: ["a'b"], untagged: false } })).toEqual([`${evil}:1:0`]);
    expect(await ids('gold', { filter: { tags: [evil], untagged: false } })).toEqual([]);
    await search.retag(table, evil, { segments: ["c'd"], authority: 'normal' }, '1');
    expect(await ids('gold', { filter: { tags: ["c'd"], untagged: false } })).toEqual([`${evil}:1:0`]);
    await search.removeSource(table, evil);
    expect(await ids('gold')).toEqual(['d1:1:0']);
  });
});

describe('filters of the search', () => {
  const fill = async (): Promise<void> =>
    search.add(table, [
      row('none', 0, 'gold card', { authority: 'primary' }),
      row('business', 0, 'gold card', { segments: ['business'] }),
      row('both', 0, 'gold card', { segments: ['business', 'personal'], authority: 'primary' }),
      row('personal', 0, 'gold card', { segments: ['personal'], authority: 'background' }),
      row('shared', 0, 'gold card', { segments: ['all'], authority: 'background' }),
    ]);

  it.each<[string, Partial<Query>, string[]]>([
    ['nothing', {}, ['both', 'business', 'none', 'personal', 'shared']],
    ['a tag', { filter: { tags: ['business', 'all'], untagged: true } }, ['both', 'business', 'none', 'shared']],
    ['a tag, strictly', { filter: { tags: ['business', 'all'], untagged: false } }, ['both', 'business', 'shared']],
    ['an unknown tag, strictly', { filter: { tags: ['busi'], untagged: false } }, []],
    ['a tier', { authority: 'primary' }, ['both', 'none']],
    ['a tag and a tier', { filter: { tags: ['business'], untagged: true }, authority: 'primary' }, ['both', 'none']],
    [
      'a tag and a tier, strictly',
      { filter: { tags: ['business'], untagged: false }, authority: 'normal' },
      ['business'],
    ],
  ])('the search filters by %s, before and after the rows are indexed', async (_, query, expected) => {
    await fill();
    const wanted = expected.map((source) => `${source}:1:0`);
    expect(await ids('gold', query)).toEqual(wanted);
    expect(await search.maintain(table)).toMatchObject({ rows: 5, unindexed: 0 });
    expect(await ids('gold', query)).toEqual(wanted);
  });

  it('the search reports which authority tiers (primary, normal, background) have passages, also after a source changes its tier', async () => {
    await fill();
    expect(await search.tiers(table)).toEqual(['primary', 'normal', 'background']);
    await search.retag(table, 'business', { segments: ['business'], authority: 'background' }, '1');
    expect(await search.tiers(table)).toEqual(['primary', 'background']);
  });

  it('the search filters by the new tags and authority tier of a source as soon as they are set', async () => {
    await fill();
    await search.retag(table, 'both', { segments: ['corporate'], authority: 'background' }, '1');
    expect(await ids('gold', { filter: { tags: ['corporate'], untagged: false }, authority: 'background' })).toEqual([
      'both:1:0',
    ]);
    await search.retag(table, 'both', { segments: [], authority: 'normal' }, '1');
    expect(await ids('gold', { filter: { tags: [], untagged: true }, authority: 'normal' })).toEqual(['both:1:0']);
    expect(await ids('gold', { filter: { tags: ['corporate', 'business'], untagged: false } })).toEqual([
      'business:1:0',
    ]);
  });
});

describe('listSources', () => {
  it('listSources lists each version (generation) of a source with its own tags and authority tier', async () => {
    await search.add(table, [row('d1', 0, 'gold'), row('d1', 1, 'card')]);
    await search.add(table, [row('d1', 0, 'gold', { id: 'd1:2:0', generation: '2', segments: ['b', 'a'] })]);
    await search.retag(table, 'd1', { segments: ['c'], authority: 'primary' }, '1');
    const found = (await search.listSources(table)).toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
    expect(found).toEqual([
      { source_id: 'd1', generation: '1', chunks: 2, segments: ['c'], authority: 'primary' },
      { source_id: 'd1', generation: '2', chunks: 1, segments: ['b', 'a'], authority: 'normal' },
    ]);
  });
});

describe('a damaged table', () => {
  const cut = (path: string) => truncateSync(path, 10);
  const garble = (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size, 7));

  it.each([
    ['files cut short', /[/]data[/]/, cut],
    ['empty files', /[/]data[/]/, (path: string) => truncateSync(path, 0)],
    ['files of something else', /[/]data[/]/, garble],
    ['files missing', /[/]data[/]/, rmSync],
    ['versions cut short', /[/]_versions[/]/, cut],
    ['indexes cut short', /[/]_indices[/]/, cut],
    ['indexes of something else', /[/]_indices[/]/, garble],
    ['indexes missing', /[/]_indices[/]/, rmSync],
  ] as const)('an index table with %s fails its check, and can be replaced by a new one', async (_, part, harm) => {
    await search.add(table, [row('d1', 0, 'gold card')]);
    await search.maintain(table);
    const reader = anotherProcess();
    await reader.check(table);
    for (const name of readdirSync(uri, { recursive: true, withFileTypes: true })) {
      const path = join(name.parentPath, name.name);
      if (name.isFile() && part.test(path)) harm(path);
    }
    await expect(reader.check(table)).rejects.toThrow(DamagedIndex);
    const problem = await ids('gold', {}, anotherProcess()).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(DamagedIndex);
    expect(problem).toMatchObject({ status: 503, message: expect.stringContaining('made anew') });
    await reader.dropTable(table);
    expect(await ids('gold', {}, anotherProcess())).toEqual([]);
    await reader.add(table, [row('d1', 0, 'gold card')]);
    expect(await ids('gold', {}, anotherProcess())).toEqual(['d1:1:0']);
    await reader.check(table);
  });
});

describe('removeSource', () => {
  it('removeSource removes a source completely, or all versions (generations) of the source but one', async () => {
    await search.add(table, [row('d1', 0, 'gold card'), row('d2', 0, 'gold card')]);
    await search.add(table, [row('d1', 0, 'gold card, new', { id: 'd1:2:0', generation: '2' })]);
    expect(await ids('gold')).toEqual(['d1:1:0', 'd1:2:0', 'd2:1:0']);
    expect(await search.listSources(table)).toHaveLength(3);
    await search.removeSource(table, 'd1', '2');
    await search.removeSource(table, 'd1', '2');
    expect(await ids('gold')).toEqual(['d1:2:0', 'd2:1:0']);
    await search.removeSource(table, 'd1');
    await search.removeSource(table, 'd1');
    expect(await search.listSources(table)).toMatchObject([{ source_id: 'd2', generation: '1', chunks: 1 }]);
  });
});

describe('several processes', () => {
  it('each of several processes sees the writes, changes, removals and optimizations of the others in the next question', async () => {
    const reader = anotherProcess();
    expect(await ids('gold', {}, reader)).toEqual([]);
    for (let round = 0; round < 15; round += 1) {
      await search.add(table, [row(`d${round}`, 0, 'gold card')]);
      expect(await ids('gold', {}, reader)).toEqual([`d${round}:1:0`]);
      await search.retag(table, `d${round}`, { segments: ['business'], authority: 'normal' }, '1');
      expect(await ids('gold', { filter: { tags: ['business'], untagged: false } }, reader)).toHaveLength(1);
      if (round % 5 === 0) await search.maintain(table);
      await search.removeSource(table, `d${round}`);
      expect(await ids('gold', {}, reader)).toEqual([]);
    }
  });

  it('several processes that write and optimize the index concurrently lose no write', async () => {
    const writers = [search, anotherProcess(), anotherProcess()];
    await Promise.all(writers.map(async (writer, index) => writer.add(table, [row(`seed${index}`, 0, 'gold card')])));
    await Promise.all(
      Array.from({ length: 12 }, async (_, index) => {
        const writer = writers[index % writers.length] ?? search;
        await writer.add(table, [row(`d${index}`, 0, 'silver card')]);
        if (index % 4 === 0) await writer.maintain(table);
        if (index % 3 === 0) await writer.removeSource(table, `d${index}`);
        else await writer.retag(table, `d${index}`, { segments: ['business'], authority: 'normal' }, '1');
      }),
    );
    const expected = Array.from({ length: 12 }, (_, index) => index).filter((index) => index % 3 !== 0);
    for (const reader of writers) {
      const found = await ids('silver', { filter: { tags: ['business'], untagged: false } }, reader);
      expect(found).toEqual(expected.map((index) => `d${index}:1:0`).sort());
    }
    expect(await ids('gold')).toEqual(['seed0:1:0', 'seed1:1:0', 'seed2:1:0']);
  });

  it('several processes keep working when one of them drops a table and creates it again', async () => {
    const reader = anotherProcess();
    await search.add(table, [row('d1', 0, 'gold card')]);
    expect(await ids('gold', {}, reader)).toEqual(['d1:1:0']);
    await search.dropTable(table);
    expect(await ids('gold', {}, reader)).toEqual([]);
    await search.add(table, [row('d2', 0, 'gold card')]);
    expect(await ids('gold', {}, reader)).toEqual(['d2:1:0']);
    await search.dropTable(table);
    await reader.add(table, [row('d3', 0, 'gold card')]);
    expect(await ids('gold')).toEqual(['d3:1:0']);
  });

  it('a process that opens more index tables than its limit still answers from each of them', async () => {
    const tablesOf = Array.from({ length: 7 }, (_, n): IndexTable => ({ ...table, org_id: `org_${n}` }));
    for (const key of tablesOf) await search.add(key, [row('d1', 0, `gold card of ${key.org_id}`)]);
    const reader = createSearch({ uri, exclusively, maxOpened: 3 });
    others.push(reader);
    for (let round = 0; round < 3; round += 1) {
      const found = await Promise.all(tablesOf.map((key) => ids('gold', {}, reader, key)));
      expect(found).toEqual(tablesOf.map(() => ['d1:1:0']));
    }
    await reader.add(tablesOf[0]!, [row('d2', 0, 'gold card')]);
    expect(await ids('gold', {}, search, tablesOf[0])).toEqual(['d1:1:0', 'd2:1:0']);
  });

  it('several processes that create the same index table at once lose no write', async () => {
    const writers = Array.from({ length: 6 }, anotherProcess);
    for (let round = 0; round < 10; round += 1) {
      const key = { ...table, org_id: `org_new${round}` };
      await Promise.all(writers.map((writer, n) => writer.add(key, [row(`d${n}`, 0, 'gold card')])));
      expect(await ids('gold', {}, search, key)).toHaveLength(writers.length);
    }
  });

  it('a new process finds all passages after all earlier processes have ended', async () => {
    await search.add(table, [row('d1', 0, 'gold card')]);
    search.close();
    search = createSearch({ uri });
    expect(await ids('gold')).toEqual(['d1:1:0']);
  });
});

describe('merging in the background', () => {
  const merged = (rows: number) =>
    until(async () => {
      const { unindexed, ...stats } = await search.stats(table);
      return stats.rows === rows && unindexed === 0;
    }, 'all rows to be merged');
  const write = async (count: number, rows: number) => {
    for (let n = 0; n < count; n += 1)
      await search.add(
        table,
        Array.from({ length: rows }, (_, at) => row(`d${n}`, at, `card number ${n}`)),
      );
  };

  it('the background merging merges many small writes into one file while writing continues', async () => {
    search = withMerging(search, { quietMs: 1e9 });
    await write(63, 1);
    expect((await search.stats(table)).unindexed).toBe(63);
    await search.add(table, [row('last', 0, 'card')]);
    await merged(64);
    expect((await search.stats(table)).fragments).toBe(1);
    expect(await ids('card', { limit: 100 })).toHaveLength(64);
  });

  it('the background merging starts after enough new rows, even when few writes added them', async () => {
    search = withMerging(search, { rows: 100, quietMs: 1e9 });
    await write(2, 50);
    await merged(100);
  });

  it('after a quiet period, the background merging merges many new index rows, and leaves a few rows to the maintenance workflow', async () => {
    const few = { ...table, org_id: 'org_few' };
    search = withMerging(search, { quietMs: 20, worthRows: 30 });
    await search.add(few, [row('d', 0, 'card')]);
    await write(3, 10);
    await merged(30);
    expect((await search.stats(few)).unindexed).toBe(1);
  });

  it('the merge after a failed background merge includes all rows so far', async () => {
    const whole = search;
    let merges = 0;
    search = withMerging(
      {
        ...whole,
        maintain: async (key) => {
          merges += 1;
          if (merges === 1) throw new Error('no space left');
          return whole.maintain(key);
        },
      },
      { writes: 2, quietMs: 1e9 },
    );
    await write(2, 1);
    await until(async () => merges === 1, 'the failure');
    let more = 0;
    await until(async () => {
      more += 1;
      await search.add(table, [row(`more${more}`, 0, 'card')]);
      return merges > 1 && (await search.stats(table)).unindexed < 2;
    }, 'another merge, of all rows so far');
  });
});
