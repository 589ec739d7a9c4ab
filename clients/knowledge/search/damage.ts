/** Distinguishes a damaged table from one that is missing, busy or unreachable. */
import { Problem } from '../../../models/rules/base/errors.ts';

/** Thrown when the stored content of a table is corrupt. The table must be rebuilt. */
export class DamagedIndex extends Problem {
  constructor(cause: unknown) {
    super('UNAVAILABLE', {
      message:
        "The search index of this organization is damaged. It is made anew from the stored documents and pages within an hour; ask again then, and tell the platform's operators if it stays so.",
      cause,
    });
  }
}

export const isMissing = (error: unknown): boolean => /was not found|not found:|no such file/iu.test(String(error));
export const isConflict = (error: unknown): boolean =>
  /conflict|preempted|please retry|too many concurrent writers/iu.test(String(error));

/**
 * Whether an error means damage: a file differs from what was written, or is missing although the table's version list
 * names it. Outages (a full disk, an unmounted or unreadable folder, a store that does not reply) give other errors.
 */
export const isDamage = (error: unknown): boolean =>
  /invalid range .{1,60} for object of size|failed to fill whole buffer|does not have sufficient data|file size is too small|not appear to be a lance file|not found:[^,]*\.lance[/\\](?:data|_indices|_deletions)[/\\]/iu.test(
    String(error),
  );
