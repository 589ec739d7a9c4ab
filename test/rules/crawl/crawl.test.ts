import { describe, expect, it } from '@jest/globals';
import {
  backOffMs,
  crawlBounds,
  crawlDelay,
  crawlOrder,
  crawlStart,
  retryAfter,
} from '../../../models/rules/crawl/crawl.ts';

describe('options', () => {
  it('crawl options allow 1 to 1,000 pages, 50 by default, and a repetition every 1 to 720 hours', () => {
    expect(crawlBounds).toEqual({ maxPages: { min: 1, max: 1_000, default: 50 }, everyHours: { min: 1, max: 720 } });
  });
});

describe('wait times', () => {
  it.each([
    [undefined, 0, false],
    [0, 0, false],
    [-1, 0, false],
    [Number.NaN, 0, false],
    [0.5, 500, false],
    [30, 30_000, false],
    [31, 30_000, true],
    [86_400, 30_000, true],
  ])('a Crawl-delay of %s seconds becomes a delay of %d ms (capped: %s)', (seconds, delayMs, capped) =>
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
  ])('the header Retry-After: %.40s becomes a wait of %d ms (capped: %s)', (header, waitMs, capped) =>
    expect(retryAfter(header, now)).toEqual({ waitMs, capped }),
  );

  it.each([undefined, '', 'soon', '-5', '1.5', '1e3', '0x10', '2026-11-21', 'Sun, 99 Foo 1994 08:49:37 GMT'])(
    'the header Retry-After: %s is ignored',
    (header) => expect(retryAfter(header, now)).toBeUndefined(),
  );

  it('the backoff doubles from one second to one minute, and jitter takes off at most half of it', () => {
    expect([1, 2, 3, 6, 7, 50].map((attempt) => backOffMs(attempt, 1))).toEqual([
      1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
    ]);
    expect([1, 2, 50].map((attempt) => backOffMs(attempt, 0))).toEqual([500, 1_000, 30_000]);
  });
});

describe('crawlStart', () => {
  it('crawlStart returns the canonical URL, and a scope that covers the pages of the site in the folder of this URL', () => {
    expect(crawlStart(' HTTPS://www.Example.com:443/help/index.html?utm_source=x#top ')).toEqual({
      url: 'https://www.example.com/help/index.html',
      scope: { site: 'example.com', prefix: '/help/' },
    });
  });

  it.each([
    ['file:///etc/passwd', /http/],
    ['example', /valid/],
    ['https://a:b@example.com/', /password/],
  ])('the start address %s is refused with a validation message on `url`', (url, message) => {
    const detail = { path: ['body', 'url'], message: expect.stringMatching(message) };
    expect(() => crawlStart(url)).toThrow(expect.objectContaining({ code: 'VALIDATION', details: [detail] }));
  });
});

describe('crawlOrder', () => {
  const url = 'https://a.example/help/';
  const detail = (path: (string | number)[]) =>
    expect.objectContaining({ code: 'VALIDATION', details: [expect.objectContaining({ path })] });

  it('crawlOrder returns a canonical address, normalized tags and a default of fifty pages', () => {
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

  it('crawlOrder refuses an empty tag, and a recurring crawl that replaces the old pages', () => {
    expect(() => crawlOrder({ url, options: { segments: ['!'] } })).toThrow(detail(['body', 'options', 'segments', 0]));
    expect(() => crawlOrder({ url, options: { replace: true, every_hours: 1 } })).toThrow(
      detail(['body', 'options', 'replace']),
    );
    expect(crawlOrder({ url, options: { replace: false, every_hours: 1 } }).everyHours).toBe(1);
  });
});
