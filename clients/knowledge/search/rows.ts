/** The rows of the index: their columns, labels, and the conditions that select them. */
import { Index } from '@lancedb/lancedb';
import { Field, List, Schema, Utf8 } from 'apache-arrow';
import { authorities, type Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Meaning } from '../../../models/rules/knowledge/retrieval.ts';
import type { SegmentFilter } from '../../../models/rules/knowledge/segments.ts';

/** The words of an organization and mode, or their vectors by one model. */
export type IndexTable = { org_id: string; mode: 'test' | 'live'; model?: string };

export type IndexRow = {
  /** The chunk's id, which is unique. */
  id: string;
  source_id: string;
  /** The batch of the row, which holds all rows that one attempt wrote of the source: `batchOf`. */
  generation: string;
  /** Normalised tags; none: untagged. */
  segments: readonly string[];
  authority: Authority;
  heading: string;
  text: string;
};

export type Query = {
  text: string;
  /** Undefined: search by words alone. */
  meaning?: Meaning | undefined;
  filter: SegmentFilter | undefined;
  authority?: Authority | undefined;
  /** `<source id>:<generation>` of rows to leave out. */
  without?: readonly string[];
  /** The limit for the search by words, and for the one by meaning. */
  limit: number;
};

/** Stands for "no tag". It cannot be a segment, because segments have no punctuation. */
const untagged = '-';

/**
 * Words are cut by Unicode's rules, in scripts without blanks too, then folded and stemmed as English. Words of other
 * languages are stemmed alike in question and text, so they match themselves. Positions are not stored: nobody searches
 * for phrases.
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
  // The only column that a query returns. Each column costs a separate look-up: three took a quarter longer than one.
  new Field('candidate', new Utf8(), false),
  new Field('text', new Utf8(), false),
]);

export const sql = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const sqlList = (values: readonly string[]): string => `[${values.map(sql).join(', ')}]`;

/**
 * The labels by which a row is found: each tag, and each tag with the tier. So a question restricted to a segment and a
 * tier is one look-up in one index; two conditions on two indexes took nearly three times as long (measured at 100,000
 * rows).
 */
export function labels(segments: readonly string[], authority: Authority): string[] {
  const tags = segments.length === 0 ? [untagged] : segments;
  return tags.flatMap((tag) => [tag, `${tag}@${authority}`]);
}

export const tagsOf = (stored: Iterable<string>): string[] =>
  [...stored].filter((label) => label !== untagged && !label.includes('@'));

export const candidateOf = (id: string, authority: Authority): string => `${authority}:${id}`;

/** A row's passage and tier, from the one column that has both. */
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
    // All batches of the generation: `3`, or `3` followed by an attempt.
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
