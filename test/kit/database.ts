/** The database of the shared system, for what no route shows. */
import { afterAll, beforeAll } from '@jest/globals';
import { MongoClient, type Db } from 'mongodb';

/** Connected for the tests of one file, and closed after them. */
export function sharedDatabase(): () => Db {
  let client: MongoClient;
  beforeAll(async () => {
    client = await MongoClient.connect(process.env['TEST_MONGODB_URI']!);
  });
  afterAll(() => client.close());
  return () => client.db('shared');
}
