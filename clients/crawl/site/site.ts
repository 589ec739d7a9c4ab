/**
 * One site for a crawler: its robots.txt, its sitemaps and its pages. Every URL, including each hop of a redirect, is
 * requested only if robots.txt allows it and after the crawl delay. A long wait is returned to the caller. Nothing is
 * stored.
 */
import type { Ask, Fetched, Redirect } from './fetched.ts';
import { createHosts, maxSleepMs } from './hosts.ts';
import type { PageContent, Pages } from './pages.ts';
import { parseDirectives } from './pages/robots.ts';
import { readPage, robotsTagOf } from './readpage.ts';
import { createPageRendering, type RenderPage } from './renderpage.ts';
import { createPageRequests, type AskPage } from './request.ts';
import { createRobotsReader, type NoRules, type RulesOf } from './robots.ts';
import { listSitemapPages, type SitemapPages } from './sitesitemaps.ts';
import { locationOf, type Http, type HttpResponse } from '../../http/http.ts';
import type { Renderer } from '../render/render.ts';
import { maxCrawlDelaySeconds } from '../../../models/rules/crawl/crawl.ts';
import { canonicalUrl, pageKey, scopeOf, type Scope } from '../../../models/rules/crawl/url.ts';

export type { Ask, Fetched, SiteProblem, Version } from './fetched.ts';

export type SitesOptions = {
  http: Http;
  pages: Pages;
  /** Renders pages that have no text without their scripts. Without a renderer such pages are taken as they are. */
  renderer?: Pick<Renderer, 'render'>;
  /** The name by which the crawler finds its rules in a site's robots.txt. */
  agent: string;
  clock: () => Date;
  /** Maximum number of concurrent requests to a host without a crawl delay, for all crawls of this process together. */
  concurrency?: number;
};

/** Why nothing of a site may be fetched at present. `no_host`: DNS says that the host does not exist. */
export type Unavailable = { reason: 'no_host' | 'robots_unavailable'; message: string };

export type Site = {
  scope: Scope;
  unavailable?: Unavailable;
  /** How long the site must not be requested, in ms. 0 when the wait is short enough for `fetch` to sleep through. */
  waitMs(): number;
  /** Requests a page. Rejects only when aborted, or when the page reader itself fails. */
  fetch(url: string, ask: Ask): Promise<Fetched>;
  /** At most `limit` pages from the site's sitemaps. */
  listSitemaps(limit: number, signal: AbortSignal): Promise<SitemapPages>;
};

export type Sites = {
  /** The site of a URL, with its robots.txt, which is cached for an hour. */
  open(startUrl: string, signal: AbortSignal): Promise<Site>;
};

/**
 * This many redirects between spellings of one URL count as a loop. Spellings differ in http or https, in `www.`, or in
 * a trailing slash.
 */
const samePageHops = 5;
/**
 * At most this many characters of a redirect target with a bad scheme are shown, because a `data:` URL may contain a
 * whole document.
 */
const maxShownLocation = 200;

/** `agent`: the crawler's name in lower case. */
type Parts = { pages: Pages; rulesOf: RulesOf; ask: AskPage; render: RenderPage | undefined; agent: string };
/** A redirect to another spelling of the same page's URL. */
type SamePage = { kind: 'same_page'; at: string };

export function createSites({ http, pages, renderer, agent, clock, concurrency = 2 }: SitesOptions): Sites {
  const hosts = createHosts(clock, concurrency);
  const rulesOf = createRobotsReader({ http, hosts, agent });
  const ask = createPageRequests({ http, hosts, clock });
  const render = renderer && createPageRendering({ http, hosts, pages, rulesOf, renderer });
  const parts: Parts = { pages, rulesOf, ask, render, agent: agent.toLowerCase() };

  return {
    async open(startUrl, signal) {
      const scope = scopeOf(startUrl);
      const { origin } = new URL(startUrl);
      const rules = await rulesOf(origin, signal);
      if (!('robots' in rules)) return closedSite(scope, rules);
      const { robots } = rules;
      return {
        scope,
        waitMs() {
          const wait = hosts.of(origin).waitMs();
          return wait > maxSleepMs ? wait : 0;
        },
        fetch: (url, request) => fetchPage(parts, scope, url, request),
        listSitemaps: (limit, listSignal) =>
          listSitemapPages({ http, hosts, clock }, { origin, scope, robots, limit, signal: listSignal }),
      };
    },
  };
}

