/** TCP ports on 127.0.0.1: which is free, and whether a server accepts connections. A port is listened on only to test it. */
import { connect, createServer } from 'node:net';

/** A free TCP port on 127.0.0.1: `preferred` if it is free, else one that the system picks. */
export async function freePort(preferred = 0): Promise<number> {
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: preferred, host: '127.0.0.1', exclusive: true }, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  } catch (error) {
    if (preferred === 0) throw error;
    return freePort();
  } finally {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  }
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
