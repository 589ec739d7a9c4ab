/** Defines collections from their fields (models/rules/base/fields.ts) and indexes. */
import DataLoader from 'dataloader';
import mongoose from 'mongoose';
import type { Field, Fields, RecordWith } from '../rules/base/fields.ts';
import { defined } from '../rules/base/defined.ts';
import type { Collection } from '../rules/base/holdings.ts';
import type { shardKeys } from '../rules/base/shards.ts';
import type { OnOneShard, Update } from './onshard.ts';

type PlainSchema = { index(fields: object, options: object): void };
const PlainSchema = mongoose.Schema as unknown as new (fields: object, options: object) => PlainSchema;
const plainModel = mongoose.model.bind(mongoose) as unknown as (name: string, schema: PlainSchema) => unknown;

/** An index: `fields` in their order in the index; the other properties are MongoDB's index options. */
export type IndexDefinition = {
  fields: Record<string, 1 | -1 | 'text'>;
  unique?: boolean;
  expireAfterSeconds?: number;
  partialFilterExpression?: object;
  default_language?: string;
  language_override?: string;
};

/**
 * A text index; MongoDB allows one per collection. It finds whole words of these fields, in any case and with any
 * accents, in the records of one organization. The index has no language: with a language, MongoDB would leave out
 * common words and reduce other words to their stems.
 */
export const wordIndex = (...fields: readonly string[]): IndexDefinition => ({
  fields: { org_id: 1, ...Object.fromEntries(fields.map((field) => [field, 'text' as const])) },
  default_language: 'none',
  // This option names a field that no record has. By default, MongoDB would take the language of a record's index
  // entries from the record's field `language`.
  language_override: 'language_of_words',
});

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
  // Items are not `required`, because mongoose would refuse an empty string as an item.
  if (kind === 'list') return [{ ...definitionOf(item!), required: false }];
  return scalars[kind];
}

function definitionOf(field: Field<unknown>): object {
  const { optional, nullable, initial, unique, values } = field;
  // By default, mongoose stores an empty array for a missing list, so optional fields get `default: undefined`.
  // Mongoose refuses null and '' for required fields.
  const initially = optional ? { default: undefined } : 'initial' in field ? { default: initial } : {};
  const required = !optional && !nullable && initial !== '';
  return { type: typeOf(field), required, ...initially, ...defined({ unique, enum: values }) };
}
const definitionsOf = (fields: Fields): Record<string, object> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, definitionOf(field)]));

declare const stored: unique symbol;
/** A model whose type contains the name of its collection, so that the compiler can check filters of queries. */
export type Model<T, C extends Collection = Collection> = mongoose.Model<T> & Stores<T, C>;
type Stores<T, C> = { readonly [stored]: { record: T; collection: C } };

/** Defines a model whose records have exactly these fields. */
export function defineModel<F extends Fields, const C extends Collection>(
  name: string,
  collection: C,
  fields: F,
  indexes: IndexDefinition[] = [],
): Model<RecordWith<F>, C> {
  const schema = new PlainSchema(definitionsOf(fields), { collection, versionKey: false });
  for (const { fields: keys, ...options } of indexes) schema.index(keys, options);
  return plainModel(name, schema) as Model<RecordWith<F>, C>;
}

export type RecordOf<M> = M extends Stores<infer T, unknown> ? T : never;

type Everywhere<T extends object> = mongoose.mongo.Collection<T>;
type ShardField<C> = C extends keyof typeof shardKeys ? keyof (typeof shardKeys)[C] & ('org_id' | 'crawl_id') : never;
/**
 * The type of a model's collection. The filter of each query on a sharded collection must name one or a few values of
 * the shard key's first field (`org_id` or `crawl_id`).
 */
export type CollectionOf<T extends object, C> = [ShardField<C>] extends [never]
  ? Everywhere<T>
  : OnOneShard<T, Record<ShardField<C>, string | { $in: readonly string[] }>>;

/**
 * The collection of a model, typed by its record. Queries go through `collectionOf` or `acrossShards`. The driver
 * checks no values and no field names, and it stores an undefined value as null. So the caller passes only checked
 * values, and leaves undefined ones out.
 */
export function collectionOf<T extends object, C extends Collection>(model: Stores<T, C>): CollectionOf<T, C> {
  return (model as unknown as mongoose.Model<T>).collection as unknown as CollectionOf<T, C>;
}

/**
 * The collection for queries that ask all shards, such as queries across all organizations. docs/scaling.md lists these
 * queries, and a test compares the list with the code.
 */
export function acrossShards<T extends object>(model: Stores<T, unknown>): Everywhere<T> {
  return (model as unknown as mongoose.Model<T>).collection as unknown as Everywhere<T>;
}

/**
 * Query options for the few scans of a whole collection, in the order of ids. In tests, MongoDB refuses every other
 * query that uses no index. A comment at each use tells why the scan is acceptable.
 */
export const everyRecord = { hint: { _id: 1 } } as const;

/**
 * The condition for a page of records, newest first, that follows the record with the id `before`. Without `before`,
 * there is no condition, because the page is the first.
 */
export const olderThan = (before: string | undefined): { _id?: { $lt: string } } =>
  before === undefined ? {} : { _id: { $lt: before } };

export const newest = <R>(found: mongoose.mongo.FindCursor<R>, limit: number): Promise<R[]> =>
  found.sort({ _id: -1 }).limit(limit).toArray();

type OfOrg = { _id: string; org_id: string };

