/**
 * A second kind of stream, served over real WebSockets by the same code as the chat: displays that follow a board. It
 * shares nothing with conversations, so its guarantees hold for the streams of every slice. Its tests run with frames
 * over MongoDB's change stream and over Redis.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';
import pino from 'pino';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createMetrics } from '../../api/http/metrics.ts';
import { createConnections } from '../../api/live/connections.ts';
import { createEndings } from '../../api/live/endings.ts';
import { createLive, type Live } from '../../api/live/live.ts';
import { canResume, resumeFromOf } from '../../api/live/resume.ts';
import { LiveSocket } from '../../api/live/socket.ts';
import type { StreamKind } from '../../api/live/stream.ts';
import type { Config } from '../../config.ts';
import { startRedis, type RedisServer } from '../../engines/redis.ts';
import { connectMongo, disconnectMongo } from '../../models/base/connect.ts';
import { connectRedis, disconnectRedis, redis } from '../../models/base/redis.ts';
import { frameWriter, lastSeq, nextFrames } from '../../models/live/frame.ts';
import { Problem } from '../../models/rules/base/errors.ts';
import { until } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';

type Record = { _id: string; org_id?: string; taken_back?: boolean };
type Display = { badge: string };
const boards = () => mongoose.connection.collection<Record>('boards');
const badges = () => mongoose.connection.collection<Record>('badges');
const clientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('echo'), text: z.string().max(10) }),
  z.strictObject({ type: z.literal('fail') }),
]);

/** A kind of stream, declared as a slice does it: displays present a badge and follow a board. */
const boardStreams: StreamKind<Display, z.infer<typeof clientFrame>> = {
  path: /^\/boards\/(?<board>\w{1,40})$/,
  metrics: createMetrics().sockets.chat,
  streams: { collection: 'boards', ended: () => new Problem('NOT_FOUND', { message: 'The board is gone.' }) },
  credentials: {
    collection: 'badges',
    endedBy: 'taken_back',
    ended: () => new Problem('UNAUTHENTICATED', { message: 'The badge was taken back.' }),
    of: ({ badge }) => badge,
    maxSockets: 2,
    async endedAmong(ids) {
      const found = await badges()
        .find({ _id: { $in: [...ids] } })
        .toArray();
      const stands = new Set(found.filter((one) => !one.taken_back).map(({ _id }) => _id));
      return ids.filter((id) => !stands.has(id));
    },
  },
  async admit({ query }) {
    const badge = await badges().findOne({ _id: query.get('badge') ?? '' });
    if (!badge || badge.taken_back) throw new Problem('UNAUTHENTICATED', { message: 'No such badge.' });
    return { badge: badge._id };
  },
  async open(socket, _, { params, query }) {
    const board = await boards().findOne({ _id: params['board']! });
    if (!board) throw new Problem('NOT_FOUND', { message: 'No such board.' });
    const stream = { orgId: board.org_id!, stream: board._id };
    const [last, from] = [await lastSeq(stream), resumeFromOf(query)];
    socket.seq = from !== undefined && (await canResume(stream, from, last)) ? from : last;
    socket.tell('welcome', { board: board._id });
    return stream;
  },
  frame: clientFrame,
  async take(socket, { badge }, frame) {
    if (frame.type === 'fail') throw new Problem('CONFLICT', { message: 'Not now.' });
    socket.tell('echo', { text: frame.text, badge });
  },
  logged: ({ badge }) => ({ badge }),
  check: () => undefined,
};

/**
 * The frames of an organization that reach the process while a socket follows the stream named by the organization's
 * id.
 */
const heard: string[] = [];
let missed = 0;
const wallStreams: StreamKind<Display> = {
  ...boardStreams,
  path: /^\/walls\/(?<wall>\w{1,40})$/,
  streams: { collection: 'walls', ended: () => new Problem('NOT_FOUND', { message: 'The wall is gone.' }) },
  open: async (socket, _, { params }) => {
    socket.tell('welcome', {});
    return { orgId: params['wall']!, stream: params['wall']! };
  },
  frame: z.discriminatedUnion('type', [z.object({ type: z.literal('none') })]),
  take: async () => undefined,
  hears: ({ org_id, stream, seq }) => void heard.push(`${org_id} ${stream} ${seq}`),
  missed: () => (missed += 1),
};

