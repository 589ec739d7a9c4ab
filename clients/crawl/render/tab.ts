/**
 * Renders one page in a tab of its own browser context. The document is taken when the page has had no open request for
 * a while. This file starts and ends no browser; traffic.ts answers the tab's requests.
 */
import type { BrowserContext, CDPSession, Page as Tab } from 'puppeteer';
import { setTimeout as sleep } from 'node:timers/promises';
import { RenderError } from './error.ts';
import type { TabLimits } from './limits.ts';
import { answerRequests, type Allow, type Traffic } from './traffic.ts';
import type { Http } from '../../http/http.ts';
import { HttpError } from '../../../models/rules/base/http.ts';

export type TabAsk = { url: string; allow: Allow; signal: AbortSignal | undefined };

/** `request`: the client for outbound HTTP, which checks addresses. */
export type TabDeps = { request: Http['request']; userAgent: string; limits: TabLimits };

export type RenderedPage = {
  /** The document after its scripts have run, as UTF-8 whatever its `<meta>` says. */
  html: Buffer;
  /** The page's final URL, after redirects and scripts. */
  url: string;
  /**
   * Whether a resource of the page failed, was refused, had a status of 400 or more, or had not arrived when the
   * document was taken.
   */
  lacking: boolean;
};

/**
 * A script that runs before all scripts of a page and removes APIs that bypass HTTP. The browser's flags (`isolation`
 * in browser.ts) keep these APIs off the network too.
 */
const preamble = `for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'SharedWorker']) delete globalThis[name];`;

/** Waits until the tab has had no open request for `idleMs`, but not longer than `settleMs` after `beganMs`. */
async function settled(traffic: Traffic, limits: TabLimits, beganMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    const now = performance.now();
    const idleIn = traffic.pending > 0 ? limits.idleMs : traffic.lastMs + limits.idleMs - now;
    const endsIn = beganMs + limits.settleMs - now;
    if (idleIn <= 0 || endsIn <= 0) return;
    await sleep(Math.min(idleIn, endsIn), undefined, { signal });
  }
}

/**
 * Reads the document and its URL in an isolated world that the page's scripts cannot reach. Returns undefined when a
 * navigation was just replacing the document. @throws RenderError too_large
 */
async function takeDocument(
  session: CDPSession,
  limits: TabLimits,
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

async function prepare(tab: Tab, userAgent: string): Promise<CDPSession> {
  const session = await tab.createCDPSession();
  await Promise.all([
    tab.setUserAgent({ userAgent }),
    tab.setBypassServiceWorker(true),
    tab.setCacheEnabled(false),
    tab.evaluateOnNewDocument(preamble),
    tab.setRequestInterception(true),
  ]);
  tab.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  return session;
}

/** Maps the error of the request for the page's document to the error to throw. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  const reason = (['blocked_address', 'timed_out', 'too_large'] as const).find((each) => each === error.reason);
  return new RenderError(reason ?? 'unreachable', undefined, { cause: error });
}

/**
 * Whether the end of the page or of its browser caused the error. The error of a failed request instead has one of
 * Chromium's codes, such as `net::ERR_CONNECTION_CLOSED`.
 */
const cameWithTheEnd = (error: unknown): boolean =>
  /clos|crash|disconnect|detach/i.test(String(error)) && !String(error).includes('net::');

/**
 * Opens the page, waits until its requests have ended and reads its document. Aborting `over` stops all of this early.
 */
async function readPage(
  context: BrowserContext,
  { request, userAgent, limits }: TabDeps,
  { url, allow }: TabAsk,
  over: AbortController,
): Promise<RenderedPage> {
  const { signal } = over;
  const began = performance.now();
  const tab = await context.newPage();
  tab.on('error', () => over.abort(new RenderError('crashed')));
  const session = await prepare(tab, userAgent);
  const traffic = answerRequests(tab, { request, allow, limits, signal });
  try {
    await tab.goto(url, { waitUntil: 'domcontentloaded', timeout: limits.settleMs });
  } catch (error) {
    if (traffic.failure !== undefined) throw failureOf(traffic.failure);
    if (cameWithTheEnd(error)) throw error;
    // Even after this error the document may have arrived. A script may have replaced the document, or the document may
    // still wait for a script.
    if (!traffic.delivered) throw new RenderError('unreachable', undefined, { cause: error });
  }
  // The idle time counts from here. On a busy machine the document is parsed long after its reply, and only then do its
  // scripts send requests.
  traffic.lastMs = performance.now();
  for (;;) {
    await settled(traffic, limits, began, signal);
    const taken = await takeDocument(session, limits);
    if (taken && !/^https?:/.test(taken.url)) throw new RenderError('unreachable', `it led to ${taken.url}`);
    if (taken) return { ...taken, lacking: traffic.lacking || traffic.pending > 0 };
    traffic.lastMs = performance.now();
    await sleep(20, undefined, { signal });
  }
}

/**
 * Renders one page in `context`; the caller closes the context. @throws RenderError timed_out, crashed,
 * blocked_address, too_large or unreachable; the signal's reason
 */
export async function renderPage(context: BrowserContext, deps: TabDeps, ask: TabAsk): Promise<RenderedPage> {
  const over = new AbortController();
  const clock = setTimeout(() => over.abort(new RenderError('timed_out')), deps.limits.timeoutMs);
  const onAbort = (): void => over.abort(ask.signal?.reason);
  const onGone = (): void => over.abort(new RenderError('crashed'));
  ask.signal?.addEventListener('abort', onAbort, { once: true });
  context.browser().once('disconnected', onGone);
  try {
    ask.signal?.throwIfAborted();
    return await new Promise<RenderedPage>((resolve, reject) => {
      over.signal.addEventListener('abort', () => reject(over.signal.reason as Error), { once: true });
      readPage(context, deps, ask, over).then(resolve, (error: unknown) => {
        // When the page or the browser has ended, the reason for that end is more useful than this error. The reason
        // may arrive a moment later, so `crashed` is reported only after 100 ms.
        if (error instanceof RenderError) reject(error);
        else if (cameWithTheEnd(error)) setTimeout(onGone, 100);
        else reject(error);
      });
    });
  } finally {
    clearTimeout(clock);
    ask.signal?.removeEventListener('abort', onAbort);
    context.browser().off('disconnected', onGone);
    // Aborts everything that is still running for the page.
    over.abort(new RenderError('crashed'));
  }
}
