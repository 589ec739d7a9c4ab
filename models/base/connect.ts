/**
 * Connects mongoose and builds the indexes. Every write waits for the majority, so that an acknowledged record is never
 * rolled back.
 */
import { ConnectionString } from 'mongodb-connection-string-url';
import mongoose, { type mongo } from 'mongoose';

mongoose.set('strictQuery', 'throw');

/** How long a starting process tries to reach MongoDB, in ms: longer than a replica set needs to elect a primary. */
const startMs = 10_000;

/**
 * Connects to `uri` (database `support_platform` when the URI names none) and waits until all indexes exist.
 *
 * Fails after ten seconds when no server answers, and at once when the server belongs to no replica set or sharded
 * cluster. The error names MONGODB_URI and contains no credentials. `selectionMs` is how long an operation waits for a
 * server after the start. The default is long enough for the election of a primary, which suits activities. Requests
 * should fail sooner, so that their callers can retry.
 */
export async function connectMongo(uri: string, { selectionMs = startMs } = {}): Promise<void> {
  const address = readUri(uri);
  const hosts = address.hosts.join(',');
  const options = {
    ...(address.pathname.length > 1 ? {} : { dbName: 'support_platform' }),
    writeConcern: { w: 'majority' },
    readConcern: { level: 'majority' },
    serverSelectionTimeoutMS: selectionMs,
    /*
     * The driver's monitor detects a hanging server within the sum of `heartbeatFrequencyMS` and `connectTimeoutMS`;
     * with the defaults this takes 40 s. Then all operations that wait for this server fail. `timeoutMS` and
     * `socketTimeoutMS` are not set, because they bound each command. Building an index or removing a whole site may
     * take longer than a request may wait.
     */
    heartbeatFrequencyMS: 3_000,
    connectTimeoutMS: 5_000,
    maxPoolSize: 50,
    // `prepareCollection` creates the collections and the indexes, with one command for each collection.
    autoIndex: false,
    autoCreate: false,
  } as const;
  try {
    await connectWithin(startMs, uri, options);
  } catch (error) {
    throw new Error(whyNoConnection(error as Error, hosts), { cause: error });
  }
  await requireReplicaSet(hosts);
  await Promise.all([...Object.values(mongoose.models).map((model) => prepareCollection(model)), prepareFiles()]);
}

/** The GridFS bucket of uploaded files. */
export const filesBucket = 'files';

/**
 * Creates the index by which GridFS reads and deletes chunks. The driver would create it only at the first upload. If
 * the process were killed at that moment, the index would be missing for ever.
 */
async function prepareFiles(): Promise<void> {
  const chunks = mongoose.connection.collection(`${filesBucket}.chunks`);
  await chunks.createIndex({ files_id: 1, n: 1 }, { unique: true });
}

/**
 * Creates a model's collection and all its indexes with one command. Mongoose would send one command per index, which
 * takes twice the CPU time.
 */
async function prepareCollection(model: mongoose.Model<unknown>): Promise<void> {
  const indexes = model.schema.indexes().map(([key, options]) => ({ key, ...options }) as mongo.IndexDescription);
  if (indexes.length > 0) await model.collection.createIndexes(indexes);
}

/** Connects; while no server is found, tries again for `ms` milliseconds. */
async function connectWithin(ms: number, uri: string, options: mongoose.ConnectOptions): Promise<void> {
  const deadline = performance.now() + ms;
  for (;;) {
    try {
      await mongoose.connect(uri, options);
      return;
    } catch (error) {
      const notFound = (error as Error).name === 'MongooseServerSelectionError';
      if (!notFound || performance.now() >= deadline) throw error;
    }
  }
}

/** Parses the URI. The parser's own error may repeat the URI with its password, so its message is replaced. */
function readUri(uri: string): ConnectionString {
  try {
    return new ConnectionString(uri);
  } catch (error) {
    throw new Error(
      'MONGODB_URI cannot be read. Its form is mongodb://host:port/database?replicaSet=name; `@`, `:`, `/` and `%` in a name or password are written as %40, %3A, %2F and %25.',
      { cause: error },
    );
  }
}

function whyNoConnection(error: Error, hosts: string): string {
  if (error.name === 'MongoParseError') return `MONGODB_URI cannot be used: ${error.message}.`;
  const refused = [18, 8000].includes(Number((error as { code?: unknown }).code));
  return refused
    ? `MongoDB at ${hosts} refuses the name or the password in MONGODB_URI.`
    : `MongoDB at ${hosts} does not answer (${error.message}). See that it runs, and that MONGODB_URI names it and its replica set.`;
}

/** Transactions and change streams need a replica set, or the router of a sharded cluster. */
async function requireReplicaSet(hosts: string): Promise<void> {
  const hello = await mongoose.connection.db?.admin().command({ hello: 1 });
  if (hello?.['setName'] !== undefined || hello?.['msg'] === 'isdbgrid') return;
  await mongoose.disconnect();
  throw new Error(
    `MongoDB at ${hosts} is a single server, and transactions need a replica set. Start it with --replSet rs0, run rs.initiate() once in mongosh, and add replicaSet=rs0 to MONGODB_URI.`,
  );
}

/** Resolves when the server answers; throws after `ms` milliseconds. */
export async function pingMongo(ms: number): Promise<void> {
  const db = mongoose.connection.db;
  if (!db) throw new Error('not connected');
  await db.admin().ping({ timeoutMS: ms });
}

export async function disconnectMongo(): Promise<void> {
  await mongoose.disconnect();
}

/** Whether a write failed on a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: number } | null)?.code === 11_000;
}

/**
 * The result of a write; undefined when the write fails on a unique index. Do not use this inside a transaction,
 * because MongoDB aborts a transaction at such an error.
 */
export async function unlessDuplicate<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicate(error)) return undefined;
    throw error;
  }
}

/**
 * The result of a write, which is repeated as long as it fails on a unique index because another writer was faster. Do
 * not use this inside a transaction, because MongoDB aborts a transaction at such an error.
 */
export async function againIfDuplicate<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }
}
