import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { copies, holdings } from '../../models/rules/base/holdings.ts';
import { fleetNames } from '../../workers/fleets.ts';
import { slices } from '../../workers/slices/index.ts';
import { cliType, searchAttributes } from '../../workflows/attributes.ts';
import { queues } from '../../models/rules/base/work.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

beforeAll(async () => {
  const files = await readdir(join(root, 'models'), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts'))) await import(join(root, 'models', file));
});

describe('workers/slices', () => {
  it('the slices in workers/slices name every model whose records start workflows exactly once', () => {
    const starting = Object.values(mongoose.models).filter(({ schema }) => schema.path('pending') !== undefined);
    expect(starting.length).toBeGreaterThan(5);
    const named = slices.flatMap(({ launchable }) => launchable.map(({ modelName }) => modelName));
    expect(named.toSorted()).toEqual(starting.map(({ modelName }) => modelName).toSorted());
  });

  it('every Temporal task queue belongs to exactly one fleet of workers', () => {
    const declared = slices.flatMap(({ fleets }) => Object.keys(fleets));
    expect(declared.toSorted()).toEqual(Object.values(queues).toSorted());
  });

  it('the list of slices names every file in workers/slices', async () => {
    const files = (await readdir(join(root, 'workers/slices'))).filter((name) => !/^(?:index|slice)\.ts$/.test(name));
    expect(files).toHaveLength(slices.length);
  });
});

describe('models/rules/base/holdings.ts', () => {
  const modelOf = (collection: string) =>
    Object.values(mongoose.models).find((model) => model.collection.collectionName === collection)!;

  it('the table `holdings` lists every collection and nothing else', () => {
    const collections = Object.values(mongoose.models).map((model) => model.collection.collectionName);
    expect(Object.keys(holdings).toSorted()).toEqual(collections.toSorted());
  });

  it.each(copies)(
    'every record of $collection has a required and indexed field that names its owner',
    ({ collection, by }) => {
      const { schema } = modelOf(collection);
      expect(schema.path(by)).toMatchObject({ isRequired: true });
      expect(schema.indexes().map(([fields]) => Object.keys(fields)[0])).toContain(by);
    },
  );

  it('the table `holdings` names the field `about` as the owner’s id for exactly the collections that have this field', () => {
    const saying = Object.values(mongoose.models).filter(({ schema }) => schema.path('about') !== undefined);
    const listed = copies.filter(({ by }) => by === 'about').map(({ collection }) => collection as string);
    expect(saying.map((model) => model.collection.collectionName).toSorted()).toEqual(listed.toSorted());
  });
});

describe('the documents for operators', () => {
  it('docs/configuration.md names every fleet of workers', async () => {
    const row = (await read('docs/configuration.md')).split('\n').find((line) => line.startsWith('| `FLEETS`'))!;
    const named = [...row.split('|')[3]!.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(fleetNames.toSorted());
  });

  it('docs/operating.md names every Temporal search attribute', async () => {
    const text = await read('docs/operating.md');
    const unnamed = Object.values(searchAttributes).filter(({ name }) => !text.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });
});

it('search attribute types are written in the spelling of the Temporal command line', () => {
  expect([cliType('KEYWORD'), cliType('KEYWORD_LIST')]).toEqual(['Keyword', 'KeywordList']);
});
