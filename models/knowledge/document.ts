/** Uploaded documents: their records, their bytes (GridFS) and their removal. */
import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import mongoose from 'mongoose';
import {
  changerOf,
  collectionOf,
  defineModel,
  everyRecord,
  newest,
  olderThan,
  readerInMode,
  readerOf,
  type RecordOf,
} from '../base/define.ts';
import { date, list, number, oneOf, optional, string } from '../rules/base/fields.ts';
import { filesBucket, isDuplicate } from '../base/connect.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { authorities } from '../rules/knowledge/authority.ts';
import { documentStatuses, fileTypes, unprocessed } from '../rules/knowledge/document.ts';
import { modes, type Environment, type Mode } from '../rules/access/keys.ts';
import { checkQuota, freeSlots, type Quotas } from '../rules/knowledge/quota.ts';
import { defined } from '../rules/base/defined.ts';

export const DocumentModel = defineModel(
  'Document',
  'documents',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    filename: string,
    file_type: oneOf(fileTypes),
    mime_type: string,
    /** The size of the file, in bytes. */
    file_size: number,
    sha256: string,
    /** What customers see as the name of the source; absent: the file name without its extension. */
    title: optional(string),
    /** The address at which customers can read the document. */
    public_url: optional(string),
    /** Set when the text was written or changed through the API; it is used instead of the stored bytes. */
    text: optional(string),
    status: oneOf(documentStatuses),
    /** Why the processing failed, as a sentence for members. */
    error: optional(string),
    segments: list(string),
    /** The authority of the document; absent: the default of documents. */
    authority: optional(oneOf(authorities)),
    uploaded_by: string,
    /** Increments each time the document is to be processed; a worker with an older generation writes nothing. */
    generation: number,
    /** The generation whose chunks answer questions; absent until the first one is indexed. */
    live_generation: optional(number),
    /** Counts the attempts that write index rows; each attempt writes a batch of its own (`batchOf`). */
    attempt: optional(number),
    /** The attempt that works on `generation`; an earlier attempt can no longer publish. */
    claimed: optional(number),
    /** The attempt that wrote the live index rows. */
    live_attempt: optional(number),
    chunk_count: number,
    /**
     * Increments with each change of segments or authority, so that the index can detect whether its copy of them is
     * current.
     */
    tags_version: number,
    /** The document's slot in the quota of its organization and mode; absent on documents from before slots existed. */
    slot: optional(number),
    created_at: date,
    /**
     * When the text was last changed through the API; absent when the text has not changed since `created_at`. Of two
     * documents that disagree, the one whose text is newer is quoted. A copy to live mode has its original's date.
     */
    written_at: optional(date),
    updated_at: date,
    indexed_at: optional(date),
    /** The model that made the vectors of the live generation; absent while some passages have no vector. */
    embedded_by: optional(string),
    embedded_at: optional(date),
    pending: pendingField,
  },
  [
    { fields: { org_id: 1, mode: 1, sha256: 1 }, unique: true },
    {
      fields: { org_id: 1, mode: 1, slot: 1 },
      unique: true,
      partialFilterExpression: { slot: { $exists: true } },
    },
    { fields: { org_id: 1, _id: -1 } },
    { fields: { embedded_by: 1, org_id: 1, mode: 1 } },
    { fields: { org_id: 1, status: 1 }, partialFilterExpression: { status: { $in: [...unprocessed] } } },
    pendingIndex,
  ],
);
export type Document = RecordOf<typeof DocumentModel>;

const change = changerOf(DocumentModel);

const readDocument = readerOf(DocumentModel);

export async function findDocument(orgId: string, modes: readonly Mode[], docId: string): Promise<Document | null> {
  const found = await readDocument(orgId, docId);
  return found && modes.includes(found.mode) ? found : null;
}

/** The given documents that belong to the organization and mode, with the fields that an answer needs. */
export const findSources = readerInMode(
  DocumentModel,
  'filename title public_url segments authority live_generation embedded_by created_at written_at',
);

export async function findDocumentByHash(orgId: string, mode: Mode, sha256: string): Promise<Document | null> {
  return collectionOf(DocumentModel).findOne({ org_id: orgId, mode, sha256 });
}

/** Lists are read without the texts, which may be long. */
const withoutText = { projection: { text: 0 } };

/** The documents, newest first; `before` is the `_id` of the last entry of the previous page. */
export async function listDocuments(
  orgId: string,
  modes: readonly Mode[],
  limit: number,
  before?: string,
): Promise<Document[]> {
  const which = { org_id: orgId, mode: { $in: modes }, ...olderThan(before) };
  return newest(collectionOf(DocumentModel).find(which, withoutText), limit);
}

/** The existing documents, with the fields that the quota check needs. */
export type Standing = Pick<Document, 'slot' | 'status'>[];

export async function listStanding(orgId: string, mode: Mode): Promise<Standing> {
  return collectionOf(DocumentModel)
    .find({ org_id: orgId, mode }, { projection: { _id: 0, slot: 1, status: 1 } })
    .toArray();
}

