/**
 * Accepts, opens, keeps alive and drains all WebSockets of a process. Each kind of stream (stream.ts) decides who may
 * connect and what frames mean. The frame log (tail.ts) supplies the frames that sockets send.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer, type RawData } from 'ws';
import { createConnections, noRoom } from './connections.ts';
import { createEndings } from './endings.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createIntake } from './intake.ts';
import { isKnownCode, LiveSocket, maxFrameBytes, restartCode } from './socket.ts';
import type { ConnectRequest, StreamKind } from './stream.ts';
import { startTail } from './tail.ts';
import type { Context } from '../context.ts';
import { addressOf, networkOf } from '../http/address.ts';
import { toProblem } from '../http/errors.ts';
import { refuseRaw } from '../http/malformed.ts';

export type Live = {
  /** Whether an upgrade request is for a stream; any other is handled as an ordinary request. */
  wants(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void;
  /**
   * Accepts no further frames, sends every socket its outstanding frames, and closes it with 1012, so that its client
   * reconnects.
   */
  close(): Promise<void>;
};

export type LiveOptions = { /** 30 seconds by default. */ pingEveryMs?: number };

/** Closing takes one round trip. A client that does not respond within this time is disconnected. */
const closeTimeoutMs = 3_000;

const serverOptions = {
  noServer: true,
  WebSocket: LiveSocket,
  clientTracking: false,
  maxPayload: maxFrameBytes,
  // Compression needs a window for each socket, which takes more memory than the rest of the socket.
  perMessageDeflate: false,
  closeTimeout: closeTimeoutMs,
};

export function createLive(
  ctx: Pick<Context, 'config' | 'log'>,
  kinds: readonly StreamKind<unknown>[],
  { pingEveryMs = 30_000 }: LiveOptions = {},
): Live {
  const { config } = ctx;
  const state = { draining: false };
  const connections = createConnections(config);
  const intake = createIntake(ctx, state);
  const tail = startTail<LiveSocket>({
    log: ctx.log,
    watched: kinds.flatMap(({ streams, credentials }) => [streams, credentials]),
    ended: (collection, id) => endings.ended(collection, id),
    heard(frame) {
      for (const kind of kinds) kind.hears?.(frame);
    },
    missed() {
      for (const kind of kinds) kind.missed?.();
    },
    renewed: () => endings.missed(),
  });
  const endings = createEndings(ctx, kinds, connections, tail.followersOf);
  const stopHeartbeat = startHeartbeat(connections.open, pingEveryMs, endings.retry, (socket) => {
    if (socket.client !== undefined) socket.kind?.check(socket, socket.client);
  });
  const server = new WebSocketServer(serverOptions);
  const kindOf = (request: IncomingMessage) => kinds.find(({ path }) => path.test(splitUrl(request)[0]));

  /** Admits the client and sends its first frames. */
  async function begin(socket: LiveSocket, request: IncomingMessage): Promise<void> {
    const kind = socket.kind!;
    const asked = connectRequest(kind, request, config.trustProxy);
    const client = await kind.admit(asked);
    if (socket.readyState !== WebSocket.OPEN) return;
    connections.identify(socket, client);
    Object.assign(socket, await kind.open(socket, client, asked));
    if (socket.readyState === WebSocket.OPEN) await tail.follow(socket);
    kind.came?.(client);
    // If the socket was closed before `came` was set, `onClose` did not call `left`. So `left` is called here.
    if (socket.readyState === WebSocket.OPEN) socket.came = true;
    else kind.left?.(client);
  }

  function accept(socket: LiveSocket, request: IncomingMessage, raw: Duplex, network: string): void {
    socket.kind = kindOf(request);
    socket.raw = raw;
    socket.network = network;
    connections.add(socket);
    socket.kind!.metrics.open.inc();
    socket.on('message', on.message).on('pong', on.pong).on('close', on.close).on('error', on.error);
    socket.work = begin(socket, request).then(
      () => intake.work(socket),
      (error: unknown) => {
        const problem = toProblem(error);
        if (problem.status >= 500) ctx.log.error({ err: problem.cause }, 'a socket was not opened');
        socket.refuse(problem);
      },
    );
  }

  function onClose(socket: LiveSocket, code: number): void {
    connections.remove(socket);
    tail.unfollow(socket);
    const { kind, client } = socket;
    if (socket.came) kind!.left?.(client);
    kind!.metrics.open.dec();
    kind!.metrics.closed.inc({ code: isKnownCode(code) ? code : 'other' });
    ctx.log.info({ ...(client === undefined ? {} : kind!.logged(client)), code }, 'socket closed');
  }

  /** Event listeners that get the socket as `this`, so that thousands of sockets share them. */
  const on = {
    message(this: WebSocket, data: RawData, isBinary: boolean): void {
      intake.receive(this as LiveSocket, data, isBinary);
    },
    pong(this: WebSocket): void {
      (this as LiveSocket).missedPings = 0;
    },
    close(this: WebSocket, code: number): void {
      onClose(this as LiveSocket, (this as LiveSocket).closedWith ?? code);
    },
    // An error that breaks a connection also closes it, and the `close` listener handles that.
    error: (): void => undefined,
  };

  /** Sends a socket its outstanding frames and closes it. */
  async function drain(socket: LiveSocket): Promise<void> {
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const owed = Promise.resolve(socket.work).then(() => tail.catchUp(socket));
    await Promise.race([owed, closed]);
    socket.close(restartCode, 'restart');
    await closed;
  }

  return {
    wants: (request) => request.headers.upgrade?.toLowerCase() === 'websocket' && kindOf(request) !== undefined,
    upgrade(request, raw, head) {
      const network = networkOf(addressOf(request, config.trustProxy));
      const problem = state.draining ? noRoom() : connections.full(network);
      if (problem) refuseRaw(raw, problem);
      else server.handleUpgrade(request, raw, head, (socket) => accept(socket, request, raw, network));
    },
    async close() {
      state.draining = true;
      stopHeartbeat();
      const cutOff = setTimeout(() => {
        for (const socket of connections.open) socket.terminate();
      }, config.drainSeconds * 1000);
      await Promise.all([...connections.open].map(drain));
      clearTimeout(cutOff);
      await Promise.all([tail.close(), ...kinds.map((kind) => kind.close?.())]);
    },
  };
}

/** Splits a URL at its first question mark. */
function splitUrl({ url = '' }: IncomingMessage): [path: string, query: string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function connectRequest({ path }: StreamKind<unknown>, request: IncomingMessage, trustProxy: boolean): ConnectRequest {
  const [name, query] = splitUrl(request);
  return {
    params: path.exec(name)?.groups ?? {},
    query: new URLSearchParams(query),
    origin: request.headers.origin,
    address: addressOf(request, trustProxy),
  };
}
