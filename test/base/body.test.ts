/**
 * Reading request bodies: which are accepted, which are refused with which message, and that no temporary file stays.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Koa from 'koa';
import { until } from '../kit/harness.ts';
import { listening } from '../kit/listening.ts';
import { bytesReader, jsonReader } from '../../api/http/body.ts';
import { errorBody, toProblem } from '../../api/http/errors.ts';
import { readForm } from '../../api/http/upload.ts';

const maxBytes = 100_000;
let folder: string;
let port: number;
let close: () => Promise<void>;

/**
 * Answers with what the server read. For a file: its text, its hash and the permissions of the temporary file.
 */
async function read(koa: Koa.Context): Promise<unknown> {
  if (koa.path === '/json') return { body: await jsonReader(1000)(koa) };
  if (koa.path === '/bytes') return { hex: (await bytesReader(1000)(koa)).toString('hex') };
  // Waits as long as an access check that queries the database. By then a small request has arrived completely.
  if (koa.path === '/late-form') for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  const { fields, file } = await readForm(koa, maxBytes, folder);
  const { mode } = await stat(file.path);
  const text = await readFile(file.path, 'utf8');
  await rm(file.path);
  return { fields, filename: file.filename, size: file.size, sha256: file.sha256, text, mode: mode & 0o777 };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bodies-'));
  const app = new Koa();
  // In one test the client disconnects, which Koa would log as an error.
  app.silent = true;
  app.use(async (koa) => {
    try {
      koa.body = (await read(koa)) as object;
    } catch (error) {
      const problem = toProblem(error);
      koa.status = problem.status;
      koa.body = errorBody(problem, 'req_1');
      if (!koa.req.complete) koa.req.resume();
    }
  });
  ({ port, close } = await listening(createServer(app.callback())));
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});
afterEach(async () => {
  expect(await readdir(folder)).toEqual([]);
});

// oxlint-disable-next-line typescript/no-explicit-any -- what a reply holds is what its test finds out
type Answer = { status: number; body: any };

async function post(path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Answer> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: Buffer.from(body), headers });
  return { status: reply.status, body: await reply.json() };
}
const json = { 'content-type': 'application/json' };

