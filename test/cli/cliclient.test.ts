import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, it, expect } from '@jest/globals';
import { z } from 'zod';
import { allPages, createClient, type Method, type RequestOptions } from '../../cli/client.ts';
import { detailLines, table, visible, visibleJson, wrap } from '../../cli/output.ts';
import { listening } from '../kit/listening.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;
type Seen = { method: string; url: string; key: string | undefined; authorization: string | undefined; body: string };
const reply = z.object({ ok: z.literal(true) });

const status =
  (code: number, headers: Record<string, string> = {}, body: unknown = { error: 'no', code: 'RATE_LIMITED' }): Answer =>
  (_request, response) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const good = status(200, {}, { ok: true });
const html: Answer = (_request, response) => void response.end('<html>');
const reset: Answer = (request) => void request.socket.destroy();

/** Sends one request to a server that gives these answers, the last one repeatedly, and returns the result. */
async function against(answers: Answer[], method: Method, options: RequestOptions = {}) {
  const seen: Seen[] = [];
  const slept: number[] = [];
  const warnings: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      const { method = '', url = '', headers } = request;
      seen.push({
        method,
        url,
        key: headers['idempotency-key'] as string | undefined,
        authorization: headers.authorization,
        body,
      });
      answers[Math.min(seen.length, answers.length) - 1]!(request, response, body);
    });
  });
  const { url, close } = await listening(server);
  const client = createClient({
    url: `${url}/v1`,
    token: 'secret',
    onWarning: (message) => warnings.push(message),
    sleep: async (ms) => slept.push(ms),
  });
  try {
    const result = await client.request(method, '/things', reply, options).catch((error: unknown) => error);
    return { result, seen, slept, warnings };
  } finally {
    await close();
  }
}

describe('safe requests', () => {
  it.each([
    ['429', status(429, { 'retry-after': '2' }), 2000],
    ['503', status(503, { 'retry-after': '1' }), 1000],
    ['503 without Retry-After', status(503), 250],
    ['a broken connection', reset, 250],
  ] as const)(
    'a request that is safe to repeat is retried after %s, with the pause in Retry-After or 250 ms',
    async (_what, bad, ms) => {
      const { result, seen, slept } = await against([bad, good], 'GET');
      expect(result).toEqual({ ok: true });
      expect(seen).toHaveLength(2);
      expect(slept).toEqual([ms]);
    },
  );

  it('a request that is safe to repeat is given up after four attempts, with the error of the server', async () => {
    const { result, seen } = await against([status(503, {}, { error: 'busy', code: 'UNAVAILABLE' })], 'GET');
    expect(result).toMatchObject({ message: 'busy', code: 'UNAVAILABLE', status: 503, exitCode: 1 });
    expect(seen).toHaveLength(4);
  });

  it('a request is not retried when its pauses would exceed fifteen seconds in total', async () => {
    const { result, seen, slept } = await against([status(429, { 'retry-after': '60' }), good], 'GET');
    expect(result).toMatchObject({ status: 429 });
    expect([seen.length, slept]).toEqual([1, []]);
  });

  it('a POST is retried with the same Idempotency-Key, even while the first attempt still runs', async () => {
    const running = status(409, {}, { error: 'running', code: 'IDEMPOTENCY_KEY_IN_PROGRESS' });
    const { result, seen } = await against([reset, running, good], 'POST', { body: { a: 1 } });
    expect(result).toEqual({ ok: true });
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
    expect(seen[0]!.key).toMatch(/^[\da-f-]{36}$/);
  });

  it('a form is sent again completely after a failure, and its progress counts bytes', async () => {
    const data = new FormData();
    data.append('file', new Blob(['x'.repeat(200_000)]), 'x.txt');
    let sent = 0;
    const { result, seen } = await against([status(503), good], 'POST', {
      form: { data, onSent: (bytes) => (sent = bytes) },
    });
    expect(result).toEqual({ ok: true });
    expect(seen.map(({ body }) => body.includes('x'.repeat(200_000)))).toEqual([true, true]);
    expect(sent).toBe(seen[1]!.body.length);
  });
});

describe('unsafe requests', () => {
  it.each([
    ['a POST that happens once', 'POST', { once: true }],
    ['a DELETE', 'DELETE', {}],
  ] as const)('a request that is not safe to repeat is sent once: %s', async (_what, method, options) => {
    for (const bad of [status(503), reset]) {
      const { result, seen } = await against([bad, good], method, options);
      expect(result).toBeInstanceOf(Error);
      expect(seen).toHaveLength(1);
      expect(seen[0]!.key).toBeUndefined();
    }
  });
});

