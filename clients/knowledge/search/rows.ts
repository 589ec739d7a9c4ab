/** The rows of the index: columns, labels, and conditions that select rows. */
import { Index } from '@lancedb/lancedb';
import { Field, List, Schema, Utf8 } from 'apache-arrow';
import { authorities, type Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Meaning } from '../../../models/rules/knowledge/retrieval.ts';
import type { SegmentFilter } from '../../../models/rules/knowledge/segments.ts';

/** The lexical table of an organization and mode. With `model`, the table of vectors by that model instead. */
export type IndexTable = { org_id: string; mode: 'test' | 'live'; model?: string };

export type IndexRow = {
  /** The chunk's unique id. */
  id: string;
  source_id: string;
  /** The row's batch (`batchOf`): all rows that one indexing attempt wrote for a generation of the source. */
  generation: string;
  /** Normalized tags; empty for an untagged chunk. */
  segments: readonly string[];
  authority: Authority;
  heading: string;
  text: string;
};

export type Query = {
  text: string;
  /** The question's vector for the vector search; undefined means a lexical search only. */
  meaning?: Meaning | undefined;
  filter: SegmentFilter | undefined;
  authority?: Authority | undefined;
  /** Rows to exclude, as `<source id>:<generation>`. */
  without?: readonly string[];
  /** Maximum number of results, for the lexical and for the vector search each. */
  limit: number;
};

/** The label of untagged rows. It cannot equal a tag, because tags have no punctuation. */
const untagged = '-';

/**
 * The lexical index. Text is tokenized by Unicode's rules, including scripts without blanks, then case-folded and
 * stemmed as English. Words of other languages are stemmed the same way in question and passage, so they still match.
 * Positions are not stored, because phrase queries are not needed.
 */
export const textIndex = (): Index =>
  Index.fts({
    baseTokenizer: 'icu/split',
    language: 'English',
    lowercase: true,
    stem: true,
    removeStopWords: true,
    asciiFolding: true,
    withPosition: false,
  });

export const schema = new Schema([
  new Field('id', new Utf8(), false),
  new Field('source_id', new Utf8(), false),
  new Field('generation', new Utf8(), false),
  new Field('labels', new List(new Field('item', new Utf8(), true)), false),
  new Field('authority', new Utf8(), false),
  // Queries return this column instead of `id` and `authority`, because each further column costs a lookup: three
  // columns took a quarter longer than one.
  new Field('candidate', new Utf8(), false),
  new Field('text', new Utf8(), false),
]);

export const sql = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const sqlList = (values: readonly string[]): string => `[${values.map(sql).join(', ')}]`;

/**
 * The labels of a row: each tag, and each tag combined with the row's tier of authority. So a question limited to a
 * segment and a tier needs one lookup in one index. Two conditions on two indexes took nearly three times as long
 * (measured at 100,000 rows).
 */
export function labels(segments: readonly string[], authority: Authority): string[] {
  const tags = segments.length === 0 ? [untagged] : segments;
  return tags.flatMap((tag) => [tag, `${tag}@${authority}`]);
}

export const tagsOf = (stored: Iterable<string>): string[] =>
  [...stored].filter((label) => label !== untagged && !label.includes('@'));

export const candidateOf = (id: string, authority: Authority): string => `${authority}:${id}`;

/** Parses a result row: the passage's id and tier are encoded in one column. */
export function found(row: { candidate: unknown }): { id: string; authority: Authority } {
  const candidate = String(row.candidate);
  const colon = candidate.indexOf(':');
  const authority = authorities.find((tier) => tier === candidate.slice(0, colon)) ?? 'normal';
  return { id: candidate.slice(colon + 1), authority };
}

export function where({ filter, authority, without = [] }: Query): string | undefined {
  const outdated = without.map((name) => {
    const colon = name.indexOf(':');
    const generation = name.slice(colon + 1);
    // Matches all batches of the generation: `3`, or `3.` followed by an attempt.
    const batches = `(generation = ${sql(generation)} OR generation LIKE ${sql(`${generation}.%`)})`;
    return `NOT (source_id = ${sql(name.slice(0, colon))} AND ${batches})`;
  });
  const found = whereLabelled(filter, authority);
  return [...(found === undefined ? [] : [found]), ...outdated].join(' AND ') || undefined;
}

export function whereLabelled(filter: SegmentFilter | undefined, authority: Authority | undefined): string | undefined {
  if (filter === undefined) return authority === undefined ? undefined : `authority = ${sql(authority)}`;
  const tags = filter.untagged ? [...filter.tags, untagged] : filter.tags;
  return `array_has_any(labels, ${sqlList(tags.map((tag) => (authority === undefined ? tag : `${tag}@${authority}`)))})`;
}
