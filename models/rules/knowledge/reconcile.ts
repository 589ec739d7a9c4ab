/** Compares the index with the records, and says what to change in the index. Pure. */
import type { Authority } from './authority.ts';

/** The rows of one batch of a source in the index, with their tags there. */
export type IndexedSource = {
  source_id: string;
  /** The batch: `batchOf`. */
  generation: string;
  /** The number of rows; each belongs to one chunk. */
  chunks: number;
  segments: string[];
  authority: string;
};

/** Which rows of a source answer questions, and which may soon. */
export type Generations = {
  /** The newest generation. */
  generation: number;
  /** The attempt that last claimed it; absent where every claim makes a new generation. */
  claimed?: number;
  /** The generation that answers, or will when its set of pages is swapped in. */
  live_generation?: number;
  /** The attempt that wrote the answering rows; absent when the generation had only one writer. */
  live_attempt?: number;
};

/** A source in its record's state. */
export type Standing = Generations & {
  source_id: string;
  /** Whether questions may be answered from it now. */
  answers: boolean;
  /** The number of chunks of the answering generation. */
  chunk_count: number;
  segments: readonly string[];
  authority: Authority;
};

/**
 * The name of the rows that one attempt writes into the index: `<generation>`, or `<generation>.<attempt>`. The index does
 * not refuse two rows of one chunk, so attempts at one generation must not write under one name: two that run at once would
 * leave each row twice. The record says whose rows answer; all others are dropped.
 */
export const batchOf = (generation: number, attempt?: number): string =>
  attempt === undefined ? String(generation) : `${generation}.${attempt}`;

/** The generation of a batch. */
export const generationOf = (batch: string): number => Number(batch.split('.')[0]);

/** The rows that answer; undefined before the first generation is published. */
export const liveBatch = ({ live_generation, live_attempt }: Generations): string | undefined =>
  live_generation === undefined ? undefined : batchOf(live_generation, live_attempt);

/** Whether a generation answers or may still be published. An older one never will be, because numbers only grow. */
export const isCurrent = (
  source: { generation: number; live_generation?: number | undefined },
  generation: number,
): boolean => source.generation === generation || source.live_generation === generation;

/** Whether rows answer, or may still be published by the attempt that claimed last. */
export const isCurrentBatch = (source: Generations, batch: string): boolean =>
  batch === liveBatch(source) || batch === batchOf(source.generation, source.claimed);

export type Differences = {
  /** Rows of sources that are gone, or of batches that no longer answer and never will. */
  outdated: { source_id: string; batch: string }[];
  /** Answering sources whose tags differ in the index. */
  retagged: string[];
  /** Answering sources that do not have exactly one row per chunk: rows are missing or doubled. */
  miscounted: { source_id: string; generation: number }[];
};

/** The differences at the time of reading. The caller reads a record again right before it changes anything. */
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
 * The same for vectors, which belong to a generation, whichever attempt indexed its words. Only the vectors of
 * `embedded` must be complete: the others still wait for theirs.
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
