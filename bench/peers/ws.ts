/**
 * The server that the `chat` benchmark compares this system's sockets with: a bare `ws` server that sends a welcome and
 * listens.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', () => undefined);
  socket.send('{"type":"welcome"}');
});
await once(server, 'listening');
process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
process.on('SIGTERM', () => process.exit(0));
