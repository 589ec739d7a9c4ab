/** The two ways a table is searched, by words and by meaning, and how their finds become one list of candidates. */
import { MatchQuery, type Table } from '@lancedb/lancedb';
import { authorities, type Authority } from '../../models/rules/knowledge/authority.ts';
import type { Candidate } from '../../models/rules/knowledge/retrieval.ts';

/** Length of the vectors in the table; undefined when it has none. */
export async function dimension(table: Table): Promise<number | undefined> {
  const field = (await table.schema()).fields.find(({ name }) => name === 'vector');
  return field === undefined ? undefined : (field.type as { listSize?: number }).listSize;
}

/** Beyond this a text is a letter, not a question; its first part says what it is about, and each word costs time. */
export const maxQueryLength = 1_000;

type Found = { id: string; authority: Authority; value: number };

/** `value` is the BM25 score. Text that has no word in it, or none that the index knows, finds nothing. */
export async function searchText(
  table: Table,
  text: string,
  condition: string | undefined,
  limit: number,
): Promise<Found[]> {
  const query = table.query().fullTextSearch(new MatchQuery(text, 'text')).select(['candidate', '_score']).limit(limit);
  const rows = await (condition === undefined ? query : query.where(condition)).toArray();
  return rows.map((row) => found(row, Number(row._score)));
}

/** `value` is the cosine similarity. */
export async function searchVector(
  table: Table,
  vector: number[],
  condition: string | undefined,
  limit: number,
): Promise<Found[]> {
  const query = table
    .query()
    .nearestTo(vector)
    .column('vector')
    .distanceType('cosine')
    .select(['candidate', '_distance'])
    .limit(limit);
  const rows = await (condition === undefined ? query : query.where(condition)).toArray();
  return rows
    .filter((row) => typeof row._distance === 'number' && !Number.isNaN(row._distance))
    .map((row) => found(row, 1 - row._distance));
}

function found(row: { candidate: unknown }, value: number): Found {
  const candidate = String(row.candidate);
  const colon = candidate.indexOf(':');
  const authority = authorities.find((tier) => tier === candidate.slice(0, colon)) ?? 'normal';
  return { id: candidate.slice(colon + 1), authority, value };
}

export function merge(byText: readonly Found[], byVector: readonly Found[]): Candidate[] {
  const all = new Map<string, Candidate>();
  const each = (list: readonly Found[], ranked: (value: number, rank: number) => Partial<Candidate>): void => {
    const best = [...list].sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
    const unique = [...new Map(best.map((item) => [item.id, item])).values()];
    for (const [index, { value, ...rest }] of unique.entries())
      all.set(rest.id, { ...rest, ...all.get(rest.id), ...ranked(value, index + 1) });
  };
  each(byText, (value, rank) => ({ text_score: value, text_rank: rank }));
  each(byVector, (value, rank) => ({ similarity: value, vector_rank: rank }));
  return [...all.values()];
}
