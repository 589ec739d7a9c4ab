import { describe, expect, it } from '@jest/globals';
import {
  contextProblem,
  maxContextBytes,
  maxContextDepth,
  originAllowed,
  productTypeOf,
  sessionEnd,
  visitorIdPattern,
} from '../../../models/rules/access/session.ts';

/** The context as the API receives it: parsed from JSON. */
const json = (text: string) => JSON.parse(text) as Record<string, unknown>;
const nested = (levels: number) => json(`{"a":`.repeat(levels) + '1' + '}'.repeat(levels));

describe('a context', () => {
  it.each([
    ['nothing', '{}'],
    ['free fields', '{"plan":"gold","cart":[{"sku":"a","n":2},null,true],"näme":"日本"}'],
    ['a dot and a dollar inside of a name', '{"a.b":1,"price$":2}'],
  ])('a session context may hold %s', (_, text) => expect(contextProblem(json(text))).toBeUndefined());

  it('a session context has at most 8,192 bytes as UTF-8 JSON', () => {
    const filled = (length: number, letter = 'x') => ({ a: letter.repeat(length) });
    const frame = JSON.stringify(filled(0)).length;
    expect(contextProblem(filled(maxContextBytes - frame))).toBeUndefined();
    expect(contextProblem(filled(maxContextBytes - frame + 1))).toMatch('8192 bytes');
    expect(contextProblem(filled((maxContextBytes - frame) / 2, 'é'))).toBeUndefined();
    expect(contextProblem(filled((maxContextBytes - frame) / 2 + 1, 'é'))).toMatch('8192 bytes');
  });

  it('a session context has at most 16 levels, and 200,000 nested brackets do not overflow the stack', () => {
    expect(contextProblem(nested(maxContextDepth))).toBeUndefined();
    expect(contextProblem(nested(maxContextDepth + 1))).toMatch('16 objects');
    expect(contextProblem(json(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`))).toMatch('16 objects');
  });

  it.each([
    '{"$where":"1"}',
    '{"a":{"$ne":null}}',
    '{"a":[{"$in":[]}]}',
    '{"__proto__":{"a":1}}',
    '{"a":{"\\u0000":1}}',
  ])('a context with a field name that MongoDB or JavaScript treats specially is refused: %s', (text) =>
    expect(contextProblem(json(text))).toMatch('names'),
  );

  it.each([
    [{}, undefined],
    [{ productType: 'personal' }, 'personal'],
    [{ productType: ' ' }, undefined],
    [{ productType: 7 }, undefined],
  ])('productTypeOf finds in the session context %j the product %s', (context, product) =>
    expect(productTypeOf(context)).toBe(product),
  );
});

describe('a session', () => {
  it('a session lasts an hour unless another lifetime is given, and its end is rounded down to a whole second', () => {
    const now = new Date('2026-03-01T10:00:00.999Z');
    expect(sessionEnd(undefined, now)).toEqual(new Date('2026-03-01T11:00:00.000Z'));
    expect(sessionEnd(60, now)).toEqual(new Date('2026-03-01T10:01:00.000Z'));
  });
});

describe('an origin', () => {
  const listed = ['https://www.example.com', 'https://app.example.com:8443'];
  it.each<[string | undefined, 'live' | 'test', boolean]>([
    ['https://www.example.com', 'live', true],
    ['https://app.example.com:8443', 'live', true],
    ['https://app.example.com', 'live', false],
    ['http://www.example.com', 'live', false],
    ['https://www.example.com.evil.example', 'live', false],
    ['https://evil.example', 'test', false],
    ['null', 'live', false],
    ['null', 'test', false],
    [undefined, 'live', false],
    [undefined, 'test', false],
    ['http://localhost:5173', 'test', true],
    ['https://localhost', 'test', true],
    ['http://127.0.0.1:3000', 'test', true],
    ['http://localhost:5173', 'live', false],
    ['http://127.0.0.1:3000', 'live', false],
    ['http://localhost.evil.example', 'test', false],
    ['http://localhost:5173.evil.example', 'test', false],
    ['http://evil.example/http://localhost', 'test', false],
  ])('the origin %s may embed the chat in %s mode: %s', (origin, mode, allowed) =>
    expect(originAllowed(origin, listed, mode)).toBe(allowed),
  );

  it('an origin may not embed the chat in live mode when no origin is listed', () =>
    expect(originAllowed('https://www.example.com', [], 'live')).toBe(false));
});

describe('a visitor id', () => {
  it.each([
    ['a'.repeat(16), true],
    ['a'.repeat(100), true],
    ['0aZ_-0aZ_-0aZ_-0', true],
    ['a'.repeat(15), false],
    ['a'.repeat(101), false],
    ['aaaaaaaaaaaaaaa.', false],
    [`${'a'.repeat(16)}\n`, false],
  ])('%j is a valid visitor id: %s', (id, fits) => expect(visitorIdPattern.test(id)).toBe(fits));
});
