import { describe, expect, it } from '@jest/globals';
import {
  askedSegments,
  maxSegmentLength,
  maxSegments,
  normalizeSegment,
  normalizeSegments,
  reachable,
  segmentFilter,
  segmentsAgain,
  sharedSegments,
} from '../../../models/rules/knowledge/segments.ts';

describe('normalizeSegment', () => {
  it.each([
    ['Personal', 'personal'],
    ['  Small Business  ', 'small_business'],
    ['R&D', 'r_and_d'],
    ['R & D', 'r_and_d'],
    ['R＆D', 'r_and_d'],
    ['--a---b__c--', 'a_b_c'],
    ['Geschäft', 'geschaft'],
    ['Crédit Agricole', 'credit_agricole'],
    ['Дом и сад', 'дом_и_сад'],
    ['東京', '東京'],
    ['हिन्दी', 'हिन्दी'],
    ['ⅣＡ', 'iva'],
    ["'; drop table", 'drop_table'],
    ['a@primary', 'a_primary'],
    ['$ne', 'ne'],
    ['!!!', ''],
    ['', ''],
    ['\u0000\u202e', ''],
  ])('the tag %j is normalized to %j', (raw, expected) => {
    expect(normalizeSegment(raw)).toBe(expected);
  });

  it('a tag is cut to 64 characters, never inside a character or after a blank', () => {
    expect(normalizeSegment('x'.repeat(100))).toBe('x'.repeat(maxSegmentLength));
    expect(normalizeSegment(`${'x'.repeat(63)} yz`)).toBe('x'.repeat(63));
    expect(Array.from(normalizeSegment('𠮷'.repeat(100)))).toHaveLength(maxSegmentLength);
  });

  it('normalizing a tag is idempotent and leaves no character with a meaning in a query', () => {
    for (const raw of ['Ärger & Co.', 'ǅungla', 'İstanbul', 'ﬁne', 'a\u0301', "x') OR 1=1 --", 'Ⅷ ½ ™']) {
      const once = normalizeSegment(raw);
      expect(normalizeSegment(once)).toBe(once);
      expect(once).toMatch(/^[\p{L}\p{M}\p{N}_]*$/u);
    }
  });
});

describe('normalizeSegments', () => {
  it('tags keep their order and are deduplicated', () => {
    expect(normalizeSegments(['Business', 'personal', 'BUSINESS '])).toEqual(['business', 'personal']);
    expect(normalizeSegments([])).toEqual([]);
  });

  it('a tag that is empty after normalization is refused and does not make the source public', () => {
    expect(() => normalizeSegments(['business', '!!!'])).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        details: [{ path: ['body', 'segments', 1], message: expect.any(String) }],
      }),
    );
  });

  it('a source has at most twenty different tags, and repeats do not count', () => {
    const many = Array.from({ length: maxSegments }, (_, index) => `tag ${index}`);
    expect(normalizeSegments([...many, ...many])).toHaveLength(maxSegments);
    expect(() => normalizeSegments([...many, 'one more'], ['form', 'segments'])).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        details: [{ path: ['form', 'segments'], message: 'must have at most 20 entries' }],
      }),
    );
  });
});

describe('askedSegments', () => {
  it.each<[(string | null | undefined)[], string[] | undefined]>([
    [[], undefined],
    [[undefined, null, '', '  '], undefined],
    [['Business'], ['business']],
    [
      ['Business', 'business', undefined, 'R&D'],
      ['business', 'r_and_d'],
    ],
    [['!!!'], []],
    [['!!!', 'a'], ['a']],
  ])('the requested segments %j are read as %j', (values, expected) => {
    expect(askedSegments(values)).toEqual(expected);
  });
});

describe('segmentsAgain', () => {
  it.each<[string[] | undefined]>([[undefined], [[]], [['business']], [['business', 'r_and_d']]])(
    'a question that was asked in the segments %j is asked again in the same segments',
    (asked) => {
      expect(askedSegments(segmentsAgain(asked))).toEqual(asked);
    },
  );
});

describe('reachable', () => {
  const sources = {
    untagged: [],
    business: ['business'],
    personal: ['personal'],
    both: ['business', 'personal'],
    shared: ['shared'],
    sharedAndOther: ['personal', 'all'],
  };
  const names = Object.keys(sources) as (keyof typeof sources)[];
  const everything = names;
  /**
   * Which sources are visible for every combination of requested segments and strictness. Source: specification 4.7,
   * segment rules 1 to 5.
   */
  it.each<[string, string[] | undefined, boolean, (keyof typeof sources)[]]>([
    ['nothing named', undefined, false, everything],
    ['nothing named, strict', undefined, true, everything],
    ['business', ['business'], false, ['untagged', 'business', 'both', 'shared', 'sharedAndOther']],
    ['business, strict', ['business'], true, ['business', 'both', 'shared', 'sharedAndOther']],
    ['a tag nobody has', ['corporate'], false, ['untagged', 'shared', 'sharedAndOther']],
    ['a tag nobody has, strict', ['corporate'], true, ['shared', 'sharedAndOther']],
    ['a name that is no tag', [], false, ['untagged', 'shared', 'sharedAndOther']],
    ['a name that is no tag, strict', [], true, ['shared', 'sharedAndOther']],
    ['two tags', ['business', 'personal'], false, everything],
    ['two tags, strict', ['business', 'personal'], true, ['business', 'personal', 'both', 'shared', 'sharedAndOther']],
    ['a shared tag', ['all'], false, ['untagged', 'shared', 'sharedAndOther']],
    ['a shared tag, strict', ['all'], true, ['shared', 'sharedAndOther']],
  ])('only sources whose segments fit the requested segments are visible: %s', (_, asked, strict, expected) => {
    expect(names.filter((name) => reachable({ segments: sources[name], asked, strict }))).toEqual(expected);
  });

  it.each(sharedSegments)('a source with the shared tag %s is visible in every segment, strict or not', (segment) => {
    for (const strict of [true, false])
      expect(reachable({ segments: [segment], asked: ['business'], strict })).toBe(true);
  });

  it('`reachable` and the filter of the search index allow the same sources, for every combination of requested and source segments', () => {
    for (const asked of [undefined, [], ['business'], ['business', 'personal'], ['all']])
      for (const strict of [true, false])
        for (const segments of Object.values(sources)) {
          const filter = segmentFilter(asked, strict);
          const labels = segments.length === 0 ? [''] : segments;
          const wanted = filter === undefined ? labels : [...filter.tags, ...(filter.untagged ? [''] : [])];
          expect(reachable({ segments, asked, strict })).toBe(labels.some((label) => wanted.includes(label)));
        }
  });
});
