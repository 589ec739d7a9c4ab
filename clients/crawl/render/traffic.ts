/** Answers each request of a browser's tab through the client for outbound HTTP, or refuses it. */
import type { HTTPRequest, Page as Tab, ResourceType } from 'puppeteer';
import pLimit, { type LimitFunction } from 'p-limit';
import { RenderError } from './error.ts';
import type { TabLimits } from './limits.ts';
import { headerOf, type Http, type HttpHeaders, type HttpResponse } from '../../http/http.ts';
import { HttpError, type HttpMethod } from '../../../models/rules/base/http.ts';
import { defined } from '../../../models/rules/base/defined.ts';

/** Whether a URL may be requested (robots.txt, scope). The page's own first URL is not checked. */
export type Allow = (url: URL, kind: 'document' | 'resource') => boolean | Promise<boolean>;

/** `request`: the client for outbound HTTP, which checks addresses. */
export type TrafficDeps = { request: Http['request']; allow: Allow; limits: TabLimits; signal: AbortSignal };

export type Traffic = {
  /** `pending`: the number of open requests. `lastMs`: when the last request ended (`performance.now()`). */
  pending: number;
  lastMs: number;
  /** Why the page's own document did not arrive; undefined when it arrived. */
  failure: unknown;
  delivered: boolean;
  /** Whether any request failed or was refused, so that text may be missing. */
  lacking: boolean;
  /** The number of requests, and the total bytes of their replies. */
  requests: number;
  bytes: number;
};

/**
 * The resource types that can contribute text. `answer` refuses the documents of frames, because their text is not part
 * of the page's document.
 */
const wanted: ReadonlySet<ResourceType> = new Set<ResourceType>(['document', 'script', 'xhr', 'fetch']);
const methods: ReadonlySet<string> = new Set<HttpMethod>(['GET', 'HEAD', 'POST']);
/** Maximum body of a script's request, in characters. */
const maxPostLength = 256 * 1024;
/** Maximum number of concurrent requests of a page, as in browsers. The HTTP client also limits each host. */
const concurrency = 6;
/**
 * Reply headers that are not passed to the browser. They concern the connection, an encoding that is already removed,
 * or cookies to store.
 */
const droppedReplyHeaders = new Set(
  'alt-svc connection content-encoding content-length keep-alive link report-to set-cookie trailer transfer-encoding'.split(
    ' ',
  ),
);
const droppedRequestHeaders =
  /^(?:host|connection|cookie|content-length|accept-encoding|user-agent|proxy-.*|sec-ch-.*|te|upgrade.*)$/i;

const replyHeaders = (headers: HttpHeaders): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || droppedReplyHeaders.has(name) ? [] : [[name, value]],
    ),
  );
const requestHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !droppedRequestHeaders.test(name)));

/** Sends one request of the tab through the HTTP client; undefined when the request is refused. */
async function send(request: HTTPRequest, first: boolean, traffic: Traffic, deps: TrafficDeps) {
  const { limits, signal } = deps;
  const address = request.url();
  const method = request.method();
  const kind = request.isNavigationRequest() ? 'document' : 'resource';
  const body = request.hasPostData() ? await request.fetchPostData() : undefined;
  traffic.requests += 1;
  const refused = traffic.requests > limits.requests || !methods.has(method) || (body?.length ?? 0) > maxPostLength;
  if (refused || (!first && !(await deps.allow(new URL(address), kind)))) return undefined;
  const reply = await deps.request(address, {
    method: method as HttpMethod,
    headers: requestHeaders(request.headers()),
    ...defined({ body }),
    maxBytes: Math.max(1, Math.min(limits.replyBytes, limits.totalBytes - traffic.bytes)),
    totalTimeoutMs: limits.settleMs,
    signal,
  });
  traffic.bytes += reply.body.length;
  if (traffic.bytes > limits.totalBytes) throw new HttpError('too_large', { url: address, bytes: traffic.bytes });
  return reply;
}

/** Records the result of a reply in `traffic`. Throws when the page's own document has a status of 400 or more. */
function note({ status, headers }: HttpResponse, first: boolean, traffic: Traffic): void {
  const redirect = status >= 300 && status < 400 && headerOf(headers, 'location') !== undefined;
  if (first && !redirect) {
    if (status >= 400) throw new RenderError('unreachable', `it answered ${status}`);
    traffic.delivered = true;
  }
  if (status >= 400) traffic.lacking = true;
}

async function answer(tab: Tab, request: HTTPRequest, traffic: Traffic, deps: TrafficDeps, inTurn: LimitFunction) {
  const kind = request.resourceType();
  if (/^(?:data|blob|about):/i.test(request.url())) return request.continue();
  // Script loaders wait for stylesheets and fail without them; an empty stylesheet is enough.
  if (kind === 'stylesheet') return request.respond({ status: 200, contentType: 'text/css', body: '' });
  const inFrame = request.isNavigationRequest() && request.frame() !== tab.mainFrame();
  if (!wanted.has(kind) || inFrame) return request.abort('blockedbyclient');
  const first = request.isNavigationRequest() && !traffic.delivered;
  traffic.pending += 1;
  try {
    await inTurn(async () => {
      const reply = await send(request, first, traffic, deps);
      if (!reply) {
        traffic.lacking = true;
        return request.abort('blockedbyclient');
      }
      note(reply, first, traffic);
      const { status, headers, body } = reply;
      await request.respond({ status, headers: replyHeaders(headers), body });
    });
  } catch (error) {
    traffic.lacking = true;
    if (first) traffic.failure ??= error;
    // `aborted` keeps the current document when a script tries to navigate away.
    await request.abort(request.isNavigationRequest() && !first ? 'aborted' : 'failed');
  } finally {
    traffic.pending -= 1;
    traffic.lastMs = performance.now();
  }
}

/** Answers all requests of a tab until the signal fires. */
export function answerRequests(tab: Tab, deps: TrafficDeps): Traffic {
  const traffic: Traffic = {
    pending: 0,
    lastMs: performance.now(),
    failure: undefined,
    delivered: false,
    lacking: false,
    requests: 0,
    bytes: 0,
  };
  const inTurn = pLimit(concurrency);
  // Answering fails only when the page is already closed.
  tab.on('request', (request) => void answer(tab, request, traffic, deps, inTurn).catch(() => undefined));
  return traffic;
}
