import { describe, expect, it } from '@jest/globals';
import { canonicalUrl, inScope, isFileUrl, maxUrlLength, pageKey, scopeOf } from '../../../models/rules/crawl/url.ts';
import { randomNumbers } from '../../kit/random.ts';

/** A deterministic generator of random whole numbers below `n`. */
function dice(seed: number): (n: number) => number {
  const random = randomNumbers(seed);
  return (n) => (random() * 2 ** 32) % n;
}

/** Yields `count` deterministic addresses made of pieces that are hard to normalize. */
function* oddUrls(count: number, seed: number): Generator<string> {
  const roll = dice(seed);
  const pick = (list: readonly string[]): string => list[roll(list.length)] ?? '';
  const paths = [
    '/',
    '//',
    '/.',
    '/..',
    '/a',
    '/B',
    '/index.html',
    '/%2e',
    '/%2E%2e',
    '%',
    '%4',
    '%%34%31',
    '%zz',
    '%7e',
    '%2f',
    '%C3%A9',
    'é',
    '😀',
    ' ',
    '\\',
    ';jsessionid=1',
    ';SID=.',
    '/.;jsessionid=1/..',
    '/(S(abcdefghij0123456789abcd))',
    "'",
    '|',
    '"',
    '[',
    '^',
    '\t',
    '\n',
    '\ud800',
    '@',
    ':',
    '//evil.example/',
  ];
  const queries = [
    '?',
    '&',
    '&&',
    '=',
    'b=2',
    '&a=1',
    '&a=0',
    '&utm_source=x',
    '&%75tm_x=1',
    '&sid=4',
    '&key',
    '%26',
    '+',
  ];
  for (let at = 0; at < count; at += 1) {
    const path = Array.from({ length: roll(7) }, () => pick(paths)).join('');
    const query = Array.from({ length: roll(6) }, () => pick(queries)).join('');
    yield (
      pick(['http://', 'HTTPS://']) +
      pick(['Example.com', 'www.example.com.', 'bücher.example:443', '[::1]:8080']) +
      `/${path}${roll(2) === 0 ? '' : `?${query}`}${pick(['', '#x', '#?a=1'])}`
    );
  }
}

