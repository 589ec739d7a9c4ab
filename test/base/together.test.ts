import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { systemEnv } from '../kit/processes.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { changerOf, collectionOf, readerInMode, readTogether, updaterOf } from '../../models/base/define.ts';
import { LiveCopyModel } from '../../models/knowledge/livecopy.ts';

type Counted = { _id: string; count: number };
const counted = (name: string) => mongoose.connection.collection<Counted>(name);

beforeAll(async () => {
  await connectMongo(systemEnv('together')['MONGODB_URI']!);
  for (const name of ['first', 'second']) await counted(name).insertOne({ _id: 'one', count: 1 });
});
afterAll(disconnectMongo);

describe('readTogether', () => {
  it('readTogether reads from one snapshot and does not see a write between its reads', async () => {
    const seen = await readTogether(async (options) => {
      const first = await counted('first').findOne({ _id: 'one' }, options);
      for (const name of ['first', 'second']) await counted(name).updateOne({ _id: 'one' }, { $set: { count: 2 } });
      const [second] = await counted('second').find({ _id: 'one' }, options).toArray();
      return [first?.count, second?.count];
    });
    expect(seen).toEqual([1, 1]);
    expect((await counted('second').findOne({ _id: 'one' }))?.count).toBe(2);
  });
});

describe('updaterOf and changerOf', () => {
  it('updaterOf and changerOf never update a record of another id or organization, whatever the further condition names', async () => {
    const copies = collectionOf(LiveCopyModel);
    const copy = { mode: 'live' as const, requested_by: 'user_1', requested_at: new Date(), documents: 0 };
    await copies.insertMany([
      { _id: 'one', org_id: 'org_1', ...copy },
      { _id: 'other', org_id: 'org_2', ...copy },
    ]);
    const [update, change] = [updaterOf(LiveCopyModel), changerOf(LiveCopyModel)];
    expect(await update('org_1', 'one', { $inc: { documents: 1 } }, { _id: 'other', org_id: 'org_2' })).toBe(true);
    expect(await update('org_2', 'one', { $inc: { documents: 1 } })).toBe(false);
    expect(await change('org_1', 'one', { $inc: { documents: 1 } }, { documents: 0 })).toBeNull();
    expect(await change('org_1', 'one', { $inc: { documents: 1 } }, { documents: 1 })).toMatchObject({ documents: 2 });
    expect(await copies.findOne({ _id: 'other' })).toMatchObject({ documents: 0 });
    // @ts-expect-error: a value of another type
    expect(() => update('org_1', 'one', { $set: { documents: 'two' } })).toBeInstanceOf(Function);
  });
});

describe('readerInMode', () => {
  it('readerInMode reads only the named fields of the records with the given ids, organization and mode', async () => {
    const copy = { requested_by: 'user_1', requested_at: new Date(), documents: 7 };
    await collectionOf(LiveCopyModel).insertMany([
      { _id: 'live', org_id: 'org_3', mode: 'live', ...copy },
      { _id: 'test', org_id: 'org_3', mode: 'test', ...copy },
      { _id: 'foreign', org_id: 'org_4', mode: 'live', ...copy },
    ]);
    const read = readerInMode(LiveCopyModel, 'requested_by documents');
    const found = await read('org_3', 'live', ['live', 'test', 'foreign', 'none']);
    expect(found).toEqual([{ _id: 'live', mode: 'live', requested_by: 'user_1', documents: 7 }]);
    // @ts-expect-error: the records have no such field
    readerInMode(LiveCopyModel, 'requested_by document');
  });
});
