/**
 * Renders pages whose HTML has no text without JavaScript, in one headless Chromium that is started when it is needed,
 * ended when it is idle and replaced before it is worn. The browser itself connects to nothing: all it asks for goes
 * through the client for outbound HTTP.
 */
import pLimit from 'p-limit';
import type { Http } from '../http/http.ts';
import { startBrowser, type RunningBrowser } from './browser.ts';
import { RenderError } from './error.ts';
import { defaultPageLimits, renderPage, type PageAsk, type PageLimits, type RenderedPage } from './tab.ts';

export { RenderError, renderReasons, type RenderReason } from './error.ts';
export type { PageLimits, RenderedPage } from './tab.ts';

export type RendererOptions = {
  /** A Chromium or Chrome; without one every page is `unavailable`. */
  executablePath: string | undefined;
  /** All requests of all pages go through it, with its checks of addresses. */
  http: Http;
  /** What pages see as the browser's name; the client sends its own, which should be the same. */
  userAgent: string;
  /** Pages at a time. */
  size?: number;
  /** A browser is replaced after this many pages. */
  pagesPerBrowser?: number;
  /** A browser without a page for this long, ms, is ended. */
  idleMs?: number;
  /** Resident memory of any one process of the browser, and the JavaScript heap of one page, MiB. */
  memoryMb?: number;
  heapMb?: number;
  /**
   * Chromium's own sandbox. On, except for root, for whom Chromium does not start with it. In a container that allows no
   * user namespaces it must be off, or every page is `unavailable`; the container is then what holds a broken page.
   */
  sandbox?: boolean;
  limits?: Partial<PageLimits>;
  /** Told why a browser did not start, which whoever runs this should know. */
  onStartFailure?(error: unknown): void;
};

export type RenderOptions = {
  signal?: AbortSignal;
  /** Whether an address that the page asks for may be fetched; its own first address is not put to it. */
  allow?: PageAsk['allow'];
  /** Makes the requests in the client's place, through the client: a crawler has turns to keep and replies at hand. */
  request?: Http['request'];
};

export type Renderer = {
  /**
   * The document of a page after its scripts have run, without styles, images and frames. It keeps nothing: each page
   * has a browser context of its own, and sends no cookie. As `html` is UTF-8 whatever its `<meta>` says, read it as
   * `text/html; charset=utf-8`.
   * @throws RenderError, or the signal's reason.
   */
  render(url: string, options?: RenderOptions): Promise<RenderedPage>;
  /** Ends the browser, all its processes; pages under way and waiting fail. */
  close(): Promise<void>;
};

/** Starting takes 0.1 s to 1 s; a loaded machine takes several. */
const startTimeoutMs = 30_000;
/** A context is closed in milliseconds, unless its page hangs; then the browser is ended with it. */
const closeWithinMs = 2_000;

/** One browser and the pages it has had. */
type Seat = { starting: Promise<RunningBrowser>; pages: number; busy: number; worn: boolean };

export function createRenderer(options: RendererOptions): Renderer {
  const { executablePath, http, userAgent, size = 2, pagesPerBrowser = 100, idleMs = 60_000 } = options;
  const { memoryMb = 768, heapMb = 256, sandbox = process.getuid?.() !== 0 } = options;
  const limits: PageLimits = { ...defaultPageLimits, ...options.limits };
  const inTurn = pLimit(size);
  const alive = new Set<Seat>();
  const closing = new AbortController();
  let current: Seat | undefined;
  let idle: NodeJS.Timeout | undefined;

  const endSeat = async (seat: Seat): Promise<void> => {
    seat.worn = true;
    if (current === seat) current = undefined;
    const running = await seat.starting.catch(() => undefined);
    await running?.end();
    alive.delete(seat);
  };

  const takeSeat = (path: string): Seat => {
    clearTimeout(idle);
    if (!current || current.worn || current.pages >= pagesPerBrowser) {
      const starting = startBrowser({ executablePath: path, memoryMb, heapMb, sandbox, startTimeoutMs });
      const seat: Seat = { starting, pages: 0, busy: 0, worn: false };
      alive.add(seat);
      current = seat;
      starting.then(
        ({ browser }) => browser.once('disconnected', () => void endSeat(seat)),
        (error: unknown) => {
          options.onStartFailure?.(error);
          void endSeat(seat);
        },
      );
    }
    current.pages += 1;
    current.busy += 1;
    return current;
  };

  const leaveSeat = async (seat: Seat): Promise<void> => {
    seat.busy -= 1;
    if (seat.busy > 0) return;
    if (seat.worn || seat !== current || seat.pages >= pagesPerBrowser) return endSeat(seat);
    clearTimeout(idle);
    idle = setTimeout(() => void endSeat(seat), idleMs).unref();
  };

  const run = async (path: string, ask: PageAsk, request: Http['request']): Promise<RenderedPage> => {
    const seat = takeSeat(path);
    try {
      const running = await seat.starting.catch((error: unknown) => {
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
        // A page that had to be stopped may still be at it in its process, which closing its context need not end.
        const stopped = !(error instanceof RenderError) || error.reason === 'timed_out' || error.reason === 'crashed';
        if (stopped) seat.worn = true;
        const crashed = error instanceof RenderError && error.reason === 'crashed';
        throw crashed && running.outOfMemory() ? new RenderError('out_of_memory') : error;
      } finally {
        const late = setTimeout(() => void endSeat(seat), closeWithinMs);
        // A context that cannot be closed went with its browser; one whose page hangs is not waited for.
        const closed = context.close().catch(() => void (seat.worn = true));
        if (!seat.worn) await closed;
        clearTimeout(late);
      }
    } finally {
      await leaveSeat(seat);
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
      await Promise.all([...alive].map(endSeat));
    },
  };
}
