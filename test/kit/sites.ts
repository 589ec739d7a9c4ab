/**
 * Loopback sites for crawls: pages by path, each an HTML text or a function of the request. It counts every request.
 */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';

export type Reply = string | ((request: IncomingMessage, response: ServerResponse) => void);
export type TestSite = {
  url: string;
  /** May be changed while the site runs; a missing path is 404, and `*` answers for all paths. */
  pages: Record<string, Reply>;
  /** Requests by path. */
  hits: Map<string, number>;
  close(): Promise<void>;
};

export async function startSite(pages: Record<string, Reply>): Promise<TestSite> {
  const hits = new Map<string, number>();
  const site = { pages, hits };
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    hits.set(path, (hits.get(path) ?? 0) + 1);
    const reply = site.pages[path] ?? site.pages['*'];
    if (typeof reply === 'function') return reply(request, response);
    response.writeHead(reply === undefined ? 404 : 200, {
      'content-type': path.endsWith('.txt') ? 'text/plain' : path.endsWith('.xml') ? 'application/xml' : 'text/html',
    });
    response.end(reply ?? 'There is nothing here.');
  });
  const port = await listenAnew(server);
  return Object.assign(site, {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

/** Uses a port that no site of this run has used: a worker keeps the rules and pauses of an origin for an hour. */
async function listenAnew(server: Server): Promise<number> {
  for (;;) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (await isNew(port)) return port;
    server.close();
    await once(server, 'close');
  }
}

/** Whether no site of this run had this port; if so, reserves it. */
async function isNew(port: number): Promise<boolean> {
  try {
    await writeFile(join(process.env['TEST_PORTS']!, String(port)), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Starts sites; each is closed when the test ends that started it. To be called where hooks may be. */
export function sitesOfTest(): (pages: Record<string, Reply>) => Promise<TestSite> {
  const open: TestSite[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((site) => site.close()));
  });
  return async (pages) => {
    const site = await startSite(pages);
    open.push(site);
    return site;
  };
}

/** A page with enough text to be indexed. */
export function page(title: string, text: string, links: readonly string[] = [], head = ''): string {
  const anchors = links.map((href) => `<li><a href="${href}">see ${href}</a></li>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head>
    <body><main><h1>${title}</h1><p>${text}</p></main><footer><ul>${anchors}</ul></footer></body></html>`;
}

export const redirect =
  (to: string): Reply =>
  (_, response) => {
    response.writeHead(301, { location: to });
    response.end();
  };
