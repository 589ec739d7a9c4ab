/** Databases for the tests of one file: the shared system's, for what no route shows, and separate ones. */
import { afterAll, beforeAll } from '@jest/globals';
import { MongoClient, type Db } from 'mongodb';
import { everyRecord } from '../../models/base/define.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';

/** The position of the options among the arguments of a collection's functions that take a filter. */
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

/** `target` with some of its functions replaced. */
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
 * A database for a test's own queries. The tests' mongod refuses a query without an index, and a test looks for records
 * by any field, so each of its queries walks the collection by id.
 */
export const walked = <T extends object>(db: T): T =>
  replacing(db, (name, original) =>
    name === 'collection' ? (...args: unknown[]) => walking(original(...args)) : original,
  );

/** A client whose databases are `walked`. */
export async function openClient(uri: string): Promise<MongoClient> {
  const client = await MongoClient.connect(uri);
  return replacing(client, (name, original) =>
    name === 'db' ? (...args: unknown[]) => walked(original(...args)) : original,
  );
}

/** A database for the tests of one file; it is closed after them. */
export function sharedDatabase(): () => Db {
  let client: MongoClient;
  beforeAll(async () => {
    client = await openClient(process.env['TEST_MONGODB_URI']!);
  });
  afterAll(() => client.close());
  return () => client.db('shared');
}

/** Marks these people's addresses as proven, without a mail. */
export async function proveAddresses(db: Db, ...people: readonly { userId: string }[]): Promise<void> {
  await db
    .collection<{ _id: string }>('users')
    .updateMany({ _id: { $in: people.map(({ userId }) => userId) } }, { $set: { email_verified: true } });
}

/** Connects the models to the database of this name (unique in the run) for the tests of one file. */
export function modelsIn(name: string): void {
  beforeAll(async () => {
    const uri = new URL(process.env['TEST_MONGODB_URI']!);
    uri.pathname = `/${name}`;
    await connectMongo(uri.href);
  });
  afterAll(disconnectMongo);
}
