import { describe, expect, it } from '@jest/globals';
import { HttpError, httpReasons, maxUrlLength, readOutboundUrl } from '../../../models/rules/base/http.ts';

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

describe('httpReasons', () => {
  it('each reason of an HttpError has a sentence of its own, and the error carries that sentence', () => {
    const sentences = Object.values(httpReasons).map(({ message }) => message);
    expect(new Set(sentences).size).toBe(sentences.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].+\.$/);
    const error = new HttpError('timed_out', { url: 'http://a.example/' });
    expect(error).toMatchObject({ message: httpReasons.timed_out.message, temporary: true, bytes: 0 });
  });
});
