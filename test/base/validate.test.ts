import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { check } from '../../api/http/faults.ts';
import { parse } from '../../api/http/validate.ts';
import * as chat from '../../api/chat/contract/chat.ts';
import { moment, orNull, pageQuery, timestamp } from '../../api/base/contract/common.ts';
import type { Route } from '../../api/http/route.ts';
import { routeGroups } from '../../api/routes.ts';
import { Problem } from '../../models/rules/base/errors.ts';

const routes: readonly Route[] = Object.values(routeGroups).flat();
const faultsOf = (schema: z.ZodType, value: unknown) => {
  const checked = check(schema, value, 'body');
  if (!('faults' in checked)) throw new Error('The schema took the value.');
  return checked.faults;
};

describe('a field that does not fit its schema', () => {
  it.each<[kind: string, schema: z.ZodType, value: unknown, sentence: string]>([
    ['missing', z.string(), undefined, 'is required'],
    ['missing, one of a list', z.enum(['a', 'b']), undefined, 'is required'],
    ['missing, of alternatives', z.union([z.string(), z.number()]), undefined, 'is required'],
    ['a text', z.string(), 1, 'must be text'],
    ['a text or null', z.string().nullable(), 1, 'must be text'],
    ['a boolean', z.boolean(), 'yes', 'must be true or false'],
    ['a list', z.array(z.string()), 'a', 'must be a list'],
    ['an object', z.object({}), [], 'must be an object'],
    ['a record', z.record(z.string(), z.string()), [], 'must be an object'],
    ['null', z.null(), 1, 'must be null'],
    ['a number', z.number(), '1', 'must be a number'],
    ['a text that is no number', z.coerce.number(), 'x', 'must be a number'],
    ['a whole number', z.int(), 1.5, 'must be a whole number'],
    ['a whole number, as a check', z.number().int(), 1.5, 'must be a whole number'],
    ['a whole number with bounds', z.int().min(1).max(9), 'x', 'must be a whole number from 1 to 9'],
    ['a whole number under its bounds', z.int().min(1).max(9), 0, 'must be a whole number from 1 to 9'],
    ['a whole number over its bounds', z.number().int().min(1).max(9), 10, 'must be a whole number from 1 to 9'],
    ['a broken number within bounds', z.number().int().min(1).max(9), 1.5, 'must be a whole number from 1 to 9'],
    ['too small', z.int().min(1), 0, 'must be a whole number of at least 1'],
    ['too small, and optional', z.int().min(1).optional(), 0, 'must be a whole number of at least 1'],
    ['too small, and defaulted', z.int().min(1).default(1), 0, 'must be a whole number of at least 1'],
    ['too small, in a pipe', z.int().min(1).pipe(z.number()), 0, 'must be a whole number of at least 1'],
    ['too small, of an alternative', z.union([z.int().min(1), z.string()]), 0, 'must be a number of at least 1'],
    ['zero', z.number().positive(), 0, 'must be a number above 0'],
    ['too big', z.number().max(1.5), 2, 'must be a number of at most 1.5'],
    ['not below', z.number().lt(2), 2, 'must be a number below 2'],
    ['a number outside both bounds', z.number().gt(1).lt(2), 2, 'must be a number above 1 and below 2'],
    ['empty text', z.string().min(1), '', 'must not be empty'],
    ['short text', z.string().min(12), 'x', 'must have at least 12 characters'],
    ['long text', z.string().max(3), 'xxxx', 'must have at most 3 characters'],
    ['text of over one character', z.string().max(1), 'xx', 'must have at most 1 character'],
    ['an empty list', z.array(z.string()).min(1), [], 'must not be empty'],
    ['a short list', z.array(z.string()).min(2), [], 'must have at least 2 entries'],
    ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
    ['one of a list', z.enum(['primary', 'normal']), 'x', 'must be one of primary, normal'],
    ['a constant', z.literal('message'), 'x', 'must be message'],
    ['one of some constants', z.literal([1, true]), 'x', 'must be one of 1, true'],
    ['an address', z.url(), 'x', 'must be an address, such as https://www.example.com'],
    ['a time', z.iso.datetime(), 'x', 'must be a date and time with its zone, such as 2030-01-31T09:30:00Z'],
    ['a text in place of a time', moment, 'x', 'must be a date and time with its zone, such as 2030-01-31T09:30:00Z'],
    [
      'a time after the year 9999 in UTC',
      moment,
      '9999-12-31T23:59:59-05:00',
      'must lie between the years 0000 and 9999 in UTC',
    ],
    [
      'a time before the year 0000 in UTC',
      moment,
      '0000-01-01T00:00:00+05:00',
      'must lie between the years 0000 and 9999 in UTC',
    ],
    ['a day', z.iso.date(), 'x', 'must be a date, such as 2030-01-31'],
    ['a pattern', z.string().regex(/^\d+$/), 'x', 'does not have the form that this field takes'],
    ['a format that has no words of its own', z.ulid(), 'x', 'does not have the form that this field takes'],
    ['a pattern with its own sentence', z.string().regex(/^\d+$/, 'must be digits'), 'x', 'must be digits'],
    ['a bound with its own sentence', z.number().min(1, 'must be some'), 0, 'must be some'],
    ['a rule with its own sentence', z.string().refine(() => false, 'is taken'), 'x', 'is taken'],
    ['a rule without its own sentence', z.string().refine(() => false), 'x', 'is not valid'],
    [
      'a rule that adds its own sentence',
      z.string().superRefine((_, issues) => issues.addIssue({ code: 'custom', message: 'is odd' })),
      'x',
      'is odd',
    ],
    ['alternatives', z.union([z.string(), z.number()]), true, 'must be text, or must be a number'],
    [
      'a discriminated union',
      z.discriminatedUnion('type', [z.object({ type: z.literal('a') })]),
      [],
      'must be an object',
    ],
    [
      'a name in a record',
      z.record(z.string().max(1), z.string()),
      { ab: '' },
      'has a name that is not allowed: must have at most 1 character',
    ],
  ])('the refusal of a field that does not fit its schema is one plain sentence: %s', (_, schema, value, sentence) => {
    const field = z.object({ field: schema });
    expect(faultsOf(field, { field: value })).toEqual({
      details: [{ path: expect.arrayContaining(['body', 'field']), message: sentence }],
      message: expect.stringMatching(/^field(\.ab)?: /),
    });
    expect(faultsOf(field, { field: value }).message.replace(/^field(\.ab)?: /, '')).toBe(sentence);
  });
});

