/** A simulated Internet for the process that calls this function. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Resolver } from 'node:dns';
import type { Lookup } from '../../clients/http/http.ts';

/**
 * Redirects connections of this process to `address` to 127.0.0.1, and refuses connections that would leave the
 * machine. It replaces the system call, below all code that checks addresses.
 */
export async function simulateInternet(address: string | undefined): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  type Handle = { connect(request: unknown, to: string, port: number): number };
  const handle = Object.getPrototypeOf((server as unknown as { _handle: Handle })._handle) as Handle;
  const { connect } = handle;
  handle.connect = function (this: Handle, request, to, port) {
    if (to !== address && !to.startsWith('127.')) throw new Error(`a test tried to reach ${to}`);
    return connect.call(this, request, to === address ? '127.0.0.1' : to, port);
  };
  server.close();
}

/** Queries the name server at this port each time and ignores the hosts file of the system. */
export function lookupAt(port: number | string): Lookup {
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${port}`]);
  return (hostname, _, callback) => {
    resolver.resolve4(hostname, (error, addresses) =>
      callback(error, error ? [] : addresses.map((address) => ({ address, family: 4 }))),
    );
  };
}
