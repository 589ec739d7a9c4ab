/**
 * One page in a browser context of its own: every request it makes is answered through the client for outbound HTTP, or
 * refused; when it has settled, its document is taken. It starts and ends no browser.
 */
import type { BrowserContext, CDPSession, HTTPRequest, Page, ResourceType } from 'puppeteer';
import pLimit from 'p-limit';
import { setTimeout as sleep } from 'node:timers/promises';
import { headerOf, type Http, type HttpHeaders } from '../http/http.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';
import { RenderError } from './error.ts';

export type PageLimits = {
  /** The whole page, ms. */
  timeoutMs: number;
  /** A page that keeps asking for more is taken as it is after this long, ms. */
  settleMs: number;
  /** No request under way for this long, ms, and the page counts as settled. */
  idleMs: number;
  /** Bytes of one reply, of all replies, and of the document taken. */
  replyBytes: number;
  totalBytes: number;
  htmlBytes: number;
  requests: number;
};

export const defaultPageLimits: Readonly<PageLimits> = Object.freeze({
  timeoutMs: 15_000,
  settleMs: 10_000,
  idleMs: 500,
  replyBytes: 5 * 1024 * 1024,
  totalBytes: 25 * 1024 * 1024,
  htmlBytes: 5 * 1024 * 1024,
  requests: 100,
});

export type PageAsk = {
  url: string;
  /** Whether an address may be asked for (robots.txt, scope); the page's own first address is not put to it. */
  allow(url: URL, kind: 'document' | 'resource'): boolean | Promise<boolean>;
  signal: AbortSignal | undefined;
};

/** `request` is a request of the client for outbound HTTP, with its checks. */
export type PageDeps = { request: Http['request']; userAgent: string; limits: PageLimits };

export type RenderedPage = {
  /** The document as it stands after its scripts, in UTF-8 whatever its `<meta>` says. */
  html: Buffer;
  /** Where the page ended up, by redirect or by script. */
  url: string;
  /** Something it asked for failed, was refused, answered 400 or more, or had not come when the document was taken. */
  lacking: boolean;
};

/** What text may come from. Frames are left out: their text is not part of the document. */
const wanted: ReadonlySet<ResourceType> = new Set<ResourceType>(['document', 'script', 'xhr', 'fetch']);
const methods: ReadonlySet<string> = new Set<HttpMethod>(['GET', 'HEAD', 'POST']);
/** Longest body a script may send, in characters. */
const maxPostLength = 256 * 1024;
/** As browsers do, a few at a time; each host has the client's own limit too. */
const concurrency = 6;
/** They speak of the connection, of what was undone already, or would leave something behind. */
const droppedReplyHeaders = new Set(
  'alt-svc connection content-encoding content-length keep-alive link report-to set-cookie trailer transfer-encoding'.split(
    ' ',
  ),
);
const droppedRequestHeaders =
  /^(?:host|connection|cookie|content-length|accept-encoding|user-agent|proxy-.*|sec-ch-.*|te|upgrade.*)$/i;

