/**
 * Bad files, names and requests, sent to the real API and workers: each is refused or fails with a reason, and later
 * requests are unaffected.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MongoClient } from 'mongodb';
import { openClient } from '../kit/database.ts';
import { binaryText, germanText, pdf, png, tooLargeText, wideCsv, windows1252Text } from '../kit/badfiles.ts';
import { system, until, type TestOrg } from '../kit/harness.ts';
import { sweepUploads } from '../../api/http/upload.ts';
import { unreadableReasons, type UnreadableReason } from '../../models/rules/base/unreadable.ts';

const api = system();
const fixture = (name: string) => readFile(new URL(`../fixtures/${name}`, import.meta.url));
const bytes = (content: Uint8Array) => new Uint8Array(content);

let org: TestOrg;
let token: string;
let mongo: MongoClient;
beforeAll(async () => {
  org = await api.newOrg();
  token = (await api.newKey(org)).token;
  mongo = await openClient(process.env['TEST_MONGODB_URI']!);
});
afterAll(() => mongo.close());

const upload = (name: string, content: Uint8Array) => api.upload(org.orgId, token, { name, content: bytes(content) });

/** An upload written byte by byte, because `FormData` would escape or refuse these names. */
const rawUpload = (disposition: string, content = 'Some text.') =>
  api.request('POST', `/orgs/${org.orgId}/documents`, {
    token,
    raw: `--x\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n--x--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
  });

describe('POST /orgs/{orgId}/documents refuses at once', () => {
  it.each<[string, string, () => Uint8Array, number, RegExp]>([
    ['an empty file', 'empty.md', () => new Uint8Array(), 400, /is empty/],
    ['an ending that is not supported', 'notes.odt', () => Buffer.from('text'), 415, /\.odt/],
    ['a name without an ending', 'notes', () => Buffer.from('text'), 415, /ending/],
    ['a PDF renamed to .docx', 'contract.docx', pdf, 415, /PDF/],
    ['a PDF renamed to .txt', 'contract.txt', pdf, 415, /PDF/],
    ['a picture renamed to .md', 'scan.md', png, 415, /PNG/],
    ['binary data in a .txt', 'dump.txt', binaryText, 415, /binary/],
  ])('an upload of %s is refused, and the error says why', async (_, name, content, status, sentence) => {
    const reply = await upload(name, content());
    expect([reply.status, reply.body.details?.[0]?.path]).toEqual([status, ['body', 'file']]);
    expect(reply.body.details[0].message).toMatch(sentence);
  });

  it('a file one byte over 25 MiB is refused with 413, and neither a record nor bytes are kept', async () => {
    const mine = await api.newOrg();
    const key = (await api.newKey(mine)).token;
    const content = bytes(tooLargeText());
    const reply = await api.upload(mine.orgId, key, { name: 'large.txt', content });
    expect([reply.status, reply.body.code]).toEqual([413, 'TOO_LARGE']);
    expect((await api.request('GET', `/orgs/${mine.orgId}/documents`, { token: key })).body.count).toBe(0);
    // Bytes are stored under their document's id. Other tests upload meanwhile, but nothing of this size.
    const stored = await mongo
      .db('shared')
      .collection('files.files')
      .countDocuments({ length: { $gte: 25 * 2 ** 20 } });
    expect(stored).toBe(0);
  });

  it('a file of exactly 25 MiB is accepted', async () => {
    const content = bytes(tooLargeText().subarray(1));
    expect((await api.upload(org.orgId, token, { name: 'full.txt', content })).status).toBe(201);
  });
});

describe('POST /orgs/{orgId}/documents accepts a file whose fault only reading reveals', () => {
  it.each<[string, string, () => Uint8Array | Promise<Uint8Array>, UnreadableReason]>([
    ['a protected DOCX', 'secret.docx', () => fixture('encrypted.docx'), 'encrypted'],
    ['100,000 columns', 'wide.csv', wideCsv, 'too_wide'],
  ])('an upload of %s is accepted, and its document fails with the reason', async (_, name, content, reason) => {
    const { status, body } = await upload(name, await content());
    expect(status).toBe(201);
    expect(await api.processed(org.orgId, token, body.document.doc_id)).toMatchObject({
      status: 'failed',
      error: unreadableReasons[reason],
      chunk_count: 0,
    });
  });
});

describe('a text file in another charset than UTF-8', () => {
  it('a text file in windows-1252 is indexed, and its text is decoded correctly', async () => {
    const mine = await api.newOrg();
    const key = (await api.newKey(mine)).token;
    const { body } = await api.upload(mine.orgId, key, { name: 'gebühren.txt', content: bytes(windows1252Text()) });
    expect((await api.processed(mine.orgId, key, body.document.doc_id)).status).toBe('indexed');
    const answer = await api.request('POST', `/orgs/${mine.orgId}/kb/query`, {
      token: key,
      body: { query: 'Wie hoch ist die Jahresgebühr für die Karte?' },
    });
    expect(answer.body.has_context).toBe(true);
    expect(answer.body.answer).toContain(germanText.split('. ')[0]);
  });
});

describe('a hostile file name', () => {
  const unsafe = /[\p{Cc}\p{Zl}\p{Zp}<>:"|?*/\\]|(?![\u200c\u200d])\p{Cf}|^[. ]|[. ]$/u;

  // The test of `cleanFilename` has more names.
  const names = ['../../etc/passwd.md', `${'a'.repeat(10_000)}.md`, '', 'lpt9', '\ud800lone.md'];
  it.each(names.map((name) => [JSON.stringify(name).slice(0, 60), name] as const))(
    'the file name %s is sanitized, or refused with a reason',
    async (_, name) => {
      const mine = await api.newOrg();
      const key = (await api.newKey(mine)).token;
      const { status, body } = await api.upload(mine.orgId, key, { name, content: 'A text.' });
      expect([201, 400, 415]).toContain(status);
      if (status === 201) {
        const { filename } = body.document;
        expect(filename).not.toMatch(unsafe);
        expect(filename).toMatch(/^.+\.(?:md|txt|csv)$/u);
        expect(Buffer.byteLength(filename)).toBeLessThanOrEqual(255);
      } else expect(body.details[0].path).toEqual(['body', 'file']);
    },
  );

  it.each([
    ['ESC', 'bell\u0007escape\u001b[31m.txt'],
    ['NUL', 'nul\0.md'],
    ['DEL', 'del\u007f.md'],
  ])(
    'a file name with %s in the multipart header gets 400 naming the field, even when a large file follows',
    async (_, name) => {
      for (const size of [10, 5_000_000]) {
        const { status, body } = await rawUpload(`name="file"; filename="${name}"`, 'a'.repeat(size));
        expect([status, body.details]).toEqual([
          400,
          [{ path: ['body', 'file'], message: expect.stringContaining('control characters') }],
        ]);
      }
    },
  );

  it.each<[string, string, RegExp]>([
    ['an encoded name', `name="file"; filename*=UTF-8''..%2F..%2Fpasswd%0d%0a.md`, /^passwd ?\.md$/],
    ['two names', `name="file"; filename="a.exe"; filename="b.md"`, /^b\.md$/],
    ['bytes that are not UTF-8', 'name="file"; filename="\u00e9.md"', /^.+\.md$/],
  ])('a file name written with %s is sanitized, or gets 400', async (_, disposition, expected) => {
    const { status, body } = await rawUpload(disposition, `Text under ${disposition}.`);
    if (status === 201) expect(body.document.filename).toMatch(expected);
    else expect([400, 415]).toContain(status);
  });
});

describe('the names of users, organizations and keys', () => {
  it.each([
    ['NUL', 'a\0b'],
    ['ESC', 'a\u001b[2Jb'],
    ['a line end', 'a\nb'],
    ['DEL', 'a\u007fb'],
    ['CSI, a C1 control', 'a\u009b31mb'],
    ['NEL, a C1 control', 'a\u0085b'],
    ['a line separator', 'a\u2028b'],
    ['an override to the left', 'a\u202eb'],
    ['an embedding', 'a\u202ab'],
    ['an isolate', 'a\u2066b\u2069'],
    ['blanks only', ' \u00a0\u3000'],
  ])('a user, organization or key name with %s is refused with 400 naming the field', async (_, name) => {
    const replies = await Promise.all([
      api.request('POST', '/orgs', { token: org.owner.token, body: { name } }),
      api.request('POST', `/support/developer-keys/orgs/${org.orgId}/keys`, { token: org.owner.token, body: { name } }),
      api.request('POST', '/auth/register', { body: { name, email: 'control@example.com', password: 'x'.repeat(12) } }),
    ]);
    for (const { status, body } of replies) expect([status, body.details?.[0]?.path]).toEqual([400, ['body', 'name']]);
  });

  it.each(['Zoë 王小明', 'שלום עולם', 'می‌خواهم', '👩‍👩‍👧 & Söhne', ' a '])(
    'the name %s is accepted for an organization',
    async (name) => {
      const { status, body } = await api.request('POST', '/orgs', { token: org.owner.token, body: { name } });
      expect([status, body.data.name]).toEqual([201, name]);
    },
  );
});

describe('an Idempotency-Key', () => {
  it.each(['', 'k'.repeat(256)])('an Idempotency-Key of length 0 or 256 is refused with 400', async (key) => {
    const { status, body } = await api.request('POST', '/orgs', {
      token: org.owner.token,
      body: { name: 'Twice' },
      headers: { 'idempotency-key': key },
    });
    expect([status, body.details?.[0]?.path]).toEqual([400, ['headers', 'idempotency-key']]);
  });

  it('an Idempotency-Key identifies the same request even when its path is spelled differently', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const create = (path: string) =>
      api.request('POST', path, { token: org.owner.token, body: { name: 'Spelled' }, headers });
    const path = `/support/developer-keys/orgs/${org.orgId}/keys`;
    const first = await create(path);
    expect(first.status).toBe(201);
    for (const other of [`${path}/`, path.replace('/org_', '/%6frg_'), path.replace('keys', 'KEYS')]) {
      const { status, body, headers } = await create(other);
      expect([other, status, headers.get('idempotent-replayed'), body]).toEqual([other, 201, 'true', first.body]);
    }
  });
});

/** Writes bytes to the API's port and returns everything it answers until it closes. */
async function exchange(
  request: string,
): Promise<{ status: number; headers: string; body: { code: string; request_id: string } }> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  socket.on('error', () => undefined);
  socket.write(request, 'latin1');
  await once(socket, 'close');
  const [headers = '', body = ''] = Buffer.concat(pieces).toString().split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(headers)?.[1]), headers, body: JSON.parse(body) as never };
}
const request = (target: string, headers = '') =>
  `GET ${target} HTTP/1.1\r\nHost: api\r\nConnection: close\r\n${headers}\r\n`;

describe('a malformed HTTP request', () => {
  it.each<[string, string, number, string]>([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'VALIDATION'],
    ['a header line without a colon', 'GET /v1/orgs HTTP/1.1\r\nHost: api\r\nwhat\r\n\r\n', 400, 'VALIDATION'],
    ['two lengths', request('/v1/orgs', 'Content-Length: 1\r\nContent-Length: 2\r\n'), 400, 'VALIDATION'],
    ['NUL in a header', request('/v1/orgs', 'Authorization: Bearer a\0b\r\n'), 400, 'VALIDATION'],
    ['64 KiB of headers', request('/v1/orgs', `X-Large: ${'a'.repeat(65_536)}\r\n`), 431, 'HEADERS_TOO_LARGE'],
    ['64 KiB of address', request(`/v1/orgs?${'a'.repeat(65_536)}`), 431, 'HEADERS_TOO_LARGE'],
    ['broken percent-encoding', request('/v1/orgs/%zz%'), 401, 'UNAUTHENTICATED'],
    ['half a character', request('/v1/%ff'), 404, 'NOT_FOUND'],
    ['no path', request('*'), 404, 'NOT_FOUND'],
    ['two slashes', request('//v1/orgs'), 404, 'NOT_FOUND'],
    ['a path that climbs', request('/docs/../../etc/passwd'), 404, 'NOT_FOUND'],
    ['an unknown expectation', request('/v1/orgs', 'Expect: a-miracle\r\n'), 401, 'UNAUTHENTICATED'],
    ['an upgrade to nothing', request('/v1/orgs', 'Upgrade: h2c\r\n'), 401, 'UNAUTHENTICATED'],
    ['TRACE', request('/v1/orgs').replace('GET', 'TRACE'), 405, 'METHOD_NOT_ALLOWED'],
    ['a forwarded address', request('/v1/orgs', `X-Forwarded-For: ${'1,'.repeat(4_000)}\r\n`), 401, 'UNAUTHENTICATED'],
  ])(
    'a malformed or unusual request gets an ordinary error response with a request id: %s',
    async (_, text, status, code) => {
      const reply = await exchange(text);
      expect([reply.status, reply.body.code]).toEqual([status, code]);
      expect(reply.headers.toLowerCase()).toContain(`x-request-id: ${reply.body.request_id.toLowerCase()}`);
    },
  );

  it.each([
    ['POST', 'publishable-keys/test/rotate', '', 200],
    ['POST', 'publishable-keys/test/rotate', 'Content-Type: application/json\r\n', 200],
    ['DELETE', 'keys/key_none', '', 404],
  ])(
    '%s %s with an empty chunked body and the further header %j counts as a request without a body',
    async (method, path, type, status) => {
      const head = `Host: api\r\nConnection: close\r\nAuthorization: Bearer ${org.owner.token}\r\n${type}`;
      const line = `${method} /v1/support/developer-keys/orgs/${org.orgId}/${path} HTTP/1.1\r\n`;
      const reply = await exchange(`${line}${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
      expect(reply.status).toBe(status);
    },
  );

  it('a request with a chunked body but without a content type gets 415', async () => {
    const head = 'POST /v1/auth/login HTTP/1.1\r\nHost: api\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n';
    expect((await exchange(`${head}\r\n2\r\n{}\r\n0\r\n\r\n`)).status).toBe(415);
  });

  it.each([
    ['an upload without a credential', '/v1/orgs/org_none/documents', 'multipart/form-data; boundary=x', 401],
    ['a body over the limit', '/v1/auth/login', 'application/json', 413],
    ['a path that is not there', '/v1/nothing', 'application/json', 404],
  ])(
    'a refused request is answered before its body has arrived, and the rest of the body is discarded: %s',
    async (_, path, type, status) => {
      const { hostname, port } = new URL(api.url);
      const socket = connect(Number(port), hostname);
      const errors: Error[] = [];
      let answered = '';
      socket.setEncoding('utf8');
      socket.on('error', (error) => errors.push(error)).on('data', (piece: string) => (answered += piece));
      const length = 4_000_000;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: api\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`);
      await until(() => Promise.resolve(answered.includes('request_id')), 'no answer');
      expect(Number(/^HTTP\/1\.1 (\d{3})/.exec(answered)?.[1])).toBe(status);
      answered = '';
      const closed = once(socket, 'close');
      socket.write('a'.repeat(length));
      // The same connection serves the next request.
      socket.write('GET /health/live HTTP/1.1\r\nHost: api\r\nConnection: close\r\n\r\n');
      await closed;
      expect([/^HTTP\/1\.1 (\d{3})/.exec(answered)?.[1], errors]).toEqual(['200', []]);
    },
  );

  it('a request with an impossible id in its path gets 404', async () => {
    for (const id of [
      '%00',
      '%2e%2e%2f',
      '%F0%9F%92%A9',
      "'%20OR%201=1",
      '__proto__',
      'constructor',
      'a'.repeat(100),
    ]) {
      const { status } = await api.request('GET', `/orgs/${id}`, { token: org.owner.token });
      expect([id, status]).toEqual([id, 404]);
    }
  });
});

describe('an upload whose process was killed', () => {
  it('the next process removes the temporary file that a killed upload left, and removes no other file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'uploads-'));
    try {
      const [old, young, another] = [`upload-${randomUUID()}`, `upload-${randomUUID()}`, 'upload-of-somebody-else'];
      for (const name of [old, young, another]) await writeFile(join(folder, name), 'x');
      const before = new Date(Date.now() - 2 * 3_600_000);
      for (const name of [old, another]) await utimes(join(folder, name), before, before);
      await sweepUploads(folder);
      expect((await readdir(folder)).sort()).toEqual([young, another].sort());
      // An entry that cannot be removed, here a folder, is reported, and the other files are still removed.
      const stuck = 'upload-00000000-0000-4000-8000-000000000000';
      await mkdir(join(folder, stuck));
      await writeFile(join(folder, old), 'x');
      for (const name of [old, stuck]) await utimes(join(folder, name), before, before);
      await expect(sweepUploads(folder)).rejects.toThrow('1 of them could not be removed');
      expect((await readdir(folder)).sort()).toEqual([young, another, stuck].sort());
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('after hostile uploads and requests', () => {
  it('after hostile uploads and requests, a good file is indexed and answers questions', async () => {
    const mine = await api.newOrg();
    const key = (await api.newKey(mine)).token;
    const { body } = await api.upload(mine.orgId, key, { name: 'good.md', content: 'The ibis card costs four euros.' });
    expect((await api.processed(mine.orgId, key, body.document.doc_id)).status).toBe('indexed');
    const answer = await api.request('POST', `/orgs/${mine.orgId}/kb/query`, {
      token: key,
      body: { query: 'What does the ibis card cost?' },
    });
    expect(answer.body.answer).toContain('four euros');
  });
});
