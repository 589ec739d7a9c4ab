/** What documents and pages have in common as sources of answers: owner, generations, tags and removal. */
import type { mongo } from 'mongoose';
import { acrossShards, collectionOf, everyRecord, type RecordOf } from '../base/define.ts';
import type { Intent } from '../base/pending.ts';
import { removeChunks } from './chunk.ts';
import { DocumentModel } from './document.ts';
import { deletePages, PageModel, visible } from './page.ts';
import { recordRemoval, type Removal } from './removal.ts';
import { effectiveAuthority, isPage, type Authority } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { batchOf, type Generations, type Standing } from '../rules/knowledge/reconcile.ts';
import { defined } from '../rules/base/defined.ts';

export type Owner = { org_id: string; mode: Mode };

export type Source = Generations &
  Owner & {
    segments: string[];
    /** The effective authority tier: the stored one, or else the default of the source type. */
    authority: Authority;
    /** Increments with each change of segments or authority. */
    tags_version: number;
    chunk_count: number;
    /** Counts the attempts that write index rows. */
    attempt?: number;
  };

/** The fields of the records of documents and pages. */
export type SourceRecord = Omit<Source, 'authority'> & {
  _id: string;
  /** The stored authority tier. */
  authority?: Authority;
  embedded_by?: string;
  embedded_at?: Date;
  /** Only pages have these fields. */
  live?: boolean;
  crawl_id?: string;
  embed_after?: Date;
};

export const sourceModels = [DocumentModel, PageModel] as const;
export type SourceModel = (typeof sourceModels)[number];

/** The collection of documents or pages, with the fields that they have in common. */
export const sourcesIn = (model: SourceModel) => collectionOf<SourceRecord, 'documents' | 'pages'>(model as never);

/** The collection of a source, by the prefix of its id. */
export const recordsOf = (sourceId: string) => sourcesIn(isPage(sourceId) ? PageModel : DocumentModel);

export const authorityOf = ({ _id, authority }: Pick<SourceRecord, '_id' | 'authority'>): Authority =>
  effectiveAuthority(authority, isPage(_id) ? 'website' : 'document');

/** The organizations and modes with sources that match the filter. */
export async function ownersOf(match: object, options: mongo.AggregateOptions = {}): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  for (const model of sourceModels) {
    const found = acrossShards<SourceRecord>(model as never).aggregate<{ _id: Owner }>(
      [{ $match: match }, { $group: { _id: { org_id: '$org_id', mode: '$mode' } } }],
      options,
    );
    for await (const { _id } of found) owners.set(`${_id.org_id} ${_id.mode}`, _id);
  }
  return [...owners.values()];
}

/** The organizations and modes that have published sources. */
export async function listOwners(): Promise<Owner[]> {
  // Only maintenance calls this, and maintenance reads each of these records anyway, so a scan is acceptable.
  return ownersOf({ live_generation: { $exists: true } }, everyRecord);
}

/** All sources of an organization and mode, published or not, with the fields that the index must match. */
export async function listStanding({ org_id, mode }: Owner): Promise<Standing[]> {
  const numbers = { generation: 1, claimed: 1, live_generation: 1, live_attempt: 1, chunk_count: 1 };
  const projection = { ...numbers, live: 1, segments: 1, authority: 1 };
  const found = await Promise.all(
    sourceModels.map((model) => sourcesIn(model).find({ org_id, mode }, { projection }).toArray()),
  );
  return found.flat().map(standingOf);
}

function standingOf(record: SourceRecord): Standing {
  const { _id, generation, claimed, live_generation, live_attempt, live, chunk_count, segments } = record;
  return {
    source_id: _id,
    generation,
    ...defined({ claimed, live_generation, live_attempt }),
    answers: live !== false && live_generation !== undefined,
    chunk_count,
    segments,
    authority: authorityOf(record),
  };
}

