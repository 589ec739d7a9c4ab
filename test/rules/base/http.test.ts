import { describe, expect, it } from '@jest/globals';
import {
  HttpError,
  httpReasons,
  maxUrlLength,
  nextHop,
  readOutboundUrl,
  type HttpMethod,
} from '../../../models/rules/base/http.ts';

const failure = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

describe('readOutboundUrl', () => {
  it.each([
    ['HTTP://Example.COM:80/a/../b?c=d#e', 'http://example.com/b?c=d'],
    ['https://example.com:8443', 'https://example.com:8443/'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
  ])('readOutboundUrl normalizes %s to %s', (text, href) => {
    expect(readOutboundUrl(text).href).toBe(href);
  });

  it.each([
    '',
    'example.com',
    '//example.com',
    'http://',
    'file:///etc/passwd',
    'ftp://example.com/',
    'gopher://example.com/',
    'data:text/html,x',
    'javascript:alert(1)',
    'blob:http://example.com/x',
    'ws://example.com/',
    'unix:/var/run/docker.sock',
    'http://user@example.com/',
    'http://user:secret@example.com/',
    'http://:secret@example.com/',
    'http://example.com:22/',
    'http://example.com:25/',
    'https://example.com:6667/',
    'http://example.com:0/',
    'http://example.com:70000/',
    `http://example.com/${'a'.repeat(maxUrlLength)}`,
  ])('readOutboundUrl refuses the URL %s', (text) => {
    expect(failure(() => readOutboundUrl(text))).toMatchObject({ name: 'HttpError', reason: 'bad_url' });
  });

  it.each(['http://user:secret@example.com/', 'ftp://user:secret@example.com/', 'http://user:secret@[bad/x'])(
    'the error about the URL %s does not contain its password',
    (text) => {
      const error = failure(() => readOutboundUrl(text)) as HttpError;
      expect(error).toBeInstanceOf(HttpError);
      expect(error.url + error.message).not.toContain('secret');
    },
  );
});

describe('nextHop', () => {
  const hop = (method: HttpMethod) => ({
    url: new URL('https://a.example/dir/page'),
    method,
    headers: { Authorization: 'Bearer x', Cookie: 'c=1', 'Content-Type': 'application/json', Accept: 'text/html' },
    body: 'body' as string | undefined,
  });
  const methods: HttpMethod[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

  it.each(methods.flatMap((method) => [301, 302, 303, 307, 308].map((status) => [method, status] as const)))(
    'a %s request redirected with status %i keeps or drops its body as the Fetch standard says',
    (method, status) => {
      const next = nextHop(hop(method), status, '../other#part');
      const becomesGet = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
      expect(next.url.href).toBe('https://a.example/other');
      expect(next.method).toBe(becomesGet ? 'GET' : method);
      expect(next.body).toBe(becomesGet ? undefined : 'body');
      expect('Content-Type' in next.headers).toBe(!becomesGet);
      expect(next.headers).toMatchObject({ Authorization: 'Bearer x', Cookie: 'c=1', Accept: 'text/html' });
    },
  );

  it.each(['https://b.example/', 'http://a.example/', 'https://a.example:8443/', '//sub.a.example/'])(
    'credentials are not sent on when a redirect leads to %s',
    (location) => {
      const { headers } = nextHop(hop('GET'), 302, location);
      expect(headers).toEqual({ 'Content-Type': 'application/json', Accept: 'text/html' });
    },
  );

  it.each(['file:///etc/passwd', 'javascript:alert(1)', 'http://u:p@b.example/', 'http://b.example:22/', 'http://['])(
    'a redirect to %s is refused',
    (location) => {
      expect(failure(() => nextHop(hop('GET'), 302, location))).toMatchObject({ reason: 'bad_url' });
    },
  );
});

describe('httpReasons', () => {
  it('each reason of an HttpError has a sentence of its own, and the error carries that sentence', () => {
    const sentences = Object.values(httpReasons).map(({ message }) => message);
    expect(new Set(sentences).size).toBe(sentences.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].+\.$/);
    const error = new HttpError('timed_out', { url: 'http://a.example/' });
    expect(error).toMatchObject({ message: httpReasons.timed_out.message, temporary: true, bytes: 0 });
  });
});
