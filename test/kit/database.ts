/** Databases for the tests of one file: the shared system's, to read what no route returns, and separate databases. */
import { afterAll, beforeAll } from '@jest/globals';
import { MongoClient, type Db } from 'mongodb';
import { everyRecord } from '../../models/base/define.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';

/** The position of the options argument, by the name of the collection method. */
const optionsAt: Record<string, number> = {
  find: 1,
  findOne: 1,
  countDocuments: 1,
  aggregate: 1,
  deleteOne: 1,
  deleteMany: 1,
  updateOne: 2,
  updateMany: 2,
  findOneAndUpdate: 2,
};

/** Wraps `target` so that some of its methods are replaced. */
function replacing<T extends object>(target: T, replaced: (name: string, original: Function) => Function): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? replaced(name as string, value.bind(target) as Function) : value;
    },
  });
}

const walking = <T extends object>(collection: T): T =>
  replacing(collection, (name, original) => {
    const at = optionsAt[name];
    if (at === undefined) return original;
    return (...args: object[]) => {
      const given = Array.from({ length: at }, (_, index) => args[index] ?? {});
      return original(...given, { ...everyRecord, ...args[at] });
    };
  });

/**
 * Wraps a database for the queries of a test. The mongod of the tests refuses queries without an index, but a test may
 * search by any field. So each of its queries scans the collection through the index on `_id`.
 */
export const walked = <T extends object>(db: T): T =>
  replacing(db, (name, original) =>
    name === 'collection' ? (...args: unknown[]) => walking(original(...args)) : original,
  );

/** A client whose databases are wrapped by `walked`. */
export async function openClient(uri: string): Promise<MongoClient> {
  const client = await MongoClient.connect(uri);
  return replacing(client, (name, original) =>
    name === 'db' ? (...args: unknown[]) => walked(original(...args)) : original,
  );
}

/** The database of the shared system for the tests of one file. It is closed after them. */
export function sharedDatabase(): () => Db {
  let client: MongoClient;
  beforeAll(async () => {
    client = await openClient(process.env['TEST_MONGODB_URI']!);
  });
  afterAll(() => client.close());
  return () => client.db('shared');
}

/** Finds every record that contains one of the texts, and returns the collection name of each record, sorted. */
export async function tracesIn(db: Db, texts: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const names = (await db.listCollections().toArray()).map(({ name }) => name);
  for (const name of names.filter((one) => !one.startsWith('system.'))) {
    // Searches the raw BSON, which contains texts unchanged. Parsing every upload of all tests would take minutes.
    const records = db.collection(name).find({}, { raw: true }) as unknown as AsyncIterable<Buffer>;
    for await (const record of records) if (texts.some((one) => record.includes(one))) found.push(name);
  }
  return found.toSorted();
}

/** Marks the e-mail addresses of these people as verified, without sending mail. */
export async function proveAddresses(db: Db, ...people: readonly { userId: string }[]): Promise<void> {
  await db
    .collection<{ _id: string }>('users')
    .updateMany({ _id: { $in: people.map(({ userId }) => userId) } }, { $set: { email_verified: true } });
}

/** Connects the models to the database of this name (unique in the run) during the tests of one file. */
export function modelsIn(name: string): void {
  beforeAll(async () => {
    const uri = new URL(process.env['TEST_MONGODB_URI']!);
    uri.pathname = `/${name}`;
    await connectMongo(uri.href);
  });
  afterAll(disconnectMongo);
}
