/**
 * Renders, in a browser, pages whose text appears only after their scripts have run. The requests of these pages obey
 * robots.txt and the limits of their hosts.
 */
import { LRUCache } from 'lru-cache';
import type { Fetched } from './fetched.ts';
import type { Hosts } from './hosts.ts';
import type { PageContent, Pages } from './pages.ts';
import { readPage } from './readpage.ts';
import type { RulesOf } from './robots.ts';
import { headerOf, type Http, type HttpRequest, type HttpResponse } from '../../http/http.ts';
import { RenderError, type Renderer } from '../render/render.ts';
import { canonicalUrl, inScope, pageKey, type Scope } from '../../../models/rules/crawl/url.ts';

/**
 * Maximum number of attempts to render a page. Only a temporary failure, such as a crash of the browser, is retried.
 */
const renderTries = 2;
/** The cache for scripts: pages of a site share their scripts, so a crawl fetches each script once. */
const keptScripts = { maxSize: 32 * 1024 * 1024, ttl: 600_000 };
/** The end of a sentence that tells why text may be missing. */
const lackingParts = 'some of what its scripts asked for could not be had';

type Deps = { http: Http; hosts: Hosts; pages: Pages; rulesOf: RulesOf; renderer: Pick<Renderer, 'render'> };

/**
 * A page to render. `reply`: its HTML, which is not fetched again. `plain`: its content without scripts, which is used
 * when rendering fails permanently.
 */
type Unrendered = { url: string; reply: HttpResponse; plain: PageContent; scope: Scope };
export type RenderPage = (page: Unrendered, signal: AbortSignal) => Promise<Fetched>;

export function createPageRendering({ http, hosts, pages, rulesOf, renderer }: Deps): RenderPage {
  const scripts = new LRUCache<string, HttpResponse>({
    ...keptScripts,
    sizeCalculation: ({ body }) => body.length + 1_000,
  });

  async function mayFetch(url: string, signal: AbortSignal): Promise<boolean> {
    const rules = await rulesOf(new URL(url).origin, signal);
    return 'robots' in rules && rules.robots.allowed(url);
  }

  /** Sends a request for a resource of a rendered page. The crawl delay between pages does not apply. */
  async function askForPart(url: string, request: HttpRequest): Promise<HttpResponse> {
    const kept = scripts.get(url);
    if (kept && request.method === 'GET') return kept;
    const reply = await hosts.of(url).asPart(() => http.request(url, request));
    if (request.method === 'GET' && isKeptScript(reply)) scripts.set(url, reply);
    return reply;
  }

  async function renderOnce({ url, reply, scope }: Unrendered, signal: AbortSignal): Promise<Fetched> {
    let answered = false;
    const shown = await renderer.render(reply.url, {
      signal,
      allow: async (to, kind) => (kind === 'resource' || inScope(scope, to.href)) && mayFetch(to.href, signal),
      request: async (to, request = {}) => {
        const own = !answered;
        answered = true;
        return own ? reply : askForPart(to, request);
      },
    });
    const to = canonicalUrl(shown.url);
    if (to.url === undefined) return { kind: 'refused', reason: to.reason };
    if (pageKey(to.url) !== pageKey(url)) return { kind: 'redirect', to: to.url };
    // Validators of the HTML are dropped: the text is not in the HTML, so unchanged HTML would not mean unchanged text.
    const { etag: _, 'last-modified': __, ...headers } = reply.headers;
    const head = { ...headers, 'content-type': 'text/html; charset=utf-8' };
    const read = await readPage(pages, { ...reply, headers: head, body: shown.html }, signal);
    return read.kind === 'page' && shown.lacking ? { ...read, lacks: lackingParts } : read;
  }

  return async (page, signal) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await renderOnce(page, signal);
      } catch (error) {
        if (!(error instanceof RenderError)) throw error;
        if (error.temporary && error.reason !== 'unavailable' && attempt < renderTries) continue;
        // The text of the plain HTML may be incomplete, so the page is indexed with it only after a lasting failure.
        if (isLasting(error) && page.plain.chunks.length > 0) return { kind: 'page', content: page.plain };
        return { kind: 'refused', reason: 'unrendered', detail: error.message };
      }
    }
  };
}

/** Whether rendering would fail again next time. `unavailable` without a cause means that no browser is configured. */
function isLasting({ temporary, reason, cause }: RenderError): boolean {
  return !temporary || (reason === 'unavailable' && cause === undefined);
}

function isKeptScript({ status, headers }: HttpResponse): boolean {
  const lasting = !/no-store/i.test(headerOf(headers, 'cache-control') ?? '');
  return status === 200 && lasting && /javascript|ecmascript/i.test(headerOf(headers, 'content-type') ?? '');
}
