/** Sources (documents, pages) that were deleted and whose traces outside MongoDB's truth are still to be removed. */
import type { ClientSession } from 'mongoose';
import { defineModel } from '../base/define.ts';
import { pendingField, pendingIndex, type Intent } from '../base/pending.ts';
import { modes, type Mode } from '../rules/access/keys.ts';

/** Made in the transaction that deletes the source, under its id; gone when index rows and bytes are. */
export type Removal = { _id: string; org_id: string; mode: Mode; removed_at: Date; pending?: Intent[] };

export const RemovalModel = defineModel<Removal>(
  'Removal',
  'removals',
  {
    _id: { type: String, required: true },
    org_id: { type: String, required: true },
    mode: { type: String, enum: modes, required: true },
    removed_at: { type: Date, required: true },
    pending: pendingField,
  },
  [pendingIndex],
);

export async function recordRemovals(removals: readonly Removal[], session: ClientSession): Promise<void> {
  await RemovalModel.create([...removals], { session, ordered: true });
}

export async function recordRemoval(removal: Removal, session: ClientSession): Promise<Removal> {
  await recordRemovals([removal], session);
  return removal;
}

/** Those that no workflow of their own will see to. */
export async function listRemovals(orgId: string, mode: Mode): Promise<Removal[]> {
  return RemovalModel.find({ org_id: orgId, mode, pending: { $exists: false } }).lean();
}

export async function settleRemovals(ids: readonly string[]): Promise<void> {
  await RemovalModel.deleteMany({ _id: { $in: ids } });
}
