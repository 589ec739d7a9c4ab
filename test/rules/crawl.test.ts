import { describe, expect, it } from '@jest/globals';
import {
  backOffMs,
  crawlBounds,
  crawlDelay,
  crawlReasons,
  crawlOrder,
  crawlStart,
  endOf,
  explain,
  isHtml,
  isWholeSet,
  lostOf,
  outlived,
  reasonRow,
  reasonOfStatus,
  retryAfter,
  unheard,
  yieldsTo,
  type CrawlReason,
  type Fate,
} from '../../models/rules/crawl.ts';
import { httpReasons, type HttpReason } from '../../models/rules/http.ts';

describe('options', () => {
  it('the bounds are those of the contract', () => {
    expect(crawlBounds).toEqual({ maxPages: { min: 1, max: 1_000, default: 50 }, everyHours: { min: 1, max: 720 } });
  });
});

describe('reasons', () => {
  const all = Object.keys(crawlReasons) as CrawlReason[];

  it.each(all)('%s is a sentence, with and without a detail', (reason) => {
    for (const sentence of [explain(reason), explain(reason, 'https://example.com/$&/a')]) {
      expect(sentence).toMatch(/^[A-Z][^{}]+\.$/);
      expect(sentence).not.toMatch(/ {2}|undefined/);
    }
    const takesDetail = crawlReasons[reason].sentence.includes('{');
    expect(explain(reason, 'https://example.com/$&/a').includes('https://example.com/$&/a')).toBe(takesDetail);
  });

  it('every failure of the HTTP client has its words here, and what may work later is tried again', () => {
    for (const [reason, { temporary }] of Object.entries(httpReasons)) {
      const row = reasonRow(reason as HttpReason);
      expect([reason, row.retry === true]).toEqual([reason, temporary]);
    }
  });

  it.each([
    ['taken', ['noindex', 'moved_away', 'not_found', 'gone', 'withheld']],
    ['emptied', ['not_html', 'empty']],
    ['elsewhere', ['canonical', 'moved']],
  ] as const)('the page indexed before is %s by these reasons alone', (standing, reasons) => {
    expect(all.filter((reason) => reasonRow(reason).standing === standing)).toEqual(reasons);
  });

  it.each([
    [200, undefined],
    [203, undefined],
    [304, undefined],
    [204, 'empty'],
    [300, 'bad_redirect'],
    [302, 'bad_redirect'],
    [400, 'refused'],
    [401, 'forbidden'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [408, 'timed_out'],
    [410, 'gone'],
    [418, 'refused'],
    [429, 'rate_limited'],
    [451, 'withheld'],
    [500, 'server_error'],
    [503, 'server_error'],
  ])('a response with %d: %s', (status, reason) => expect(reasonOfStatus(status)).toBe(reason));

  it.each([
    ['text/html', true],
    ['Text/HTML; charset=utf-8', true],
    ['application/xhtml+xml', true],
    [undefined, true],
    ['', true],
    ['text/plain', false],
    ['application/pdf', false],
    ['text/htmlx', false],
  ])('the content type %s is a page: %s', (type, expected) => expect(isHtml(type)).toBe(expected));
});

describe('what became of addresses', () => {
  const indexed: Fate = { outcome: 'indexed' };
  const left = (why: CrawlReason, to?: string): Fate => ({
    outcome: reasonRow(why).kind,
    why,
    ...(to === undefined ? {} : { to: `https://www.${to}` }),
  });
  const fates = new Map<string, Fate>([
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
  ])('%s leads to: %s', (key, end) => expect(endOf(key, fates)).toBe(end));

  it('a page goes when the one that it moved to, or names, stands; or when that is gone after a move', () => {
    expect(outlived(fates)).toEqual([
      'a/moved',
      'a/moved-twice',
      'a/moved-to-login',
      'a/moved-to-copy',
      'a/moved-to-missing',
      'a/print',
    ]);
  });

  it('a page is read for its own sake when what it names is refused, gone, or leads back to it; one of a circle', () => {
    expect(unheard(fates)).toEqual(['a/names-missing', 'a/names-shut', 'a/names-moved', 'a/one']);
  });

  it('a set misses what it met and has nothing for, unless the site took that away', () => {
    expect(lostOf(fates, fates)).toEqual([
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
    expect(lostOf(fates, new Set(['a/page', 'a/shut', 'a/not-met']))).toEqual(['a/shut']);
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
  ])('%s, which names %s, gives way: %s', (url, canonical, yields) =>
    expect(yieldsTo(url, canonical, start)).toBe(yields),
  );
});

describe('waits', () => {
  it.each([
    [undefined, 0, false],
    [0, 0, false],
    [-1, 0, false],
    [Number.NaN, 0, false],
    [0.5, 500, false],
    [30, 30_000, false],
    [31, 30_000, true],
    [86_400, 30_000, true],
  ])('a crawl-delay of %s seconds is %d ms, capped: %s', (seconds, delayMs, capped) =>
    expect(crawlDelay(seconds)).toEqual({ delayMs, capped }),
  );

  const now = Date.UTC(1994, 10, 6, 8, 49, 0);
  it.each([
    ['120', 120_000, false],
    [' 0 ', 0, false],
    ['600', 600_000, false],
    ['601', 600_000, true],
    ['9'.repeat(400), 600_000, true],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000, false],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 37_000, false],
    ['Sun Nov  6 08:49:37 1994', 37_000, false],
    ['Sun, 06 Nov 1994 08:48:37 GMT', 0, false],
    ['Mon, 07 Nov 1994 08:49:37 GMT', 600_000, true],
  ])('Retry-After: %.40s waits %d ms, capped: %s', (header, waitMs, capped) =>
    expect(retryAfter(header, now)).toEqual({ waitMs, capped }),
  );

  it.each([undefined, '', 'soon', '-5', '1.5', '1e3', '0x10', '2026-11-21', 'Sun, 99 Foo 1994 08:49:37 GMT'])(
    'Retry-After: %s says nothing',
    (header) => expect(retryAfter(header, now)).toBeUndefined(),
  );

  it('the back-off doubles from a second to a minute and is spread over its upper half', () => {
    expect([1, 2, 3, 6, 7, 50].map((attempt) => backOffMs(attempt, 1))).toEqual([
      1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
    ]);
    expect([1, 2, 50].map((attempt) => backOffMs(attempt, 0))).toEqual([500, 1_000, 30_000]);
  });
});

describe('crawlStart', () => {
  it('is the one spelling of the address and the part of the site below it', () => {
    expect(crawlStart(' HTTPS://www.Example.com:443/help/index.html?utm_source=x#top ')).toEqual({
      url: 'https://www.example.com/help/index.html',
      scope: { site: 'example.com', prefix: '/help/' },
    });
  });

  it.each([
    ['file:///etc/passwd', /http/],
    ['example', /valid/],
    ['https://a:b@example.com/', /password/],
  ])('%s is refused with a sentence on `url`', (url, message) => {
    const detail = { path: ['body', 'url'], message: expect.stringMatching(message) };
    expect(() => crawlStart(url)).toThrow(expect.objectContaining({ code: 'VALIDATION', details: [detail] }));
  });
});

describe('crawlOrder', () => {
  const url = 'https://a.example/help/';
  const detail = (path: (string | number)[]) =>
    expect.objectContaining({ code: 'VALIDATION', details: [expect.objectContaining({ path })] });

  it('has an address and tags in their one spelling, fifty pages, and what was not asked for left out', () => {
    expect(crawlOrder({ url: 'HTTPS://A.example/help/#top' })).toEqual({
      order: { url, max_pages: 50, replace: false },
      everyHours: undefined,
    });
    const options = { max_pages: 7, segments: ['Web Shop'], authority: 'primary', every_hours: 12 } as const;
    expect(crawlOrder({ url, options: { ...options, segments: [...options.segments] } })).toEqual({
      order: { url, max_pages: 7, segments: ['web_shop'], authority: 'primary', replace: false },
      everyHours: 12,
    });
    expect(crawlOrder({ url, options: { replace: true, segments: [] } }).order).toMatchObject({
      replace: true,
      segments: [],
    });
  });

  it('is refused where it says what cannot be done: tags of nothing, and a replacement again and again', () => {
    expect(() => crawlOrder({ url, options: { segments: ['!'] } })).toThrow(detail(['body', 'options', 'segments', 0]));
    expect(() => crawlOrder({ url, options: { replace: true, every_hours: 1 } })).toThrow(
      detail(['body', 'options', 'replace']),
    );
    expect(crawlOrder({ url, options: { replace: false, every_hours: 1 } }).everyHours).toBe(1);
  });
});

describe('a set that is to replace another', () => {
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
  ])('of %d pages, %d failed, %d of those answer now: whole is %s', (read, failed, lost, whole) =>
    expect(isWholeSet({ read, failed, lost })).toBe(whole),
  );
});
