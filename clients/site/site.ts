/**
 * One site as a crawler sees it: its robots.txt, its sitemaps, its pages; asked politely. Every address, each hop of a
 * redirect too, is asked for once, after robots.txt and the pause it names; a long wait is the caller's. It stores nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createHosts, Later, patienceMs, type Host } from './hosts.ts';
import { headerOf, type Http, type HttpRequest, type HttpResponse } from '../http/http.ts';
import type { PageContent, Pages } from './pages.ts';
import { RenderError, type Renderer } from '../render/render.ts';
import { sitemapStops, walkSitemaps } from './sitemap.ts';
import { backOffMs, crawlDelay, maxCrawlDelaySeconds, retryAfter } from '../../models/rules/crawl/crawl.ts';
import {
  crawlReasons,
  explain,
  isHtml,
  reasonOfStatus,
  type CrawlReason,
} from '../../models/rules/crawl/crawlreason.ts';
import { Unreadable } from '../../models/rules/knowledge/document.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { maxRobotsBytes, parseRobots, robotsPolicy, type Robots } from '../../models/rules/crawl/robots.ts';
import { canonicalUrl, inScope, isFileUrl, pageKey, scopeOf, type Scope } from '../../models/rules/crawl/url.ts';

export type SitesOptions = {
  http: Http;
  pages: Pages;
  /** Renders pages that have no text without their scripts; without one they are taken as they are. */
  renderer?: Pick<Renderer, 'render'>;
  /** The crawler's name, as robots.txt may address it. */
  agent: string;
  clock: () => Date;
  /** Requests at a time to one host that names no pause, of all crawls together. */
  concurrency?: number;
};

export type Version = { etag?: string | undefined; lastModified?: string | undefined };

/** What became of one address. `detail` fills the sentence of the reason. */
export type Fetched =
  /** `lacks`: why a page that was rendered may have text that it does not show now. */
  | ({ kind: 'page'; content: PageContent; lacks?: string } & Version)
  | { kind: 'unchanged' }
  /** Another page: an address of this or another site, in its one spelling. `permanent`: the page has moved for good. */
  | { kind: 'redirect'; to: string; permanent?: boolean }
  | { kind: 'refused'; reason: CrawlReason; detail?: string | number }
  /** This page, or the whole host, may not be asked for so long. `tries`: the requests for the page until now, for the next time. */
  | { kind: 'later'; of: 'page' | 'host'; waitMs: number; tries: number };

/** What is known of a page: its last version, and how often it was asked for in this crawl without an answer. */
export type Ask = Version & { tries?: number | undefined; signal: AbortSignal };

export type Site = {
  scope: Scope;
  /** Why nothing of the site may be fetched now, for people. */
  unavailable?: string;
  /** For how long the site may not be asked, ms; 0 for a wait that is short enough to be waited for in `fetch`. */
  waitMs(): number;
  /** Asks for a page. Throws only when aborted, or when reading pages fails here. */
  fetch(url: string, ask: Ask): Promise<Fetched>;
  /** Canonical addresses inside the scope that the site's sitemaps list, at most `limit`; and what was not read, and why. */
  listSitemaps(limit: number, signal: AbortSignal): Promise<{ urls: string[]; problems: SiteProblem[] }>;
};
export type SiteProblem = { url: string; reason: string };

export type Sites = {
  /** The site an address is of, with its robots.txt, which is believed for an hour. */
  open(startUrl: string, signal: AbortSignal): Promise<Site>;
};

/** Nothing a person reads is longer; counted after decompression. */
const maxPageBytes = 5 * 1024 * 1024;
const maxSitemapFileBytes = 10 * 1024 * 1024;
const robotsForMs = 3_600_000;
/** Pages of a site share their scripts; a crawl fetches each once. */
const keptScripts = { maxSize: 32 * 1024 * 1024, ttl: 600_000 };
/** How often a page is rendered whose browser ends under it. */
const renderTries = 2;
/** Requests for one page, the first one included. */
const maxTries = 3;
/** After so long, ms, no further sitemap is begun: a slow site, or one with a long pause, must not keep others waiting. */
const maxSitemapsMs = 60_000;
/** http to https, and to or from `www.`, and a slash at the end: beyond that it goes round in circles. */
const samePageHops = 5;

/** Characters shown of a redirect's target that is no address of a page: it may be a whole document. */
const maxShownLocation = 200;

type Rules = { robots: Robots } | { unavailable: string };
type Pause = { of: 'page' | 'host'; wait?: ReturnType<typeof retryAfter> };

/** The end of a sentence. */
const lackingParts = 'some of what its scripts asked for could not be had';

/**
 * Whether a page that leads on to another address has moved there for good, which redirects in HTML cannot say: it is to be
 * found no more, or names its target as the page to index. Generators of sites leave such pages at former addresses.
 */