/** All documents of an organization and mode, oldest first, without their texts. */
export async function listAllDocuments(orgId: string, mode: Mode): Promise<Document[]> {
  return collectionOf(DocumentModel).find({ org_id: orgId, mode }, withoutText).sort({ _id: 1 }).toArray();
}

export async function countDocuments(orgId: string, modes: readonly Mode[]): Promise<number> {
  return collectionOf(DocumentModel).countDocuments({ org_id: orgId, mode: { $in: modes } });
}

/**
 * Stores a new document if the quota has room; null when the organization already has these bytes.
 *
 * Storing is one write that takes a free slot. If two uploads race for the last slot, the unique index refuses one of
 * them. `standing`: the documents as read a moment ago; they are read again when the write is refused.
 * @throws Problem SANDBOX_LIMIT, BETA_LIMIT_REACHED
 */
export async function createDocument(
  document: Omit<Document, 'slot'>,
  quotas: Quotas,
  environment: Environment,
  standing: Standing,
): Promise<Document | null> {
  const { org_id, mode, sha256 } = document;
  const limit = quotas[environment].documents;
  for (;;) {
    checkQuota(quotas, environment, 'documents', standing.length);
    const free = freeSlots(
      limit,
      standing.map(({ slot }) => slot),
    );
    // One of the free slots, chosen at random, so that concurrent uploads seldom choose the same slot.
    const stored = { ...document, slot: free.slot(randomInt(free.count)) };
    try {
      await DocumentModel.create(stored);
      return stored;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      // Another upload stored the same bytes, or took the slot.
      if (await findDocumentByHash(org_id, mode, sha256)) return null;
      standing = await listStanding(org_id, mode);
    }
  }
}

/**
 * Sets the title and the address under which customers see a document as a source; null removes the title or the
 * address. New answers show the change at once.
 */
export async function citeDocument(
  orgId: string,
  modes: readonly Mode[],
  docId: string,
  given: { title: string | null; public_url: string | null },
  now: Date,
): Promise<Document | null> {
  const parts = Object.entries(given);
  const kept = Object.fromEntries(parts.filter(([, value]) => value !== null)) as { title?: string };
  const gone = Object.fromEntries(parts.flatMap(([name, value]) => (value === null ? [[name, '' as const]] : [])));
  return change(orgId, docId, { $set: { ...kept, updated_at: now }, $unset: gone }, { mode: { $in: modes } });
}

/**
 * Requests that a document is processed again, from the stored bytes or from another text (`rewritten`). Null when
 * there is no such document, it is being processed, or the SHA-256 of its content is not `basedOn`. Throws a duplicate
 * error when another document has the same text.
 */
export async function restartDocument(
  { orgId, modes, docId }: { orgId: string; modes: readonly Mode[]; docId: string },
  generation: number,
  now: Date,
  intent: Intent,
  rewritten?: {
    basedOn: string;
    to: Pick<Document, 'text' | 'file_size' | 'sha256'> &
      Partial<Pick<Document, 'filename' | 'file_type' | 'mime_type'>>;
  },
): Promise<Document | null> {
  return change(
    orgId,
    docId,
    {
      $set: {
        ...(rewritten && { ...rewritten.to, written_at: now }),
        generation,
        status: 'uploaded',
        updated_at: now,
      },
      $unset: { error: 1 },
      $push: { pending: intent },
    },
    {
      mode: { $in: modes },
      generation: generation - 1,
      status: { $in: ['indexed', 'failed'] },
      ...(rewritten && { sha256: rewritten.basedOn }),
    },
  );
}

/** The update by which an attempt claims a document, replacing earlier attempts. */
const claim = (fields: Partial<Document>) => [
  { $set: { ...fields, attempt: { $add: [{ $ifNull: ['$attempt', 0] }, 1] } } },
  { $set: { claimed: '$attempt' } },
];

/** Claims a generation for processing; null when it is already processed, or the document is deleted. Idempotent. */
export const claimDocument = (orgId: string, docId: string, generation: number, now: Date) =>
  change(orgId, docId, claim({ status: 'processing', updated_at: now }), {
    generation,
    status: { $in: [...unprocessed] },
  });

/**
 * Whether another document of the organization has the status `processing`. The given document should then wait in the
 * backlog.
 */
export async function isCrowded({ org_id, _id }: Pick<Document, 'org_id' | '_id'>): Promise<boolean> {
  const other = { org_id, _id: { $ne: _id }, status: 'processing' } as const;
  return (await collectionOf(DocumentModel).findOne(other, { projection: { _id: 1 } })) !== null;
}

/**
 * Claims a generation for indexing its stored chunks; null when a newer generation was requested, or the document is
 * deleted.
 */
export const claimIndexing = (orgId: string, docId: string, generation: number) =>
  change(orgId, docId, claim({}), { generation });

/**
 * Marks a generation as failed, because a retry cannot succeed. Only the attempt that claimed the generation last may
 * do this, because an earlier attempt does not know whether the later one succeeds. False for an earlier attempt, and
 * when the document is deleted.
 */