/** Sends the pieces in separate packets, in order, and returns the answer. */
async function sendPieces(path: string, headers: string[], pieces: Iterable<Uint8Array>): Promise<Answer> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const answer: Buffer[] = [];
  socket.on('data', (piece: Buffer) => answer.push(piece)).on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers.join('\r\n')}\r\n\r\n`);
  for (const piece of pieces) await new Promise((sent) => socket.write(piece, sent));
  await closed;
  const [head = '', text = ''] = Buffer.concat(answer).toString().split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body: text === '' ? undefined : JSON.parse(text) };
}

type Part = { headers: string[]; content?: string };
const named = (name: string, more = '') => `Content-Disposition: form-data; name="${name}"${more}`;
const field = (name: string, content: string, ...headers: string[]): Part => ({
  headers: [named(name), ...headers],
  content,
});
const file = (filename: string, content = 'Text.', name = 'file'): Part => ({
  headers: [named(name, `; filename="${filename}"`)],
  content,
});
const formOf = (parts: Part[], boundary = 'x') =>
  `${parts.map(({ headers, content = '' }) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`).join('')}--${boundary}--\r\n`;
const formType = { 'content-type': 'multipart/form-data; boundary=x' };
const postForm = (parts: Part[], boundary = 'x') =>
  post('/form', formOf(parts, boundary), { 'content-type': `multipart/form-data; boundary=${boundary}` });
const detail = (name: string, message: RegExp) => ({
  code: 'VALIDATION',
  details: [{ path: ['body', name], message: expect.stringMatching(message) }],
});

describe('JSON', () => {
  it.each([
    ['an object', '{"a":1}', { a: 1 }],
    ['a list', '[1]', [1]],
    ['a text', '"a"', 'a'],
    ['null', 'null', null],
    ['an object after a byte order mark', '\ufeff{"a":"ü"}', { a: 'ü' }],
    ['an empty body', '', {}],
    ['lists nested 100 levels deep', `${'['.repeat(100)}${']'.repeat(100)}`, expect.anything()],
  ])('a JSON body (%s) is parsed', async (_, text, body) => {
    expect(await post('/json', text, json)).toEqual({ status: 200, body: { body } });
  });

  it.each([
    [
      'cut off',
      '{"a":',
      400,
      { code: 'MALFORMED_JSON', error: expect.stringMatching(/^The body is not valid JSON: /) },
    ],
    [
      'a field named __proto__',
      '{"a":{"__proto__":1}}',
      400,
      { code: 'VALIDATION', error: expect.stringMatching(/__proto__/) },
    ],
    [
      '101 levels deep',
      `${'['.repeat(101)}${']'.repeat(101)}`,
      400,
      { code: 'VALIDATION', error: expect.stringMatching(/100 levels/) },
    ],
    ['a byte too long', `"${'x'.repeat(999)}"`, 413, { code: 'TOO_LARGE', error: expect.stringMatching(/1000 bytes/) }],
  ])('a JSON body that is invalid is refused: %s', async (_, text, status, problem) => {
    const reply = await post('/json', text, json);
    expect([reply.status, reply.body]).toEqual([status, expect.objectContaining(problem)]);
  });

  it.each(['latin1', 'utf16le'] as const)(
    'a JSON body in the encoding %s is refused with 400, with a message that names UTF-8',
    async (encoding) => {
      const { status, body } = await post('/json', Buffer.from('{"name":"Jörg ÿ"}', encoding), json);
      expect([status, body]).toEqual([
        400,
        expect.objectContaining({ code: 'MALFORMED_JSON', error: expect.stringMatching(/utf-8/i) }),
      ]);
    },
  );

  it.each(['gzip', 'br', 'x-unknown'])('a JSON body compressed with %s is refused with 415', async (encoding) => {
    const { status, body } = await post('/json', '{}', { ...json, 'content-encoding': encoding });
    expect([status, body.error]).toEqual([415, expect.stringMatching(/uncompressed/)]);
  });

  it('a body without a content type is refused with 415, and an empty body needs no content type', async () => {
    const chunked = (pieces: string) => sendPieces('/json', ['Transfer-Encoding: chunked'], [Buffer.from(pieces)]);
    expect((await chunked('2\r\n{}\r\n0\r\n\r\n')).status).toBe(415);
    expect(await chunked('0\r\n\r\n')).toEqual({ status: 200, body: { body: {} } });
  });

  it('a body over the limit is refused before the rest of it arrives', async () => {
    const headers = ['Content-Type: application/json', 'Content-Length: 1000000'];
    expect((await sendPieces('/json', headers, [Buffer.from('{"a":')])).status).toBe(413);
    const pieces = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
    expect((await sendPieces('/json', pieces, [Buffer.from(`7d0\r\n${' '.repeat(2000)}\r\n`)])).status).toBe(413);
  });
});

describe('bytes', () => {
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);

  it.each(['application/json', 'text/plain; charset=utf-16', 'application/x-www-form-urlencoded', 'image/png'])(
    'a raw body arrives unchanged with the content type %s',
    async (type) => {
      const { body } = await post('/bytes', all, { 'content-type': type });
      expect(body.hex).toBe(Buffer.from(all).toString('hex'));
    },
  );

  it('a raw body may be empty and may have no content type', async () => {
    const bare = await sendPieces('/bytes', ['Content-Length: 256'], [all]);
    expect(bare.body.hex).toBe(Buffer.from(all).toString('hex'));
    expect((await sendPieces('/bytes', ['Content-Length: 0'], [])).body).toEqual({ hex: '' });
  });

  it('a raw body over the limit is refused with 413', async () => {
    expect((await post('/bytes', 'x'.repeat(1001))).status).toBe(413);
  });
});

describe('a form', () => {
  it('a form is read into its fields and its file, and only the user of the process may read the stored file', async () => {
    const { body } = await postForm([
      field('segments', 'a,ü'),
      file('größe.md', 'Größe.'),
      field('authority', 'primary'),
    ]);
    expect(body).toEqual({
      fields: { segments: 'a,ü', authority: 'primary' },
      filename: 'größe.md',
      text: 'Größe.',
      size: 8,
      sha256: createHash('sha256').update('Größe.').digest('hex'),
      mode: 0o600,
    });
  });

  it('a form is read correctly when each byte arrives in its own packet', async () => {
    const bytes = Buffer.from(formOf([field('segments', 'ü€😀'), file('größe 😀.md', 'Größe.\r\n--xx\r\n')]));
    const headers = ['Content-Type: multipart/form-data; boundary=x', `Content-Length: ${bytes.length}`];
    const { body } = await sendPieces(
      '/form',
      headers,
      Array.from(bytes, (byte) => Uint8Array.of(byte)),
    );
    expect(body).toMatchObject({
      fields: { segments: 'ü€😀' },
      filename: 'größe 😀.md',
      text: 'Größe.\r\n--xx\r\n',
    });
  });

  it.each(['json', 'urlencoded', 'octet-stream'])('a form boundary may contain the word %s', async (boundary) => {
    expect((await postForm([file('a.md')], `--${boundary}`)).body.text).toBe('Text.');
  });

  it.each([
    ['8bit', 'ü'],
    ['binary', 'ü'],
    ['7bit', 'u'],
  ])('a form field may name the transfer encoding %s', async (encoding, text) => {
    const header = `Content-Transfer-Encoding: ${encoding}`;
    const { body } = await postForm([field('segments', text, header, 'Content-Type: text/plain'), file('a.md')]);
    expect(body.fields).toEqual({ segments: text });
  });

  it.each([
    [`; filename*=UTF-8''gr%C3%B6%C3%9Fe.md`, 'größe.md'],
    [`; filename="a.md"; filename*=UTF-8''gr%C3%B6%C3%9Fe.md`, 'größe.md'],
    [`; filename="a.md"; filename*=UTF-8''%zz`, 'a.md'],
    ['; filename="C:\\folder\\a.md"', 'a.md'],
    ['; filename=""', ''],
  ])('the name of an uploaded file is read from the Content-Disposition parameters %s', async (more, filename) => {
    const { body } = await postForm([{ headers: [named('file', more)], content: 'Text.' }]);
    expect(body.filename).toBe(filename);
  });

  it('a file of the maximum size is accepted, and a file one byte larger is refused with 413', async () => {
    expect((await postForm([file('a.md', 'x'.repeat(maxBytes))])).body.size).toBe(maxBytes);
    const { status, body } = await postForm([file('a.md', 'x'.repeat(maxBytes + 1))]);
    expect([status, body.code, body.error]).toEqual([413, 'TOO_LARGE', expect.stringContaining(`${maxBytes} bytes`)]);
  });

  it('an empty file in a form is accepted', async () => {
    expect((await postForm([file('a.md', '')])).body.size).toBe(0);
  });

  const long = 'x'.repeat(20_000);
  it.each<[string, Part[], object]>([
    ['without a file', [field('segments', 'a')], detail('file', /is required/)],
    ['with two files', [file('a.md'), file('b.md')], detail('file', /one file/)],
    [
      'with a file in a field that is not named `file`',
      [file('a.md', 'Text.', 'upload')],
      detail('upload', /as `file`/),
    ],
    ['with the file as a text', [field('file', 'Text.')], detail('file', /is required/)],
    ['with a field twice', [field('a', '1'), field('a', '2'), file('a.md')], detail('a', /twice/)],
    ['with a long field', [field('a', long), file('a.md')], detail('a', /16384 bytes/)],
    [
      'with a field of a long name',
      [field('n'.repeat(101), '1'), file('a.md')],
      detail('n'.repeat(100), /100 characters/),
    ],
    ['with a field named __proto__', [field('__proto__', '1'), file('a.md')], detail('__proto__', /not a field/)],
    ['with a part without a name', [{ headers: ['A: b'] }, file('a.md')], detail('file', /no name/)],
    ['with a part without a header', [{ headers: [] }, file('a.md')], detail('file', /no name/)],
    ['with a long header', [{ headers: [`A: ${long}`, named('a')] }, file('a.md')], detail('file', /16384 bytes/)],
    ['with a long file name', [file(long)], detail('file', /shorten/)],
    ['with control characters in a header', [file('a\u0007\u001b[31m.md')], detail('file', /control characters/)],
    ['with a line feed in a name', [file('a\n.md')], detail('file', /control characters/)],
    [
      'with an unknown transfer encoding',
      [field('a', '1', 'Content-Transfer-Encoding: quoted-printable'), file('a.md')],
      { code: 'VALIDATION', error: expect.stringMatching(/Transfer-Encoding/) },
    ],
    [
      'with too many fields',
      [...Array.from({ length: 21 }, (_, index) => field(`f${index}`, '')), file('a.md')],
      detail('file', /20 other fields/),
    ],
  ])(
    'a form %s is refused with 400 and the name of the field, even when much more data follows',
    async (_, parts, problem) => {
      for (const rest of ['', 'r'.repeat(2_000_000)]) {
        const { status, body } = await post('/form', formOf(parts) + rest, formType);
        expect([status, body]).toEqual([400, expect.objectContaining(problem)]);
      }
    },
  );

  it.each([
    ['without an end', '--x\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nhalf a fi'],
    ['within a header', '--x\r\nContent-Disposition: form-'],
    ['before its first part', 'nothing of a form'],
    [
      'with lines that end in another way',
      '--x\nContent-Disposition: form-data; name="file"; filename="a.md"\n\nText.\n--x--\n',
    ],
    ['with a header line without a name', '--x\r\n: a\r\n\r\nText.\r\n--x--\r\n'],
  ])('an incomplete form is refused with 400: %s', async (_, text) => {
    for (const path of ['/form', '/late-form']) {
      const { status, body } = await post(path, text, formType);
      expect([status, body.error]).toEqual([400, 'The form did not arrive whole.']);
    }
  });

  it('an upload leaves no file behind when the client disconnects', async () => {
    const text = formOf([file('a.md', 'x'.repeat(50_000))]);
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(
      `POST /form HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: ${text.length}\r\n\r\n`,
    );
    socket.write(text.slice(0, 40_000));
    await until(async () => (await readdir(folder)).length === 1, 'the file to be begun');
    socket.destroy();
    await until(async () => (await readdir(folder)).length === 0, 'the file to be removed');
  });

  it.each([
    ['another type', { 'content-type': 'application/json' }, 415, /multipart/],
    [
      'compressed',
      { 'content-type': 'multipart/form-data; boundary=x', 'content-encoding': 'gzip' },
      415,
      /uncompressed/,
    ],
    ['without a boundary', { 'content-type': 'multipart/form-data' }, 400, /boundary/],
  ])('an upload of the wrong type is refused: %s', async (_, headers, status, message) => {
    const reply = await post('/form', formOf([file('a.md')]), headers);
    expect([reply.status, reply.body.error]).toEqual([status, expect.stringMatching(message)]);
  });
});
