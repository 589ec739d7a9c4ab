/**
 * The type of a sharded collection, in which the filter of each query names the shard. This file contains only types.
 */
import type { mongo } from 'mongoose';

type Filter<T, Shard> = mongo.Filter<T> & Shard;
export type Update<T> = mongo.UpdateFilter<T> | mongo.Document[];
type Stored<T> = mongo.WithId<T>;
/** `Shard`: the field that names the shard, with its type. */
export type OnOneShard<T extends object, Shard> = Pick<
  mongo.Collection<T>,
  'insertOne' | 'insertMany' | 'collectionName' | 'indexes' | 'watch'
> & {
  find<R extends object = Stored<T>>(filter: Filter<T, Shard>, options?: mongo.FindOptions): mongo.FindCursor<R>;
  findOne<R = Stored<T>>(filter: Filter<T, Shard>, options?: mongo.FindOneOptions): Promise<R | null>;
  findOneAndUpdate(
    filter: Filter<T, Shard>,
    update: Update<T>,
    options?: mongo.FindOneAndUpdateOptions,
  ): Promise<Stored<T> | null>;
  findOneAndDelete(filter: Filter<T, Shard>, options?: mongo.FindOneAndDeleteOptions): Promise<Stored<T> | null>;
  updateOne(filter: Filter<T, Shard>, update: Update<T>, options?: mongo.UpdateOptions): Promise<mongo.UpdateResult>;
  updateMany(filter: Filter<T, Shard>, update: Update<T>, options?: mongo.UpdateOptions): Promise<mongo.UpdateResult>;
  replaceOne(filter: Filter<T, Shard>, replacement: T, options?: mongo.ReplaceOptions): Promise<mongo.UpdateResult>;
  deleteOne(filter: Filter<T, Shard>, options?: mongo.DeleteOptions): Promise<mongo.DeleteResult>;
  deleteMany(filter: Filter<T, Shard>, options?: mongo.DeleteOptions): Promise<mongo.DeleteResult>;
  countDocuments(filter: Filter<T, Shard>, options?: mongo.CountDocumentsOptions): Promise<number>;
  distinct<K extends keyof Stored<T>>(
    key: K,
    filter: Filter<T, Shard>,
    options?: mongo.DistinctOptions,
  ): Promise<Stored<T>[K][]>;
  aggregate<R extends object>(
    pipeline: [{ $match: Filter<T, Shard> }, ...mongo.Document[]],
    options?: mongo.AggregateOptions,
  ): mongo.AggregationCursor<R>;
  bulkWrite(
    operations: (
      | { insertOne: { document: T } }
      | { updateOne: { filter: Filter<T, Shard>; update: Update<T>; upsert?: boolean } }
      | { updateMany: { filter: Filter<T, Shard>; update: Update<T> } }
      | { replaceOne: { filter: Filter<T, Shard>; replacement: T; upsert?: boolean } }
      | { deleteOne: { filter: Filter<T, Shard> } }
    )[],
    options?: mongo.BulkWriteOptions,
  ): Promise<mongo.BulkWriteResult>;
};
