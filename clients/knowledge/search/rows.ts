/** The rows of the index: their columns, the labels they are found by, and the conditions that find them. */
import { Index } from '@lancedb/lancedb';
import { Field, List, Schema, Utf8 } from 'apache-arrow';
import { authorities, type Authority } from '../../../models/rules/knowledge/authority.ts';
import type { Meaning } from '../../../models/rules/knowledge/retrieval.ts';
import type { SegmentFilter } from '../../../models/rules/knowledge/segments.ts';

/** The words of an organization and mode, or their vectors by one model. */
export type IndexTable = { org_id: string; mode: 'test' | 'live'; model?: string };

export type IndexRow = {
  /** The chunk's id: unique, ours. */
  id: string;
  source_id: string;
  /** The batch this row is of, all rows that one attempt wrote of the source: `batchOf`. */
  generation: string;
  /** Normalised tags; none: untagged. */
  segments: readonly string[];
  authority: Authority;
  heading: string;
  text: string;
};

export type Query = {
  text: string;
  /** Undefined: words alone. */
  meaning?: Meaning | undefined;
  filter: SegmentFilter | undefined;
  authority?: Authority | undefined;
  /** `<source id>:<generation>` of rows that are left out. */
  without?: readonly string[];
  /** At most this many for the words and as many for the meaning. */
  limit: number;
};

/** Stands for "no tag". Never a segment: those have no punctuation. */
const untagged = '-';

/**
 * Words are cut as Unicode says, also in scripts without blanks, then folded and stemmed (English; words of other languages
 * are stemmed alike on both sides, so they match themselves). No positions: phrases are not searched.
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
  // All that a query gives back of a row. Each column costs it a look-up of its own: three took a quarter longer than one.
  new Field('candidate', new Utf8(), false),
  new Field('text', new Utf8(), false),
]);

export const sql = (value: string): string => `'${value.replaceAll("'", "''")}'`;
export const sqlList = (values: readonly string[]): string => `[${values.map(sql).join(', ')}]`;

/**
 * What a row can be found by: each tag, and each tag together with the tier. So a question restricted to a segment and a tier
 * is one look-up in one index; two predicates on two indexes took nearly three times as long (measured at 100,000 rows).
 */
export function labels(segments: readonly string[], authority: Authority): string[] {
  const tags = segments.length === 0 ? [untagged] : segments;
  return tags.flatMap((tag) => [tag, `${tag}@${authority}`]);
}

export const tagsOf = (stored: Iterable<string>): string[] =>
  [...stored].filter((label) => label !== untagged && !label.includes('@'));

export const candidateOf = (id: string, authority: Authority): string => `${authority}:${id}`;

/** A row's passage and its tier, out of the one column that names both. */
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
    // In all batches of the generation: `3` is followed by nothing, or by the attempt.
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
