/** Telling a table whose files are not what was written to them from one that is missing, busy, or out of reach. */
import type { Table } from '@lancedb/lancedb';
import { maxQueryLength, searchText, searchVector } from './find.ts';
import { sql, whereLabelled } from './rows.ts';
import { authorities } from '../../models/rules/knowledge/authority.ts';
import { Problem } from '../../models/rules/base/errors.ts';

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

/** Length of the vectors in the table; undefined when it has none. */
export async function dimension(table: Table): Promise<number | undefined> {
  const field = (await table.schema()).fields.find(({ name }) => name === 'vector');
  return field === undefined ? undefined : (field.type as { listSize?: number }).listSize;
}

/** Looks into each index with something that is in the table. */
export async function askEverything(table: Table): Promise<void> {
  const [row] = await table.query().select(['source_id', 'text']).limit(1).toArray();
  if (row === undefined) return;
  const size = await dimension(table);
  await searchText(table, String(row.text).slice(0, maxQueryLength), undefined, 1);
  await table.countRows(`source_id = ${sql(String(row.source_id))}`);
  await table.countRows(`authority = ${sql(authorities[0])}`);
  await table.countRows(whereLabelled({ tags: [], untagged: true }, undefined));
  if (size !== undefined)
    await searchVector(
      table,
      Array.from({ length: size }, () => 1),
      undefined,
      1,
    );
}
