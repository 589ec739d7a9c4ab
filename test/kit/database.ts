/** Databases for the tests of one file: that of the shared system, for what no route shows, and one of a test's own. */
import { afterAll, beforeAll } from '@jest/globals';
import { MongoClient, type Db } from 'mongodb';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';

/** Connected for the tests of one file, and closed after them. */
export function sharedDatabase(): () => Db {
  let client: MongoClient;
  beforeAll(async () => {
    client = await MongoClient.connect(process.env['TEST_MONGODB_URI']!);
  });
  afterAll(() => client.close());
  return () => client.db('shared');
}

/** As if these people had proven their addresses, where a mail would have to be read for that. */
export async function proveAddresses(db: Db, ...people: readonly { userId: string }[]): Promise<void> {
  await db
    .collection<{ _id: string }>('users')
    .updateMany({ _id: { $in: people.map(({ userId }) => userId) } }, { $set: { email_verified: true } });
}

/** Connects the models to a database of this name, unique in the run, for the tests of one file. */
export function modelsIn(name: string): void {
  beforeAll(async () => {
    const uri = new URL(process.env['TEST_MONGODB_URI']!);
    uri.pathname = `/${name}`;
    await connectMongo(uri.href);
  });
  afterAll(disconnectMongo);
}