let redisServer: RedisServer | undefined;
let server: Server;
let live: Live;
let url: string;
const config = { maxSockets: 100, socketsPerAddress: 50, trustProxy: true, drainSeconds: 5 } as Config;
const rawSockets = new Set<Socket>();

async function start(over: 'MongoDB' | 'Redis'): Promise<void> {
  const uri = new URL(process.env['TEST_MONGODB_URI']!);
  uri.pathname = `/livestreams${over}`;
  await connectMongo(uri.href);
  if (over === 'Redis') {
    redisServer = await startRedis({ report: () => undefined });
    connectRedis(redisServer.url, () => undefined);
  }
  live = createLive({ config, log: pino({ level: 'silent' }) }, [boardStreams, wallStreams]);
  server = createServer({ shouldUpgradeCallback: live.wants }, (_, res) => res.writeHead(404).end());
  server.on('upgrade', live.upgrade);
  server.on('connection', (socket) => {
    rawSockets.add(socket);
    socket.once('close', () => rawSockets.delete(socket));
  });
  url = `ws://127.0.0.1:${(await listening(server)).port}`;
}
async function stop(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await live.close();
  await closed;
  disconnectRedis();
  await redisServer?.stop();
  redisServer = undefined;
  await disconnectMongo();
}

let made = 0;
/** Creates a board with a writer for its log, and a badge. */
async function newBoard(orgId = 'org_1') {
  const [board, badge] = [`board${(made += 1)}`, `badge${made}`];
  await boards().insertOne({ _id: board, org_id: orgId });
  await badges().insertOne({ _id: badge });
  const writer = frameWriter({ orgId, stream: board, keptUntil: () => ({}) }, () => new Date());
  const show = (n: number) => writer.append({ type: 'line', body: { n } });
  return { board, badge, show };
}

type Told = { type: string; seq: number; [member: string]: unknown };
/** Connects a display and records every frame and how the connection ended. */
function connect(path: string, headers: { [name: string]: string } = {}) {
  const socket = new WebSocket(`${url}${path}`, { headers });
  const frames: Told[] = [];
  const state: { code?: number; reason?: string; refused?: number } = {};
  socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString('utf8')) as Told));
  socket.on('close', (code, reason) => Object.assign(state, { code, reason: reason.toString() }));
  socket.on('unexpected-response', (request, { statusCode }) => {
    state.refused = statusCode!;
    request.destroy();
  });
  socket.on('error', () => undefined);
  const shown = () => frames.filter(({ type }) => type === 'line').map(({ seq, n }) => [seq, n]);
  const first = (type: string) => until(async () => frames.find((frame) => frame.type === type), `the frame ${type}`);
  const closed = () => until(async () => state.code, 'the connection to end');
  return { socket, frames, state, shown, first, closed };
}
const follow = async (board: string, badge: string, query = '') => {
  const display = connect(`/boards/${board}?badge=${badge}${query}`);
  await display.first('welcome');
  return display;
};
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => [from + i, from + i]);

describe('a socket', () => {
  it('the frame rate of a socket is counted from the creation of the socket, not from the start of the process', () => {
    const before = performance.now();
    // The test constructs the socket as the `ws` server does.
    const socket = new LiveSocket(...([null, undefined, {}] as unknown as [null]));
    expect(socket.countedFrom).toBeGreaterThanOrEqual(before);
  });
});

