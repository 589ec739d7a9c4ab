/** Connects mongoose and builds the indexes. Every write waits for the majority, so an acknowledged record is never rolled back. */
import { ConnectionString } from 'mongodb-connection-string-url';
import mongoose from 'mongoose';

mongoose.set('strictQuery', 'throw');

/**
 * Connects to `uri` (database `support_platform` when the uri names none) and waits until all indexes exist.
 * Fails after ten seconds when no server answers.
 */
export async function connectMongo(uri: string): Promise<void> {
  await mongoose.connect(uri, {
    ...(new ConnectionString(uri).pathname.length > 1 ? {} : { dbName: 'support_platform' }),
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    serverSelectionTimeoutMS: 10_000,
    maxPoolSize: 50,
    autoIndex: false,
  });
  await Promise.all(Object.values(mongoose.models).map((model) => model.createIndexes()));
}

/** Answers once the server has answered, or throws within `ms` milliseconds. */
export async function pingMongo(ms: number): Promise<void> {
  const db = mongoose.connection.db;
  if (!db) throw new Error('not connected');
  await db.admin().ping({ timeoutMS: ms });
}

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** Whether a write was refused by a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: number } | null)?.code === 11_000;
}
