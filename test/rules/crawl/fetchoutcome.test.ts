import { describe, expect, it } from '@jest/globals';
import { reasonRow, type CrawlReason } from '../../../models/rules/crawl/crawlreason.ts';
import {
  duplicatePages,
  targetOf,
  formerAddresses,
  isWholeSet,
  missingPages,
  replacedPages,
  unresolvedCanonicals,
  defersTo,
  type FetchOutcome,
} from '../../../models/rules/crawl/fetchoutcome.ts';

describe('the outcomes of addresses', () => {
  const indexed: FetchOutcome = { outcome: 'indexed' };
  const left = (why: CrawlReason, to?: string): FetchOutcome => ({
    outcome: reasonRow(why).kind,
    why,
    ...(to === undefined ? {} : { to: `https://www.${to}` }),
  });
  const outcomes = new Map<string, FetchOutcome>([
    ['a/page', indexed],
    ['a/same', { outcome: 'unchanged' }],
    ['a/copy', left('duplicate', 'a/page')],
    ['a/waiting', {}],
    ['a/missing', left('not_found')],
    ['a/nothing', left('empty')],
    ['a/shut', left('forbidden')],
    ['a/broken', left('server_error')],
    ['a/login', left('redirect', 'a/page')],
    ['a/endless', left('trap')],
    ['a/away', left('moved_away', 'b/page')],
    ['a/moved', left('moved', 'a/page')],
    ['a/moved-twice', left('moved', 'a/moved')],
    ['a/moved-to-login', left('moved', 'a/login')],
    ['a/moved-to-copy', left('moved', 'a/copy')],
    ['a/moved-to-missing', left('moved', 'a/missing')],
    ['a/moved-to-broken', left('moved', 'a/broken')],
    ['a/moved-to-waiting', left('moved', 'a/waiting')],
    ['a/moved-nowhere', left('moved', 'a/unknown')],
    ['a/print', left('canonical', 'a/same')],
    ['a/names-missing', left('canonical', 'a/missing')],
    ['a/names-shut', left('canonical', 'a/shut')],
    ['a/names-waiting', left('canonical', 'a/waiting')],
    ['a/names-moved', left('canonical', 'a/leads-back')],
    ['a/leads-back', left('moved', 'a/names-moved')],
    ['a/one', left('canonical', 'a/other')],
    ['a/other', left('canonical', 'a/one')],
  ]);

  it.each([
    ['a/page', 'page'],
    ['a/copy', 'page'],
    ['a/moved-twice', 'page'],
    ['a/moved-to-login', 'page'],
    ['a/moved-to-missing', 'gone'],
    ['a/away', 'gone'],
    ['a/nothing', 'gone'],
    ['a/moved-to-broken', 'none'],
    ['a/moved-nowhere', 'none'],
    ['a/one', 'none'],
    ['a/names-waiting', 'open'],
  ])('following the redirects and canonical links from %s ends at: %s', (key, end) =>
    expect(targetOf(key, outcomes)).toBe(end),
  );

  it('an old page is removed once its redirect or canonical target is indexed or its redirect target is gone', () => {
    expect(replacedPages(outcomes)).toEqual([
      'a/moved',
      'a/moved-twice',
      'a/moved-to-login',
      'a/moved-to-copy',
      'a/moved-to-missing',
      'a/print',
    ]);
  });

  it('a page is indexed itself when the target of its canonical link is refused, gone or circular', () => {
    expect(unresolvedCanonicals(outcomes)).toEqual(['a/names-missing', 'a/names-shut', 'a/names-moved', 'a/one']);
  });

  it('a live page counts as missing when the crawl met but could not index its address, unless the site removed it', () => {
    expect(missingPages(outcomes, outcomes)).toEqual([
      'a/nothing',
      'a/shut',
      'a/broken',
      'a/login',
      'a/moved-to-broken',
      'a/moved-nowhere',
      'a/names-shut',
      'a/names-moved',
      'a/leads-back',
      'a/one',
      'a/other',
    ]);
    expect(missingPages(outcomes, new Set(['a/page', 'a/shut', 'a/not-met']))).toEqual(['a/shut']);
  });

  const start = 'https://a/help/';
  it.each([
    ['https://a/help/print', 'https://a/help/fees', true],
    ['https://a/help/fees?sort=up', 'https://a/help/fees', true],
    ['https://a/help/fees', 'http://www.a/help/fees', false],
    ['https://a/help/fees', 'https://a/help/', false],
    ['https://a/help/fees', 'https://a/', false],
    ['https://a/help/?lang=en', 'https://a/help/', true],
    ['https://a/?lang=en', 'https://a/', true],
  ])('the page %s is not indexed because its canonical link names %s: %s', (url, canonical, yields) =>
    expect(defersTo(url, canonical, start)).toBe(yields),
  );
});

describe('isWholeSet', () => {
  it.each([
    [0, 0, 0, false],
    [1, 0, 0, true],
    [1, 1, 0, true],
    [1, 2, 0, false],
    [9, 2, 0, false],
    [10, 2, 0, true],
    [10, 3, 0, false],
    [1_000, 200, 0, true],
    [1_000, 201, 0, false],
    [1_000, 1, 1, false],
  ])(
    'a crawl with %d pages read, %d failures and %d live pages lost may replace the old pages: %s',
    (read, failed, lost, whole) => expect(isWholeSet({ read, failed, lost })).toBe(whole),
  );
});

describe('the former addresses of a page', () => {
  const from = (url: string, to: string) => ({ url: `https://a/${url}`, to: `http://www.a/${to}` });
  const formers = formerAddresses([
    from('old', 'new'),
    from('older', 'old'),
    from('print', 'new'),
    from('new', 'older'),
  ]);
  it.each([
    ['a/new', ['a/old', 'a/print', 'a/older']],
    ['a/print', []],
    ['a/elsewhere', []],
  ])('the former addresses of the page %s are %j', (key, expected) => expect(formers(key)).toEqual(expected));
});

describe('duplicate pages', () => {
  const outcomesOf = (read: number, copies: number) =>
    new Map<string, FetchOutcome>([
      ...Array.from({ length: read }, (_, n): [string, FetchOutcome] => [`a/read-${n}`, { outcome: 'indexed' }]),
      ...Array.from({ length: copies }, (_, n): [string, FetchOutcome] => [
        `a/copy-${n}`,
        { outcome: 'skipped', why: 'duplicate', to: 'https://a/read-0' },
      ]),
    ]);
  it.each([
    [1, 1, 0],
    [3, 3, 0],
    [1, 2, 2],
    [2, 20, 20],
  ])('with %i indexed pages and %i duplicates, %i duplicates count as missing pages', (read, copies, lost) => {
    expect(missingPages(outcomesOf(read, copies), { has: () => true }).length).toBe(lost);
    expect(missingPages(outcomesOf(read, copies), { has: () => false })).toEqual([]);
  });

  it.each([
    [1, 1, 1],
    [3, 3, 3],
    [1, 2, 0],
    [2, 20, 0],
  ])('with %i indexed pages and %i duplicates, %i live duplicates may be removed', (read, copies, removed) => {
    expect(duplicatePages(outcomesOf(read, copies), { has: () => true }).length).toBe(removed);
    expect(duplicatePages(outcomesOf(read, copies), { has: (key) => key === 'a/copy-0' })).toEqual(['a/copy-0']);
  });
});
