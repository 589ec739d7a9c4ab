/**
 * Segments: how a tag is normalised, and which sources a question may see (spec 4.7, segment rules).
 * Pure; the index filters with `segmentFilter`, and what MongoDB returns is checked once more with `reachable`.
 */
import { Problem } from '../base/errors.ts';
import type { Detail } from '../base/errors.ts';

/** A source with one of these answers every segment, also when untagged content is withdrawn. */
export const sharedSegments = ['all', 'shared', 'global', 'common'] as const;

export const maxSegments = 20;
/** In code points. */
export const maxSegmentLength = 64;

/**
 * The stored form of a tag: lower case, accents that decompose are folded (`Geschäft` -> `geschaft`), `&` becomes
 * ` and `, every other run of characters that are neither letters nor digits becomes `_`, trimmed, cut to 64.
 * Letters of other scripts stay letters, so the result is `[\p{L}\p{M}\p{N}_]`. Empty when nothing is left.
 */
export function normalizeSegment(raw: string): string {
  const plain = raw
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/gu, '')
    .normalize('NFC')
    .replaceAll('&', ' and ')
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '_');
  const trimmed = plain.replaceAll(/^_+|_+$/gu, '');
  return Array.from(trimmed).slice(0, maxSegmentLength).join('').replace(/_+$/u, '');
}

/**
 * The tags of a source, normalised and unique, in the order given.
 * A tag of which nothing is left is refused rather than dropped: dropping the last one would make the source
 * untagged, which opens it to everybody.
 * @throws Problem VALIDATION, with `details` on each offending element under `path`.
 */
export function normalizeSegments(list: readonly string[], path: (string | number)[] = ['body', 'segments']): string[] {
  const normalized = list.map((value) => normalizeSegment(value));
  const details: Detail[] = normalized.flatMap((value, index) =>
    value === '' ? [{ path: [...path, index], message: 'must hold at least one letter or digit' }] : [],
  );
  const unique = [...new Set(normalized)];
  if (unique.length > maxSegments) details.push({ path, message: `must have at most ${maxSegments} entries` });
  if (details.length > 0) throw new Problem('VALIDATION', { details });
  return unique;
}

/**
 * The segments that a question names, from any number of inputs (`context.productType`, `segments`).
 * `undefined`: it names none and sees everything. An empty list: it named something that no source can carry, so it
 * still counts as naming one and sees shared (and, unless strict, untagged) content only.
 */
export function askedSegments(values: readonly (string | null | undefined)[]): string[] | undefined {
  const named = values.filter((value) => value !== null && value !== undefined && value.trim() !== '');
  if (named.length === 0) return undefined;
  return [...new Set(named.map((value) => normalizeSegment(String(value))))].filter((value) => value !== '');
}

/** What the index filters by. `undefined` means everything. */
export type SegmentFilter = {
  /** A source passes when it has one of these tags … */
  tags: string[];
  /** … or has no tag at all, when this is true. */
  untagged: boolean;
};

export function segmentFilter(asked: readonly string[] | undefined, strict: boolean): SegmentFilter | undefined {
  if (asked === undefined) return undefined;
  return { tags: [...new Set([...asked, ...sharedSegments])], untagged: !strict };
}

/** Whether a source with these normalised tags may answer. The same decision as `segmentFilter`, on one source. */
export function reachable(source: {
  segments: readonly string[];
  asked: readonly string[] | undefined;
  strict: boolean;
}): boolean {
  const filter = segmentFilter(source.asked, source.strict);
  if (filter === undefined) return true;
  if (source.segments.length === 0) return filter.untagged;
  return source.segments.some((segment) => filter.tags.includes(segment));
}