/** A source in one of these modes, as a request names it. */
export type Asked = { orgId: string; modes: readonly Mode[]; sourceId: string };

/** Matches a source that the API shows and changes. */
const shown = (model: SourceModel, { orgId, modes, sourceId }: Asked) => ({
  _id: sourceId,
  ...(model === PageModel ? visible(orgId, modes) : { org_id: orgId, mode: { $in: modes } }),
});

/** Changes segments or authority; null when there is no such source. */
export async function tagSource<M extends SourceModel>(
  model: M,
  asked: Asked,
  tags: { segments?: string[]; authority?: Authority },
  now: Date,
  intent: Intent,
): Promise<RecordOf<M> | null> {
  const tagged = await sourcesIn(model).findOneAndUpdate(
    shown(model, asked),
    { $set: { ...tags, updated_at: now }, $inc: { tags_version: 1 }, $push: { pending: intent } },
    { returnDocument: 'after' },
  );
  return tagged as unknown as RecordOf<M> | null;
}

/**
 * Deletes a source with its chunks and links, and stores a `Removal`, whose workflow deletes the file and the index
 * rows. Null when the source is already deleted. The removal is stored first, so that after a crash its workflow
 * completes the deletion.
 */
export async function removeSource(
  model: SourceModel,
  asked: Asked,
  now: Date,
  intent: Intent,
): Promise<Removal | null> {
  const { orgId, sourceId } = asked;
  const found = await sourcesIn(model).findOne(shown(model, asked), { projection: { mode: 1 } });
  if (!found) return null;
  const removal: Removal = { _id: sourceId, org_id: orgId, mode: found.mode, removed_at: now, pending: [intent] };
  const decided = await recordRemoval(removal);
  const deleted = await deleteSource(orgId, sourceId);
  await removeChunks(orgId, [sourceId]);
  // When both are false, another request has already deleted the source.
  return decided || deleted ? removal : null;
}

/** Deletes the record of a source; false when there is none. */
export async function deleteSource(orgId: string, sourceId: string): Promise<boolean> {
  if (isPage(sourceId)) return (await deletePages(orgId, [sourceId])) > 0;
  const { deletedCount } = await collectionOf(DocumentModel).deleteOne({ _id: sourceId, org_id: orgId });
  return deletedCount === 1;
}

/** Finds a document or page; null when it is deleted. */
export async function findSource(orgId: string, sourceId: string): Promise<Source | null> {
  const found = await recordsOf(sourceId).findOne({ _id: sourceId, org_id: orgId });
  return found && { ...found, authority: authorityOf(found) };
}

/**
 * Begins a new attempt to write the index rows of the live generation. Returns the source, and the name of the batch of
 * rows that the attempt writes. Null when another generation is live, or the source is deleted.
 */
export async function beginRows(
  orgId: string,
  sourceId: string,
  generation: number,
): Promise<{ source: Source; batch: string } | null> {
  const source = await findSource(orgId, sourceId);
  if (source?.live_generation !== generation) return null;
  const filter = { _id: sourceId, org_id: orgId, live_generation: generation };
  const counted = await recordsOf(sourceId).findOneAndUpdate(
    filter,
    { $inc: { attempt: 1 } },
    { returnDocument: 'after' },
  );
  return counted && { source, batch: batchOf(generation, counted.attempt) };
}

/**
 * Makes the index rows of `batch` live in place of the batch that `source` had. False when another batch is live now,
 * or the source is deleted.
 */
export async function publishRows(orgId: string, sourceId: string, source: Source, batch: string): Promise<boolean> {
  const { live_generation, live_attempt } = source;
  const { modifiedCount } = await recordsOf(sourceId).updateOne(
    {
      _id: sourceId,
      org_id: orgId,
      live_generation: live_generation!,
      live_attempt: live_attempt ?? { $exists: false },
    },
    { $set: { live_attempt: Number(batch.split('.')[1]) } },
  );
  return modifiedCount === 1;
}
