/** The removal of copies that are kept apart from what was deleted. Safe to repeat. */
import { withHeartbeat } from './heartbeat.ts';
import { eraseCopies } from '../../models/base/copies.ts';

export type CopyActivities = ReturnType<typeof createCopyActivities>;

export const createCopyActivities = () => ({
  /** `ids`: of what was deleted. */
  async eraseCopies({ ids }: { ids: string[] }): Promise<void> {
    await withHeartbeat(() => eraseCopies(ids));
  },
});
