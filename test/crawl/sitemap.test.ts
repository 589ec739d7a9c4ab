import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import {
  maxSitemapBytes,
  maxSitemapUrls,
  readSitemap,
  type Sitemap,
  type SitemapOptions,
} from '../../clients/crawl/site/sitemap.ts';
import { createHosts } from '../../clients/crawl/site/hosts.ts';
import { listSitemapPages } from '../../clients/crawl/site/sitesitemaps.ts';
import { maxUnasked } from '../../models/rules/crawl/frontier.ts';
import { scopeOf } from '../../models/rules/crawl/url.ts';

const site = 'https://example.com';
const urlset = (...urls: string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map((url) => `<url><loc>${url}</loc></url>`).join('\n')}</urlset>`;
const index = (...urls: string[]): string =>
  `<sitemapindex>${urls.map((url) => `<sitemap><loc>${url}</loc></sitemap>`).join('')}</sitemapindex>`;
const read = async (text: string | Uint8Array, options: SitemapOptions = {}): Promise<Omit<Sitemap, 'bytes'>> => {
  const { bytes, ...found } = await readSitemap(typeof text === 'string' ? Buffer.from(text) : text, options);
  expect(bytes).toBeLessThanOrEqual(options.maxBytes ?? maxSitemapBytes);
  return found;
};
const locs = async (text: string | Uint8Array): Promise<string[]> => (await read(text)).entries;
/** Deterministic letters that do not compress. */
const noise = (length: number): string => {
  let state = 3;
  return Array.from({ length }, () =>
    ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) >>> 24).toString(36),
  ).join('');
};

describe('readSitemap', () => {
  it('readSitemap reads page URLs, trims blanks and decodes entities', async () => {
    const text = `\ufeff  <?xml version="1.0"?><!-- c --><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><lastmod> 2026-11-21 </lastmod><loc>\n https://example.com/a?b=1&amp;c=2 \n</loc><priority>0.5</priority></url>
      <url><loc><![CDATA[https://example.com/d?e&f]]></loc><lastmod>2026-11-21T10:00:00+01:00</lastmod></url>
      <url><loc>https://example.com/&#233;</loc><lastmod>yesterday</lastmod></url><url/><url><loc></loc></url></urlset>`;
    expect(await read(text)).toEqual({
      kind: 'urlset',
      entries: ['https://example.com/a?b=1&c=2', 'https://example.com/d?e&f', 'https://example.com/é'],
    });
  });

  it('readSitemap ignores URLs of images, videos and translations, whatever the XML prefixes', async () => {
    const text = `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:i="x" xmlns:xhtml="y">
      <s:url><i:image><i:loc>https://example.com/p.png</i:loc></i:image><s:loc>https://example.com/a</s:loc>
      <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de"/></s:url></s:urlset>`;
    expect(await locs(text)).toEqual(['https://example.com/a']);
  });

  it('readSitemap reads a sitemap index', async () => {
    expect(await read(index(`${site}/1.xml`, `${site}/2.xml.gz`))).toEqual({
      kind: 'index',
      entries: [`${site}/1.xml`, `${site}/2.xml.gz`],
    });
  });

  it('readSitemap reads plain text with one URL per line', async () => {
    const text = `\ufeff${site}/a\r\n\r\n  ${site}/b  \n${site}/c`;
    expect(await read(text)).toEqual({
      kind: 'text',
      entries: [`${site}/a`, `${site}/b`, `${site}/c`],
    });
  });

  it.each<[string, () => Uint8Array]>([
    ['gzip', () => gzipSync(urlset(`${site}/é`))],
    ['UTF-16, little end first', () => Buffer.from(`\ufeff${urlset(`${site}/é`)}`, 'utf16le')],
    ['UTF-16, big end first', () => Buffer.from(`\ufeff${urlset(`${site}/é`)}`, 'utf16le').swap16()],
    ['Latin-1, as declared', () => Buffer.from(urlset(`${site}/é`).replace('UTF-8', 'ISO-8859-1'), 'latin1')],
    ['a declared charset that does not exist', () => Buffer.from(urlset(`${site}/é`).replace('UTF-8', 'klingon'))],
  ])('readSitemap decodes %s', async (_label, make) =>
    expect(await read(make())).toEqual({ kind: 'urlset', entries: [`${site}/é`] }),
  );

  it('readSitemap keeps a character that is split between two chunks', async () => {
    const urls = Array.from({ length: 20_000 }, (_, n) => `${site}/éüß/${n}`);
    expect(await locs(urlset(...urls))).toEqual(urls);
    expect(await locs(gzipSync(urlset(...urls)))).toEqual(urls);
    expect(await locs(urls.join('\n'))).toEqual(urls);
  });

  it.each<[string, string | Uint8Array, string[], string | undefined]>([
    [
      'an ampersand left bare is forgiven',
      urlset(`${site}/?a=1&b=2`, `${site}/c`),
      [`${site}/?a=1&b=2`, `${site}/c`],
      undefined,
    ],
    ['cut in the middle', urlset(`${site}/a`, `${site}/b`).slice(0, -40), [`${site}/a`], 'broken'],
    ['broken in the middle', urlset(`${site}/a`, `</b><${site}`, `${site}/c`), [`${site}/a`], 'broken'],
    [
      'a gzip file cut off',
      gzipSync(urlset(`${site}/a`, `${site}/${noise(200_000)}`)).subarray(0, 100_000),
      [`${site}/a`],
      'broken',
    ],
    ['a page of HTML', '<!DOCTYPE html><html><body><url><loc>x</loc></url></body></html>', [], 'unknown'],
    ['a feed', '<rss><channel><link>https://example.com</link></channel></rss>', [], 'unknown'],
    ['nothing', '', [], 'unknown'],
    ['blanks', ' \n ', [], 'unknown'],
    [
      'gzip of nothing sensible',
      Buffer.concat([Buffer.of(0x1f, 0x8b), Buffer.from('xxxxxxxxxxxxxxxxx')]),
      [],
      'broken',
    ],
  ])('readSitemap reads malformed input as far as possible: %s', async (_label, text, expected, stopped) => {
    const found = await read(text);
    expect({ locs: found.entries, stopped: found.stopped }).toEqual({ locs: expected, stopped });
  });

  it('readSitemap repairs a bare ampersand wherever a chunk of the file ends', async () => {
    const urls = Array.from(
      { length: 9_000 },
      (_, n) => [`${site}/${n}?a=1&b=2&#233;&lt`, `${site}/${n}?a=1&b=2é&lt`] as const,
    );
    const text = urlset(...urls.map(([written]) => `${written}&amp;`));
    expect(await locs(text)).toEqual(urls.map(([, meant]) => `${meant}&`));
  });

  it('readSitemap does not expand entities that the sitemap declares, nor read files that they refer to', async () => {
    const doctype = `<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
    const text = `${doctype}<urlset><url><loc>${site}/&b;</loc></url><url><loc>${site}/&f;</loc></url></urlset>`;
    expect(await locs(text)).toEqual([`${site}/&b;`, `${site}/&f;`]);
  });

  it('readSitemap decompresses a compression bomb only up to the limit', async () => {
    const bomb = gzipSync(
      Buffer.concat([Buffer.from(urlset(`${site}/a`).slice(0, -9)), Buffer.alloc(64 * 1024 * 1024, ' ')]),
    );
    expect(bomb.length).toBeLessThan(100_000);
    const maxBytes = 500_000;
    expect(await read(bomb, { maxBytes })).toEqual({
      kind: 'urlset',
      entries: [`${site}/a`],
      stopped: 'too_large',
    });
    const { bytes } = await readSitemap(bomb, { maxBytes });
    expect(bytes).toBe(maxBytes);
  });

  it('readSitemap reads a file of exactly the largest size completely', async () => {
    const text = urlset(`${site}/a`);
    expect((await read(text, { maxBytes: text.length })).stopped).toBeUndefined();
    expect((await read(text, { maxBytes: text.length - 1 })).stopped).toBe('too_large');
  });

  it.each([
    ['a text without end', `<urlset><url><loc>${'a'.repeat(3_000_000)}`],
    ['a comment without end', `<urlset><!--${'a'.repeat(3_000_000)}`],
    ['an attribute without end', `<urlset><url a="${'a'.repeat(3_000_000)}`],
    ['a line without end', 'a'.repeat(3_000_000)],
    ['elements without end inside each other', '<urlset>' + '<url>'.repeat(500_000)],
  ])('readSitemap treats %s as broken', async (_label, text) =>
    expect(await read(text)).toMatchObject({ entries: [], stopped: 'broken' }),
  );

  it('readSitemap reads at most 50,000 URLs', async () => {
    const urls = Array.from({ length: maxSitemapUrls + 1 }, (_, n) => `${site}/${n}`);
    const all = await read(urlset(...urls));
    expect([all.entries.length, all.stopped]).toEqual([maxSitemapUrls, 'too_many']);
    expect((await read(urlset(...urls.slice(1)))).stopped).toBeUndefined();
    const text = await read(urls.join('\n'));
    expect(text).toEqual({ kind: 'text', entries: urls.slice(0, -1), stopped: 'too_many' });
  });

  it('readSitemap rejects with the reason of an aborted signal', async () => {
    const signal = AbortSignal.abort(new Error('shutting down'));
    await expect(readSitemap(Buffer.from(urlset(`${site}/a`)), { signal })).rejects.toThrow('shutting down');
  });
});

