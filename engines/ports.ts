/** TCP ports on 127.0.0.1: finds a free one, and tests whether a server accepts connections. */
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

/**
 * These ports are below the ephemeral ports (from 32768 on Linux, from 49152 on macOS and Windows) that the system
 * gives to outgoing connections. So a free port stays free until its server listens, which takes Java some seconds.
 */
const quietPorts = { from: 20_000, count: 12_000 };
const tries = 20;

/** A free TCP port on 127.0.0.1: `preferred` if that is free, otherwise one that no other program is likely to take. */
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

export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
