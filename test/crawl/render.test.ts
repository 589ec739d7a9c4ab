/**
 * Rendering pages in a real Chromium: a page's text is extracted, no request bypasses the outbound HTTP client, hostile
 * pages harm only themselves, and no process is left behind.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createSocket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server as HttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createHttp } from '../../clients/http/http.ts';
import {
  createRenderer,
  RenderError,
  type RenderReason,
  type Renderer,
  type RendererOptions,
} from '../../clients/crawl/render/render.ts';
import { processTree, startBrowser } from '../../clients/crawl/render/browser.ts';
import { killIfThere } from '../kit/processes.ts';

jest.setTimeout(180_000);

const chromium = process.env['TEST_CHROMIUM']!;
type Cleanups = (() => Promise<unknown> | void)[];
const cleanups: Cleanups = [];
const lastCleanups: Cleanups = [];
const cleanUp = async (list: Cleanups): Promise<void> => {
  for (const cleanup of list.splice(0).toReversed()) await cleanup();
};
afterEach(() => cleanUp(cleanups));
afterAll(() => cleanUp(lastCleanups));

function listen(server: Server, atEnd = cleanups): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => undefined)));
  atEnd.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}

type Site = { host: string; url: string; asked: IncomingMessage[]; paths: () => string[] };
/** A site of HTML pages by path; a function handles the request itself. Each site has a host of its own. */
function site(pages: Record<string, string | RequestListener>): Site {
  const asked: IncomingMessage[] = [];
  const next = unusedServers.pop();
  if (next === undefined) throw new Error('There are more sites than servers: raise `sitesOfFile`.');
  const { host, server } = next;
  server.on('request', (request, reply) => {
    asked.push(request);
    const page = pages[request.url ?? ''];
    if (typeof page === 'function') return page(request, reply);
    reply.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  return { host, url: `http://${host}`, asked, paths: () => asked.map(({ url = '' }) => url) };
}
/** A server that must not be reached; it counts connections. */
async function forbidden(): Promise<{ host: string; connections: () => number }> {
  let connections = 0;
  const host = await listen(createTcpServer(() => void (connections += 1)));
  return { host, connections: () => connections };
}

const userAgent = 'TestBot/1.0 (+https://bot.example)';
function renderer(
  allowed: readonly { host: string }[],
  options: Partial<RendererOptions> = {},
  atEnd = cleanups,
): Renderer {
  const http = createHttp({ userAgent, egressAllow: allowed.map(({ host }) => host) });
  // The limits are generous, because machines may be busy.
  const limits = { timeoutMs: 60_000, settleMs: 40_000, ...options.limits };
  const made = createRenderer({ executablePath: chromium, http, userAgent, ...options, limits });
  atEnd.push(async () => {
    await made.close();
    await http.close();
  });
  return made;
}

/** At least as many as the tests of this file have sites. */
const sitesOfFile = 20;
/** Servers that no test has used yet. The shared renderer has to know their hosts before the first test. */
const unusedServers: { host: string; server: HttpServer }[] = [];
/** The renderer with the usual options, for every page that needs no other, because a browser takes long to start. */
let shared: Renderer;
beforeAll(async () => {
  for (let i = 0; i < sitesOfFile; i += 1) {
    const server = createServer();
    unusedServers.push({ host: await listen(server, lastCleanups), server });
  }
  shared = renderer(unusedServers, {}, lastCleanups);
});

const reasonOf = (rendering: Promise<unknown>): Promise<RenderReason | 'rendered'> =>
  rendering.then(
    () => 'rendered' as const,
    (error: unknown) => {
      if (error instanceof RenderError) return error.reason;
      throw error;
    },
  );
const textOf = async (made: Renderer, url: string): Promise<string> => {
  const { html } = await made.render(url);
  return /<main>(.*?)<\/main>/s.exec(html.toString())?.[1] ?? 'no main';
};

/** Polls until the condition holds; only the test's own timeout ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await delay(10);
}
const running = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const below = (): number[] => processTree(process.pid).filter((pid) => pid !== process.pid && running(pid));
const onLinux = existsSync(`/proc/${process.pid}/task/${process.pid}/children`) ? it : it.skip;

/** A page whose script writes the result of `expression`, or the name of its error, into <main>. */
const scripted = (expression: string): string => `<!doctype html><title>App</title><main></main><script type="module">
  const say = (text) => { document.querySelector('main').textContent = text; };
  try { say(await (async () => ${expression})()); } catch (error) { say('failed: ' + error.name); }
</script>`;
const app = scripted(`(await fetch('/data')).text()`);
const data: RequestListener = (_, reply) => reply.end('Text from a script');

describe('a page without static text', () => {
  it('a page without static text is read once its scripts have run, and all its requests carry the crawler’s user agent', async () => {
    const shop = site({
      '/app':
        '<!doctype html><main></main><script src="/a.js"></script><link rel="stylesheet" href="/a.css"><img src="/a.png">',
      '/a.js': (_, reply) =>
        reply.setHeader('content-type', 'text/javascript').end(`fetch('/data', { method: 'POST', body: 'question' })
          .then((r) => r.text()).then((t) => { document.querySelector('main').textContent = t; });`),
      '/data': async (request, reply) => {
        let body = '';
        for await (const part of request) body += String(part);
        reply.end(`${request.method} ${body} é`);
      },
    });
    expect(await textOf(shared, `${shop.url}/app`)).toBe('POST question é');
    expect(shop.paths()).toEqual(['/app', '/a.js', '/data']);
    expect(new Set(shop.asked.map(({ headers }) => headers['user-agent']))).toEqual(new Set([userAgent]));
  });

  it('a page without static text is read at the target of redirects and script navigation, if the caller allows each URL', async () => {
    const shop = site({
      '/old': (_, reply) => reply.writeHead(302, { location: '/middle' }).end(),
      '/middle': `<main></main><script>location.replace('/new')</script>`,
      '/new': scripted(`(await fetch('/private')).text()`),
      '/private': data,
    });
    const allow = (url: URL): boolean => url.pathname !== '/private';
    const { html, url } = await shared.render(`${shop.url}/old`, { allow });
    expect(url).toBe(`${shop.url}/new`);
    expect(html.toString()).toContain('<main>failed: TypeError</main>');
    expect(shop.paths()).toEqual(['/old', '/middle', '/new']);
  });

  it('rendering a page without static text reports whether all requests of the page were answered', async () => {
    const shop = site({
      '/': scripted(`(await fetch('/data')).text()`),
      '/fails': scripted(`(await fetch('/missing')).text()`),
      '/breaks': scripted(`(await fetch('/broken')).text()`),
      '/spies': scripted(`(await fetch('/private')).text()`),
      '/waits': scripted(`(await fetch('/never')).text()`),
      '/data': data,
      '/broken': (_, reply) => reply.destroy(),
      '/never': () => undefined,
    });
    const allow = (url: URL): boolean => url.pathname !== '/private';
    const lacking = async (path: string, from = shared) => (await from.render(shop.url + path, { allow })).lacking;
    expect(await lacking('/')).toBe(false);
    for (const path of ['/fails', '/breaks', '/spies']) expect([path, await lacking(path)]).toEqual([path, true]);
    expect(await lacking('/waits', renderer([shop], { limits: { settleMs: 6_000 } }))).toBe(true);
  });

  it('a page whose requests never stop is read as far as it has loaded', async () => {
    const shop = site({
      '/': scripted(`{ setInterval(() => fetch('/poll'), 50); return 'News' }`),
      '/poll': data,
    });
    const made = renderer([shop], { limits: { settleMs: 6_000, requests: 20 } });
    expect(await textOf(made, shop.url)).toBe('News');
    expect(shop.paths().filter((path) => path === '/poll').length).toBeLessThan(20);
  });

  it('rendering a page without static text fails with the reason “unavailable” when there is no browser', async () => {
    const shop = site({});
    expect(await reasonOf(renderer([shop], { executablePath: undefined }).render(shop.url))).toBe('unavailable');
    expect(await reasonOf(renderer([shop], { executablePath: '/nowhere' }).render(shop.url))).toBe('unavailable');
  });
});

describe('what a rendered page can reach', () => {
  it('a rendered page reaches no private address by fetch, script, frame, worker, redirect, WebSocket, EventSource, beacon or popup', async () => {
    const secret = await forbidden();
    const shop = site({
      '/': `<main></main><iframe src="http://${secret.host}/frame"></iframe><script src="http://${secret.host}/a.js"></script>
        <link rel="preconnect" href="http://${secret.host}"><link rel="prefetch" href="http://${secret.host}/p">
        <script>
        const done = [];
        const note = (name, promise) => done.push(promise.then(() => name + ' got in', () => name + ' refused'));
        for (const host of ['${secret.host}', 'localhost:${secret.host.split(':')[1]}', '169.254.169.254'])
          note('fetch', fetch('http://' + host + '/', { mode: 'no-cors' }));
        note('redirect', fetch('/away', { mode: 'no-cors' }));
        note('file', fetch('file:///etc/passwd'));
        const event = (target, good) => new Promise((yes, no) => { target.addEventListener(good, yes); target.addEventListener('error', no); });
        note('websocket', event(new WebSocket('ws://${secret.host}/'), 'open'));
        note('own websocket', event(new WebSocket('ws://' + location.host + '/socket'), 'open'));
        note('eventsource', event(new EventSource('http://${secret.host}/'), 'open'));
        navigator.sendBeacon('http://${secret.host}/', 'x');
        const code = "fetch('http://${secret.host}/w', { mode: 'no-cors' }).then(() => postMessage('in'), () => setTimeout(() => { throw 1 }))";
        note('worker', event(new Worker(URL.createObjectURL(new Blob([code]))), 'message'));
        try { window.open('http://${secret.host}/popup'); } catch {}
        const stop = new AbortController();
        fetch('/held', { signal: stop.signal }).catch(() => undefined);
        Promise.all(done).then((all) => { document.querySelector('main').textContent = all.join(', '); stop.abort(); });
        </script>`,
      '/away': (_, reply) => reply.writeHead(302, { location: `http://${secret.host}/` }).end(),
      // This request is never answered, so that the page does not count as settled before its script is done.
      '/held': () => undefined,
    });
    const text = await textOf(shared, shop.url);
    expect(text).toBe(
      'fetch refused, fetch refused, fetch refused, redirect refused, file refused, websocket refused, own websocket refused, eventsource refused, worker refused',
    );
    expect(secret.connections()).toBe(0);
    expect(new Set(shop.paths())).toEqual(new Set(['/', '/away', '/held']));
  });

  it('a private address is not rendered as a page, a redirect target or a target of script navigation', async () => {
    const secret = await forbidden();
    const shop = site({
      '/away': (_, reply) => reply.writeHead(302, { location: `http://${secret.host}/` }).end(),
      '/go': `<main>Here</main><script>location.href = 'http://${secret.host}/'</script>`,
    });
    expect(await reasonOf(shared.render('http://169.254.169.254/latest'))).toBe('blocked_address');
    expect(await reasonOf(shared.render(`http://${secret.host}/`))).toBe('blocked_address');
    expect(await reasonOf(shared.render(`${shop.url}/away`))).toBe('blocked_address');
    expect(await textOf(shared, `${shop.url}/go`)).toBe('Here');
    expect(await reasonOf(shared.render(`${shop.url}/missing`))).toBe('unreachable');
    expect(secret.connections()).toBe(0);
  });

  it('a rendered page and its frames have no WebRTC', async () => {
    const shop = site({
      '/': scripted(`{
        const frame = document.body.appendChild(document.createElement('iframe'));
        return [typeof RTCPeerConnection, typeof frame.contentWindow.RTCPeerConnection, typeof WebTransport].join();
      }`),
    });
    expect(await textOf(shared, shop.url)).toBe('undefined,undefined,undefined');
  });

  it('the browser reaches nothing outside of the proxy, neither by TCP nor by UDP', async () => {
    const secret = await forbidden();
    let datagrams = 0;
    const udp = createSocket('udp4').on('message', () => void (datagrams += 1));
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise<void>((resolve) => udp.close(() => resolve())));
    const started = await startBrowser({
      executablePath: chromium,
      memoryMb: 768,
      sandbox: process.getuid?.() !== 0,
      heapMb: 256,
      startTimeoutMs: 60_000,
    });
    cleanups.push(() => started.end());
    const page = await started.browser.newPage();
    const name = secret.host.replace('127.0.0.1', 'localhost');
    for (const address of [`http://${secret.host}/`, `http://${name}/`, `https://${secret.host}/`])
      await expect(page.goto(address)).rejects.toThrow(/net::ERR_/);
    // The error page of the refused address may still be loading.
    const blank = await started.browser.newPage();
    const gathered = await blank.evaluate(`new Promise((resolve) => {
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udp.address().port}' },
        { urls: 'turn:${secret.host}?transport=tcp', username: 'a', credential: 'b' }] });
      peer.createDataChannel('a');
      peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve('complete');
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
    })`);
    expect(gathered).toBe('complete');
    expect(datagrams).toBe(0);
    expect(secret.connections()).toBe(0);
  });

  it('a rendered page sees no cookies or storage of other pages, and no cookie is sent', async () => {
    const shop = site({
      '/': (_, reply) =>
        reply.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'server=1' }).end(
          scripted(`{
            const seen = document.cookie + '|' + localStorage.length;
            document.cookie = 'script=1'; localStorage.setItem('a', '1');
            await fetch('/data');
            return seen;
          }`),
        ),
      '/data': data,
    });
    const texts = await Promise.all([textOf(shared, shop.url), textOf(shared, shop.url)]);
    expect([...texts, await textOf(shared, shop.url)]).toEqual(['|0', '|0', '|0']);
    expect(shop.asked.map(({ headers }) => headers.cookie)).toEqual(Array(6).fill(undefined));
  });
});

