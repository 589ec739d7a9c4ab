/** The search by words, and the merge of its results with those by meaning (meaning.ts) into one list of candidates. */
import { MatchQuery, type Table } from '@lancedb/lancedb';
import type { Compared } from './meaning.ts';
import { found } from './rows.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Candidate } from '../../../models/rules/knowledge/retrieval.ts';

/** A longer text is a letter and not a question; its first part gives the subject, and each word costs time. */
export const maxQueryLength = 1_000;

type Found = { id: string; authority: Authority; value: number };

/** `value` is the BM25 score. A text without a word that the index knows finds nothing. */
export async function searchText(
  table: Table,
  text: string,
  condition: string | undefined,
  limit: number,
): Promise<Found[]> {
  const query = table.query().fullTextSearch(new MatchQuery(text, 'text')).select(['candidate', '_score']).limit(limit);
  const rows = await (condition === undefined ? query : query.where(condition)).toArray();
  return rows.map((row) => ({ ...found(row), value: Number(row._score) }));
}

/** Each passage once, with its scores by words and by meaning. */
export function merge(byText: readonly Found[], byMeaning: readonly Compared[]): Candidate[] {
  const all = new Map<string, Candidate>();
  const best = [...byText].sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
  const unique = [...new Map(best.map((item) => [item.id, item])).values()];
  for (const { id, authority, value } of unique) all.set(id, { id, authority, text_score: value });
  for (const { id, authority, cosines } of byMeaning) all.set(id, { id, authority, ...all.get(id), cosines });
  return [...all.values()];
}
