import { describe, expect, it } from '@jest/globals';
import {
  crawlReasons,
  explain,
  isHtml,
  reasonRow,
  reasonOfStatus,
  type CrawlReason,
} from '../../../models/rules/crawl/crawlreason.ts';
import { httpReasons, type HttpReason } from '../../../models/rules/base/http.ts';

describe('reasons', () => {
  const all = Object.keys(crawlReasons) as CrawlReason[];

  it.each(all)('the reason %s is explained by a complete sentence, with and without a detail', (reason) => {
    for (const sentence of [explain(reason), explain(reason, 'https://example.com/$&/a')]) {
      expect(sentence).toMatch(/^[A-Z][^{}]+\.$/);
      expect(sentence).not.toMatch(/ {2}|undefined/);
    }
    const takesDetail = crawlReasons[reason].sentence.includes('{');
    expect(explain(reason, 'https://example.com/$&/a').includes('https://example.com/$&/a')).toBe(takesDetail);
  });

  it('every failure of the HTTP client has an explanation, and the crawl retries exactly the temporary ones', () => {
    for (const [reason, { temporary }] of Object.entries(httpReasons)) {
      const row = reasonRow(reason as HttpReason);
      expect([reason, row.retry === true]).toEqual([reason, temporary]);
    }
  });

  it.each([
    ['taken', ['noindex', 'moved_away', 'not_found', 'gone', 'withheld']],
    ['emptied', ['not_html', 'empty']],
    ['elsewhere', ['canonical', 'moved']],
  ] as const)(
    'a previously indexed page counts as “%s” when a crawl skips it for exactly one of the reasons %j',
    (standing, reasons) => {
      expect(all.filter((reason) => reasonRow(reason).standing === standing)).toEqual(reasons);
    },
  );

  it.each([
    [200, undefined],
    [203, undefined],
    [304, undefined],
    [202, 'refused'],
    [204, 'empty'],
    [206, 'refused'],
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
  ])('a response with status %d has the crawl reason %s', (status, reason) =>
    expect(reasonOfStatus(status)).toBe(reason),
  );

  it.each([
    ['text/html', true],
    ['Text/HTML; charset=utf-8', true],
    ['application/xhtml+xml', true],
    [undefined, true],
    ['', true],
    ['text/plain', false],
    ['application/pdf', false],
    ['text/htmlx', false],
  ])('a response with content type %s counts as a page: %s', (type, expected) => expect(isHtml(type)).toBe(expected));
});
