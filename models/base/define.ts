/** Defines a collection: its fields (models/rules/base/fields.ts), its indexes, its model. */
import DataLoader from 'dataloader';
import mongoose from 'mongoose';
import type { Field, Fields, RecordWith } from '../rules/base/fields.ts';
import type { Collection } from '../rules/base/holdings.ts';

type PlainSchema = { index(fields: object, options: object): void };
const PlainSchema = mongoose.Schema as unknown as new (fields: object, options: object) => PlainSchema;
const plainModel = mongoose.model.bind(mongoose) as unknown as (name: string, schema: PlainSchema) => unknown;

/** `fields` in index order; the rest are MongoDB's options, such as `unique`. */
export type IndexDefinition = {
  fields: Record<string, 1 | -1>;
  unique?: boolean;
  expireAfterSeconds?: number;
  partialFilterExpression?: object;
};

const scalars = {
  string: String,
  number: Number,
  boolean: Boolean,
  date: Date,
  bytes: Buffer,
  mixed: mongoose.Schema.Types.Mixed,
} as const;

function typeOf({ kind, fields, item }: Field<unknown>): unknown {
  if (kind === 'embedded') return new PlainSchema(definitionsOf(fields!), { _id: false });
  // An item may be the empty string.
  if (kind === 'list') return [{ ...definitionOf(item!), required: false }];
  return scalars[kind];
}

/** A field as mongoose takes it. */
function definitionOf(field: Field<unknown>): object {
  const { optional, nullable, initial, unique, values } = field;
  // Mongoose gives a record that lacks an array an empty one, and takes neither null nor '' for something that is required.
  const initially = optional ? { default: undefined } : 'initial' in field ? { default: initial } : {};
  const required = !optional && !nullable && initial !== '';
  return { type: typeOf(field), required, ...initially, ...defined({ unique, enum: values }) };
}
const definitionsOf = (fields: Fields): Record<string, object> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, definitionOf(field)]));

/** What is stored has these fields and no others; its type follows from them (`RecordOf`). */
export function defineModel<F extends Fields>(
  name: string,
  collection: Collection,
  fields: F,
  indexes: IndexDefinition[] = [],
): mongoose.Model<RecordWith<F>> {
  const schema = new PlainSchema(definitionsOf(fields), { collection, versionKey: false });
  for (const { fields: keys, ...options } of indexes) schema.index(keys, options);
  return plainModel(name, schema) as mongoose.Model<RecordWith<F>>;
}

/** The record that a model stores. */
export type RecordOf<M> = M extends mongoose.Model<infer T> ? T : never;

/**
 * The collection behind a model, typed by its record: the one way to query. The driver sends what it is given, unchecked, so
 * values must have been validated, updates name their fields, and a value that is undefined becomes null.
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