describe('listSitemapPages', () => {
  /** Lists the pages of a site given as bodies, or statuses, by path; also returns the paths that were requested. */
  const list = async (
    files: Record<string, string | Buffer | number>,
    { limit = 100, allowed = (_url: string): boolean => true, clock = () => new Date() } = {},
  ) => {
    const requested: string[] = [];
    const follow = async (url: string) => {
      const path = new URL(url).pathname;
      requested.push(path);
      const file = files[path] ?? 404;
      const reply = { url, headers: {} };
      return typeof file === 'number'
        ? { ...reply, status: file, body: Buffer.alloc(0) }
        : { ...reply, status: 200, body: Buffer.from(file) };
    };
    const found = await listSitemapPages(
      { http: { follow }, hosts: createHosts(clock, 1), clock },
      {
        origin: site,
        scope: scopeOf(`${site}/`),
        robots: { allowed, sitemaps: [] },
        limit,
        signal: new AbortController().signal,
      },
    );
    return { ...found, requested };
  };

  it('listSitemapPages follows indexes, merges spellings of a URL, and leaves out other sites and missing files', async () => {
    const found = await list({
      '/sitemap.xml': index(`${site}/a.xml`, '/b.xml', `${site}/missing.xml`, `${site}/a.xml#again`),
      '/a.xml': urlset(`${site}/1?utm_source=x`, 'https://other.example/2', 'mailto:x', `${site}/1#top`),
      '/b.xml': urlset(`${site}/3`).replace('</loc>', '</loc><lastmod>2026-01-01</lastmod>'),
    });
    expect(found.requested).toEqual(['/sitemap.xml', '/a.xml', '/b.xml', '/missing.xml']);
    expect([found.urls, found.problems]).toEqual([[`${site}/1`, `${site}/3`], []]);
  });

  it('listSitemapPages stops at indexes deeper than two levels and at loops, with a reason', async () => {
    const deep = await list({
      '/sitemap.xml': index('/1.xml'),
      '/1.xml': index('/2.xml', '/sitemap.xml'),
      '/2.xml': index('/3.xml'),
      '/3.xml': urlset(`${site}/never`),
    });
    expect(deep.requested).toEqual(['/sitemap.xml', '/1.xml', '/2.xml']);
    expect(deep.urls).toEqual([]);
    expect(deep.problems).toEqual([{ url: `${site}/2.xml`, reason: expect.stringContaining('deep') }]);
  });

  it('listSitemapPages stops at its limits of pages, files and bytes', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`/${n}.xml`, urlset(`${site}/p${n}`, `${site}/q${n}`)]),
    );
    const start = index(...Object.keys(files));
    const few = await list({ '/sitemap.xml': start, ...files }, { limit: 3 });
    expect(few.urls).toEqual([`${site}/p0`, `${site}/q0`, `${site}/p1`]);
    const many = await list({ '/sitemap.xml': start, ...files });
    expect([many.requested.length, many.urls.length]).toEqual([50, 98]);
    expect(many.problems).toEqual([{ url: `${site}/49.xml`, reason: expect.stringContaining('too many') }]);
    // Four files of the maximum size, which contain only blanks, take up the bytes of all sitemaps.
    const blank = gzipSync(Buffer.alloc(maxSitemapBytes, ' '));
    const large = Object.fromEntries(['/a', '/b', '/c', '/d', '/e'].map((path) => [path, blank]));
    const { requested, problems } = await list({ '/sitemap.xml': index(...Object.keys(large)), ...large });
    expect(requested).toEqual(['/sitemap.xml', '/a', '/b', '/c', '/d']);
    expect(problems.at(-1)).toEqual({ url: `${site}/e`, reason: expect.stringContaining('too large') });
  });

  it('listSitemapPages reports a broken sitemap and lists the pages of the others', async () => {
    const found = await list({
      '/sitemap.xml': index('/a.xml', '/b.xml'),
      '/a.xml': '<urlset><url',
      '/b.xml': `${site}/b`,
    });
    expect(found.urls).toEqual([`${site}/b`]);
    expect(found.problems).toEqual([{ url: `${site}/a.xml`, reason: expect.stringContaining('broken') }]);
  });

  it('listSitemapPages stops and reports a problem when very many pages are forbidden', async () => {
    const urls = Array.from({ length: 10_100 }, (_, n) => `${site}/${n}`);
    let judged = 0;
    const allowed = (url: string) => (judged += 1) > 0 && url === urls[0];
    const found = await list({ '/sitemap.xml': urlset(...urls) }, { allowed });
    expect([found.urls, found.forbidden.length, judged]).toEqual([[urls[0]], maxUnasked, 10_001]);
    expect(found.problems).toEqual([{ url: `${site}/sitemap.xml`, reason: expect.stringContaining('forbids') }]);
  });

  it('listSitemapPages yields to the event loop, however long the check of a URL takes', async () => {
    const urls = Array.from({ length: 20 }, (_, n) => `${site}/${n}`);
    let [judged, turns] = [0, 0];
    const turn = (): void => {
      turns += 1;
      if (judged < urls.length) setImmediate(turn);
    };
    const allowed = (): boolean => {
      if (judged === 0) setImmediate(turn);
      judged += 1;
      const end = performance.now() + 10;
      while (performance.now() < end);
      return false;
    };
    await list({ '/sitemap.xml': urlset(...urls) }, { allowed });
    expect(judged).toBe(urls.length);
    expect(turns).toBeGreaterThanOrEqual(urls.length - 2);
  });

  it('listSitemapPages requests no file after its deadline, and reports why a file is unavailable', async () => {
    const files = { '/sitemap.xml': index('/a.xml', '/b.xml'), '/a.xml': urlset(`${site}/1`) };
    // The clock advances by a minute with every reading.
    let now = Date.now();
    const late = await list(files, { clock: () => new Date((now += 60_000)) });
    expect([late.requested, late.problems]).toEqual([
      ['/sitemap.xml'],
      [{ url: `${site}/a.xml`, reason: expect.stringContaining('slow') }],
    ]);
    const failing = await list({ '/sitemap.xml': 500 });
    expect(failing.problems).toEqual([{ url: `${site}/sitemap.xml`, reason: expect.stringContaining('500') }]);
  });
});
