/** TCP ports on 127.0.0.1: which is free, and whether a server accepts connections. A port is listened on only to test it. */
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * Below the ports that systems give to connections, and to servers that ask for any (Linux from 32768 on, macOS and Windows from
 * 49152 on): one that is free stays free until the server that it is for listens, which takes Java some seconds.
 */
const quietPorts = { from: 20_000, count: 12_000 };
const tries = 20;

/** A free TCP port on 127.0.0.1: `preferred` if it is free, else one that nothing else is likely to take. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred;
  for (let tried = 0; tried < tries; tried += 1) {
    const port = quietPorts.from + randomInt(quietPorts.count);
    if (await isFree(port)) return port;
  }
  throw new Error(`None of ${tries} ports of 127.0.0.1 was free.`);
}

/** Whether a server accepts connections on this port of 127.0.0.1. */
export async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const settle = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(1000, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** Whether this port of this address is free. */
export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
