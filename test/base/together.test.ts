import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import mongoose from 'mongoose';
import { systemEnv } from '../kit/processes.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { readTogether } from '../../models/base/define.ts';

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
