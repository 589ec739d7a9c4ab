/**
 * Checks an index table for damaged files: it runs the queries that a customer's question runs, so that damage is found
 * before a question fails.
 */
import { Session, type Table } from '@lancedb/lancedb';
import { DamagedIndex, isDamage, isMissing } from './damage.ts';
import { maxQueryLength, searchText } from './find.ts';
import { nearest } from './meaning.ts';
import { sql, whereLabelled, type IndexTable } from './rows.ts';
import { tableName, type Tables } from './tables.ts';
import { widthOf } from './vectors.ts';
import { authorities } from '../../../models/rules/knowledge/authority.ts';

/** Opens a new connection, whose empty cache forces every read from the files. @throws DamagedIndex */
export async function checkTable(tables: Pick<Tables, 'connectWith' | 'exists'>, key: IndexTable): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    if (!tables.exists(tableName(key))) return;
    const session = new Session(BigInt(64 * 2 ** 20), BigInt(16 * 2 ** 20));
    const fresh = await tables.connectWith(session);
    try {
      return await askEverything(await fresh.openTable(tableName(key)), key);
    } catch (error) {
      const damaged = isDamage(error);
      if (!damaged && isMissing(error)) return;
      // Another process may be dropping the table right now, so the read is repeated once before the table counts as
      // damaged.
      if (!damaged) throw error;
      if (attempt > 0) throw new DamagedIndex(error);
    } finally {
      fresh.close();
    }
  }
}

/** Runs a query on each index of the table. */
async function askEverything(table: Table, { model }: IndexTable): Promise<void> {
  const [row] = await table
    .query()
    .select(['id', 'source_id', model === undefined ? 'text' : 'vector'])
    .limit(1)
    .toArray();
  if (row === undefined) return;
  await table.countRows(`source_id = ${sql(String(row.source_id))}`);
  await table.countRows(`authority = ${sql(authorities[0])}`);
  await table.countRows(whereLabelled({ tags: [], untagged: true }, undefined));
  if (model === undefined) {
    await searchText(table, String(row.text).slice(0, maxQueryLength), undefined, 1);
    return;
  }
  await table.countRows(`id = ${sql(String(row.id))}`);
  const parts = [new Float32Array(widthOf(await table.schema())).fill(1)];
  await nearest(table, { model, parts, weights: [1] }, undefined, 1);
}