function hasMoved({ noindex, canonical }: PageContent, to: string): boolean {
  const named = canonical === undefined ? undefined : canonicalUrl(canonical).url;
  return noindex || (named !== undefined && pageKey(named) === pageKey(to));
}

export function createSites({ http, pages, renderer, agent, clock, concurrency = 2 }: SitesOptions): Sites {
  const hosts = createHosts(clock, concurrency);
  const known = new LRUCache<string, { robots: Robots }>({ max: 1_000, ttl: robotsForMs });
  const scripts = new LRUCache<string, HttpResponse>({
    ...keptScripts,
    sizeCalculation: ({ body }) => body.length + 1_000,
  });

  async function rulesOf(origin: string, signal: AbortSignal): Promise<Rules> {
    const standing = known.get(origin);
    if (standing) return standing;
    let status: number | undefined;
    let text: Buffer = Buffer.alloc(0);
    try {
      const reply = await http.follow(`${origin}/robots.txt`, {
        signal,
        // One more, by which the reader sees that there is more.
        maxBytes: maxRobotsBytes + 1,
        cut: true,
        maxRedirects: 5,
      });
      ({ status } = reply);
      text = reply.body;
    } catch (error) {
      if (!(error instanceof HttpError) || error.reason === 'aborted') throw error;
      // A host that may not be connected to has no robots.txt; asking for the page says why in a better place.
      if (!error.temporary) status = 404;
    }
    const policy = robotsPolicy(status);
    if (policy === 'wait') {
      return {
        unavailable: `The site's robots.txt cannot be had now (${status ?? 'no answer'}), so no page may be fetched.`,
      };
    }
    const rules = { robots: parseRobots(policy === 'parse' ? text : '', agent) };
    known.set(origin, rules);
    hosts.of(origin).pace(origin, crawlDelay(rules.robots.crawlDelay).delayMs);
    return rules;
  }

  /**
   * The pause that a reply asks for, and of whom. 429 is about whoever asks, so all requests to the host are meant, those of
   * other crawls too; 503 is about this page, unless one address after the other says so. `last`: it is not asked for again.
   */
  function heed(host: Host, url: string, { status, headers }: HttpResponse, last = false): Pause {
    const reason = reasonOfStatus(status);
    if (reason === undefined || !('retry' in crawlReasons[reason])) {
      host.answered();
      return { of: 'page' };
    }
    const wait = retryAfter(headerOf(headers, 'retry-after'), clock().getTime());
    if (status === 429) {
      if (wait?.capped) host.leave(wait.waitMs);
      else host.hold(wait?.waitMs ?? backOffMs(1, Math.random()));
      return { of: 'host', wait };
    }
    if (!wait || wait.capped || last || !host.overloaded(url)) return { of: 'page', wait };
    host.hold(wait.waitMs);
    return { of: 'host', wait };
  }

  return {
    async open(startUrl, signal) {
      const scope = scopeOf(startUrl);
      const origin = new URL(startUrl).origin;
      const rules = await rulesOf(origin, signal);
      if ('unavailable' in rules) {
        const refuse = async (): Promise<Fetched> => ({ kind: 'refused', reason: 'robots_unavailable' });
        const listSitemaps = async () => ({ urls: [], problems: [] });
        return { scope, unavailable: rules.unavailable, waitMs: () => 0, fetch: refuse, listSitemaps };
      }
      const { robots } = rules;

      /**
       * One request in its turn, repeated when the site asks for that or fails in a way that may pass. `patience`: how long
       * the turn is waited for.
       */
      async function ask(url: string, request: Ask, patience: number): Promise<HttpResponse | Fetched> {
        const host = hosts.of(url);
        const send = async (last: boolean) => {
          const reply = await http.request(url, {
            signal: request.signal,
            maxBytes: maxPageBytes,
            headers: {
              accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
              ...(request.etag === undefined ? {} : { 'if-none-match': request.etag }),
              ...(request.lastModified === undefined ? {} : { 'if-modified-since': request.lastModified }),
            },
            wantsBody: (head) => head.status === 200 && isHtml(headerOf(head.headers, 'content-type')),
          });
          // Within the turn, so that the next request knows.
          return { reply, pause: heed(host, url, reply, last) };
        };
        for (let attempt = 1 + (request.tries ?? 0); ; attempt += 1) {
          let failed: { reason: CrawlReason; detail?: string | number };
          let pause: Pause = { of: 'page' };
          const last = attempt >= maxTries;
          try {
            const answer = await host.inTurn(() => send(last), request.signal, patience);
            if (answer instanceof Later) {
              if (host.isLeft()) return { kind: 'refused', reason: 'wait_too_long' };
              return { kind: 'later', of: 'host', waitMs: answer.waitMs, tries: attempt - 1 };
            }
            const { reply } = answer;
            ({ pause } = answer);
            const reason = reply.status >= 300 && reply.status < 400 ? undefined : reasonOfStatus(reply.status);
            if (reason === undefined) return reply;
            if (pause.wait?.capped) return { kind: 'refused', reason: 'wait_too_long' };
            failed = { reason, detail: reply.status };
          } catch (error) {
            if (!(error instanceof HttpError)) throw error;
            request.signal.throwIfAborted();
            failed = { reason: error.reason, ...(error.reason === 'too_large' ? { detail: '5 MiB' } : {}) };
          }
          if (last || !('retry' in crawlReasons[failed.reason])) return { kind: 'refused', ...failed };
          const waitMs = pause.wait?.waitMs ?? backOffMs(attempt, Math.random());
          if (waitMs > patienceMs) return { kind: 'later', of: pause.of, waitMs, tries: attempt };
          await sleep(waitMs, undefined, { signal: request.signal });
        }
      }

      async function mayFetch(url: string, signal: AbortSignal): Promise<boolean> {
        const there = await rulesOf(new URL(url).origin, signal);
        return 'robots' in there && there.robots.allowed(url);
      }

      /** A request of a page that is rendered, in its host's turns; the pause between pages is for pages. */
      async function askFor(url: string, request: HttpRequest): Promise<HttpResponse> {
        const kept = scripts.get(url);
        if (kept && request.method === 'GET') return kept;
        const reply = await hosts.of(url).asPart(() => http.request(url, request));
        if (request.method === 'GET' && isKeptScript(reply)) scripts.set(url, reply);
        return reply;
      }

      /**
       * The page as it stands after its scripts; `reply` is its HTML, which is not fetched again, and `plain` what that
       * says without them: little, but the page where they fail for good. A failure that passes is none to index by.
       */
      async function render(
        url: string,
        reply: HttpResponse,
        plain: PageContent,
        by: Pick<Renderer, 'render'>,
        signal: AbortSignal,
      ): Promise<Fetched> {
        for (let attempt = 1; ; attempt += 1) {
          let answered = false;
          try {
            const shown = await by.render(reply.url, {
              signal,
              allow: async (to, kind) => (kind === 'resource' || inScope(scope, to.href)) && mayFetch(to.href, signal),
              request: async (to, request = {}) => {
                const own = !answered;
                answered = true;
                return own ? reply : askFor(to, request);
              },
            });
            const to = canonicalUrl(shown.url);
            if (to.url === undefined) return { kind: 'refused', reason: to.reason };
            if (pageKey(to.url) !== pageKey(url)) return { kind: 'redirect', to: to.url };
            // Its text is not in its HTML, so that the HTML is unchanged would say nothing the next time.
            const { etag: _, 'last-modified': __, ...headers } = reply.headers;
            const head = { ...headers, 'content-type': 'text/html; charset=utf-8' };
            const read = await readPage(pages, { ...reply, headers: head, body: shown.html }, signal);
            return read.kind === 'page' && shown.lacking ? { ...read, lacks: lackingParts } : read;
          } catch (error) {
            if (!(error instanceof RenderError)) throw error;
            const again = error.temporary && error.reason !== 'unavailable' && attempt < renderTries;
            if (again) continue;
            // Without a cause there is no browser at all, nor will there be one the next time.
            const lasting = !error.temporary || (error.reason === 'unavailable' && error.cause === undefined);
            if (lasting && plain.passages.length > 0) return { kind: 'page', content: plain };
            return { kind: 'refused', reason: 'unrendered', detail: error.message };
          }
        }
      }

      return {
        scope,
        waitMs() {
          const wait = hosts.of(origin).waitMs();
          return wait > patienceMs ? wait : 0;
        },
        async fetch(url, request) {
          for (let hop = 0, at = url; hop < samePageHops; hop += 1) {
            // The same site by https or as `www.` has a robots.txt of its own.
            const there = await rulesOf(new URL(at).origin, request.signal);
            if ('unavailable' in there) return { kind: 'refused', reason: 'robots_unavailable' };
            if (!there.robots.allowed(at)) return { kind: 'refused', reason: 'robots' };
            // Handed back between two hops of one page, it would begin with the first again and again.
            const reply = await ask(at, request, hop === 0 ? patienceMs : maxCrawlDelaySeconds * 1_000);
            if ('kind' in reply) return reply;
            if (reply.status === 304) {
              const mayBe = request.etag !== undefined || request.lastModified !== undefined;
              return mayBe ? { kind: 'unchanged' } : { kind: 'refused', reason: 'protocol' };
            }
            if (reply.status >= 300) {
              const location = headerOf(reply.headers, 'location');
              if (location === undefined) return { kind: 'refused', reason: 'bad_redirect' };
              const to = canonicalUrl(location, at);
              // What was asked for has a good address; it is the target that nobody may fetch.
              if (to.reason === 'bad_scheme') {
                return { kind: 'refused', reason: 'out_of_scope', detail: location.slice(0, maxShownLocation) };
              }
              if (to.url === undefined) return { kind: 'refused', reason: to.reason };
              if (pageKey(to.url) !== pageKey(url)) {
                return { kind: 'redirect', to: to.url, permanent: reply.status === 301 || reply.status === 308 };
              }
              // Nothing changes the second time, for no cookie is kept.
              if (to.url === at) break;
              at = to.url;
              continue;
            }
            const page = await readPage(pages, reply, request.signal);
            if (page.kind !== 'page') return page;
            const to = page.content.refresh === undefined ? undefined : canonicalUrl(page.content.refresh).url;
            if (to !== undefined && pageKey(to) !== pageKey(url)) {
              return { kind: 'redirect', to, permanent: hasMoved(page.content, to) };
            }
            if (to !== undefined && to !== at) {
              at = to;
              continue;
            }
            return page.content.empty && renderer ? render(url, reply, page.content, renderer, request.signal) : page;
          }
          return { kind: 'refused', reason: 'too_many_redirects' };
        },
        async listSitemaps(limit, signal) {
          const named = robots.sitemaps.length > 0;
          const starts = named ? robots.sitemaps : ['/sitemap.xml'];
          const end = clock().getTime() + maxSitemapsMs;
          const walk = await walkSitemaps({
            starts: starts.flatMap((start) => URL.parse(start, origin)?.href ?? []),
            maxUrls: limit,
            signal,
            accept: (url) => inScope(scope, url) && !isFileUrl(url),
            allowed: (url) => robots.allowed(url),
            isLate: () => clock().getTime() > end,
            async fetch(url) {
              const host = hosts.of(url);
              const ask = async () => {
                const reply = await fetchSitemap(http, url, signal);
                if (!(reply instanceof HttpError)) heed(host, url, reply);
                return reply;
              };
              const reply = await host.inTurn(ask, signal, maxSitemapsMs);
              if (reply instanceof Later) return { problem: explain('wait_too_long') };
              if (reply instanceof HttpError) return { problem: `The sitemap could not be had. ${reply.message}` };
              if (reply.status === 200) return { bytes: reply.body };
              const missing = reply.status === 404 || reply.status === 410;
              return missing ? {} : { problem: `The sitemap could not be had (${reply.status}).` };
            },
          });
          // Many sites answer any address with a page; nobody said that this one is a sitemap.
          const problems = walk.problems.filter(({ reason }) => named || reason !== sitemapStops.unknown);
          return { urls: walk.pages, problems: [...pauseProblem(origin, robots), ...problems] };
        },
      };
    },
  };
}

