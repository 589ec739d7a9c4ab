/** Sources (documents, pages) that were deleted and whose traces outside MongoDB's truth are still to be removed. */
import type { ClientSession } from 'mongoose';
import { defineModel } from './define.ts';
import { pendingField, pendingIndex, type Intent } from './pending.ts';
import { modes, type Mode } from './rules/keys.ts';

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

export async function recordRemoval(removal: Removal, session: ClientSession): Promise<Removal> {
  await RemovalModel.create([removal], { session });
  return removal;
}
