/** What the slices declare for the workers is complete, and the documents for operators name all of it. */
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
  it('name every model whose records start workflows, each once', () => {
    const starting = Object.values(mongoose.models).filter(({ schema }) => schema.path('pending') !== undefined);
    expect(starting.length).toBeGreaterThan(5);
    const named = slices.flatMap(({ launchable }) => launchable.map(({ modelName }) => modelName));
    expect(named.toSorted()).toEqual(starting.map(({ modelName }) => modelName).toSorted());
  });

  it('have a fleet for every queue, each once', () => {
    const declared = slices.flatMap(({ fleets }) => Object.keys(fleets));
    expect(declared.toSorted()).toEqual(Object.values(queues).toSorted());
  });

  it('have one file each, and the list names all of them', async () => {
    const files = (await readdir(join(root, 'workers/slices'))).filter((name) => !/^(?:index|slice)\.ts$/.test(name));
    expect(files).toHaveLength(slices.length);
  });
});

describe('models/rules/base/holdings.ts', () => {
  const modelOf = (collection: string) =>
    Object.values(mongoose.models).find((model) => model.collection.collectionName === collection)!;

  it('names, for every collection, the meetings, tasks, customers, documents and interviews it holds data of', () => {
    const collections = Object.values(mongoose.models).map((model) => model.collection.collectionName);
    expect(Object.keys(holdings).toSorted()).toEqual(collections.toSorted());
  });

  it.each(copies)('has an indexed owner field in every record of $collection', ({ collection, by }) => {
    const { schema } = modelOf(collection);
    expect(schema.path(by)).toMatchObject({ isRequired: true });
    expect(schema.indexes().map(([fields]) => Object.keys(fields)[0])).toContain(by);
  });

  it('lists every collection with `about` or `customer_id` as holding copies', () => {
    const saying = Object.values(mongoose.models).filter(({ schema }) => schema.path('about') !== undefined);
    const listed = copies.filter(({ by }) => by === 'about').map(({ collection }) => collection as string);
    expect(saying.map((model) => model.collection.collectionName).toSorted()).toEqual(listed.toSorted());
  });
});

describe('the documents for operators', () => {
  it('name every fleet', async () => {
    const row = (await read('docs/configuration.md')).split('\n').find((line) => line.startsWith('| `FLEETS`'))!;
    const named = [...row.split('|')[3]!.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(fleetNames.toSorted());
  });

  it('name every search attribute', async () => {
    const text = await read('docs/operating.md');
    const unnamed = Object.values(searchAttributes).filter(({ name }) => !text.includes(`\`${name}\``));
    expect(unnamed).toEqual([]);
  });
});

it('types of search attributes are written as the command line takes them', () => {
  expect([cliType('KEYWORD'), cliType('KEYWORD_LIST')]).toEqual(['Keyword', 'KeywordList']);
});
