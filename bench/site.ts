/**
 * The site that the `crawl` benchmark crawls, as a separate process. It consists of linked pages generated from a seed,
 * each with a version for conditional requests. It never changes while it runs and responds without delay.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The number of the site's URLs, and the shares of those that are not ordinary pages. */
export const siteShape = { addresses: 1_000, redirects: 0.05, errors: 0.02, duplicates: 0.03 } as const;
const bytes = { least: 2_000, most: 200_000 };
/** The pages form a tree, so that a crawl finds all of them: each page links to this many children. */
const childrenOfAPage = 3;
const furtherLinks = 12;
/**
 * The number of pages with children; they have the lowest indexes. URLs that are not ordinary pages have higher
 * indexes, so a crawl can reach every page through ordinary pages alone.
 */
const inner = Math.ceil(siteShape.addresses / childrenOfAPage) + 1;
/**
 * The share of a page's bytes that is main text, roughly. The rest is what templates add: menus, attributes, scripts.
 */
const textShare = 0.25;

type Entry =
  { kind: 'page'; html: string; etag: string } | { kind: 'redirect'; to: string } | { kind: 'error'; status: number };

/** A seeded generator, so that the site is the same on every machine. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'je', 'ki', 'lo', 'mu', 'na', 'pe', 'ro', 'su', 'ta', 've'];

/** A different word for each number, because URLs must not look like a numbered series. */
function wordOf(number: number): string {
  let word = '';
  for (let rest = number + 4_096; rest > 0; rest = Math.floor(rest / 16)) word += syllables[rest % 16] ?? '';
  return word;
}

const pathOf = (index: number): string => (index === 0 ? '/' : `/${wordOf(index % 25)}/${wordOf(index)}`);

/**
 * `own`: the indexes of the page's child pages. Half of the pages mark their main part; in the other half the crawler
 * must find it.
 */
function pageHtml(index: number, own: readonly number[], random: () => number): string {
  const size = Math.round(bytes.least * (bytes.most / bytes.least) ** random());
  const word = (): string => wordOf(Math.floor(3_000 ** random()) - 1);
  const sentence = (): string => {
    const [first = '', ...rest] = Array.from({ length: 6 + Math.floor(random() * 12) }, word);
    return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${rest.join(' ')}.`;
  };
  const anchor = (to: number): string =>
    `<li class="menu__item menu__item--level-1"><a class="menu__link" href="${pathOf(to)}">${wordOf(to)}</a></li>`;
  const further = Array.from({ length: furtherLinks }, () => Math.floor(random() * siteShape.addresses));
  const menu = `<nav class="menu" aria-label="Main"><ul>${[...own, ...further].map(anchor).join('')}</ul></nav>`;
  const title = `${wordOf(index)} ${sentence()}`;
  const paragraphs: string[] = [`<h1>${title}</h1>`];
  for (let length = 0; length < size * textShare;) {
    const text = Array.from({ length: 3 + Math.floor(random() * 4) }, sentence).join(' ');
    length += text.length;
    const heading = random() < 0.25 ? `<h2 class="prose__heading">${sentence()}</h2>` : '';
    paragraphs.push(`${heading}<p class="prose__paragraph prose__paragraph--regular">${text}</p>`);
  }
  const main = index % 2 === 0 ? ['<main id="content">', '</main>'] : ['<div class="content"><div>', '</div></div>'];
  const body = `${menu}${main[0]}${paragraphs.join('\n')}${main[1]}`;
  const rest = Math.max(0, size - body.length);
  const rule = (): string =>
    `.${wordOf(Math.floor(random() * 9_000))}{margin:0 auto;padding:${Math.floor(random() * 40)}px}`;
  const teaser = (): string =>
    `<div class="card card--teaser" data-id="${Math.floor(random() * 1e9)}"><a class="card__link" href="${pathOf(further[0] ?? 0)}"><span class="card__label">${word()}</span></a></div>`;
  const fill = (share: number, part: () => string): string => {
    const parts: string[] = [];
    for (let length = 0; length < rest * share;) length += parts[parts.push(part()) - 1]?.length ?? 1;
    return parts.join('\n');
  };
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${fill(0.3, rule)}</style></head>
<body>${body}<aside class="cards">${fill(0.3, teaser)}</aside>
<script type="application/json">{"state":"${fill(0.4, word)}"}</script><footer><p>Imprint</p></footer></body></html>`;
}

/** The whole site, by path. */
function makeSite(): Map<string, Entry> {
  const random = seeded(42);
  const { addresses } = siteShape;
  const outer = Array.from({ length: addresses - inner }, (_, index) => ({ index: index + inner, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ index }) => index);
  const take = (share: number): Set<number> => new Set(outer.splice(0, Math.round(addresses * share)));
  const [redirects, errors, duplicates] = [
    take(siteShape.redirects),
    take(siteShape.errors),
    take(siteShape.duplicates),
  ];
  const site = new Map<string, Entry>();
  const pages: Entry[] = [];
  for (let index = 0; index < addresses; index += 1) {
    const path = pathOf(index);
    const earlier = 1 + Math.floor(random() * (inner - 1));
    if (redirects.has(index)) site.set(path, { kind: 'redirect', to: pathOf(earlier) });
    else if (errors.has(index)) site.set(path, { kind: 'error', status: random() < 0.5 ? 404 : 410 });
    else if (duplicates.has(index)) site.set(path, pages[earlier]!);
    else {
      const children = Array.from({ length: childrenOfAPage }, (_, child) => index * childrenOfAPage + child + 1);
      const html = pageHtml(
        index,
        children.filter((child) => child < addresses),
        random,
      );
      const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;
      const made: Entry = { kind: 'page', html, etag };
      if (index < inner) pages[index] = made;
      site.set(path, made);
    }
  }
  return site;
}

if (import.meta.main) {
  const site = makeSite();
  const server = createServer((request, response) => {
    const entry = site.get(request.url ?? '/');
    if (entry?.kind === 'redirect') return void response.writeHead(301, { location: entry.to }).end();
    if (entry?.kind !== 'page') {
      return void response.writeHead(entry?.status ?? 404, { 'content-type': 'text/plain' }).end('Nothing here.');
    }
    if (request.headers['if-none-match'] === entry.etag) {
      return void response.writeHead(304, { etag: entry.etag }).end();
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag: entry.etag }).end(entry.html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  process.on('SIGTERM', () => {
    server.close();
    server.closeAllConnections();
    process.exit(0);
  });
}
