/**
 * Removals of sources (documents, pages). A removal is the stored decision to delete a source. It is stored before
 * anything is deleted. Its workflow then deletes all data of the source that still exists, including the source's
 * record.
 */
import type { ClientSession } from 'mongoose';
import { unlessDuplicate } from '../base/connect.ts';
import { collectionOf, defineModel, type RecordOf } from '../base/define.ts';
import { date, oneOf, string } from '../rules/base/fields.ts';
import { pendingField, pendingIndex } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/** The id of a removal is the id of its source. The record is deleted when nothing of the source is left. */
export const RemovalModel = defineModel(
  'Removal',
  'removals',
  {
    _id: string,
    org_id: string,
    mode: oneOf(modes),
    removed_at: date,
    pending: pendingField,
  },
  [pendingIndex, { fields: { org_id: 1, mode: 1 } }],
);
export type Removal = RecordOf<typeof RemovalModel>;

/** Stores a removal; false when the source already has one. */
export async function recordRemoval(removal: Removal): Promise<boolean> {
  return (await unlessDuplicate(() => RemovalModel.create(removal))) !== undefined;
}

/**
 * Stores removals that have no workflow, because a crawl carries them out when it ends. Existing removals stay
 * unchanged.
 */
export async function recordRemovals(
  removals: readonly Omit<Removal, 'pending'>[],
  session?: ClientSession,
): Promise<void> {
  if (removals.length === 0) return;
  await collectionOf(RemovalModel).bulkWrite(
    removals.map(({ _id, ...fields }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: fields }, upsert: true },
    })),
    session ? { session } : {},
  );
}

/** The removals that have no workflow, because a crawl carries them out when it ends. */
export async function listRemovals(orgId: string, mode: Mode): Promise<Removal[]> {
  return collectionOf(RemovalModel)
    .find({ org_id: orgId, mode, pending: { $exists: false } })
    .toArray();
}

export async function settleRemovals(ids: readonly string[]): Promise<void> {
  await collectionOf(RemovalModel).deleteMany({ _id: { $in: ids } });
}
