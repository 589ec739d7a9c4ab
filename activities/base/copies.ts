/**
 * Removes stored copies of deleted data, such as replies that are kept for idempotency. A repeated call does no harm.
 */
import { eraseCopies } from '../../models/base/copies.ts';

export type CopyActivities = ReturnType<typeof createCopyActivities>;

export const createCopyActivities = () => ({
  /** `ids`: the ids of the deleted records. */
  async eraseCopies({ ids }: { ids: string[] }): Promise<void> {
    await eraseCopies(ids);
  },
});