describe('a misbehaving page', () => {
  it('a page whose script never ends is aborted at the time limit, and the next page works', async () => {
    const shop = site({ '/': '<main></main><script>for (;;);</script>', '/app': app, '/data': data });
    const made = renderer([shop], { limits: { timeoutMs: 12_000, settleMs: 6_000 } });
    expect(await reasonOf(made.render(shop.url))).toBe('timed_out');
    expect(await textOf(made, `${shop.url}/app`)).toBe('Text from a script');
  });

  it('a page is refused as too large when its document or its rendered HTML is too large', async () => {
    const shop = site({
      '/big': `<main>${'x'.repeat(60_000)}</main>`,
      '/grows': `<main></main><script>document.querySelector('main').textContent = 'é'.repeat(30_000)</script>`,
    });
    const made = renderer([shop], { limits: { replyBytes: 50_000, htmlBytes: 50_000 } });
    expect(await reasonOf(made.render(`${shop.url}/big`))).toBe('too_large');
    expect(await reasonOf(made.render(`${shop.url}/grows`))).toBe('too_large');
  });

  it('a page stops loading at its limit of bytes, and is read with the content loaded so far', async () => {
    const shop = site({
      '/': scripted(`{
        let got = 0;
        for (let i = 0; i < 6; i += 1) try { got += (await (await fetch('/part')).text()).length; } catch {}
        return got;
      }`),
      '/part': (_, reply) => reply.end('x'.repeat(10_000)),
    });
    expect(await textOf(renderer([shop], { limits: { totalBytes: 45_000 } }), shop.url)).toBe('40000');
  });

  it('a page with dialogs or a download does not block the next pages', async () => {
    const shop = site({
      '/': scripted(`{ alert('a'); return String(confirm('b')) }`),
      '/file': (_, reply) => reply.writeHead(200, { 'content-type': 'application/zip' }).end('PK'),
    });
    expect(await textOf(shared, shop.url)).toBe('false');
    const { html } = await shared.render(`${shop.url}/file`).catch(() => ({ html: Buffer.alloc(0) }));
    expect(html.toString()).not.toContain('PK');
  });

  onLinux('a page that takes too much memory is aborted as out_of_memory, and the next page works', async () => {
    const shop = site({
      '/': `<main></main><script>const all = []; setInterval(() => all.push(new Uint8Array(32 << 20).fill(1)), 20); fetch('/held')</script>`,
      '/held': () => undefined,
      '/app': app,
      '/data': data,
    });
    const made = renderer([shop], { memoryMb: 600 });
    expect(await reasonOf(made.render(shop.url))).toBe('out_of_memory');
    expect(await textOf(made, `${shop.url}/app`)).toBe('Text from a script');
  });

  it('rendering a page that never finishes fails with the caller’s abort reason when the caller aborts', async () => {
    const shop = site({ '/': () => undefined, '/app': app, '/data': data });
    const stop = new AbortController();
    const rendering = shared.render(shop.url, { signal: stop.signal });
    rendering.catch(() => undefined);
    await until(() => shop.asked.length === 1);
    stop.abort(new Error('no longer wanted'));
    await expect(rendering).rejects.toThrow('no longer wanted');
    expect(await textOf(shared, `${shop.url}/app`)).toBe('Text from a script');
  });
});

