/**
 * The HTTP client for external addresses, against real servers on the loopback interface: refused addresses, limits,
 * and the error for each kind of bad server.
 */
import { afterEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import {
  createHttp,
  headerOf,
  type Http,
  type HttpOptions,
  type HttpResponse,
  type Lookup,
} from '../../clients/http/http.ts';
import { readBody } from '../../clients/http/body.ts';
import { BlockedAddress, checkedLookup, isPublicAddress } from '../../clients/http/connect.ts';
import { HttpError, httpReasons, type HttpReason } from '../../models/rules/base/http.ts';
import { selfSigned } from '../kit/certificate.ts';
import { defined } from '../../models/rules/base/defined.ts';

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function listen(server: Server | TcpServer, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

const serve = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}`;
/** A raw TCP server. When data arrive, `answer` writes anything to the socket. */
const serveRaw = async (answer: (socket: Socket) => void): Promise<string> =>
  `http://127.0.0.1:${await listen(createTcpServer((socket) => socket.once('data', () => answer(socket))))}`;

function client(options: Partial<HttpOptions> = {}): Http {
  const http = createHttp({ userAgent: 'TestBot/1.0 (+https://bot.example)', egressAllow: ['127.0.0.1'], ...options });
  cleanups.push(() => http.close());
  return http;
}

const failure = (asking: Promise<unknown>): Promise<HttpError> =>
  asking.then(
    () => {
      throw new Error('there was a reply');
    },
    (error: unknown) => {
      if (error instanceof HttpError) return error;
      throw error;
    },
  );
const reasonOf = async (asking: Promise<unknown>): Promise<HttpReason> => (await failure(asking)).reason;

/**
 * A DNS resolver from a table. It returns the entries of a list one after the other, the last one repeatedly, and
 * records the queries.
 */
function names(table: Record<string, string[][]>): { lookup: Lookup; asked: string[] } {
  const asked: string[] = [];
  const lookup: Lookup = (hostname, _options, callback) => {
    asked.push(hostname);
    const answers = table[hostname];
    const answer = answers && answers.length > 1 ? answers.shift() : answers?.[0];
    if (!answer) return callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    const found = answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    process.nextTick(callback, null, found);
  };
  return { lookup, asked };
}

/** Polls until `holds()` is true. Only the time limit of the test ends the wait earlier. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('private addresses', () => {
  const spellings = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'intranet',
    'db.internal',
    'printer.local',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '127.255.255.254',
    '0x7f.1',
    '0x7f000001',
    '0X7F.0.0.0x1',
    '0177.0.0.1',
    '0177.0x0.1',
    '017700000001',
    '2130706433',
    '%31%32%37.0.0.1',
    '127。0。0。1',
    '169。254。169。254',
    '①②⑦.⓪.⓪.①',
    '0',
    '0.0.0.0',
    '10.0.0.1',
    '10.1',
    '0xa000001',
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '0251.0376.0251.0376',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.168.1.1',
    '192.168.257',
    '192.175.48.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::127.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:169.254.169.254]',
    '[::ffff:8.8.8.8]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:7f00:1::]',
    '[2001:2::1]',
    '[2001:db8::1]',
    '[2620:4f:8000::1]',
    '[3fff::1]',
    '[3fff:1000::1]',
    '[100::1]',
    '[fc00::1]',
    '[fd00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[5f00::1]',
  ];
  it.each(spellings)('a request of the HTTP client to http://%s/ is refused without a DNS query', async (host) => {
    const { lookup, asked } = names({});
    const http = client({ lookup, egressAllow: [] });
    expect(await reasonOf(http.request(`http://${host}/`))).toBe('blocked_address');
    expect(await reasonOf(http.request(`https://${host}:8443/`))).toBe('blocked_address');
    expect(asked).toEqual([]);
  });

  it.each([
    ['127.0.0.1', ''],
    ['10.0.0.1', ''],
    ['169.254.169.254', ''],
    ['::1', ''],
    ['fd00:ec2::254', ''],
    ['fe80::1%eth0', ''],
    ['::ffff:127.0.0.1', ''],
    ['64:ff9b::7f00:1', ''],
    ['2002:7f00:1::', ''],
    ['0.0.0.0', ''],
    ['93.184.216.34', '127.0.0.1'],
    ['2606:2800:220:1::1', '::1'],
    ['not an address', ''],
  ])('a host name is refused when DNS gives any address for it that is not public: %s %s', async (...addresses) => {
    let connections = 0;
    const port = await listen(createTcpServer(() => void (connections += 1)));
    const { lookup } = names({ 'evil.example': [addresses.filter(Boolean)] });
    const error = await failure(client({ lookup }).request(`http://evil.example:${port}/`));
    expect(error.reason).toBe('blocked_address');
    expect(error.cause).toBeInstanceOf(BlockedAddress);
    expect(connections).toBe(0);
  });

  it('a host name that is not allowed is refused even when it resolves to an allowed address', async () => {
    const base = await serve((_, reply) => reply.end('secret'));
    const { lookup } = names({ 'evil.example': [['127.0.0.1']] });
    const http = client({ lookup, egressAllow: ['127.0.0.1'] });
    expect((await http.request(base)).body.toString()).toBe('secret');
    expect(await reasonOf(http.request(base.replace('127.0.0.1', 'evil.example')))).toBe('blocked_address');
  });

  it('an entry of EGRESS_ALLOW with a port allows only that port', async () => {
    const [first, second] = [await serve((_, reply) => reply.end('1')), await serve((_, reply) => reply.end('2'))];
    const http = client({ egressAllow: [new URL(first).host] });
    expect((await http.request(first)).body.toString()).toBe('1');
    expect(await reasonOf(http.request(second))).toBe('blocked_address');
  });

  it('a NAT64 address counts as public only when the IPv4 address inside is public', () => {
    expect(isPublicAddress('64:ff9b::808:808')).toBe(true);
    expect(isPublicAddress('64:ff9b::10.0.0.1')).toBe(false);
    expect(isPublicAddress('64:ff9b:1::808:808')).toBe(false);
  });
});

describe('DNS rebinding', () => {
  it('a host name is resolved once per connection, and the connection uses the checked address', async () => {
    const port = await listen(createServer((_, reply) => reply.end('first')));
    await listen(
      createServer((_, reply) => reply.end('second')),
      '127.0.0.2',
      port,
    );
    const { lookup, asked } = names({ 'site.example': [['127.0.0.1'], ['127.0.0.2']] });
    const http = client({ lookup, egressAllow: ['site.example'], connectionsPerOrigin: 1 });
    const read = async (headers = {}) =>
      (await http.request(`http://site.example:${port}/`, { headers })).body.toString();
    expect(await read()).toBe('first');
    expect(await read({ connection: 'close' })).toBe('first');
    expect(asked).toHaveLength(1);
    expect(await read()).toBe('second');
    expect(asked).toHaveLength(2);
  });

  it('a connection gets exactly those addresses from DNS that were checked to be public', async () => {
    const { lookup, asked } = names({ 'site.example': [['93.184.216.34', '2606:2800:220:1::1'], ['127.0.0.1']] });
    const ask = (all: boolean) =>
      new Promise((resolve) => {
        checkedLookup(lookup, isPublicAddress)('site.example', { all }, (error, ...answer) => resolve(error ?? answer));
      });
    expect(await ask(true)).toEqual([
      [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800:220:1::1', family: 6 },
      ],
    ]);
    expect(await ask(true)).toBeInstanceOf(BlockedAddress);
    expect(await ask(false)).toBeInstanceOf(BlockedAddress);
    expect(asked).toHaveLength(3);
  });

  it('each request that waits for a refused connection fails with an error that names the request’s own URL', async () => {
    const { lookup } = names({ 'evil.example': [['127.0.0.1']] });
    const http = client({ lookup, connectionsPerOrigin: 1 });
    const errors = await Promise.all(
      ['a', 'b', 'c'].map((path) => failure(http.request(`http://evil.example/${path}`))),
    );
    expect(errors.map(({ reason, url }) => [reason, url])).toEqual([
      ['blocked_address', 'http://evil.example/a'],
      ['blocked_address', 'http://evil.example/b'],
      ['blocked_address', 'http://evil.example/c'],
    ]);
  });
});

describe('request', () => {
  it('a request sends the user agent and returns status, headers, URL and body for every status', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const base = await serve((request, reply) => {
      seen.push(request.headers);
      reply.writeHead(503, { 'Retry-After': '7', 'X-Robots-Tag': ['noindex', 'nofollow'] }).end('später');
    });
    const reply = await client().request(`${base}/a?b=c#d`);
    expect(reply).toMatchObject({ status: 503, url: `${base}/a?b=c` });
    expect(reply.body.toString()).toBe('später');
    expect(headerOf(reply.headers, 'retry-after')).toBe('7');
    expect(headerOf(reply.headers, 'x-robots-tag')).toBe('noindex, nofollow');
    expect(headerOf(reply.headers, 'etag')).toBeUndefined();
    expect(seen[0]).toMatchObject({
      'user-agent': 'TestBot/1.0 (+https://bot.example)',
      'accept-encoding': 'gzip, deflate, br',
    });
  });

  it('a POST sends JSON and follows no redirect', async () => {
    const seen: unknown[] = [];
    const base = await serve(async (request, reply) => {
      seen.push([request.method, request.headers['content-type'], Buffer.concat(await request.toArray()).toString()]);
      reply.writeHead(307, { location: '/elsewhere' }).end();
    });
    const body = JSON.stringify({ event: 'ticket' });
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'Hooks/1' };
    const reply = await client().request(base, { method: 'POST', headers, body });
    expect(reply).toMatchObject({ status: 307, headers: { location: '/elsewhere' } });
    expect(seen).toEqual([['POST', 'application/json', body]]);
  });

  it('conditional headers are sent, and a reply with 304 or to HEAD has no body', async () => {
    const base = await serve((request, reply) => {
      const fresh = request.headers['if-none-match'] === '"1"';
      reply.writeHead(fresh ? 304 : 200, { etag: '"1"', 'content-encoding': 'gzip', 'content-length': 999_999_999 });
      reply.end();
    });
    const http = client();
    const unchanged = await http.request(base, { headers: { 'if-none-match': '"1"' } });
    expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
    const head = await http.request(base, { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  const text = 'Überweisung '.repeat(50_000);
  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['br', brotliCompressSync(text, { params: { 1: 4 } })],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['identity', Buffer.from(text)],
    ['identity, gzip', gzipSync(text)],
  ])('the content encoding %s is decoded', async (encoding, bytes) => {
    const base = await serve((_, reply) => {
      reply.writeHead(200, { 'content-encoding': encoding });
      // The body arrives in pieces, and the first is a single byte.
      reply.write(bytes.subarray(0, 1));
      reply.write(bytes.subarray(1, 700));
      reply.end(bytes.subarray(700));
    });
    expect((await client().request(base)).body.toString()).toBe(text);
  });

  it('a long incompressible reply that is encoded with gzip arrives completely', async () => {
    const bytes = randomBytes(6_000_000);
    const base = await serve((_, reply) => {
      reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(bytes, { level: 1 }));
    });
    expect((await client().request(base)).body.equals(bytes)).toBe(true);
  });

  it('connections to one origin are reused', async () => {
    const ports = new Set<number | undefined>();
    const base = await serve((request, reply) => {
      ports.add(request.socket.remotePort);
      reply.end('x');
    });
    const http = client({ connectionsPerOrigin: 1 });
    for (let i = 0; i < 5; i += 1) await http.request(base);
    expect(ports.size).toBe(1);
  });

  it('at most the allowed number of connections to one origin is opened', async () => {
    const waiting: (() => void)[] = [];
    let sockets = 0;
    const server = createServer((_, reply) => void waiting.push(() => reply.end('x')));
    server.on('connection', () => (sockets += 1));
    const base = `http://127.0.0.1:${await listen(server)}`;
    const http = client({ connectionsPerOrigin: 2 });
    const replies = Promise.all(Array.from({ length: 6 }, () => http.request(base)));
    for (let answered = 0; answered < 6; answered += 2) {
      await until(() => waiting.length === 2);
      for (const answer of waiting.splice(0)) answer();
    }
    await replies;
    expect(sockets).toBe(2);
  });

  it('a further origin is refused as busy while the allowed number of origins is in use', async () => {
    const [first, second] = [await serve(() => undefined), await serve((_, reply) => reply.end('x'))];
    const http = client({ maxOrigins: 1 });
    const held = reasonOf(http.request(first));
    expect(await reasonOf(http.request(second))).toBe('busy');
    await http.close();
    expect(await held).toBe('aborted');
  });

  it.each([{ Host: 'metadata.internal' }, { 'x-a': 'b\r\nx-c: d' }, { 'bad name': 'x' }])(
    'the request header %j is refused and not sent',
    async (headers) => {
      let asked = 0;
      const base = await serve((_, reply) => void ((asked += 1), reply.end()));
      expect(await reasonOf(client().request(base, { headers }))).toBe('bad_request');
      expect(asked).toBe(0);
    },
  );

  it.each(['http://u:p@127.0.0.1/', 'file:///etc/passwd', 'http://127.0.0.1:22/'])(
    'a request to %s is refused',
    async (url) => {
      expect(await reasonOf(client().request(url))).toBe('bad_url');
    },
  );

  it('a request that does not want the reply’s body ends without waiting for the end of the body', async () => {
    let ended = 0;
    const base = await serve((request, reply) => {
      reply.on('close', () => (ended += 1));
      if (request.url === '/short') return void reply.end('short');
      reply.writeHead(200, {
        'content-type': 'video/mp4',
        ...(request.url === '/long' ? { 'content-length': 1e9 } : {}),
      });
      const pump = (): void => {
        while (!reply.destroyed && reply.write(Buffer.alloc(65_536)));
      };
      reply.on('drain', pump);
      pump();
    });
    const http = client();
    for (const path of ['/long', '/endless', '/short']) {
      const reply = await http.request(base + path, { wantsBody: ({ status }) => status !== 200, maxBytes: 10 });
      expect([reply.status, reply.body.length]).toEqual([200, 0]);
    }
    await until(() => ended === 3);
  });

  it('an error that the callback wantsBody of a request throws reaches the caller', async () => {
    const base = await serve((_, reply) => reply.end('x'));
    const wantsBody = () => {
      throw new RangeError('mine');
    };
    await expect(client().request(base, { wantsBody })).rejects.toThrow('mine');
  });
});

describe('size', () => {
  it('a body of exactly the size limit is accepted, and a body one byte larger is refused', async () => {
    const base = await serve((request, reply) => reply.end('x'.repeat(Number(request.url!.slice(1)))));
    const http = client({ limits: { maxBytes: 1000 } });
    expect((await http.request(`${base}/1000`)).body.length).toBe(1000);
    expect(await reasonOf(http.request(`${base}/1001`))).toBe('too_large');
  });

  it('a content-length over the limit is refused without reading the body', async () => {
    const base = await serve((_, reply) => {
      reply.writeHead(200, { 'content-length': 5000 });
      reply.flushHeaders();
    });
    const error = await failure(client({ limits: { maxBytes: 1000 } }).request(base));
    expect([error.reason, error.bytes]).toEqual(['too_large', 0]);
  });

  it.each(['identity', 'gzip'])(
    'an endless body (content encoding %s) is refused at the size limit, and its connection is closed',
    async (encoding) => {
      let closed = false;
      const chunk = encoding === 'gzip' ? gzipSync(Buffer.alloc(65_536, 'a')) : Buffer.alloc(65_536, 'a');
      const base = await serve((_, reply) => {
        reply.writeHead(200, { 'content-encoding': encoding }).on('close', () => (closed = true));
        const pump = (): void => {
          while (!reply.destroyed && reply.write(chunk));
        };
        reply.on('drain', pump);
        pump();
      });
      const error = await failure(client({ limits: { maxBytes: 1_000_000 } }).request(base));
      expect(error.reason).toBe('too_large');
      expect(error.bytes).toBeLessThanOrEqual(1_000_000 + 65_536);
      await until(() => closed);
    },
  );

  it.each([undefined, 'gzip'])(
    'an endless body (content encoding %s) is truncated at the size limit when the caller asks for that',
    async (encoding) => {
      let closed = false;
      const text = Buffer.alloc(65_536, 'a');
      const chunk = encoding === undefined ? text : gzipSync(text);
      const base = await serve((_, reply) => {
        reply.writeHead(200, encoding === undefined ? { 'content-length': 1e9 } : { 'content-encoding': encoding });
        reply.on('close', () => (closed = true));
        const pump = (): void => {
          while (!reply.destroyed && reply.write(chunk));
        };
        reply.on('drain', pump);
        pump();
      });
      const { status, body } = await client().request(base, { maxBytes: 100_000, cut: true });
      expect([status, body.equals(Buffer.alloc(100_000, 'a'))]).toEqual([200, true]);
      await until(() => closed);
      const whole = await serve((_, reply) => void reply.end('x'.repeat(1_000)));
      expect((await client().request(whole, { maxBytes: 1_000, cut: true })).body.length).toBe(1_000);
    },
  );

  it('a gzip bomb of 1 GB is decoded only as far as the limit', async () => {
    // A gzip file may have several members: a hundred times 10 MB of zeros.
    const member = gzipSync(Buffer.alloc(10_000_000));
    const bomb = Buffer.concat(Array.from({ length: 100 }, () => member));
    const base = await serve((_, reply) => {
      reply.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length });
      reply.end(bomb);
    });
    const error = await failure(client({ limits: { maxBytes: 2_000_000 } }).request(base));
    expect(error.reason).toBe('too_large');
    expect(error.bytes).toBeGreaterThan(2_000_000);
    expect(error.bytes).toBeLessThanOrEqual(2_000_000 + 65_536);
  });

  it('nested content encodings and encodings that the client did not offer are refused', async () => {
    const twice = gzipSync(gzipSync('x'));
    const base = await serve((request, reply) => {
      reply.writeHead(200, { 'content-encoding': decodeURIComponent(request.url!.slice(1)) }).end(twice);
    });
    for (const encoding of ['gzip, gzip', 'zstd', 'compress', '__proto__', 'constructor'])
      expect([encoding, await reasonOf(client().request(`${base}/${encoding}`))]).toEqual([encoding, 'protocol']);
  });

  it.each([
    ['what is not gzip', Buffer.from('<html>not compressed at all</html>')],
    ['gzip cut short', gzipSync('x'.repeat(10_000)).subarray(0, 20)],
    ['gzip with a wrong checksum', Buffer.concat([gzipSync('x'.repeat(10_000)).subarray(0, -8), Buffer.alloc(8)])],
  ])('a reply with invalid gzip (%s) is refused', async (_, bytes) => {
    const base = await serve((_, reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes));
    expect(await reasonOf(client().request(base))).toBe('protocol');
  });

  it('a body that arrives byte by byte uses one buffer', async () => {
    const pieces = function* () {
      for (let i = 0; i < 300_000; i += 1) yield Buffer.from([i % 251]);
    };
    const options = { url: '', encoding: undefined, maxBytes: 320_000 };
    const body = await readBody(Readable.from(pieces()), options);
    expect(body).toHaveLength(300_000);
    expect(body.buffer.byteLength).toBeLessThanOrEqual(320_000);
    expect([...body.subarray(299_990)]).toEqual(Array.from({ length: 10 }, (_, i) => (299_990 + i) % 251));
  });

  it('a body is not read further while its decoder cannot keep up', async () => {
    const packed = gzipSync(randomBytes(3_000_000), { level: 0 });
    let read = 0;
    const pieces = function* () {
      for (let at = 0; at < packed.length; at += 10_000) {
        read = at;
        yield packed.subarray(at, at + 10_000);
      }
    };
    const options = { url: 'http://a.example/', encoding: 'gzip', maxBytes: 20_000 };
    const error = await failure(readBody(Readable.from(pieces()), options));
    expect([error.reason, error.url]).toEqual(['too_large', 'http://a.example/']);
    expect(read).toBeLessThan(1_000_000);
  });
});

describe('time', () => {
  it.each([
    ['never answers', () => undefined],
    ['sends its headers too slowly', (socket: Socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x-a: b\r\n')],
    ['sends only Early Hints', (socket: Socket) => drip(socket, '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
  ])('a request to a server that %s ends at the headers timeout', async (_, answer) => {
    const base = await serveRaw(answer);
    const limits = { headersTimeoutMs: 100, totalTimeoutMs: 60_000 };
    expect(await reasonOf(client({ limits }).request(base))).toBe('timed_out');
  });

  it('a request whose reply arrives slowly ends at the total timeout', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n';
    let closed = false;
    const base = await serveRaw((socket) => {
      socket.on('close', () => (closed = true));
      drip(socket, head, 'x');
    });
    const error = await failure(client({ limits: { totalTimeoutMs: 2_000 } }).request(base));
    expect(error).toMatchObject({ reason: 'timed_out', temporary: true, message: httpReasons.timed_out.message });
    expect(error.bytes).toBeGreaterThan(0);
    await until(() => closed);
  });

  it('a name server that does not answer ends the request at the headers timeout', async () => {
    const http = client({ lookup: () => undefined, limits: { headersTimeoutMs: 100 } });
    expect(await reasonOf(http.request('http://site.example/'))).toBe('timed_out');
  });

  it('all redirects of a request share one total timeout', async () => {
    let hops = 0;
    const base = await serve((_, reply) => {
      setTimeout(() => reply.writeHead(302, { location: `/${(hops += 1)}` }).end(), 60);
    });
    const http = client({ limits: { totalTimeoutMs: 400 } });
    expect(await reasonOf(http.follow(base, { maxRedirects: 100_000 }))).toBe('timed_out');
  });

  it.each(['before', 'during'] as const)('the caller can abort a request %s its run', async (when) => {
    let reached = false;
    let closed = false;
    const base = await serve((request) => {
      reached = true;
      request.socket.on('close', () => (closed = true));
    });
    const stop = new AbortController();
    if (when === 'before') stop.abort(new Error('enough'));
    const asking = failure(client().request(base, { signal: stop.signal }));
    if (when === 'during') {
      await until(() => reached);
      stop.abort(new Error('enough'));
      await until(() => closed);
    }
    expect(await asking).toMatchObject({ reason: 'aborted', cause: { message: 'enough' } });
    expect(reached).toBe(when === 'during');
  });

  it('a request that was aborted while it waited for a connection is never sent', async () => {
    const seen: (string | undefined)[] = [];
    const answers: (() => void)[] = [];
    const base = await serve((request, reply) => {
      seen.push(request.url);
      answers.push(() => reply.end('x'));
    });
    const http = client({ connectionsPerOrigin: 1 });
    const first = http.request(`${base}/first`);
    await until(() => answers.length === 1);
    const stop = new AbortController();
    const second = failure(http.request(`${base}/second`, { signal: stop.signal }));
    stop.abort();
    expect((await second).reason).toBe('aborted');
    answers[0]!();
    await first;
    const third = http.request(`${base}/third`);
    await until(() => answers.length === 2);
    answers[1]!();
    await third;
    expect(seen).toEqual(['/first', '/third']);
  });
});

function drip(socket: Socket, first: string, piece: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(piece), 10);
  socket.on('close', () => clearInterval(timer));
}

describe('bad servers', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  it.each<[string, HttpReason, (socket: Socket) => void]>([
    ['closes without an answer', 'connection', (socket) => socket.end()],
    ['resets the connection', 'connection', (socket) => socket.resetAndDestroy()],
    ['ends before its length', 'connection', (socket) => socket.end(`${ok}content-length: 10\r\n\r\nabc`)],
    ['ends within a chunk', 'connection', (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\na\r\nabc`)],
    ['speaks another protocol', 'protocol', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    ['sends no status', 'protocol', (socket) => socket.end('HTTP/1.1 abc\r\n\r\n')],
    ['sends a bad chunk size', 'protocol', (socket) => socket.end(`${ok}transfer-encoding: chunked\r\n\r\nzz\r\n`)],
    ['has two lengths', 'protocol', (socket) => socket.end(`${ok}content-length: 3\r\ncontent-length: 5\r\n\r\nabcde`)],
    ['sends a negative length', 'protocol', (socket) => socket.end(`${ok}content-length: -1\r\n\r\n`)],
    ['sends a huge header', 'protocol', (socket) => socket.end(`${ok}x: ${'a'.repeat(100_000)}\r\n\r\n`)],
    ['floods headers', 'protocol', (socket) => socket.end(`${ok}${'x-a: b\r\n'.repeat(20_000)}\r\n`)],
  ])('a server that %s causes the error %s', async (_, reason, answer) => {
    const http = client({ limits: { headersTimeoutMs: 20_000 } });
    expect(await reasonOf(http.request(await serveRaw(answer)))).toBe(reason);
    // The client still works afterwards.
    const base = await serve((_, reply) => reply.end('fine'));
    expect((await http.request(base)).body.toString()).toBe('fine');
  });

  it('a closed port causes the error “connection”, and a host name without an address the error “no_host”', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const http = client({ lookup: names({ 'empty.example': [[]] }).lookup });
    expect(await reasonOf(http.request(`http://127.0.0.1:${port}/`))).toBe('connection');
    expect(await reasonOf(http.request('http://nowhere.example/'))).toBe('no_host');
    expect(await reasonOf(http.request('http://empty.example/'))).toBe('no_host');
  });

  it.each(['EAI_AGAIN', 'EAI_FAIL', 'ESERVFAIL', 'ETIMEOUT'])(
    'a name server that fails with %s causes the temporary error dns',
    async (code) => {
      const http = client({ lookup: (_, __, answer) => answer(Object.assign(new Error(code), { code }), []) });
      const error = await failure(http.request('http://slow.example/'));
      expect([error.reason, error.temporary]).toEqual(['dns', true]);
    },
  );

  it('the error for a private address names the setting that allows it, and does not contain the address', async () => {
    const http = client({ lookup: names({ 'inside.example': [['10.1.2.3']] }).lookup });
    const { message } = await failure(http.request('http://inside.example/'));
    expect(message).toContain('EGRESS_ALLOW');
    expect(message).not.toContain('10.1.2.3');
  });
});

describe('follow', () => {
  const redirecting = (table: Record<string, string>, status = 302): Promise<string> =>
    serve((request, reply) => {
      const location = table[request.url!];
      if (location === undefined) return void reply.end(`page ${request.url}`);
      // The body of a redirect is not used, so it may be long.
      reply.writeHead(status, { location }).end('moved '.repeat(1000));
    });
  const follow = (base: string, options = {}): Promise<HttpResponse> =>
    client({ limits: { maxBytes: 2000 } }).follow(base, options);

  it('follow() returns the last reply and its URL', async () => {
    const base = await redirecting({ '/a': '/b?x=1', '/b?x=1': 'c#part' });
    const reply = await follow(`${base}/a`);
    expect(reply).toMatchObject({ status: 200, url: `${base}/c` });
    expect(reply.body.toString()).toBe('page /c');
  });

  it('a Location header in raw UTF-8 is read', async () => {
    const location = Buffer.from('/über').toString('latin1');
    const reply = await follow(`${await redirecting({ '/a': location })}/a`);
    expect(new URL(reply.url).pathname).toBe('/%C3%BCber');
  });

  it.each<[string, HttpReason]>([
    ['http://169.254.169.254/latest/meta-data/', 'blocked_address'],
    ['http://[::ffff:169.254.169.254]/', 'blocked_address'],
    ['http://localhost:27017/', 'blocked_address'],
    ['//10.0.0.1/', 'blocked_address'],
    ['http://evil.example/', 'blocked_address'],
    ['file:///etc/passwd', 'bad_url'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'bad_url'],
    ['http://user:pass@example.com/', 'bad_url'],
    ['http://127.0.0.1:6379:x/', 'bad_url'],
  ])('a redirect to %s is refused with the reason %s', async (location, reason) => {
    const base = await redirecting({ '/a': '/b', '/b': location });
    const { lookup } = names({ 'evil.example': [['127.0.0.1']] });
    const error = await failure(client({ lookup }).follow(`${base}/a`));
    expect(error.reason).toBe(reason);
    expect(error.url).not.toContain(base);
  });

  it('a request stops following redirects at the limit, and at once in a loop', async () => {
    const requests: string[] = [];
    const base = await serve((request, reply) => {
      requests.push(request.url!);
      const location = request.url === '/circle' ? '/circle#again' : `/${Number(request.url!.slice(1)) + 1}`;
      reply.writeHead(301, { location }).end();
    });
    expect(await reasonOf(follow(`${base}/0`, { maxRedirects: 3 }))).toBe('too_many_redirects');
    expect(requests).toEqual(['/0', '/1', '/2', '/3']);
    expect(await reasonOf(follow(`${base}/circle`))).toBe('too_many_redirects');
    expect(requests).toHaveLength(5);
  });

  it('a 3xx reply without a Location header is returned', async () => {
    const base = await serve((request, reply) => reply.writeHead(request.url === '/300' ? 300 : 302).end('text'));
    expect((await follow(`${base}/302`)).status).toBe(302);
    expect((await follow(`${base}/300`)).body.toString()).toBe('text');
  });
});

describe('TLS', () => {
  const { cert, key } = selfSigned(['tls.example']);
  const expired = selfSigned(['tls.example'], { expired: true });
  const { lookup } = names({ 'tls.example': [['127.0.0.1']], 'other.example': [['127.0.0.1']] });
  const egressAllow = ['tls.example', 'other.example'];
  const listenTls = async (pair: { cert: string; key: string }, seen: unknown[] = []): Promise<number> =>
    await listen(
      createTlsServer(pair, (request, reply) => {
        seen.push((request.socket as TLSSocket & { servername?: string }).servername);
        reply.end('safe');
      }),
    );

  it('a TLS connection presents the requested host name (SNI) at the checked address', async () => {
    const seen: unknown[] = [];
    const port = await listenTls({ cert, key }, seen);
    const reply = await client({ lookup, egressAllow, ca: cert }).request(`https://tls.example:${port}/`);
    expect(reply.body.toString()).toBe('safe');
    expect(seen).toEqual(['tls.example']);
  });

  it.each([
    ['nobody vouches for', { cert, key }, 'tls.example', undefined],
    ['names another host', { cert, key }, 'other.example', cert],
    ['has expired', expired, 'tls.example', expired.cert],
  ])('a server certificate that %s is refused', async (_, pair, host, ca) => {
    const port = await listenTls(pair);
    const http = client({ lookup, egressAllow, ...defined({ ca }) });
    expect(await reasonOf(http.request(`https://${host}:${port}/`))).toBe('tls');
  });

  it('a server that does not speak TLS is refused', async () => {
    const base = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
    expect(await reasonOf(client().request(base.replace('http:', 'https:')))).toBe('tls');
  });

  it('a private host name is refused over TLS', async () => {
    const port = await listenTls({ cert, key });
    const http = client({ lookup, egressAllow: [], ca: cert });
    expect(await reasonOf(http.request(`https://tls.example:${port}/`))).toBe('blocked_address');
  });
});

describe('close', () => {
  it('close() aborts running requests, closes idle connections and refuses later requests', async () => {
    let open = 0;
    const server = createServer((request, reply) => {
      if (request.url === '/idle') reply.end();
      if (request.url === '/unwanted') reply.write('a');
    });
    server.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => (open -= 1));
    });
    const base = `http://127.0.0.1:${await listen(server)}`;
    const http = client();
    const hanging = failure(http.request(`${base}/hang`));
    let unwanted = 0;
    const wantsBody = () => {
      unwanted += 1;
      return false;
    };
    const drained = failure(http.request(`${base}/unwanted`, { wantsBody }));
    await http.request(`${base}/idle`);
    await until(() => open === 3 && unwanted === 1);
    await http.close();
    expect((await hanging).reason).toBe('aborted');
    expect((await drained).reason).toBe('aborted');
    await until(() => open === 0);
    expect(await reasonOf(http.request(`${base}/idle`))).toBe('aborted');
  });
});
