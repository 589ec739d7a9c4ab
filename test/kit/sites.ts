/**
 * Loopback sites for crawls, with pages by path, each as HTML text or as a function of the request. A site counts every
 * request.
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
  /**
   * The pages by path, which may be changed while the site runs. A missing path is answered with 404, and `*` stands
   * for all paths.
   */
  pages: Record<string, Reply>;
  /** The number of requests by path. */
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

/**
 * Listens on a port that no site of this run has used, because a worker caches the robots rules and pauses of an origin
 * for an hour.
 */
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

/** Reserves a port. Returns false when a site of this run has used it. */
async function isNew(port: number): Promise<boolean> {
  try {
    await writeFile(join(process.env['TEST_PORTS']!, String(port)), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Starts sites. Each is closed when the test that started it ends. Call this where hooks may be registered. */
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