describe('a reply', () => {
  it('the client returns a dashboard route’s reply without its envelope, and prints the warning in the reply', async () => {
    expect((await against([status(200, {}, { success: true, data: { ok: true } })], 'GET')).result).toEqual({
      ok: true,
    });
    expect((await against([status(200, {}, { ok: true, warning: { message: 'not live' } })], 'GET')).warnings).toEqual([
      'not live',
    ]);
  });

  it.each([
    ['that is a redirect is not followed', status(302, { location: 'http://127.0.0.1:9/elsewhere' }), 'redirects to'],
    ['that is not JSON is not this API', html, 'is not this API'],
    ['that breaks the contract is not passed on', status(200, {}, { ok: 'yes' }), 'not what this version understands'],
  ])('an unexpected reply is refused: a reply %s', async (_what, answer, sentence) => {
    const { result, seen } = await against([answer], 'GET');
    expect(result).toMatchObject({ code: 'UNEXPECTED_REPLY', message: expect.stringContaining(sentence) });
    expect(seen).toHaveLength(1);
  });

  it('a reply with malformed details still shows its error sentence', async () => {
    const { result } = await against(
      [
        status(
          400,
          {},
          {
            error: 'no',
            code: 'VALIDATION',
            details: [null, { path: 'x' }, { path: ['body', 'a'], message: 'is bad' }],
          },
        ),
      ],
      'GET',
    );
    expect(result).toMatchObject({ message: 'no', details: [{ path: ['body', 'a'], message: 'is bad' }] });
  });
});

describe('a list', () => {
  it('the client reads a list to its last page', async () => {
    const pages: Record<string, { entries: number[]; cursor: string | null }> = {
      start: { entries: [1, 2], cursor: 'b' },
      b: { entries: [3], cursor: 'c' },
      c: { entries: [4], cursor: null },
    };
    expect(await allPages(async ({ cursor }) => pages[cursor ?? 'start']!)).toEqual([1, 2, 3, 4]);
  });

  it('a list whose cursor repeats ends with an error', async () => {
    await expect(allPages(async () => ({ entries: [1], cursor: 'again' }))).rejects.toThrow('repeats the pages');
  });
});

describe('text for a terminal', () => {
  it.each([
    ['an escape sequence', 'a\u001b[31mb', 'a\\u001b[31mb'],
    ['the one-byte form of an escape sequence', 'a\u009b31mb', 'a\\u009b31mb'],
    ['a line break, which could forge a line', 'a\r\nb', 'a\\u000d\\u000ab'],
    ['a backspace and a delete', 'a\u0008\u007f', 'a\\u0008\\u007f'],
    ['a direction override', 'exe\u202egpj', 'exe\\u202egpj'],
    ['an invisible tag character', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['half a character', 'a\ud800', 'a\ufffd'],
  ])('the terminal output escapes %s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('the terminal output prints letters of every script unchanged', () => {
    const text = 'Straße, naïve, 漢字, עברית, می‌خواهم, 👩‍💻, re\u0301sume\u0301';
    expect(visible(text)).toBe(text);
  });

  it('JSON output with escaped control characters parses to the same value', () => {
    const value = { name: 'a\u001b[31m\u009b\u202e\u{e0041}\u007f\n漢' };
    expect(JSON.parse(visibleJson(value))).toEqual(value);
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(visibleJson(value)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|[\u{e0000}-\u{e007f}]/u);
  });

  it('a name can neither forge a row of a printed table nor shift its columns', () => {
    expect(
      table(
        ['ID', 'NAME'],
        [
          ['1', 'a\n2  b'],
          ['333', 'c'],
        ],
      ),
    ).toEqual(['ID   NAME', '1    a\\u000a2  b', '333  c']);
  });

  it('terminal text is wrapped at blanks and keeps its own line breaks', () => {
    expect(wrap('one two three\n\nfour longerthanten', 10)).toEqual(['one two', 'three', '', 'four', 'longerthanten']);
  });

  it('detailLines shows tables in a workflow’s details as columns, and keeps each command on one line', () => {
    const details =
      'retrying: the next attempt\n\n| | |\n| --- | --- |\n| state | retrying |\n' +
      '| you can | try again: `ops retry delivery:one`<br>stop it\u001b |\n\n| pages | of |\n| --- | --- |\n| 1 | 2 |';
    expect(detailLines(details, 30)).toEqual([
      'retrying: the next attempt',
      '',
      'state    retrying',
      'you can  try again:',
      '         `ops retry delivery:one`',
      '         stop it\\u001b',
      '',
      'pages  of',
      '1      2',
    ]);
  });
});
