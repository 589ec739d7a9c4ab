/**
 * Dumps and restores a database by the driver, because mongodump and mongorestore cannot be obtained by every machine
 * that runs the tests.
 */
import { BSON, MongoClient, type IndexDescription } from 'mongodb';
import { everyRecord } from '../../models/base/define.ts';

/**
 * For each collection name: the records as BSON, the indexes, and the ids of records whose follow-up workflows are not
 * started yet (`pending`).
 */
export type Dump = Map<string, { records: Uint8Array[]; indexes: IndexDescription[]; waiting: unknown[] }>;

async function inDatabase<T>(uri: string, act: (db: ReturnType<MongoClient['db']>) => Promise<T>): Promise<T> {
  const client = await MongoClient.connect(uri);
  try {
    return await act(client.db());
  } finally {
    await client.close();
  }
}

/** Dumps every collection of the database that `uri` names. Nothing may write to it meanwhile. */
export const dump = (uri: string): Promise<Dump> =>
  inDatabase(uri, async (db) => {
    const found: Dump = new Map();
    for (const { name } of await db.listCollections().toArray()) {
      const records = await db
        .collection(name)
        .find({}, { ...everyRecord, promoteValues: false })
        .toArray();
      const indexes = (await db.collection(name).indexes()) as IndexDescription[];
      const waiting = records.filter(({ pending }) => pending?.length > 0).map(({ _id }) => _id);
      found.set(name, { records: records.map((record) => BSON.serialize(record)), indexes, waiting });
    }
    return found;
  });

/** Replaces the database by the dump, as `mongorestore --drop` does after the database was dropped. */
export const restore = (uri: string, dumped: Dump): Promise<void> =>
  inDatabase(uri, async (db) => {
    await db.dropDatabase();
    for (const [name, { records, indexes }] of dumped) {
      const collection = await db.createCollection(name);
      const further = indexes.filter((index) => index.name !== '_id_');
      if (further.length > 0) await collection.createIndexes(further);
      const whole = records.map((record) => BSON.deserialize(record, { promoteValues: false }));
      if (whole.length > 0) await collection.insertMany(whole);
    }
  });
