/**
 * A real Chromium for tests of pages, and a connection to the API that a test can cut. It is not for untrusted pages,
 * because it may connect to any address.
 */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { launch, type Browser, type BrowserContext, type ElementHandle, type Page } from 'puppeteer';

/** How long to wait for the browser and its pages, as long as `until` waits. */
const patienceMs = 120_000;

/** Starts the browser. The caller closes it. */
export async function startChromium(executablePath: string): Promise<Browser> {
  return launch({
    executablePath,
    headless: true,
    pipe: true,
    // A busy machine is slow, so tests wait for a state and not for a time.
    timeout: patienceMs,
    args: [
      '--disable-gpu',
      '--mute-audio',
      '--disable-dev-shm-usage',
      '--hide-scrollbars',
      // The sandbox of Chromium does not run as root.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
}

/** The chat widget on a page, as its user sees it. */
export type Chat = ReturnType<typeof chatOn>;

export function chatOn(page: Page) {
  page.setDefaultTimeout(patienceMs);
  /** Runs an expression in which `root` is the widget's shadow root. */
  const inside = (expression: string): Promise<unknown> =>
    page.evaluate(
      `(() => { const root = document.querySelector('support-widget')?.shadowRoot; return ${expression}; })()`,
    );
  const find = async (selector: string): Promise<ElementHandle> => {
    const found = await page.waitForSelector(`>>> ${selector}`, { visible: true });
    if (!found) throw new Error(`There is no ${selector}.`);
    return found;
  };
  return {
    inside,
    find,
    async open(): Promise<void> {
      await (await find('.launcher')).click();
      await find('textarea');
    },
    /** Types a message and sends it with Enter. */
    async say(text: string): Promise<void> {
      const input = await find('textarea');
      await input.type(text);
      await input.press('Enter');
    },
    /** The entries of the message log as `who: what`, with unacknowledged messages marked. */
    async messages(): Promise<string[]> {
      return (await inside(`[...(root?.querySelectorAll(':is(.older, [role=log]) .entry') ?? [])].map((entry) => {
        const who = ['customer', 'ai', 'agent', 'system'].find((role) => entry.classList.contains(role));
        const state = entry.classList.contains('waiting') ? ' (waiting)' : entry.classList.contains('failed') ? ' (failed)' : '';
        return who + state + ': ' + entry.querySelector('.body').textContent;
      })`)) as string[];
    },
    /** The notes about the connection and about who answers. */
    async notes(): Promise<string> {
      return (await inside(
        `[...(root?.querySelectorAll('[role=status]') ?? [])].map((note) => note.textContent).join(' ').trim()`,
      )) as string;
    },
  };
}

/** Opens a page in its own browser context, like the browser of another person. */
export async function visit(
  browser: Browser,
  url: string,
  { width = 1000, height = 760 }: { width?: number; height?: number } = {},
): Promise<{ page: Page; context: BrowserContext; chat: Chat }> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const chat = chatOn(page);
  await page.setViewport({ width, height });
  await page.goto(url);
  return { page, context, chat };
}

/**
 * Makes the page lose the next frame of this type. Instead, the page receives the error of a server that cannot take a
 * frame for a moment and keeps the socket open.
 */
export const failOnce = (page: Page, type: string): Promise<unknown> =>
  page.evaluate(`(() => {
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (data) {
      const { type, client_message_id } = JSON.parse(data);
      if (type !== ${JSON.stringify(type)}) return send.call(this, data);
      WebSocket.prototype.send = send;
      const about = { refused: type, client_message_id };
      const error = { type: 'error', seq: 0, code: 'UNAVAILABLE', message: 'Try again.', ...about };
      setTimeout(() => this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(error) })));
    };
  })()`);

export type Wire = {
  /** The URL of the API through this connection, with another port. */
  url: string;
  /** Breaks every connection and accepts no new ones. */
  cut(): void;
  mend(): void;
  /** Directs new connections to this URL, because a restarted process has another port. */
  lead(target: string): void;
  close(): Promise<void>;
};

/** A TCP proxy to `target` (`http://127.0.0.1:PORT`) that can be cut, so that both sides lose the connection. */
export async function wireTo(target: string): Promise<Wire> {
  let { port, hostname } = new URL(target);
  const open = new Set<Socket>();
  let whole = true;
  const server = createServer((near) => {
    if (!whole) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    whole = false;
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      whole = true;
    },
    lead: (next) => ({ port, hostname } = new URL(next)),
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
