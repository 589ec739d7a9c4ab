/**
 * The type of a sharded collection, in which the filter of each query names the shard. This file contains only types.
 */
import type mongoose from 'mongoose';

type Filter<T, Shard> = mongoose.mongo.Filter<T> & Shard;
type Update<T> = mongoose.mongo.UpdateFilter<T> | mongoose.mongo.Document[];
type Stored<T> = mongoose.mongo.WithId<T>;
/** `Shard`: the field that names the shard, with its type. */
export type OnOneShard<T extends object, Shard> = Pick<
  mongoose.mongo.Collection<T>,
  'insertOne' | 'insertMany' | 'collectionName' | 'indexes' | 'watch'
> & {
  find<R extends object = Stored<T>>(
    filter: Filter<T, Shard>,
    options?: mongoose.mongo.FindOptions,
  ): mongoose.mongo.FindCursor<R>;
  findOne<R = Stored<T>>(filter: Filter<T, Shard>, options?: mongoose.mongo.FindOneOptions): Promise<R | null>;
  findOneAndUpdate(
    filter: Filter<T, Shard>,
    update: Update<T>,
    options?: mongoose.mongo.FindOneAndUpdateOptions,
  ): Promise<Stored<T> | null>;
  findOneAndDelete(
    filter: Filter<T, Shard>,
    options?: mongoose.mongo.FindOneAndDeleteOptions,
  ): Promise<Stored<T> | null>;
  updateOne(
    filter: Filter<T, Shard>,
    update: Update<T>,
    options?: mongoose.mongo.UpdateOptions,
  ): Promise<mongoose.mongo.UpdateResult>;
  updateMany(
    filter: Filter<T, Shard>,
    update: Update<T>,
    options?: mongoose.mongo.UpdateOptions,
  ): Promise<mongoose.mongo.UpdateResult>;
  replaceOne(
    filter: Filter<T, Shard>,
    replacement: T,
    options?: mongoose.mongo.ReplaceOptions,
  ): Promise<mongoose.mongo.UpdateResult>;
  deleteOne(filter: Filter<T, Shard>, options?: mongoose.mongo.DeleteOptions): Promise<mongoose.mongo.DeleteResult>;
  deleteMany(filter: Filter<T, Shard>, options?: mongoose.mongo.DeleteOptions): Promise<mongoose.mongo.DeleteResult>;
  countDocuments(filter: Filter<T, Shard>, options?: mongoose.mongo.CountDocumentsOptions): Promise<number>;
  distinct<K extends keyof Stored<T>>(
    key: K,
    filter: Filter<T, Shard>,
    options?: mongoose.mongo.DistinctOptions,
  ): Promise<Stored<T>[K][]>;
  aggregate<R extends object>(
    pipeline: [{ $match: Filter<T, Shard> }, ...mongoose.mongo.Document[]],
    options?: mongoose.mongo.AggregateOptions,
  ): mongoose.mongo.AggregationCursor<R>;
  bulkWrite(
    operations: (
      | { insertOne: { document: T } }
      | { updateOne: { filter: Filter<T, Shard>; update: Update<T>; upsert?: boolean } }
      | { updateMany: { filter: Filter<T, Shard>; update: Update<T> } }
      | { replaceOne: { filter: Filter<T, Shard>; replacement: T; upsert?: boolean } }
      | { deleteOne: { filter: Filter<T, Shard> } }
    )[],
    options?: mongoose.mongo.BulkWriteOptions,
  ): Promise<mongoose.mongo.BulkWriteResult>;
};
