/** Test servers on free ports of 127.0.0.1. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';

export type Listening = { port: number; url: string; close(): Promise<void> };
type AnyServer = Server & { closeAllConnections?(): void };

/** Lets a server listen on a free port. `close` also ends the open connections of an HTTP server. */
export async function listening(server: AnyServer): Promise<Listening> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections?.();
      await closed;
    },
  };
}

/**
 * Serves HTTP on a free port, or through `server`. `handle` gets the body of each request as text. When it fails, the
 * connection breaks.
 */
export function serving(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void | Promise<void>,
  server: AnyServer = createServer(),
): Promise<Listening> {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    text(request)
      .then((body) => handle(request, response, body))
      .catch(() => response.destroy());
  });
  return listening(server);
}

/** Answers with this value as JSON; without a value, with an empty body. */
export function json(
  response: ServerResponse,
  status: number,
  value?: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