describe('the browser process', () => {
  // These tests count processes, and those of the shared browser are not meant.
  beforeAll(() => shared.close());

  onLinux('when the browser process is killed, its page fails, and the next page gets a new browser', async () => {
    const shop = site({ '/': () => undefined, '/app': app, '/data': data });
    const made = renderer([shop]);
    const before = new Set(below());
    const rendering = reasonOf(made.render(shop.url));
    await until(() => shop.asked.length === 1);
    // The whole browser is killed. If only one of its child processes died, the error would be that the page could not
    // be fetched.
    const browser = below()
      .filter((pid) => !before.has(pid))
      .toSorted((a, b) => a - b);
    for (const pid of browser) killIfThere(pid);
    expect(await rendering).toBe('crashed');
    expect(await textOf(made, `${shop.url}/app`)).toBe('Text from a script');
    expect(browser.filter(running)).toEqual([]);
  });

  onLinux(
    'the browser renders several pages, and is ended after enough pages, when idle or with the renderer',
    async () => {
      const shop = site({ '/app': app, '/data': data });
      const before = new Set(below());
      const mine = (): number[] => below().filter((pid) => !before.has(pid));
      const made = renderer([shop], { pagesPerBrowser: 2, idleMs: 1 });
      const kept = renderer([shop], { pagesPerBrowser: 2 });
      await textOf(made, `${shop.url}/app`);
      await until(() => mine().length === 0);
      await textOf(kept, `${shop.url}/app`);
      const first = mine();
      expect(first).not.toEqual([]);
      await textOf(kept, `${shop.url}/app`);
      await until(() => !first.some(running));
      await textOf(kept, `${shop.url}/app`);
      expect(mine()).not.toEqual([]);
      await kept.close();
      expect(mine()).toEqual([]);
      await expect(kept.render(shop.url)).rejects.toThrow('closed');
    },
  );
});
