/** What the index has to be told so that it agrees with the records again. Pure. */
import type { Authority } from './authority.ts';

/** Rows of one generation of a source in the index, as they are tagged there. */
export type IndexedSource = {
  source_id: string;
  generation: string;
  chunks: number;
  segments: string[];
  authority: string;
};

/** A source as its record has it. */
export type Standing = {
  source_id: string;
  /** The one that was begun last. */
  generation: number;
  /** The one that answers, or will when its set is swapped in. */
  live_generation?: number;
  /** Whether questions may be answered from it now. */
  answers: boolean;
  segments: readonly string[];
  authority: Authority;
};

/** Whether a generation answers or may still be published. All others never will be: numbers only grow. */
export const isCurrent = (
  source: { generation: number; live_generation?: number | undefined },
  generation: number,
): boolean => source.generation === generation || source.live_generation === generation;

export type Differences = {
  /** Rows of sources that are gone, or of generations that answer no more. */
  outdated: { source_id: string; generation: number }[];
  /** Sources that answer and have other tags in the index. */
  retagged: string[];
  /** What answers and is not in the index. */
  missing: { source_id: string; generation: number }[];
};

/** What was true of both when they were read; whoever acts on it reads the record once more right before. */
export function compareIndex(standing: readonly Standing[], rows: readonly IndexedSource[]): Differences {
  const records = new Map(standing.map((source) => [source.source_id, source]));
  const outdated = new Map<string, { source_id: string; generation: number }>();
  const retagged = new Set<string>();
  const indexed = new Set<string>();
  for (const row of rows) {
    const { source_id } = row;
    const generation = Number(row.generation);
    const record = records.get(source_id);
    if (!record || !isCurrent(record, generation))
      outdated.set(`${source_id} ${generation}`, { source_id, generation });
    else if (record.live_generation === generation) {
      indexed.add(source_id);
      if (record.answers && !sameTags(record, row)) retagged.add(source_id);
    }
  }
  const missing = standing.flatMap(({ source_id, live_generation, answers }) =>
    answers && live_generation !== undefined && !indexed.has(source_id)
      ? [{ source_id, generation: live_generation }]
      : [],
  );
  return { outdated: [...outdated.values()], retagged: [...retagged], missing };
}

function sameTags(record: Standing, row: IndexedSource): boolean {
  const inOrder = (tags: readonly string[]) => [...new Set(tags)].sort().join('\n');
  return record.authority === row.authority && inOrder(record.segments) === inOrder(row.segments);
}
