/** What documents and pages have in common as sources of answers: owner, generations and tags. */
import { acrossShards, collectionOf, everyRecord } from '../base/define.ts';
import { deleteDocument, DocumentModel } from './document.ts';
import { deletePages, PageModel } from './page.ts';
import { effectiveAuthority, isPage, type Authority } from '../rules/knowledge/authority.ts';
import type { Mode } from '../rules/access/keys.ts';
import { batchOf, type Generations, type Standing } from '../rules/knowledge/reconcile.ts';
import { defined } from '../rules/base/defined.ts';

export type Source = Generations & {
  org_id: string;
  mode: Mode;
  segments: string[];
  /** The effective authority tier: the stored one, or else the default of the source type. */
  authority: Authority;
  /** Increments with each change of segments or authority. */
  tags_version: number;
  chunk_count: number;
  /** Counts the attempts that write index rows. */
  attempt?: number;
};

/** The organizations and modes that have published sources. */
export async function listOwners(): Promise<{ org_id: string; mode: Mode }[]> {
  const owners = new Map<string, { org_id: string; mode: Mode }>();
  for (const model of [DocumentModel, PageModel] as const) {
    // Only maintenance calls this, and it reads each of these records anyway, so a scan is acceptable.
    const found = await acrossShards<Owned>(model as never)
      .aggregate<{ _id: { org_id: string; mode: Mode } }>(
        [{ $match: { live_generation: { $exists: true } } }, { $group: { _id: { org_id: '$org_id', mode: '$mode' } } }],
        everyRecord,
      )
      .toArray();
    for (const { _id } of found) owners.set(`${_id.org_id} ${_id.mode}`, _id);
  }
  return [...owners.values()];
}

/** All sources of an organization and mode, published or not, with the fields that the index must match. */
export async function listStanding({ org_id, mode }: { org_id: string; mode: Mode }): Promise<Standing[]> {
  const numbers = { generation: 1, claimed: 1, live_generation: 1, live_attempt: 1, chunk_count: 1 };
  const projection = { ...numbers, live: 1, segments: 1, authority: 1 };
  const read = async (model: unknown): Promise<Owned[]> =>
    collectionOf<Owned, 'documents' | 'pages'>(model as never)
      .find({ org_id, mode }, { projection })
      .toArray();
  const [documents, pages] = await Promise.all([read(DocumentModel), read(PageModel)]);
  return [
    ...documents.map((one) => standingOf({ ...one, live: true }, 'document')),
    ...pages.map((one) => standingOf(one, 'website')),
  ];
}

function standingOf(record: Owned, type: 'document' | 'website'): Standing {
  const { _id, generation, claimed, live_generation, live_attempt, live, chunk_count, segments } = record;
  return {
    source_id: _id,
    generation,
    ...defined({ claimed, live_generation, live_attempt }),
    answers: live && live_generation !== undefined,
    chunk_count,
    segments,
    authority: effectiveAuthority(record.authority, type),
  };
}
type Owned = Source & { _id: string; live: boolean };

/** Deletes the record of a source. Idempotent. */
export async function deleteSource(orgId: string, sourceId: string): Promise<void> {
  if (isPage(sourceId)) await deletePages(orgId, [sourceId]);
  else await deleteDocument(orgId, sourceId);
}

/** Finds a document or page; null when it is deleted. */
export async function findSource(orgId: string, sourceId: string): Promise<Source | null> {
  const filter = { _id: sourceId, org_id: orgId };
  if (isPage(sourceId)) {
    const page = await collectionOf(PageModel).findOne(filter);
    return page && { ...page, authority: effectiveAuthority(page.authority, 'website') };
  }
  const document = await collectionOf(DocumentModel).findOne(filter);
  return document && { ...document, authority: effectiveAuthority(document.authority, 'document') };
}

/**
 * Begins to write the index rows of the live generation again, as a new attempt. Returns the source, and the name of
 * the batch to write. Null when another generation is live, or the source is deleted.
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
 * Makes a batch live in place of the batch that `source` had; false when another batch is live now, or the source is
 * deleted.
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

/** The collection of a source, by the prefix of its id. */
const recordsOf = (sourceId: string) =>
  collectionOf<Owned, 'documents' | 'pages'>((isPage(sourceId) ? PageModel : DocumentModel) as never);
