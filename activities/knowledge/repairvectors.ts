/**
 * Makes the tables of embeddings agree with MongoDB. Afterwards, the organization's workflow `embedPassages` embeds the
 * passages that lack embeddings.
 */
import type { Logger } from 'pino';
import { syncTags } from './source.ts';
import { DamagedIndex } from '../../clients/knowledge/search/damage.ts';
import type { IndexTable, Search } from '../../clients/knowledge/search/search.ts';
import { listEmbedded, unmarkEmbedded } from '../../models/knowledge/embedding.ts';
import { findSource, listStanding, type Owner } from '../../models/knowledge/source.ts';
import { compareVectors, isCurrent, type IndexedSource } from '../../models/rules/knowledge/reconcile.ts';

type Deps = { search: Search; log: Logger };

/** The repair of one source in one table; returns false when nothing had to be repaired. */
type Mend = Owner & { source_id: string; mend(): Promise<boolean> };

/** The sources in a table; undefined when the table was unreadable and has been dropped. */
export async function readTable({ search, log }: Deps, table: IndexTable): Promise<IndexedSource[] | undefined> {
  try {
    await search.check(table);
    return await search.listSources(table);
  } catch (error) {
    if (!(error instanceof DamagedIndex)) throw error;
    log.error({ ...table, reason: String(error.cause) }, 'an index table is damaged and is made anew');
    await search.dropTable(table);
    return undefined;
  }
}

export async function retag({ search }: Deps, { org_id: orgId }: Owner, sourceId: string): Promise<boolean> {
  await syncTags(search, { orgId, sourceId }, -1);
  return true;
}

/**
 * The repairs that the tables of an organization and mode need. `model`: the current one; from tables of former models,
 * only outdated rows are removed.
 */
export async function vectorsToMend(deps: Deps, owner: Owner, model: string | undefined): Promise<Mend[]> {
  const { search } = deps;
  const present = model === undefined ? undefined : { ...owner, model };
  const tables = await search.vectorTables(owner);
  const isPresent = (table: IndexTable): boolean => present !== undefined && search.isSameTable(table, present);
  const missing = present !== undefined && !tables.some(isPresent) ? [present] : [];
  const work: Mend[] = [];
  for (const table of [...tables, ...missing]) {
    // The records in MongoDB are listed before the rows of the table. In the other order, a source that is embedded
    // between the two reads would seem to have no rows.
    const embedded = isPresent(table) ? await listEmbedded(owner, model!) : new Set<string>();
    const standing = await listStanding(owner);
    const rows = (await readTable(deps, table)) ?? [];
    const { outdated, retagged, miscounted } = compareVectors(standing, embedded, rows);
    work.push(
      ...outdated.map((one) => ({ ...one, ...owner, mend: () => dropOutdated(table, one.source_id, one.batch) })),
      ...retagged.map((source_id) => ({ source_id, ...owner, mend: () => retag(deps, owner, source_id) })),
      ...miscounted.map(({ source_id, generation }) => ({
        source_id,
        ...owner,
        mend: () => embedAgain(table, source_id, generation),
      })),
    );
  }
  return work;

  async function dropOutdated(table: IndexTable, sourceId: string, generation: string): Promise<boolean> {
    const source = await findSource(owner.org_id, sourceId);
    if (source && isCurrent(source, Number(generation))) return false;
    await search.removeBatch(table, sourceId, generation);
    return true;
  }

  async function embedAgain(table: IndexTable, sourceId: string, generation: number): Promise<boolean> {
    const source = await findSource(owner.org_id, sourceId);
    if (source?.live_generation !== generation) return false;
    await search.removeBatch(table, sourceId, String(generation));
    await unmarkEmbedded(owner.org_id, sourceId);
    return true;
  }
}