/** Returns a function that finds an organization's record by its id. */
export const finderOf =
  <T extends OfOrg>(model: Stores<T, Collection>) =>
  (orgId: string, id: string): Promise<T | null> =>
    acrossShards<OfOrg>(model).findOne<T>({ _id: id, org_id: orgId });

/** Returns a function that deletes an organization's record by its id. Idempotent. */
export const removerOf =
  <T extends OfOrg>(model: Stores<T, Collection>) =>
  async (orgId: string, id: string): Promise<void> => {
    await acrossShards<OfOrg>(model).deleteOne({ _id: id, org_id: orgId });
  };

/**
 * Returns a function that updates an organization's record by its id, if the record matches `only`. The result tells
 * whether there was such a record.
 */
export const updaterOf =
  <T extends OfOrg>(model: Stores<T, Collection>) =>
  async (orgId: string, id: string, update: Update<T>, only: mongoose.mongo.Filter<T> = {}): Promise<boolean> => {
    const { matchedCount } = await acrossShards(model).updateOne({ ...only, _id: id, org_id: orgId }, update);
    return matchedCount === 1;
  };

/** Like `updaterOf`, but the result is the updated record, or null when there was none. */
export const changerOf =
  <T extends OfOrg>(model: Stores<T, Collection>) =>
  (orgId: string, id: string, update: Update<T>, only: mongoose.mongo.Filter<T> = {}) =>
    acrossShards(model).findOneAndUpdate({ ...only, _id: id, org_id: orgId }, update, { returnDocument: 'after' });

/** Query options of reads that see one snapshot of all collections. */
export type Together = { session: mongoose.mongo.ClientSession; readConcern: { level: 'snapshot' } };

/**
 * Runs reads that see one snapshot of all collections, whatever is written meanwhile. Each read repeats the read
 * concern, because the driver prefers the connection's read concern to the session's.
 */
export async function readTogether<T>(reads: (options: Together) => Promise<T>): Promise<T> {
  return mongoose.connection
    .getClient()
    .withSession({ snapshot: true }, (session) => reads({ session, readConcern: { level: 'snapshot' } }));
}

type Ided = { _id: string };

/**
 * Returns a loader of records by primary key. The reads of one turn of the event loop become one query for each
 * organization, or a single query for a collection without shards. Nothing is cached, so each read returns the current
 * state.
 */
function loaderOf<R extends Ided>(model: Stores<never, Collection>, options: object) {
  const collection = acrossShards(model) as unknown as Everywhere<{ _id: string; org_id?: string }>;
  const read = async (ids: readonly string[], org_id: string | undefined): Promise<R[]> => {
    const shard = defined({ org_id });
    // A single id takes MongoDB's fast path, without a cursor.
    const found =
      ids.length === 1
        ? [await collection.findOne({ _id: ids[0]!, ...shard }, options)]
        : await collection.find({ _id: { $in: [...ids] }, ...shard }, options).toArray();
    return found.filter((record) => record !== null) as unknown as R[];
  };
  return new DataLoader<{ id: string; orgId?: string }, R | null>(
    async (asked) => {
      const byOrg = Map.groupBy(asked, ({ orgId }) => orgId);
      const found = await Promise.all(
        [...byOrg].map(([orgId, of]) => read([...new Set(of.map(({ id }) => id))], orgId)),
      );
      const byId = new Map(found.flat().map((record) => [record._id, record]));
      return asked.map(({ id }) => byId.get(id) ?? null);
    },
    // `setImmediate` runs after the event loop has handled all readable sockets of this turn. So the reads that their
    // requests cause join the batch.
    { cache: false, batchScheduleFn: (dispatch) => setImmediate(dispatch), maxBatchSize: 500 },
  );
}

/**
 * Returns a function that reads an organization's record by primary key. Concurrent calls share one query (see
 * `loaderOf`). Callers that ask for the same id share one object and must not change it.
 */
export function readerOf<T extends Ided & { org_id: string }>(
  model: Stores<T, Collection>,
): (orgId: string, id: string) => Promise<Readonly<T> | null> {
  const loader = loaderOf<T>(model as never, {});
  return (orgId, id) => loader.load({ orgId, id });
}

type Words<S extends string> = S extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : S;
type InMode<T, S extends string> = Readonly<Pick<T, Extract<keyof T, '_id' | 'mode' | Words<S>>>>;

/**
 * Like `readerOf`, for several records: returns a function that reads those that exist in the organization and mode.
 * `fields`: the fields to read besides `_id` and `mode`, separated by blanks.
 */
export function readerInMode<T extends Ided & { org_id: string; mode: string }, S extends string>(
  model: Stores<T, Collection>,
  fields: S & (Words<S> extends keyof T ? unknown : never),
): (orgId: string, mode: T['mode'], ids: readonly string[]) => Promise<InMode<T, S>[]> {
  const projection = Object.fromEntries(['mode', ...fields.split(' ')].map((field) => [field, 1]));
  const loader = loaderOf<Ided & { mode: string }>(model as never, { projection });
  return async (orgId, mode, ids) => {
    const found = await Promise.all(ids.map((id) => loader.load({ orgId, id })));
    return found.filter((record) => record?.mode === mode) as unknown as InMode<T, S>[];
  };
}

/** Like `readerOf`, for a collection that is not sharded. */
export function readerById<T extends Ided>(
  model: Stores<T, Exclude<Collection, keyof typeof shardKeys>>,
): (id: string) => Promise<Readonly<T> | null> {
  const loader = loaderOf<T>(model as never, {});
  return (id) => loader.load({ id });
}
