/**
 * Defines a collection: its fields, its indexes, its model. Mongoose's own inference of types from schemas is not used:
 * a record's type is written once, by hand, and compiling the project takes seconds instead of a minute.
 */
import DataLoader from 'dataloader';
import mongoose from 'mongoose';
import type { Collection } from '../rules/base/holdings.ts';

/** One field as mongoose takes it: a type, or `{ type, required, enum, default }`. */
export type Field = object;
export type Fields<T> = { [F in keyof T]-?: Field };
/** `fields` in index order; the rest are MongoDB's options, such as `unique`. */
export type IndexDefinition = {
  fields: Record<string, 1 | -1>;
  unique?: boolean;
  expireAfterSeconds?: number;
  partialFilterExpression?: object;
};

type PlainSchema = { index(fields: object, options: object): void };
const PlainSchema = mongoose.Schema as unknown as new (fields: object, options: object) => PlainSchema;
const plainModel = mongoose.model.bind(mongoose) as unknown as (name: string, schema: PlainSchema) => unknown;

/** Any JSON value. */
export const Mixed: Field = mongoose.Schema.Types.Mixed;

/** `T` is the stored record; every field of it must be listed, so that type and schema cannot diverge. */
export function defineModel<T extends object>(
  name: string,
  collection: Collection,
  fields: Fields<T>,
  indexes: IndexDefinition[] = [],
): mongoose.Model<T> {
  const schema = new PlainSchema(fields, { collection, versionKey: false });
  for (const { fields: keys, ...options } of indexes) schema.index(keys, options);
  return plainModel(name, schema) as mongoose.Model<T>;
}

/** A record inside a record, without an id of its own. */
export function embedded<T extends object>(fields: Fields<T>): Field {
  return new PlainSchema(fields, { _id: false });
}

/**
 * The collection behind a model, typed by its record, for reads on the hot path: the driver's own objects, without
 * casts. Values passed to it must have been validated.
 */
export function collectionOf<T extends object>(model: mongoose.Model<T>): mongoose.mongo.Collection<T> {
  return model.collection as unknown as mongoose.mongo.Collection<T>;
}

/**
 * Options of the few queries that go through a whole collection: they walk it by id. The mongod of the tests refuses every other
 * query that no index serves. Each use says why it may.
 */
export const everyRecord = { hint: { _id: 1 } } as const;

/** Options of reads that see one state of all collections. */
export type Together = { session: mongoose.mongo.ClientSession; readConcern: { level: 'snapshot' } };

/**
 * Reads with these options see one state of all collections, however much is written between them. The level is said with each
 * read, since the driver prefers the connection's own to that of the session.
 */
export async function readTogether<T>(reads: (options: Together) => Promise<T>): Promise<T> {
  return mongoose.connection
    .getClient()
    .withSession({ snapshot: true }, (session) => reads({ session, readConcern: { level: 'snapshot' } }));
}

/** The fields that have a value; the driver would store undefined ones as null. */
export const defined = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/**
 * Reads records by primary key. Reads of one turn of the event loop become one query, so a busy process asks MongoDB
 * less. Nothing is cached: each read begins after it was asked for. Callers that ask for the same id share one object,
 * so do not change it. `select` names the fields to read; all of them by default.
 */
export function readerOf<T extends { _id: string }, K extends keyof T = keyof T>(
  model: mongoose.Model<T>,
  select?: readonly K[],
): (id: string) => Promise<Readonly<Pick<T, K>> | null> {
  const options = select ? { projection: Object.fromEntries(select.map((field) => [field, 1])) } : {};
  const loader = new DataLoader<string, Readonly<Pick<T, K>> | null>(
    async (asked) => {
      const collection = collectionOf(model) as unknown as mongoose.mongo.Collection<{ _id: string }>;
      const ids = [...new Set(asked)];
      // A single id takes MongoDB's fast path, without a cursor.
      const found =
        ids.length === 1
          ? [await collection.findOne({ _id: ids[0]! }, options)]
          : await collection.find({ _id: { $in: ids } }, options).toArray();
      const byId = new Map(found.map((record) => [record?._id, record as unknown as Readonly<Pick<T, K>> | null]));
      return asked.map((id) => byId.get(id) ?? null);
    },
    // The batch is sent after every socket that was readable in this turn has been read, not after the first.
    { cache: false, batchScheduleFn: (dispatch) => setImmediate(dispatch), maxBatchSize: 500 },
  );
  return (id) => loader.load(id);
}