export async function failDocument(
  { org_id, _id, generation, claimed }: Pick<Document, 'org_id' | '_id' | 'generation' | 'claimed'>,
  error: string,
  now: Date,
): Promise<boolean> {
  const { modifiedCount } = await collectionOf(DocumentModel).updateOne(
    { _id, org_id, generation, claimed: claimed ?? { $exists: false }, status: 'processing' },
    { $set: { status: 'failed', error, updated_at: now } },
  );
  return modifiedCount === 1;
}

/**
 * Publishes a generation with the index rows of the attempt that claimed it last. Null for any other attempt, and when
 * the document is deleted or a newer generation was requested. Idempotent. `model`: the embedding model from which all
 * passages of the generation already have vectors.
 */
export async function publishDocument(
  { org_id, _id, generation, claimed }: Pick<Document, 'org_id' | '_id' | 'generation' | 'claimed'>,
  chunkCount: number,
  now: Date,
  model?: string,
): Promise<Document | null> {
  return collectionOf(DocumentModel).findOneAndUpdate(
    { _id, org_id, generation, claimed: claimed ?? { $exists: false }, status: { $in: ['processing', 'indexed'] } },
    {
      $set: {
        status: 'indexed',
        live_generation: generation,
        ...defined({ live_attempt: claimed }),
        chunk_count: chunkCount,
        updated_at: now,
        indexed_at: now,
        ...(model !== undefined && { embedded_by: model, embedded_at: now }),
      },
      ...(model === undefined && { $unset: { embedded_by: 1, embedded_at: 1 } }),
    },
    { returnDocument: 'after' },
  );
}

const buckets = new WeakMap<object, InstanceType<typeof mongoose.mongo.GridFSBucket>>();

/**
 * Returns the same bucket object for each connection. A new object checks the indexes at its first upload, which costs
 * four round trips.
 */
function bucket() {
  const db = mongoose.connection.db!;
  const known = buckets.get(db);
  if (known) return known;
  const made = new mongoose.mongo.GridFSBucket(db, { bucketName: filesBucket });
  buckets.set(db, made);
  return made;
}

/** Stores the bytes of a document. When this fails, the part that was written is deleted. */
export async function writeBytes(docId: string, bytes: Readable): Promise<void> {
  try {
    await pipeline(bytes, bucket().openUploadStreamWithId(docId as never, docId));
  } catch (error) {
    // The failed stream leaves its chunks. Maintenance deletes the chunks that a failed removal or a late write leaves.
    await removeBytes(docId).catch(() => undefined);
    throw error;
  }
}

export function readBytes({ _id, text }: Pick<Document, '_id' | 'text'>): Readable {
  return text === undefined ? bucket().openDownloadStream(_id as never) : Readable.from([Buffer.from(text)]);
}

/** Deletes the stored bytes of a document. Idempotent. */
export async function removeBytes(docId: string): Promise<void> {
  try {
    await bucket().delete(docId as never);
  } catch (error) {
    if ((error as { name?: string }).name !== 'MongoRuntimeError') throw error;
  }
}

/** Stages that remove each record whose `_id` is in the field `by` of a record of `collection` that matches `where`. */
const unlessIn = (collection: string, by = '_id', where: object = {}) => [
  {
    $lookup: {
      from: collection,
      localField: '_id',
      foreignField: by,
      as: 'found',
      pipeline: [{ $match: where }, { $limit: 1 }, { $project: { _id: 1 } }],
    },
  },
  { $match: { found: { $size: 0 } } },
];

/**
 * The ids of stored bytes older than `before` that belong to no document, because an upload crashed before it stored
 * the record. GridFS writes the chunks of a file first and the file's own record last. So an upload that crashed in
 * between leaves chunks without a file.
 */
export async function listOrphanedBytes(before: Date, limit: number): Promise<string[]> {
  const [files, chunks] = [`${filesBucket}.files`, `${filesBucket}.chunks`] as const;
  const db = mongoose.connection.db!;
  // The query runs once an hour, and nearly every file is older than `before`, so a scan is acceptable.
  const whole = await db
    .collection<{ _id: string; uploadDate: Date }>(files)
    .aggregate<{ _id: string }>(
      [
        { $match: { uploadDate: { $lt: before } } },
        ...unlessIn('documents'),
        { $limit: limit },
        { $project: { _id: 1 } },
      ],
      everyRecord,
    )
    .toArray();
  // The time of a chunk is in its id. A file with a chunk that is not older than `before` may still be written.
  const since = mongoose.mongo.ObjectId.createFromTime(Math.floor(before.getTime() / 1000));
  // With this index, MongoDB reads one index entry for each file and no bytes. Only the chunks of orphans are read.
  const partial = await db
    .collection(chunks)
    .aggregate<{ _id: string }>(
      [
        { $group: { _id: '$files_id' } },
        ...unlessIn(files),
        ...unlessIn('documents'),
        ...unlessIn(chunks, 'files_id', { _id: { $gte: since } }),
        { $limit: limit },
        { $project: { _id: 1 } },
      ],
      { hint: { files_id: 1, n: 1 } },
    )
    .toArray();
  return [...whole, ...partial].slice(0, limit).map(({ _id }) => _id);
}