describe('the path of a fault', () => {
  const nested = z.strictObject({
    name: z.string().min(1),
    skills: z
      .array(z.strictObject({ level: z.int().min(1).max(5) }))
      .max(2)
      .optional(),
    to: z.union([z.string(), z.strictObject({ id: z.string() })]).optional(),
    kind: z
      .discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })])
      .optional(),
  });

  it.each<[what: string, value: unknown, path: (string | number)[], message: string]>([
    ['a field', {}, ['name'], 'name: is required'],
    [
      'a field in a list',
      { name: 'a', skills: [{ level: 1 }, { level: 9 }] },
      ['skills', 1, 'level'],
      'skills[1].level: must be a whole number from 1 to 5',
    ],
    ['an entry of a list', { name: 'a', skills: [1] }, ['skills', 0], 'skills[0]: must be an object'],
    ['an unknown field', { name: 'a', role: 1 }, ['role'], 'role: is not a field here; take it out'],
    [
      'an unknown field in a list',
      { name: 'a', skills: [{ level: 1, x: 1 }] },
      ['skills', 0, 'x'],
      'skills[0].x: is not a field here; take it out',
    ],
    ['a field of the alternative that was meant', { name: 'a', to: { id: 1 } }, ['to', 'id'], 'to.id: must be text'],
    [
      'a discriminator with an unknown value',
      { name: 'a', kind: { type: 'c' } },
      ['kind', 'type'],
      'kind.type: must be one of a, b',
    ],
    ['the whole body', [], [], 'body: must be an object'],
    ['a missing body', undefined, [], 'body: is required'],
  ])('a validation error names the place of the fault: %s', (_, value, path, message) => {
    const faults = faultsOf(nested, value);
    expect(faults.details.map((detail) => detail.path)).toEqual([['body', ...path]]);
    expect(faults.message).toBe(message);
  });

  it('a validation error names the first of several faults and counts the others', () => {
    expect(faultsOf(nested, { skills: 1, role: 1 })).toEqual({
      message: 'name: is required, and 2 more; see details',
      details: [
        { path: ['body', 'name'], message: 'is required' },
        { path: ['body', 'skills'], message: 'must be a list' },
        { path: ['body', 'role'], message: 'is not a field here; take it out' },
      ],
    });
  });

  it('a validation error counts thousands of faults, lists twenty of them and cuts long names', () => {
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${i}-${'x'.repeat(150)}`, 0]));
    const { details, message } = faultsOf(nested, { name: 'a', ...fields });
    expect(details).toHaveLength(21);
    expect(details.at(-1)).toEqual({ path: ['body'], message: 'has 4980 more faults' });
    expect(message).toBe(`0-${'x'.repeat(98)}: is not a field here; take it out, and 4999 more; see details`);
  });
});

describe('parse', () => {
  it('parse throws VALIDATION with the name of the field in its message', () => {
    expect(() => parse(pageQuery, { limit: '0' }, 'query')).toThrow(
      expect.objectContaining({
        code: 'VALIDATION',
        message: 'limit: must be a whole number of at least 1',
        details: [{ path: ['query', 'limit'], message: 'must be a whole number of at least 1' }],
      }),
    );
    expect(() => parse(pageQuery, { limit: 'ten' }, 'query')).toThrow('limit: must be a whole number of at least 1');
  });

  it('parse returns the value that the schema produced', () => {
    expect(parse(pageQuery, { limit: '500' }, 'query')).toEqual({ limit: 100 });
  });
});

describe('a reply', () => {
  const reply = z.object({ at: timestamp, ended_at: orNull(timestamp), title: orNull(z.string()) });

  it('a reply has its times as text, whether they were dates or text', () => {
    const at = '2026-11-22T10:00:00.000Z';
    expect(reply.parse({ at: new Date(at), ended_at: at, title: 'a' })).toEqual({ at, ended_at: at, title: 'a' });
    expect(reply.safeParse({ at: new Date(NaN) }).success).toBe(false);
    expect(reply.safeParse({ at: '2026-11-22' }).success).toBe(false);
  });

  it('a reply has null for a field that may be left out', () => {
    const at = new Date();
    expect(reply.parse({ at, title: undefined })).toEqual({ at: at.toISOString(), ended_at: null, title: null });
    expect(reply.parse({ at, ended_at: null, title: null })).toMatchObject({ ended_at: null, title: null });
  });
});

describe('a Problem', () => {
  const details = [
    { path: ['body', 'segments', 1], message: 'must hold a letter' },
    { path: ['body', 'name'], message: 'is taken' },
  ];
  it.each<[what: string, problem: Problem, message: string]>([
    [
      'with one detail is that detail',
      new Problem('VALIDATION', { details: details.slice(0, 1) }),
      'segments[1]: must hold a letter',
    ],
    [
      'with several details is the first of them and the number of the others',
      new Problem('VALIDATION', { details }),
      'segments[1]: must hold a letter, and 1 more; see details',
    ],
    [
      'without details says that the request is not valid',
      new Problem('VALIDATION', { details: [] }),
      'The request is not valid.',
    ],
    ['with its own sentence is that sentence', new Problem('VALIDATION', { message: 'No.', details }), 'No.'],
    [
      'of a code other than VALIDATION is the sentence of that code',
      new Problem('CONFLICT', { details }),
      'The resource is not in a state that allows this.',
    ],
  ])('the message of an error answer (a Problem) %s', (_, problem, message) => {
    expect(problem.message).toBe(message);
  });
});

describe('JSON request values', () => {
  const schemas = [
    ...routes.flatMap(({ method, path, params, query, body }) =>
      Object.entries({ params, query, body }).flatMap(([place, schema]) =>
        schema ? [[`${method} ${path}: ${place}`, schema] as [string, z.ZodType]] : [],
      ),
    ),
    ...chat.clientFrame.options.map((frame) => [`the frame ${frame.shape.type.value}`, frame] as [string, z.ZodType]),
  ];
  const wrong = [
    undefined,
    null,
    0,
    -1.5,
    1e300,
    NaN,
    '',
    ' ',
    '\u0000',
    'x'.repeat(100_000),
    true,
    [],
    [0],
    Array(1000).fill('x'),
    {},
    { $gt: '' },
  ];

  it.each(schemas)('the schema %s refuses wrong JSON values with a plain sentence', (_, schema) => {
    const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const values = [...wrong, ...fields.flatMap((field) => wrong.map((value) => ({ [field]: value })))];
    for (const value of values) {
      const { faults } = { faults: undefined, ...check(schema, value, 'body') };
      for (const { message } of faults?.details ?? [])
        expect(message).not.toMatch(
          /invalid|expected|received|too (small|big)|pattern|unrecognized|undefined|does not have the form|is not valid/i,
        );
    }
  });
});