/** Run before any script of a page: what would speak past HTTP is not there. The network flags refuse it as well. */
const preamble = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) delete globalThis[name];`;

const replyHeaders = (headers: HttpHeaders): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || droppedReplyHeaders.has(name) ? [] : [[name, value]],
    ),
  );
const requestHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !droppedRequestHeaders.test(name)));

/** What the page has been answered so far. */
type Traffic = {
  /** Requests under way, and when the last one ended (`performance.now()`). */
  pending: number;
  lastMs: number;
  /** Why the page's own document did not come; undefined when it came. */
  failure: unknown;
  delivered: boolean;
  /** Something did not come. */
  lacking: boolean;
};

/** Answers all requests of `page` until `signal` fires. */
function answerRequests(
  page: Page,
  { request: fetch, limits }: PageDeps,
  { allow }: PageAsk,
  signal: AbortSignal,
): Traffic {
  const traffic: Traffic = {
    pending: 0,
    lastMs: performance.now(),
    failure: undefined,
    delivered: false,
    lacking: false,
  };
  const inTurn = pLimit(concurrency);
  let requests = 0;
  let bytes = 0;

  const ask = async (request: HTTPRequest, first: boolean): Promise<void> => {
    const address = request.url();
    const method = request.method();
    const kind = request.isNavigationRequest() ? 'document' : 'resource';
    const body = request.hasPostData() ? await request.fetchPostData() : undefined;
    requests += 1;
    const refused = requests > limits.requests || !methods.has(method) || (body?.length ?? 0) > maxPostLength;
    if (refused || (!first && !(await allow(new URL(address), kind)))) {
      traffic.lacking = true;
      return request.abort('blockedbyclient');
    }
    const reply = await fetch(address, {
      method: method as HttpMethod,
      headers: requestHeaders(request.headers()),
      ...(body === undefined ? {} : { body }),
      maxBytes: Math.max(1, Math.min(limits.replyBytes, limits.totalBytes - bytes)),
      totalTimeoutMs: limits.settleMs,
      signal,
    });
    bytes += reply.body.length;
    if (bytes > limits.totalBytes) throw new HttpError('too_large', { url: address, bytes });
    const redirect = reply.status >= 300 && reply.status < 400 && headerOf(reply.headers, 'location') !== undefined;
    if (first && !redirect) {
      if (reply.status >= 400) throw new RenderError('unreachable', `it answered ${reply.status}`);
      traffic.delivered = true;
    }
    if (reply.status >= 400) traffic.lacking = true;
    await request.respond({ status: reply.status, headers: replyHeaders(reply.headers), body: reply.body });
  };

  const answer = async (request: HTTPRequest): Promise<void> => {
    const kind = request.resourceType();
    if (/^(?:data|blob|about):/i.test(request.url())) return request.continue();
    // Loaders wait for their styles and fail without them; an empty one will do.
    if (kind === 'stylesheet') return request.respond({ status: 200, contentType: 'text/css', body: '' });
    const inFrame = request.isNavigationRequest() && request.frame() !== page.mainFrame();
    if (!wanted.has(kind) || inFrame) return request.abort('blockedbyclient');
    const first = request.isNavigationRequest() && !traffic.delivered;
    traffic.pending += 1;
    try {
      await inTurn(() => ask(request, first));
    } catch (error) {
      traffic.lacking = true;
      if (first) traffic.failure ??= error;
      // `aborted` leaves the document there is in its place when a script wanted another one.
      await request.abort(request.isNavigationRequest() && !first ? 'aborted' : 'failed');
    } finally {
      traffic.pending -= 1;
      traffic.lastMs = performance.now();
    }
  };

  // What cannot be answered any more belongs to a page that is gone.
  page.on('request', (request) => void answer(request).catch(() => undefined));
  return traffic;
}

/** Waits until nothing has been asked for during `idleMs`, `settleMs` from `beganMs` on at the longest. */
async function settled(traffic: Traffic, limits: PageLimits, beganMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const now = performance.now();
    const idleIn = traffic.pending > 0 ? limits.idleMs : traffic.lastMs + limits.idleMs - now;
    const endsIn = beganMs + limits.settleMs - now;
    if (idleIn <= 0 || endsIn <= 0) return;
    await sleep(Math.min(idleIn, endsIn), undefined, { signal });
  }
}

/**
 * The document and its address, read where the page's scripts cannot reach. Undefined when it was just replaced.
 * @throws RenderError too_large
 */
async function takeDocument(
  session: CDPSession,
  limits: PageLimits,
): Promise<Omit<RenderedPage, 'lacking'> | undefined> {
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id }).catch(() => undefined);
  if (!world) return undefined;
  const expression = `(() => {
    const html = (document.doctype ? '<!DOCTYPE html>' : '') + (document.documentElement?.outerHTML ?? '');
    return { url: location.href, html: html.length > ${limits.htmlBytes} ? null : html };
  })()`;
  const taken = await session
    .send('Runtime.evaluate', { expression, contextId: world.executionContextId, returnByValue: true })
    .catch((error: unknown) => {
      if (/context/i.test(String(error))) return undefined;
      throw error;
    });
  const value = taken?.result.value as { url: string; html: string | null } | undefined;
  if (!value) return undefined;
  const html = value.html === null ? undefined : Buffer.from(value.html);
  if (!html || html.length > limits.htmlBytes) throw new RenderError('too_large');
  return { url: value.url, html };
}

async function prepare(page: Page, userAgent: string): Promise<CDPSession> {
  const session = await page.createCDPSession();
  await Promise.all([
    page.setUserAgent({ userAgent }),
    page.setBypassServiceWorker(true),
    page.setCacheEnabled(false),
    page.evaluateOnNewDocument(preamble),
    page.setRequestInterception(true),
  ]);
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  return session;
}

/** What a failed request for the page's own document means. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  const reason = (['blocked_address', 'timed_out', 'too_large'] as const).find((each) => each === error.reason);
  return new RenderError(reason ?? 'unreachable', undefined, { cause: error });
}

/**
 * Renders one page in `context`, which it leaves to the caller to close.
 * @throws RenderError timed_out, crashed, blocked_address, too_large or unreachable, or the signal's reason.
 */
export async function renderPage(context: BrowserContext, deps: PageDeps, ask: PageAsk): Promise<RenderedPage> {
  const { userAgent, limits } = deps;
  const over = new AbortController();
  const began = performance.now();

  const work = async (): Promise<RenderedPage> => {
    const page = await context.newPage();
    page.on('error', () => over.abort(new RenderError('crashed')));
    const session = await prepare(page, userAgent);
    const traffic = answerRequests(page, deps, ask, over.signal);
    try {
      await page.goto(ask.url, { waitUntil: 'domcontentloaded', timeout: limits.settleMs });
    } catch (error) {
      if (traffic.failure !== undefined) throw failureOf(traffic.failure);
      // A document that came may have been replaced by its own script, or still wait for one.
      if (!traffic.delivered) throw new RenderError('unreachable', undefined, { cause: error });
    }
    for (;;) {
      await settled(traffic, limits, began, over.signal);
      const taken = await takeDocument(session, limits);
      if (taken && !/^https?:/.test(taken.url)) throw new RenderError('unreachable', `it led to ${taken.url}`);
      if (taken) return { ...taken, lacking: traffic.lacking || traffic.pending > 0 };
      traffic.lastMs = performance.now();
      await sleep(20, undefined, { signal: over.signal });
    }
  };

  const clock = setTimeout(() => over.abort(new RenderError('timed_out')), limits.timeoutMs);
  const onAbort = (): void => over.abort(ask.signal?.reason);
  const onGone = (): void => over.abort(new RenderError('crashed'));
  ask.signal?.addEventListener('abort', onAbort, { once: true });
  context.browser().once('disconnected', onGone);
  try {
    ask.signal?.throwIfAborted();
    return await new Promise<RenderedPage>((resolve, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason as Error), { once: true });
      work().then(resolve, (error: unknown) => {
        // What fails because the page is over says less than why it is over; a lost connection says so a moment later.
        if (error instanceof RenderError) reject(error);
        else if (/clos|crash|disconnect|detach/i.test(String(error))) setTimeout(onGone, 100);
        else reject(error);
      });
    });
  } finally {
    clearTimeout(clock);
    ask.signal?.removeEventListener('abort', onAbort);
    context.browser().off('disconnected', onGone);
    // Whatever is still under way for it ends.
    over.abort(new RenderError('crashed'));
  }
}
