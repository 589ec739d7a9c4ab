/** Compares the search index with the records in MongoDB, and lists what to correct in the index. Pure. */
import type { Authority } from './authority.ts';

/**
 * The rows of one batch of a source in the search index. A batch is the rows that one attempt to index the source wrote
 * (`batchOf`).
 */
export type IndexedSource = {
  source_id: string;
  /** The batch name, made by `batchOf`. */
  generation: string;
  /** The number of index rows; one row holds one chunk. */
  chunks: number;
  segments: string[];
  authority: string;
};

/**
 * Which index rows of a source answer questions now, and which may answer after the next publication. Each processing
 * of the source's content makes a new generation of rows.
 */
export type Generations = {
  generation: number;
  /**
   * The number of the latest attempt to index the newest generation; absent for sources of which each attempt makes a
   * new generation.
   */
  claimed?: number;
  /**
   * The generation whose rows answer questions. When the source is a page of a new set of pages, its rows answer once
   * the whole set goes live.
   */
  live_generation?: number;
  /** The attempt that wrote the live rows; absent when only one attempt ever wrote the generation. */
  live_attempt?: number;
};

/** A source with its indexing state and tags, as its record in MongoDB has them. */
export type Standing = Generations & {
  source_id: string;
  /** Whether the source may be used in answers now. */
  answers: boolean;
  /** The number of chunks of the live generation. */
  chunk_count: number;
  segments: readonly string[];
  authority: Authority;
};

/**
 * The batch name of the rows that one attempt writes: `<generation>`, or `<generation>.<attempt>`. The index accepts
 * two rows of one chunk, so two attempts that run at once under one name would duplicate every row. The record says
 * which batch is live; all other batches are deleted.
 */
export const batchOf = (generation: number, attempt?: number): string =>
  attempt === undefined ? String(generation) : `${generation}.${attempt}`;

export const generationOf = (batch: string): number => Number(batch.split('.')[0]);

/** The batch whose rows answer questions; undefined before the first generation is published. */
export const liveBatch = ({ live_generation, live_attempt }: Generations): string | undefined =>
  live_generation === undefined ? undefined : batchOf(live_generation, live_attempt);

/**
 * Whether a generation is live or may still become live. An older generation cannot become live, because generation
 * numbers only grow.
 */
export const isCurrent = (
  source: { generation: number; live_generation?: number | undefined },
  generation: number,
): boolean => source.generation === generation || source.live_generation === generation;

/** Whether a batch is live, or may still be published by the latest attempt. */
export const isCurrentBatch = (source: Generations, batch: string): boolean =>
  batch === liveBatch(source) || batch === batchOf(source.generation, source.claimed);

export type Differences = {
  /** Batches whose source is deleted, or that are not live and can never become live. */
  outdated: { source_id: string; batch: string }[];
  /** Live sources whose segments or authority differ between record and index. */
  retagged: string[];
  /** Live sources whose number of index rows is not their number of chunks: rows are missing or duplicated. */
  miscounted: { source_id: string; generation: number }[];
};

/**
 * Compares the records (`standing`) with the index (`rows`). Records may change after this comparison, so the caller
 * reads each record again right before it changes the index.
 */
export function compareIndex(standing: readonly Standing[], rows: readonly IndexedSource[]): Differences {
  const records = new Map(standing.map((source) => [source.source_id, source]));
  const outdated = new Map<string, { source_id: string; batch: string }>();
  const retagged = new Set<string>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    const { source_id, generation: batch } = row;
    const record = records.get(source_id);
    if (!record || !isCurrentBatch(record, batch)) outdated.set(`${source_id} ${batch}`, { source_id, batch });
    else if (liveBatch(record) === batch) {
      counts.set(source_id, (counts.get(source_id) ?? 0) + row.chunks);
      if (record.answers && !sameTags(record, row)) retagged.add(source_id);
    }
  }
  const miscounted = standing.flatMap(({ source_id, live_generation, answers, chunk_count }) =>
    answers && live_generation !== undefined && (counts.get(source_id) ?? 0) !== chunk_count
      ? [{ source_id, generation: live_generation }]
      : [],
  );
  return { outdated: [...outdated.values()], retagged: [...retagged], miscounted };
}

/**
 * Like `compareIndex`, for the vector table. Vectors belong to a generation and not to an attempt, so attempts are
 * ignored. Only the sources in `embedded` must have all their vectors; other sources still wait to be embedded.
 */
export function compareVectors(
  standing: readonly Standing[],
  embedded: ReadonlySet<string>,
  rows: readonly IndexedSource[],
): Differences {
  const sources = standing.map(({ claimed: _claimed, live_attempt: _attempt, ...source }) => source);
  const { outdated, retagged, miscounted } = compareIndex(sources, rows);
  return { outdated, retagged, miscounted: miscounted.filter(({ source_id }) => embedded.has(source_id)) };
}

function sameTags(record: Standing, row: IndexedSource): boolean {
  const inOrder = (tags: readonly string[]) => [...new Set(tags)].sort().join('\n');
  return record.authority === row.authority && inOrder(record.segments) === inOrder(row.segments);
}
