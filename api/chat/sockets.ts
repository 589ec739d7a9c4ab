/**
 * The chat's WebSockets of a process: who may connect, how long they stay, and how they leave. Everything a socket shows comes
 * from the frame log by api/chat/tail.ts; what a client sends is api/chat/frames.ts's.
 */
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer, type RawData } from 'ws';
import { addressOf, networkOf } from '../http/address.ts';
import type { SessionPrincipal } from '../access/auth.ts';
import { chosenConversation } from './conversation.ts';
import { createFrameTaker } from './frames.ts';
import { ChatSocket, isOurs, RESTART } from './socket.ts';
import type { Context } from '../context.ts';
import { maxFrameBytes } from '../contract/chat.ts';
import { createDoor, type Entered, type Pass } from './admission.ts';
import { errorBody, toProblem } from '../http/errors.ts';
import { greet } from './greeting.ts';
import { createLimiter } from '../http/limits.ts';
import type { SocketMetrics } from '../http/metrics.ts';
import { startTail } from './tail.ts';
import { newId } from '../../models/base/ids.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { endedAmong, findSession } from '../../models/access/session.ts';

export type Sockets = {
  /** Whether a request that asks for an upgrade is for the chat; the others are ordinary requests. */
  wants(request: IncomingMessage): boolean;
  upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void;
  /** Takes no frames any more, sends every socket what it is owed, and has it come back: close code 1012. */
  close(): Promise<void>;
};

/** Tabs of one customer; more are a mistake. Counted in each process. */
const SOCKETS_PER_SESSION = 10;
/** Of any type, a socket and minute; `messages` are counted by themselves. */
const FRAMES_PER_MINUTE = 300;
/** Frames that arrived in one piece while another was dealt with. */
const MAX_QUEUED = 100;
/** Closing takes one round trip; who does not answer is cut off, in ms. */
const CLOSE_TIMEOUT_MS = 3_000;
/** Two missed pings in a row end a connection. */
const MISSED_PINGS = 2;
const SWEEP_MS = 1_000;

const path = /^\/v1\/support\/chat\/ws\/([\w-]{1,100})(?:\?(.*))?$/s;