/** A site whose pages are all refused. */
function closedSite(scope: Scope, { refused, message }: NoRules): Site {
  return {
    scope,
    unavailable: { reason: refused.reason, message },
    waitMs: () => 0,
    fetch: async () => refused,
    listSitemaps: async () => ({ urls: [], files: [], forbidden: [], problems: [] }),
  };
}

/** Requests a page and follows redirects between spellings of its URL. */
async function fetchPage(parts: Parts, scope: Scope, url: string, request: Ask): Promise<Fetched> {
  for (let hop = 0, at = url; hop < samePageHops; hop += 1) {
    // Later hops wait longer instead of returning a `Delay`, because the caller's next attempt would start at the first
    // hop again.
    const maxWaitMs = hop === 0 ? maxSleepMs : maxCrawlDelaySeconds * 1_000;
    const fetched = await fetchHop(parts, { url, at, scope, maxWaitMs }, request);
    if (fetched.kind !== 'same_page') return fetched;
    ({ at } = fetched);
  }
  return { kind: 'refused', reason: 'too_many_redirects' };
}

/** `at`: the spelling of `url` that is requested. */
type Hop = { url: string; at: string; scope: Scope; maxWaitMs: number };

async function fetchHop(parts: Parts, hop: Hop, request: Ask): Promise<Fetched | SamePage> {
  const { pages, rulesOf, ask, render, agent } = parts;
  const { url, at, scope, maxWaitMs } = hop;
  const { signal } = request;
  // The origin of another spelling (https, `www.`) has its own robots.txt.
  const rules = await rulesOf(new URL(at).origin, signal);
  if (!('robots' in rules)) return rules.refused;
  if (!rules.robots.allowed(at)) return { kind: 'refused', reason: 'robots' };
  const reply = await ask(at, request, maxWaitMs);
  if ('kind' in reply) return reply;
  if (reply.status === 304) {
    const asked = request.etag !== undefined || request.lastModified !== undefined;
    if (!asked) return { kind: 'refused', reason: 'protocol' };
    // A site may forbid indexing in the header alone, without a change of the page.
    const { noindex } = parseDirectives(robotsTagOf(reply.headers) ?? '', agent);
    return noindex ? { kind: 'refused', reason: 'noindex' } : { kind: 'unchanged' };
  }
  if (reply.status >= 300) return redirectOf(url, at, reply);
  const page = await readPage(pages, reply, signal);
  if (page.kind !== 'page') return page;
  const elsewhere = refreshOf(url, at, page.content);
  if (elsewhere) return elsewhere;
  return page.content.empty && render ? render({ url, reply, plain: page.content, scope }, signal) : page;
}

/** Interprets the redirect in a reply with a status of 300 or more. */
function redirectOf(url: string, at: string, { status, headers }: HttpResponse): Fetched | SamePage {
  const location = locationOf(headers);
  if (location === undefined) return { kind: 'refused', reason: 'bad_redirect' };
  const to = canonicalUrl(location, at);
  // The reason is not `bad_scheme`: the requested URL is valid, and only the redirect's target must not be fetched.
  if (to.reason === 'bad_scheme') {
    return { kind: 'refused', reason: 'out_of_scope', detail: location.slice(0, maxShownLocation) };
  }
  if (to.url === undefined) return { kind: 'refused', reason: to.reason };
  if (pageKey(to.url) !== pageKey(url)) {
    return { kind: 'redirect', to: to.url, permanent: status === 301 || status === 308 };
  }
  // A redirect to the same URL would repeat forever, because no cookies are kept.
  if (to.url === at) return { kind: 'refused', reason: 'too_many_redirects' };
  return { kind: 'same_page', at: to.url };
}

/** The target of the page's `<meta http-equiv="refresh">`; undefined when the page does not redirect. */
function refreshOf(url: string, at: string, content: PageContent): Redirect | SamePage | undefined {
  const to = content.refresh === undefined ? undefined : canonicalUrl(content.refresh).url;
  if (to === undefined || to === at) return undefined;
  if (pageKey(to) === pageKey(url)) return { kind: 'same_page', at: to };
  return { kind: 'redirect', to, permanent: hasMoved(content, to) };
}

/**
 * Whether a page with a redirect in its HTML has moved permanently. Such a redirect has no status code, so the signs
 * are `noindex`, or a canonical link to the target. Site generators leave such pages at old URLs.
 */
function hasMoved({ noindex, canonical }: PageContent, to: string): boolean {
  const named = canonical === undefined ? undefined : canonicalUrl(canonical).url;
  return noindex || (named !== undefined && pageKey(named) === pageKey(to));
}
