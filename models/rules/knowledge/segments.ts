/**
 * Segments: how tags are normalised, and which sources a question may use (spec 4.7, segment rules). Pure. The index
 * filters with `segmentFilter`; the sources that MongoDB returns are checked again with `reachable`, because their tags
 * may have changed.
 */
import { Problem } from '../base/errors.ts';
import type { Detail } from '../base/errors.ts';

/** A source with one of these tags is visible to every segment, also when untagged sources are excluded. */
export const sharedSegments = ['all', 'shared', 'global', 'common'] as const;

export const maxSegments = 20;
/** The maximum length of a tag, in code points. */
export const maxSegmentLength = 64;

/**
 * The stored form of a tag: lower case, without the accents that Unicode (NFKD) separates from letters (`Geschäft` ->
 * `geschaft`). `&` becomes the word `and`, and every run of characters that are neither letters nor digits becomes `_`.
 * The result is trimmed and truncated to 64 code points. Letters of other scripts stay letters. The result is empty
 * when no letter or digit is left.
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
 * The normalised, unique tags of a source, in the given order. A tag that normalises to nothing is refused and not
 * dropped: dropping a source's only tag would make the source visible to everybody.
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
 * The normalised segments of a question, from all inputs (`context.productType`, `segments`). `undefined`: the question
 * names no segment and may use every source. An empty list: the question names only values that cannot be tags. Then
 * the question may use the sources that are shared with all segments, and, unless the organization’s setting is
 * `strict`, the sources without tags.
 */
export function askedSegments(values: readonly (string | null | undefined)[]): string[] | undefined {
  const named = values.filter((value) => value !== null && value !== undefined && value.trim() !== '');
  if (named.length === 0) return undefined;
  return [...new Set(named.map((value) => normalizeSegment(String(value))))].filter((value) => value !== '');
}

/**
 * Values from which `askedSegments` makes the segments `asked` again, so that a question can be repeated with the same
 * segments. The value `-` cannot be a tag, so it stands for an empty list.
 */
export function segmentsAgain(asked: readonly string[] | undefined): readonly string[] {
  return asked?.length === 0 ? ['-'] : (asked ?? []);
}

/** The segment filter of an index search. `undefined` means no filter. */
export type SegmentFilter = {
  /** A source passes when it has one of these tags. */
  tags: string[];
  /** Whether sources without tags also pass. */
  untagged: boolean;
};

export function segmentFilter(asked: readonly string[] | undefined, strict: boolean): SegmentFilter | undefined {
  if (asked === undefined) return undefined;
  return { tags: [...new Set([...asked, ...sharedSegments])], untagged: !strict };
}

/** Whether a source with these normalised tags may be used: the same decision as `segmentFilter`, for one source. */
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
