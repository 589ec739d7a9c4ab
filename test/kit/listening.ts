/** Test servers on free ports of 127.0.0.1. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

export type Listening = { port: number; url: string; close(): Promise<void> };

/** Lets a server listen on a free port. `close` also ends the open connections of an HTTP server. */
export async function listening(server: Server & { closeAllConnections?(): void }): Promise<Listening> {
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