const serverOptions = {
  noServer: true,
  WebSocket: ChatSocket,
  clientTracking: false,
  maxPayload: maxFrameBytes,
  // What is compressed needs a window a socket, which is more than all else that a socket needs.
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

export type SocketOptions = { /** 30 seconds unless told. */ pingEveryMs?: number };

export function createSockets(
  ctx: Context,
  metrics: SocketMetrics,
  { pingEveryMs = 30_000 }: SocketOptions = {},
): Sockets {
  const { config } = ctx;
  const limit = createLimiter(config);
  const door = createDoor(ctx, limit);
  const takeFrame = createFrameTaker(ctx, metrics, limit);
  const open = new Set<ChatSocket>();
  /** How many of the open ones come from a network. */
  const fromNetwork = new Map<string, number>();
  /** Lists, since most have one: a set of one takes several times as much. */
  const bySession = new Map<string, ChatSocket[]>();
  const state = { draining: false };
  /** Whether the end of a session may have been missed. */
  let doubtful = false;

  const tail = startTail({
    log: ctx.log,
    ended: endSession,
    renewed: () => {
      doubtful = true;
      void recheck();
    },
  });
  const server = new WebSocketServer(serverOptions);

  function endSession(sessionId: string): void {
    for (const socket of bySession.get(sessionId)?.slice() ?? []) socket.refuse(endedSession());
  }

  /** Looks for sessions that ended while nobody listened. */
  async function recheck(): Promise<void> {
    try {
      for (const sessionId of await endedAmong([...bySession.keys()])) endSession(sessionId);
      doubtful = false;
    } catch (error) {
      ctx.log.warn({ err: error }, 'sessions were not looked at; they are again in a second');
    }
  }

  /** One timer for all sockets: pings, sessions that expire, embeds that are no longer let in. */
  const sweep = setInterval(
    () => {
      const now = ctx.clock();
      const monotonic = performance.now();
      if (doubtful) void recheck();
      for (const socket of open) {
        if (socket.customer && socket.customer.expiresAt <= now) void expire(socket, socket.customer);
        if (socket.customer && socket.pass) void lookAgain(socket, socket.customer, socket.pass);
        if (monotonic - socket.pingedAt < pingEveryMs) continue;
        socket.pingedAt = monotonic;
        if (socket.missedPings >= MISSED_PINGS) socket.terminate();
        else if (socket.readyState === WebSocket.OPEN) socket.ping();
        socket.missedPings += 1;
      }
    },
    Math.min(SWEEP_MS, pingEveryMs),
  );
  sweep.unref();

  /** An embed's session is prolonged by each connection, so its record says whether it is over. */
  async function expire(socket: ChatSocket, customer: SessionPrincipal): Promise<void> {
    socket.customer = { ...customer, expiresAt: new Date(customer.expiresAt.getTime() + 5 * SWEEP_MS) };
    try {
      const session = await findSession(customer.orgId, customer.sessionId);
      if (session && session.expires_at > ctx.clock()) socket.customer = { ...customer, expiresAt: session.expires_at };
      else socket.refuse(endedSession());
    } catch (error) {
      ctx.log.warn({ err: error }, 'a session was not looked at; it is again in a moment');
    }
  }

  /** An embed's key, origin or secret may have been taken back since it came in. */
  async function lookAgain(socket: ChatSocket, customer: SessionPrincipal, pass: Pass): Promise<void> {
    try {
      await door.lookAgain(customer, pass);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.status < 500) socket.refuse(problem);
      else ctx.log.warn({ err: error }, 'an embed was not looked at; it is again in a minute');
    }
  }

  function register(socket: ChatSocket, { customer, pass }: Entered): void {
    const siblings = bySession.get(customer.sessionId);
    if (siblings && siblings.length >= SOCKETS_PER_SESSION) {
      throw new Problem('RATE_LIMITED', { message: `A session may have ${SOCKETS_PER_SESSION} sockets; close one.` });
    }
    socket.customer = customer;
    socket.pass = pass;
    if (siblings) siblings.push(socket);
    else bySession.set(customer.sessionId, [socket]);
  }

  function unregister(socket: ChatSocket): void {
    open.delete(socket);
    tail.unfollow(socket);
    const { customer, network } = socket;
    const others = (fromNetwork.get(network) ?? 1) - 1;
    if (others > 0) fromNetwork.set(network, others);
    else fromNetwork.delete(network);
    const siblings = customer && bySession.get(customer.sessionId);
    if (!siblings?.includes(socket)) return;
    if (siblings.length === 1) bySession.delete(customer!.sessionId);
    else siblings.splice(siblings.indexOf(socket), 1);
  }

  /** From the handshake to the first frames. */
  async function begin(socket: ChatSocket, request: IncomingMessage): Promise<void> {
    const [, orgId = '', asked] = path.exec(request.url ?? '') ?? [];
    const query = new URLSearchParams(asked);
    const { origin } = request.headers;
    const entered = await door.enter({ orgId, query, origin, address: addressOf(request, config.trustProxy) });
    if (socket.readyState !== WebSocket.OPEN) return;
    register(socket, entered);
    const { customer } = entered;
    const choose = () => chosenConversation(customer, query.get('conv_id') ?? undefined, ctx.clock());
    const [session, found] = await Promise.all([
      // Credentials are believed for half a second; a revocation in it was heard of before this socket was there to hear.
      findSession(customer.orgId, customer.sessionId),
      choose(),
    ]);
    if (!session || session.revoked_at) throw endedSession();
    let chosen = found;
    // An empty one may have made place for one that was taken up again; one that was asked for is then not found.
    while (!(await greet(socket, chosen, readNumber(query.get('resume_from'))))) chosen = await choose();
    // The customer's own words for the rest, which are held anyway.
    socket.conversation = { _id: chosen._id, org_id: customer.orgId, mode: customer.mode };
    if (socket.readyState === WebSocket.OPEN) await tail.follow(socket);
  }

  /** Deals with what is queued, one frame after the other. Never rejects. */
  async function work(socket: ChatSocket): Promise<void> {
    while (!state.draining && socket.readyState === WebSocket.OPEN) {
      const text = socket.queue?.shift();
      if (text === undefined) break;
      await takeFrame(socket, text);
    }
    socket.queue = undefined;
    socket.work = undefined;
    socket.resume();
  }

  function onMessage(socket: ChatSocket, data: RawData, isBinary: boolean): void {
    socket.missedPings = 0;
    if (state.draining || socket.readyState !== WebSocket.OPEN) return;
    if (isBinary) {
      socket.refuseFrame('BINARY_FRAME', 'Frames are text.');
      return;
    }
    const queue = (socket.queue ??= []);
    if (isFlood(socket) || queue.length >= MAX_QUEUED) {
      socket.refuse(new Problem('RATE_LIMITED', { message: 'Too many frames; connect again in a minute.' }));
      return;
    }
    queue.push((data as Buffer).toString('utf8'));
    if (socket.work) socket.pause();
    else socket.work = work(socket);
  }

  function onClose(socket: ChatSocket, code: number): void {
    unregister(socket);
    metrics.open.dec();
    metrics.closed.inc({ code: isOurs(code) ? code : 'other' });
    const { customer } = socket;
    ctx.log.info({ org_id: customer?.orgId, session_id: customer?.sessionId, code }, 'chat socket closed');
  }

  /** What a socket tells, as `this`: thousands of them share these, and none holds a function of its own. */
  const heard = {
    message(this: WebSocket, data: RawData, isBinary: boolean): void {
      onMessage(this as ChatSocket, data, isBinary);
    },
    pong(this: WebSocket): void {
      (this as ChatSocket).missedPings = 0;
    },
    close(this: WebSocket, code: number): void {
      onClose(this as ChatSocket, code);
    },
    // What breaks a connection also closes it.
    error: (): void => undefined,
  };

  function listen(socket: ChatSocket): void {
    socket.on('message', heard.message).on('pong', heard.pong).on('close', heard.close).on('error', heard.error);
  }

  /** Why nobody of this network can be let in just now. */
  function noRoom(network: string): Problem | undefined {
    if (state.draining || open.size >= config.maxSockets) {
      return new Problem('UNAVAILABLE', {
        message: 'This process takes no further sockets; try again.',
        headers: { 'Retry-After': '5' },
      });
    }
    if ((fromNetwork.get(network) ?? 0) < config.socketsPerAddress) return undefined;
    return new Problem('RATE_LIMITED', {
      message: `An address may have ${config.socketsPerAddress} sockets; close one.`,
      headers: { 'Retry-After': '30' },
    });
  }

  function accept(socket: ChatSocket, request: IncomingMessage, raw: Duplex, network: string): void {
    socket.raw = raw;
    socket.metrics = metrics;
    socket.network = network;
    open.add(socket);
    fromNetwork.set(network, (fromNetwork.get(network) ?? 0) + 1);
    metrics.open.inc();
    listen(socket);
    socket.work = begin(socket, request).then(
      () => work(socket),
      (error: unknown) => {
        const problem = toProblem(error);
        if (problem.status >= 500) ctx.log.error({ err: problem.cause }, 'a chat socket did not begin');
        socket.refuse(problem);
      },
    );
  }

  return {
    wants: (request) => request.headers.upgrade?.toLowerCase() === 'websocket' && path.test(request.url ?? ''),
    upgrade(request, raw, head) {
      const network = networkOf(addressOf(request, config.trustProxy));
      const problem = noRoom(network);
      if (problem) refuseUpgrade(raw, problem);
      else server.handleUpgrade(request, raw, head, (socket) => accept(socket, request, raw, network));
    },
    async close() {
      state.draining = true;
      clearInterval(sweep);
      const cutOff = setTimeout(() => {
        for (const socket of open) socket.terminate();
      }, config.drainSeconds * 1000);
      await Promise.all(
        [...open].map(async (socket) => {
          const closed = new Promise((resolve) => socket.once('close', resolve));
          const owed = Promise.resolve(socket.work).then(() => tail.catchUp(socket));
          await Promise.race([owed, closed]);
          socket.close(RESTART, 'restart');
          await closed;
        }),
      );
      clearTimeout(cutOff);
      await tail.close();
    },
  };
}

/** Counts a frame; whether there were too many in this minute. */
function isFlood(socket: ChatSocket): boolean {
  const now = performance.now();
  if (now - socket.countedFrom >= 60_000) {
    socket.countedFrom = now;
    socket.frames = 0;
  }
  socket.frames += 1;
  return socket.frames > FRAMES_PER_MINUTE;
}

const endedSession = (): Problem =>
  new Problem('UNAUTHENTICATED', { message: 'This session has expired or was revoked; begin another one.' });

const readNumber = (text: string | null): number | undefined =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** Refuses before the handshake, which costs least. */
function refuseUpgrade(raw: Duplex, problem: Problem): void {
  const requestId = newId('request');
  const body = JSON.stringify(errorBody(problem, requestId));
  raw.on('error', () => raw.destroy());
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `x-request-id: ${requestId}`,
    ...Object.entries(problem.headers).map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  raw.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => raw.destroy());
}
