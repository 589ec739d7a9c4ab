/** Telling a table whose files are not what was written to them from one that is missing, busy, or out of reach. */
import { Problem } from '../../../models/rules/base/errors.ts';

/** A table that holds something else than what was written to it; `cause` says what. It has to be made anew. */
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
 * Whether a file of a table is there and not what was written, or is missing while the table's list of versions names it. An
 * outage (a full disk, a folder that is not mounted or not readable, a store that does not answer) says something else.
 */
export const isDamage = (error: unknown): boolean =>
  /invalid range .{1,60} for object of size|failed to fill whole buffer|does not have sufficient data|file size is too small|not appear to be a lance file|not found:[^,]*\.lance[/\\](?:data|_indices|_deletions)[/\\]/iu.test(
    String(error),
  );
