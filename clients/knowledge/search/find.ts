/**
 * The lexical search (BM25). This file also merges the results of the lexical and the vector search (meaning.ts) into
 * one list of candidates.
 */
import { MatchQuery, type Table } from '@lancedb/lancedb';
import type { Compared } from './meaning.ts';
import { found } from './rows.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Candidate } from '../../../models/rules/knowledge/retrieval.ts';

/**
 * The maximum length of a search text, in characters; longer texts are truncated. The first part of a long letter
 * states its subject, and each further word makes the search slower.
 */
export const maxQueryLength = 1_000;

type Found = { id: string; authority: Authority; value: number };

/** `value` is the BM25 score. A text without any word of the index finds nothing. */
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

/** Merges the two result lists into one candidate for each passage, with its lexical score and its vector scores. */
export function merge(byText: readonly Found[], byMeaning: readonly Compared[]): Candidate[] {
  const all = new Map<string, Candidate>();
  const best = [...byText].sort((a, b) => b.value - a.value || (a.id < b.id ? -1 : 1));
  const unique = [...new Map(best.map((item) => [item.id, item])).values()];
  for (const { id, authority, value } of unique) all.set(id, { id, authority, text_score: value });
  for (const { id, authority, cosines } of byMeaning) all.set(id, { id, authority, ...all.get(id), cosines });
  return [...all.values()];
}