/** Says so when a site asks for a longer pause than it gets. */
function pauseProblem(origin: string, { crawlDelay: asked }: Robots): SiteProblem[] {
  if (!crawlDelay(asked).capped) return [];
  const reason = `The site asks for ${asked} seconds between two requests; a crawl waits ${maxCrawlDelaySeconds}.`;
  return [{ url: `${origin}/robots.txt`, reason }];
}

async function fetchSitemap(http: Http, url: string, signal: AbortSignal): Promise<HttpResponse | HttpError> {
  try {
    return await http.follow(url, { signal, maxBytes: maxSitemapFileBytes, maxRedirects: 3 });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    signal.throwIfAborted();
    return error;
  }
}

function isKeptScript({ status, headers }: HttpResponse): boolean {
  const lasting = !/no-store/i.test(headerOf(headers, 'cache-control') ?? '');
  return status === 200 && lasting && /javascript|ecmascript/i.test(headerOf(headers, 'content-type') ?? '');
}

async function readPage(pages: Pages, reply: HttpResponse, signal: AbortSignal): Promise<Fetched> {
  const contentType = headerOf(reply.headers, 'content-type');
  if (!isHtml(contentType))
    return { kind: 'refused', reason: 'not_html', ...(contentType ? { detail: contentType } : {}) };
  const robotsTag = headerOf(reply.headers, 'x-robots-tag');
  const etag = headerOf(reply.headers, 'etag');
  const lastModified = headerOf(reply.headers, 'last-modified');
  try {
    const content = await pages.read(
      {
        url: reply.url,
        body: reply.body,
        ...(contentType ? { contentType } : {}),
        ...(robotsTag ? { robotsTag } : {}),
      },
      { signal },
    );
    return { kind: 'page', content, etag, lastModified };
  } catch (error) {
    if (error instanceof Unreadable) return { kind: 'refused', reason: 'unreadable', detail: error.message };
    throw error;
  }
}