describe('a credential that several people share', () => {
  it('a person whose share of a credential has its most sockets cannot keep the others of that credential out', () => {
    type Person = Display & { role: string };
    const kind = {
      ...wallStreams,
      credentials: { ...boardStreams.credentials, share: ({ role }: Person) => role },
    } as unknown as StreamKind<Person>;
    const connections = createConnections(config);
    const come = (role: string) => {
      const socket = { kind, stream: '', network: '192.0.2.1' } as unknown as LiveSocket<Person>;
      connections.identify(socket, { badge: 'shared', role });
      return socket;
    };
    const guests = [come('guest'), come('guest')];
    expect(() => come('guest')).toThrow('At most 2 sockets');
    const host = come('host');
    connections.remove(guests[0]!);
    come('guest');
    expect(() => come('guest')).toThrow('At most 2 sockets');
    // The sockets of all shares end with their credential.
    expect(connections.of(kind, 'shared')).toContain(host);
    expect(connections.of(kind, 'shared')).toHaveLength(3);
  });
});

describe('a change stream that was down', () => {
  it('once a broken change stream is back, sockets of streams that were removed meanwhile are closed, even after a failed search', async () => {
    const refused: string[] = [];
    let searches = 0;
    const kind: StreamKind<Display, z.infer<typeof clientFrame>> = {
      ...boardStreams,
      streams: {
        ...boardStreams.streams,
        async endedAmong(streams) {
          searches += 1;
          if (searches === 1) throw new Error('MongoDB is away');
          return streams.map(({ stream }) => stream).filter((stream) => stream === 'removed');
        },
      },
      credentials: { ...boardStreams.credentials, endedAmong: async () => [] },
    };
    const connections = createConnections(config);
    // A socket follows no stream while it is being opened.
    const sockets = ['removed', 'standing', ''].map((stream) => {
      const refuse = ({ code }: Problem) => void refused.push(`${stream} ${code}`);
      return { kind, stream, network: '192.0.2.1', refuse } as unknown as LiveSocket;
    });
    for (const socket of sockets) connections.add(socket);
    const followersOf = (stream: string) => sockets.filter((socket) => socket.stream === stream);
    const endings = createEndings({ log: pino({ level: 'silent' }) }, [kind], connections, followersOf);
    endings.missed();
    await until(async () => searches === 1, 'the first search');
    expect(refused).toEqual([]);
    endings.retry();
    await until(async () => refused.length > 0, 'a socket to be closed');
    expect(refused).toEqual(['removed NOT_FOUND']);
  });
});

