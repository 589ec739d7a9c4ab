/**
 * Renders pages whose HTML has no text without JavaScript, in one headless Chromium. The browser is started on demand,
 * ended when idle, and replaced after a number of pages. All of its requests go through the client for outbound HTTP.
 */
import pLimit from 'p-limit';
import type { Http } from '../../http/http.ts';
import { startBrowser, type RunningBrowser } from './browser.ts';
import { RenderError } from './error.ts';
import { defaultTabLimits, type TabLimits } from './limits.ts';
import { renderPage, type RenderedPage, type TabAsk } from './tab.ts';

export { RenderError, renderReasons, type RenderReason } from './error.ts';
export type { TabLimits } from './limits.ts';
export type { RenderedPage } from './tab.ts';

export type RendererOptions = {
  /** The path of a Chromium or Chrome; without one, every page fails as `unavailable`. */
  executablePath: string | undefined;
  /** The client for outbound HTTP, which checks the addresses of all requests of all pages. */
  http: Http;
  /** The user agent that pages see. It should equal the one that the HTTP client sends. */
  userAgent: string;
  /** Maximum number of pages rendered concurrently. */
  size?: number;
  /** A browser is replaced after this many pages. */
  pagesPerBrowser?: number;
  /** An idle browser is ended after this time, in ms. */
  idleMs?: number;
  /**
   * Limits in MiB: `memoryMb` for the resident memory of each process of the browser, `heapMb` for the JavaScript heap
   * of one page.
   */
  memoryMb?: number;
  heapMb?: number;
  /**
   * Whether Chromium's own sandbox is on. By default it is on, except when this process runs as root, because
   * Chromium's sandbox does not start as root. In a container without user namespaces it must be off, or every page is
   * `unavailable`; then only the container isolates a compromised page.
   */
  sandbox?: boolean;
  limits?: Partial<TabLimits>;
  /** Called with the reason when a browser does not start, to notify an operator. */
  onStartFailure?(error: unknown): void;
};

export type RenderOptions = {
  signal?: AbortSignal;
  /** Whether a URL that the page requests may be fetched. The page's own first URL is not checked. */
  allow?: TabAsk['allow'];
  /**
   * Sends the page's requests in place of `http.request`. A crawler passes its own function, which keeps request
   * limits, caches replies, and uses `http` itself.
   */
  request?: Http['request'];
};

export type Renderer = {
  /**
   * Returns the document of a page after its scripts have run, without styles, images and frames. Each page has its own
   * browser context, so nothing is kept between pages and no cookie is sent. `html` is UTF-8 whatever its `<meta>`
   * says, so parse it as `text/html; charset=utf-8`. @throws RenderError, or the signal's reason.
   */
  render(url: string, options?: RenderOptions): Promise<RenderedPage>;
  /** Ends the browser with all its processes; running and waiting pages fail. */
  close(): Promise<void>;
};

/** Time limit for starting a browser, in ms. It takes 0.1 s to 1 s, and several seconds on a loaded machine. */
const startTimeoutMs = 30_000;
/**
 * A browser context closes in milliseconds. If closing takes longer than this, in ms, because a page hangs, the browser
 * is ended.
 */
const closeWithinMs = 2_000;

/** One browser, with the number of pages it has rendered and is rendering. `worn`: the browser gets no further page. */
type BrowserInstance = { starting: Promise<RunningBrowser>; pages: number; busy: number; worn: boolean };

export function createRenderer(options: RendererOptions): Renderer {
  const { executablePath, http, userAgent, size = 2, pagesPerBrowser = 100, idleMs = 60_000 } = options;
  const { memoryMb = 768, heapMb = 256, sandbox = process.getuid?.() !== 0 } = options;
  const limits: TabLimits = { ...defaultTabLimits, ...options.limits };
  const inTurn = pLimit(size);
  const alive = new Set<BrowserInstance>();
  const closing = new AbortController();
  let current: BrowserInstance | undefined;
  let idle: NodeJS.Timeout | undefined;

  const endBrowser = async (instance: BrowserInstance): Promise<void> => {
    instance.worn = true;
    if (current === instance) current = undefined;
    const running = await instance.starting.catch(() => undefined);
    await running?.end();
    alive.delete(instance);
  };

  const takeBrowser = (path: string): BrowserInstance => {
    clearTimeout(idle);
    if (!current || current.worn || current.pages >= pagesPerBrowser) {
      const starting = startBrowser({ executablePath: path, memoryMb, heapMb, sandbox, startTimeoutMs });
      const instance: BrowserInstance = { starting, pages: 0, busy: 0, worn: false };
      alive.add(instance);
      current = instance;
      starting.then(
        ({ browser }) => browser.once('disconnected', () => void endBrowser(instance)),
        (error: unknown) => {
          options.onStartFailure?.(error);
          void endBrowser(instance);
        },
      );
    }
    current.pages += 1;
    current.busy += 1;
    return current;
  };

  const leaveBrowser = async (instance: BrowserInstance): Promise<void> => {
    instance.busy -= 1;
    if (instance.busy > 0) return;
    if (instance.worn || instance !== current || instance.pages >= pagesPerBrowser) return endBrowser(instance);
    clearTimeout(idle);
    idle = setTimeout(() => void endBrowser(instance), idleMs).unref();
  };

  const run = async (path: string, ask: TabAsk, request: Http['request']): Promise<RenderedPage> => {
    const instance = takeBrowser(path);
    try {
      const running = await instance.starting.catch((error: unknown) => {
        throw new RenderError('unavailable', undefined, { cause: error });
      });
      const context = await running.browser
        .createBrowserContext({ downloadBehavior: { policy: 'deny' } })
        .catch((error: unknown) => {
          throw new RenderError('crashed', undefined, { cause: error });
        });
      try {
        return await renderPage(context, { request, userAgent, limits }, ask);
      } catch (error) {
        // A stopped page may still run in its process, and closing its context may not end that process. So the browser
        // gets no further page.
        const stopped = !(error instanceof RenderError) || error.reason === 'timed_out' || error.reason === 'crashed';
        if (stopped) instance.worn = true;
        const crashed = error instanceof RenderError && error.reason === 'crashed';
        throw crashed && running.outOfMemory() ? new RenderError('out_of_memory') : error;
      } finally {
        const late = setTimeout(() => void endBrowser(instance), closeWithinMs);
        // If closing fails, the context has already ended together with its browser. For a hanging page the closing is
        // not awaited.
        const closed = context.close().catch(() => void (instance.worn = true));
        if (!instance.worn) await closed;
        clearTimeout(late);
      }
    } finally {
      await leaveBrowser(instance);
    }
  };

  return {
    async render(url, { signal, allow = () => true, request = http.request } = {}) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal;
      either.throwIfAborted();
      if (executablePath === undefined) throw new RenderError('unavailable');
      return inTurn(async () => {
        either.throwIfAborted();
        return run(executablePath, { url, allow, signal: either }, request);
      });
    },
    async close() {
      closing.abort(new Error('the renderer is closed'));
      clearTimeout(idle);
      await Promise.all([...alive].map(endBrowser));
    },
  };
}