describe('canonicalUrl', () => {
  it.each([
    ['HTTP://EXAMPLE.com', 'http://example.com/'],
    ['https://Bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://example.com./help', 'https://example.com/help'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https://example.com:443/', 'https://example.com/'],
    ['http://example.com:443/', 'http://example.com:443/'],
    ['https://example.com/a#part', 'https://example.com/a'],
    ['https://example.com/a?#part', 'https://example.com/a'],
    ['https://example.com/a/./b/../c/%2e%2E/d', 'https://example.com/a/d'],
    ['https://example.com//a///b', 'https://example.com/a/b'],
    ['https://example.com/%7euser/%c3%a9/%2fx', 'https://example.com/~user/%C3%A9/%2Fx'],
    ['https://example.com/é b', 'https://example.com/%C3%A9%20b'],
    ['https://example.com/100%', 'https://example.com/100%25'],
    ['https://example.com/A/index.html', 'https://example.com/A/index.html'],
    ['https://example.com/a/', 'https://example.com/a/'],
    ['https://www.example.com/', 'https://www.example.com/'],
    ['https://example.com/?utm_source=x&UTM_Medium=y&%75tm_campaign=z', 'https://example.com/'],
    ['https://example.com/?gclid=1&fbclid=2&msclkid=3&mc_cid=4&mc_eid=5&_ga=6&id=7', 'https://example.com/?id=7'],
    ['https://example.com/?ref=main', 'https://example.com/?ref=main'],
    ['https://example.com/?b=2&a=2&a=1&&', 'https://example.com/?a=2&a=1&b=2'],
    ['https://example.com/?page_name&action=edit', 'https://example.com/?page_name&action=edit'],
    ['https://example.com/?q=a%20b+c', 'https://example.com/?q=a%20b+c'],
    ['https://example.com/?PHPSESSID=1', 'https://example.com/'],
    ['https://example.com/?sid=42', 'https://example.com/?sid=42'],
    ['https://example.com/?sid=9f86d081884c7d659a2feaa0c55ad015', 'https://example.com/'],
    ['https://example.com/a;jsessionid=0A1B/b;JSESSIONID=2;v=3', 'https://example.com/a/b;v=3'],
    ['https://example.com/(S(lit3py55t21z5v55vlm25s55))/a.aspx', 'https://example.com/a.aspx'],
    ['https://example.com/(S(lit3py55t21z5v55vlm25s55))', 'https://example.com/'],
    ['  https://example.com/a\n', 'https://example.com/a'],
    ['https://example.com\\a', 'https://example.com/a'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
  ])('the canonical form of %j is %s', (href, url) => expect(canonicalUrl(href)).toEqual({ url }));

  it.each([
    ['../b?x=1', 'https://example.com/b?x=1'],
    ['c', 'https://example.com/a/c'],
    ['?p=2', 'https://example.com/a/index?p=2'],
    ['#top', 'https://example.com/a/index'],
    ['//other.example/x', 'https://other.example/x'],
    ['', 'https://example.com/a/index'],
  ])('the relative link %j on the page https://example.com/a/index resolves to %s', (href, url) =>
    expect(canonicalUrl(href, 'https://example.com/a/index#x')).toEqual({ url }),
  );

  it.each([
    ['mailto:a@example.com', 'bad_scheme'],
    ['javascript:void(0)', 'bad_scheme'],
    ['java\tscript:void(0)', 'bad_scheme'],
    ['\u0001javascript:void(0)', 'bad_scheme'],
    ['file:///etc/passwd', 'bad_scheme'],
    ['ftp://example.com/', 'bad_scheme'],
    [`data:text/html,${'x'.repeat(100_000)}`, 'bad_scheme'],
    ['https://user@example.com/', 'credentials'],
    ['https://user:secret@example.com/', 'credentials'],
    ['https://', 'bad_url'],
    ['https://exa mple.com/', 'bad_url'],
    ['https://a..b/', 'bad_url'],
    ['https://a../', 'bad_url'],
    ['relative', 'bad_url'],
    ['http://[::1', 'bad_url'],
    ['http://example.com:99999/', 'bad_url'],
    [`https://example.com/${'a'.repeat(maxUrlLength)}`, 'url_too_long'],
    [`https://example.com/${'é'.repeat(400)}`, 'url_too_long'],
    [`https://example.com/${'a'.repeat(20_000)}`, 'url_too_long'],
  ])('the link %.40j is refused with the reason %s', (href, reason) => expect(canonicalUrl(href)).toEqual({ reason }));

  it('an address of exactly the maximum length is accepted', () => {
    const url = `https://example.com/${'a'.repeat(maxUrlLength - 20)}`;
    expect(canonicalUrl(url)).toEqual({ url });
  });

  it('an address whose host name is too long is refused', () => {
    for (const host of [
      `${'a.'.repeat(126)}bc`,
      `${'.'.repeat(16_000)}b`,
      `a${'.'.repeat(16_000)}`,
      '\u4e00'.repeat(4_000),
    ])
      expect(canonicalUrl(`https://${host}/`)).toEqual({ reason: 'bad_url' });
    // The spelling of the scheme and slashes makes no difference.
    for (const start of ['https:', '\u0001 h\nttps:\\\\', '//', '/\\/'])
      expect(canonicalUrl(`${start}${'a'.repeat(301)}/`, 'https://example.com/')).toEqual({ reason: 'bad_url' });
  });

  it('a host name of exactly the maximum length is accepted, also when it is percent-encoded', () => {
    const name = `${'a.'.repeat(126)}b`;
    const escaped = name
      .split('')
      .map((letter) => `%${letter.charCodeAt(0).toString(16)}`)
      .join('');
    for (const host of [name, `${name}.`, escaped])
      expect(canonicalUrl(`https://${host}/`)).toEqual({ url: `https://${name}/` });
  });

  it('a long first path segment of a relative link is not taken for a host', () => {
    const path = 'a'.repeat(1_000);
    expect(canonicalUrl(path, 'https://example.com/')).toEqual({ url: `https://example.com/${path}` });
  });

  it('canonicalUrl is idempotent and never changes the host', () => {
    let kept = 0;
    for (const href of oddUrls(5_000, 1)) {
      const { url } = canonicalUrl(href);
      if (url === undefined) continue;
      kept += 1;
      expect([href, canonicalUrl(url)]).toEqual([href, { url }]);
      expect([href, new URL(url).href]).toEqual([href, url]);
      expect(new URL(url).hostname).toBe(new URL(href).hostname.replace(/\.$/, ''));
      expect(url).not.toMatch(/#|[^:]\/\/|utm_|jsessionid/i);
    }
    expect(kept).toBeGreaterThan(4_000);
  });
});

describe('scope', () => {
  it.each([
    ['https://example.com/help/', '/help/'],
    ['https://example.com/help/index.html', '/help/'],
    ['https://example.com/help/Default.ASPX?x=1', '/help/'],
    ['https://example.com/help', '/help'],
    ['https://example.com/docs/v1.2', '/docs/v1.2'],
    ['https://example.com/', '/'],
    ['https://example.com/index.php', '/'],
  ])('a crawl that starts at %s is limited to paths that begin with %s', (start, prefix) =>
    expect(scopeOf(start)).toEqual({ site: 'example.com', prefix }),
  );

  it.each([
    ['https://example.com/help', 'https://example.com/help', true],
    ['https://example.com/help', 'https://example.com/help?p=2', true],
    ['https://example.com/help', 'https://example.com/help/a', true],
    ['https://example.com/help', 'https://example.com/helpdesk', false],
    ['https://example.com/help', 'https://example.com/', false],
    ['https://example.com/help/', 'https://example.com/help', true],
    ['https://example.com/help/', 'https://example.com/help?p=2', true],
    ['https://example.com/help/index.html', 'https://example.com/help', true],
    ['https://example.com/help/', 'https://example.com/help-old', false],
    ['https://example.com/help/', 'https://example.com/', false],
    ['https://example.com/a/help/', 'https://example.com/a', false],
    ['https://example.com/help/', 'https://example.com/Help/a', false],
    ['http://example.com/', 'https://example.com/a', true],
    ['https://example.com/', 'http://example.com/a', true],
    ['http://example.com/', 'https://www.example.com/a', true],
    ['https://www.example.com/', 'https://example.com/a', true],
    ['https://example.com/', 'https://help.example.com/', false],
    ['https://example.com/', 'https://example.com.evil.example/', false],
    ['https://example.com/', 'https://notexample.com/', false],
    ['http://example.com:8080/', 'http://example.com:8080/a', true],
    ['http://example.com:8080/', 'http://example.com/a', false],
    ['http://[::1]:8080/', 'http://[::1]:8080/a', true],
    ['https://example.com/', 'not an address', false],
  ])('a crawl that starts at %s has %s in scope: %s', (start, url, expected) =>
    expect(inScope(scopeOf(start), url)).toBe(expected),
  );

  it('the scope of a crawl contains its start address and the pages below that address', () => {
    for (const href of oddUrls(2_000, 2)) {
      const { url } = canonicalUrl(href);
      if (url === undefined) continue;
      const scope = scopeOf(url);
      expect([url, inScope(scope, url)]).toEqual([url, true]);
      const below = canonicalUrl(`${new URL(url).origin}${scope.prefix.replace(/\/?$/, '/')}page`).url;
      if (below !== undefined) expect([url, below, inScope(scope, below)]).toEqual([url, below, true]);
      expect(inScope({ ...scope, site: `x${scope.site}` }, url)).toBe(false);
    }
  });

  it('addresses that differ only in scheme or www are the same page, and other differences make another page', () => {
    const key = pageKey('https://www.example.com/a?b=1');
    expect(pageKey('http://example.com/a?b=1')).toBe(key);
    for (const other of ['http://example.com/a', 'http://example.com/a/?b=1', 'http://w.example.com/a?b=1']) {
      expect(pageKey(other)).not.toBe(key);
    }
  });
});

describe('isFileUrl', () => {
  it.each([
    ['https://example.com/a.PNG', true],
    ['https://example.com/files/fees.pdf?v=2', true],
    ['https://example.com/app.css', true],
    ['https://example.com/a.tar.gz', true],
    ['https://example.com/a', false],
    ['https://example.com/a.html', false],
    ['https://example.com/wiki/Node.js', false],
    ['https://example.com/v1.2', false],
    ['https://example.com/a.pdf/notes', false],
    ['https://example.com/a?file=b.pdf', false],
    ['https://example.zip/', false],
    ['https://example.com/models.ai/', false],
    ['https://example.com/models.ai', false],
    ['https://example.com/docs/v1.zip/', false],
    ['https://example.com/docs/v1.zip', true],
    ['https://example.com/docs/v1.zip/?page=2', false],
  ])('the address %s is a file and not a page: %s', (url, expected) => expect(isFileUrl(url)).toBe(expected));
});