describe.each(['MongoDB', 'Redis'] as const)('frames over %s', (over) => {
  beforeAll(() => start(over));
  afterAll(stop);

  describe('a stream of another kind than conversations', () => {
    it('each client that follows a stream gets the frames of that stream in order, and no others', async () => {
      const [one, other] = [await newBoard(), await newBoard()];
      const displays = [await follow(one.board, one.badge), await follow(one.board, one.badge)];
      const elsewhere = await follow(other.board, other.badge);
      for (let n = 1; n <= 30; n += 1) await one.show(n);
      await other.show(1);
      for (const { shown } of displays) {
        await until(async () => shown().length === 30, 'the frames to come');
        expect(shown()).toEqual(lines(1, 30));
      }
      await until(async () => elsewhere.shown().length > 0, 'the frame to come');
      expect(elsewhere.shown()).toEqual([[1, 1]]);
    });

    it('a client that returns to a stream gets each missed frame once, and then new frames', async () => {
      const { board, badge, show } = await newBoard();
      for (let n = 1; n <= 50; n += 1) await show(n);
      const display = await follow(board, badge, '&resume_from=7');
      expect(display.frames[0]).toEqual({ type: 'welcome', seq: 7, board });
      await show(51);
      await until(async () => display.shown().length === 44, 'the frames to come');
      expect(display.shown()).toEqual(lines(8, 51));
    });

    it('a client whose resume number is not part of the stream starts at the end of the stream', async () => {
      const { board, badge, show } = await newBoard();
      await show(1);
      const display = await follow(board, badge, '&resume_from=40');
      expect(display.frames[0]).toEqual({ type: 'welcome', seq: 1, board });
    });

    it('a client’s frame that is refused is answered with an error frame, and the connection stays open', async () => {
      const { board, badge } = await newBoard();
      const { socket, frames, first } = await follow(board, badge);
      for (const frame of [{ type: 'fail' }, { type: 'echo', text: 'x'.repeat(11) }, { type: 'echo', text: 'hello' }]) {
        socket.send(JSON.stringify(frame));
      }
      expect(await first('echo')).toEqual({ type: 'echo', seq: 0, text: 'hello', badge });
      expect(frames.filter(({ type }) => type === 'error').map(({ code }) => code)).toEqual(['CONFLICT', 'VALIDATION']);
    });

    it('a client that reads too slowly is disconnected, and the other clients get every frame', async () => {
      const { board, badge, show } = await newBoard();
      const before = new Set(rawSockets);
      const slow = await follow(board, badge);
      const [connection] = [...rawSockets].filter((socket) => !before.has(socket));
      const quick = await follow(board, badge);
      slow.socket.pause();
      const writer = frameWriter({ orgId: 'org_1', stream: board, keptUntil: () => ({}) }, () => new Date());
      let sent = 0;
      // Sends until the slow reader is disconnected: as much as the network buffers, plus a megabyte.
      await until(async () => {
        await writer.append({ type: 'line', body: { n: (sent += 1), text: 'x'.repeat(500_000) } });
        // Frames that all arrive at once would make every reader count as slow.
        await until(async () => quick.shown().length === sent, 'the frame to come');
        return connection!.destroyed;
      }, 'the slow reader to be dropped');
      await show(sent + 1);
      await until(async () => quick.shown().length === sent + 1, 'the frames to come');
      expect(quick.shown()).toEqual(lines(1, sent + 1));
      slow.socket.resume();
      expect(await slow.closed()).toBe(1006);
    });
  });

  it('while a socket follows an organization as a whole, its process gets the frames of all streams of that organization', async () => {
    const { badge } = await newBoard();
    const orgId = `org_heard${badge}`;
    await connect(`/walls/${orgId}?badge=${badge}`).first('welcome');
    await until(async () => (await watchers()) >= 1, 'the process to listen');
    const boardsOf = [await newBoard(orgId), await newBoard(orgId)];
    for (const { show } of boardsOf) await show(1);
    const wanted = boardsOf.map(({ board }) => `${orgId} ${board} 1`);
    await until(async () => wanted.every((one) => heard.includes(one)), 'the frames to be heard');
    expect(heard.filter((one) => one.startsWith(orgId))).toHaveLength(2);

    async function watchers(): Promise<number> {
      const numbers = await redis()?.pubsub('NUMSUB', `${mongoose.connection.name}:frames:${orgId}`);
      return numbers === undefined ? 1 : Number(numbers[1]);
    }
  });

  if (over === 'MongoDB')
    it('the search for streams that go on reads one frame of each, however many frames the streams have', async () => {
      const orgId = 'org_long';
      for (const stream of ['long', 'read']) {
        const writer = frameWriter({ orgId, stream, keptUntil: () => ({}) }, () => new Date());
        await writer.appendAll(Array.from({ length: 300 }, () => ({ type: 'line' })));
      }
      const places = [
        { orgId, stream: 'long', seq: 100 },
        { orgId, stream: 'read', seq: 300 },
        { orgId, stream: 'empty', seq: 0 },
      ];
      const db = mongoose.connection.db!;
      await db.command({ profile: 2 });
      const next = await nextFrames(places);
      await db.command({ profile: 0 });
      expect(next).toEqual([{ stream: 'long', seq: 101 }]);
      const profiled = await db.collection('system.profile').find().toArray();
      const searches = profiled.filter((one) => one['op'] === 'query' && one['ns'] === `${db.databaseName}.frames`);
      expect(searches.map((one) => one['docsExamined'])).toEqual([1]);
      // The index has one entry for each place, and the search may look at the entry behind it.
      expect(searches[0]!['keysExamined']).toBeLessThanOrEqual(2 * places.length);
    });

  describe('refusals of a stream', () => {
    it.each([
      ['text that is no JSON', 'hello', 'MALFORMED_JSON'],
      ['a frame of a type that it does not know', JSON.stringify({ type: 'message', body: 'x' }), 'UNKNOWN_TYPE'],
      ['a binary frame', Buffer.from('{}'), 'BINARY_FRAME'],
      ['a frame that is too large', JSON.stringify({ type: 'echo', text: 'x'.repeat(70_000) }), 'TOO_LARGE'],
    ])('a stream closes the connection with 4400 for %s', async (_, data, code) => {
      const { board, badge } = await newBoard();
      const { socket, state, first, closed } = await follow(board, badge);
      socket.send(data);
      expect(await first('error')).toMatchObject({ code });
      expect([await closed(), state.reason]).toEqual([4400, code]);
    });

    it('the socket of a client without access is closed with 4401, and a socket to an unknown stream with 4404', async () => {
      const { badge } = await newBoard();
      const stranger = connect('/boards/nowhere?badge=none');
      const lost = connect(`/boards/nowhere?badge=${badge}`);
      expect([await stranger.closed(), stranger.state.reason]).toEqual([4401, 'UNAUTHENTICATED']);
      expect([await lost.closed(), lost.state.reason]).toEqual([4404, 'NOT_FOUND']);
    });

    it('a socket is closed with 4429 when its credential has reached its limit of sockets', async () => {
      const { board, badge } = await newBoard();
      await follow(board, badge);
      await follow(board, badge);
      const third = connect(`/boards/${board}?badge=${badge}`);
      expect([await third.closed(), third.state.reason]).toEqual([4429, 'RATE_LIMITED']);
    });

    it('a socket is refused with 429 before the handshake when its IP address has reached its limit of sockets', async () => {
      const headers = { 'x-forwarded-for': '203.0.113.7' };
      const { board } = await newBoard();
      for (let n = 0; n < config.socketsPerAddress; n += 1) {
        const badge = `crowd${n}`;
        await badges().insertOne({ _id: badge });
        await connect(`/boards/${board}?badge=${badge}`, headers).first('welcome');
      }
      const { state } = connect(`/boards/${board}?badge=crowd0`, headers);
      await until(async () => state.refused !== undefined, 'the refusal');
      expect(state.refused).toBe(429);
    });

    it('sockets of a revoked credential are closed with 4401, and those of a removed stream with 4404', async () => {
      const [one, other] = [await newBoard(), await newBoard()];
      const [barred, orphan] = [await follow(one.board, one.badge), await follow(other.board, other.badge)];
      const bystander = await follow(one.board, other.badge);
      await badges().updateOne({ _id: one.badge }, { $set: { taken_back: true } });
      await boards().deleteOne({ _id: other.board });
      expect([await barred.closed(), await orphan.closed()]).toEqual([4401, 4404]);
      await one.show(1);
      await until(async () => bystander.shown().length === 1, 'the frame to come');
    });

    it('a connection to a URL that belongs to no stream is refused with 404', async () => {
      const { state } = connect('/elsewhere');
      await until(async () => state.refused !== undefined, 'the answer');
      expect(state.refused).toBe(404);
    });
  });

  if (over === 'Redis')
    it('clients get frames from the log while Redis is down, and no frame is lost or doubled when Redis comes back', async () => {
      const { board, badge, show } = await newBoard();
      const display = await follow(board, badge);
      const shown = (count: number) => until(async () => display.shown().length === count, `${count} frames`);
      for (let n = 1; n <= 20; n += 1) await show(n);
      await shown(20);
      const { port } = redisServer!;
      redisServer!.child.kill();
      await redisServer!.stop();
      for (let n = 21; n <= 40; n += 1) await show(n);
      // A display that connects meanwhile gets every frame too.
      const late = await follow(board, badge, '&resume_from=0');
      await shown(40);
      const before = missed;
      redisServer = await startRedis({ port, report: () => undefined });
      for (let n = 41; n <= 60; n += 1) await show(n);
      await until(async () => missed > before && redis()?.status === 'ready', 'Redis to be used again');
      for (let n = 61; n <= 80; n += 1) await show(n);
      await shown(80);
      expect(display.shown()).toEqual(lines(1, 80));
      await until(async () => late.shown().length === 80, 'the frames to come');
      expect(late.shown()).toEqual(lines(1, 80));
    });
});
