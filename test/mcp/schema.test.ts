/** Validation of values against foreign JSON schemas, some of them malicious. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { examine } from '../../clients/schema/examine.ts';
import { BadSchema, checkOf, readSchema, schemaCheck } from '../../clients/schema/schema.ts';

const order = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    order: { type: 'string', pattern: '^A\\d+$' },
    count: { type: 'integer', minimum: 1 },
    code: { type: 'string', pattern: '^Z' },
  },
  required: ['order'],
  unevaluatedProperties: false,
};

describe('schemaCheck', () => {
  it.each([
    [{ order: 'A1' }, undefined],
    [{ order: 'A1', count: 2 }, undefined],
    [{ order: 'A1', code: 'A' }, 'code must match'],
    [{}, 'order'],
    [{ order: 'B1' }, 'order must match'],
    [{ order: 'A1', count: 0 }, 'count must be >= 1'],
    [{ order: 'A1', other: 1 }, 'must NOT have unevaluated properties'],
    ['A1', 'must be object'],
  ])('schemaCheck checks the value %j, and reports this problem (undefined for none): %s', (value, problem) => {
    const fit = schemaCheck(order)(value);
    expect(fit.fits ? undefined : fit.problem).toEqual(problem && expect.stringContaining(problem));
  });

  it('the problem that schemaCheck reports does not repeat the value, which may be a secret', () => {
    const fit = schemaCheck({ type: 'object', properties: { pin: { type: 'integer' } } })({ pin: 'hunter2' });
    expect(JSON.stringify(fit)).not.toContain('hunter2');
  });

  it.each<[string, Record<string, unknown>]>([
    ['is invalid', { type: 'nonsense' }],
    ['refers to another document', { $ref: 'https://evil.example/schema.json' }],
    ['names an unknown JSON Schema version', { $schema: 'https://evil.example/schema' }],
    ['is invalid in the version that it names', { minimum: 3, exclusiveMinimum: true }],
    ['is very long', { description: 'x'.repeat(100_000) }],
    ['is nested deeply', JSON.parse('{"not":'.repeat(60) + '{}' + '}'.repeat(60)) as Record<string, unknown>],
  ])('schemaCheck refuses a schema that %s, and checkOf returns undefined for such a schema', (_what, schema) => {
    expect(() => schemaCheck(schema)).toThrow(BadSchema);
    expect(checkOf(schema)).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, unknown, unknown]>([
    ['http://json-schema.org/draft-04/schema#', { id: 'x', minimum: 3, exclusiveMinimum: true }, 4, 3],
    ['http://json-schema.org/draft-06/schema#', { exclusiveMinimum: 3 }, 4, 3],
    ['http://json-schema.org/draft-07/schema#', { items: [{ type: 'string' }], additionalItems: false }, ['a'], [1]],
    ['http://json-schema.org/draft-07/schema', { propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
    [
      'https://json-schema.org/draft/2019-09/schema',
      { $recursiveAnchor: true, type: 'object', additionalProperties: { $recursiveRef: '#' } },
      { a: {} },
      { a: 1 },
    ],
    ['https://json-schema.org/draft/2020-12/schema', { prefixItems: [{ type: 'string' }], items: false }, ['a'], [1]],
  ])('schemaCheck reads a schema by the JSON Schema version that it names: %s', ($schema, schema, good, bad) => {
    const check = schemaCheck({ $schema, ...schema });
    expect([check(good).fits, check(bad).fits]).toEqual([true, false]);
  });

  it('a schema’s pattern in another dialect of regular expressions is not enforced, and a note names the pattern’s place', () => {
    const schema = {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: String.raw`\A(?P<letter>[a-z])\Z` },
        until: { type: 'string', pattern: String.raw`^A\Z` },
        slug: { type: 'string', pattern: String.raw`^[\w-.]+\-$` },
        // A property that is named "pattern" is not an expression.
        pattern: { type: 'string' },
      },
      patternProperties: { '(?i)^x-': { type: 'string' }, '^n-': { type: 'integer' } },
      additionalProperties: false,
    };
    const { check, unenforced } = readSchema(schema);
    expect(unenforced).toEqual([
      'properties.code.pattern',
      'properties.until.pattern',
      'patternProperties.(?i)^x-',
      'additionalProperties',
    ]);
    expect(check({ code: '7', until: 'A', slug: 'a.-', pattern: '(', 'X-a': 'x', 'n-a': 1 })).toEqual({ fits: true });
    for (const bad of [{ slug: '!' }, { code: 7 }, { 'n-a': 'x' }]) expect(check(bad).fits).toBe(false);
    expect(examine({ input_schema: schema })).toEqual({
      notes: expect.arrayContaining([expect.stringContaining('input_schema.properties.code.pattern is not enforced')]),
    });
  });

  it('schemaCheck refuses a value whose check would need catastrophic backtracking', () => {
    const check = schemaCheck({ type: 'string', pattern: '^(a+)+$' });
    expect(check(`${'a'.repeat(60)}!`)).toEqual({ fits: false, problem: 'cannot be checked by this schema' });
    expect(check('aaa')).toEqual({ fits: true });
  });

  it('the time in which the process was suspended does not count towards the time limit of a schema check', async () => {
    const program = `
      import { schemaCheck } from ${JSON.stringify(new URL('../../clients/schema/schema.ts', import.meta.url).href)};
      const check = schemaCheck({ type: 'string', pattern: '^a+$' });
      let asked = true;
      process.on('message', () => (asked = false));
      process.send('begun');
      const refused = [];
      while (asked) {
        for (let n = 0; n < 100; n += 1) {
          const fit = check('aaa');
          if (!fit.fits) refused.push(fit.problem);
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      process.send({ refused }, () => process.disconnect());
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    await once(child, 'message');
    for (let times = 0; times < 12; times += 1) {
      child.kill('SIGSTOP');
      await sleep(100);
      child.kill('SIGCONT');
      await sleep(20);
    }
    const told = once(child, 'message');
    child.send('end');
    expect(await told).toEqual([{ refused: [] }, undefined]);
  });

  it('schemaCheck refuses a value for a schema that only refers to itself', () => {
    expect(schemaCheck({ $ref: '#' })({})).toMatchObject({ fits: false });
  });

  it.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://json-schema.org/draft/2020-12/schema',
  ])('a schema of version %s that asks for an asynchronous check is checked like any other', ($schema) => {
    const schema = { $schema, $async: true, type: 'object', required: ['order'] };
    expect([schemaCheck(schema)({ order: 'A1' }).fits, schemaCheck(schema)({}).fits]).toEqual([true, false]);
    // A part of a schema cannot be asynchronous either.
    expect(checkOf({ $schema, properties: { order: { $async: true, type: 'string' } } })).toBeUndefined();
  });

  it('the code of a schema does not grow with the number of references to a definition', () => {
    const all = (of: object) => Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field_${index}`, of]));
    const $defs = { one: { type: 'object', properties: all({ type: 'string' }) } };
    const check = schemaCheck({ $defs, type: 'object', properties: all({ $ref: '#/$defs/one' }) });
    expect([check({ field_7: { field_7: 'a' } }).fits, check({ field_7: { field_7: 7 } }).fits]).toEqual([true, false]);
  });

  it('a check ends when definitions refer to each other so often that it would take hours', () => {
    const $defs: Record<string, object> = { d40: { type: 'string' } };
    for (let n = 0; n < 40; n += 1) $defs[`d${n}`] = { allOf: [1, 2].map(() => ({ $ref: `#/$defs/d${n + 1}` })) };
    expect(schemaCheck({ $ref: '#/$defs/d0', $defs })('a text')).toEqual({
      fits: false,
      problem: 'cannot be checked by this schema',
    });
  });

  it('schemaCheck refuses a schema that would take long to compile', () => {
    const wide = { properties: Object.fromEntries(Array.from({ length: 1_100 }, (_, index) => [`f${index}`, {}])) };
    expect(() => schemaCheck(wide)).toThrow('may have 1000 objects and lists');
    const inner = { properties: Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`f${n}`, { minimum: 1 }])) };
    const nested = JSON.parse('{"not":'.repeat(25) + JSON.stringify(inner) + '}'.repeat(25)) as object;
    const allOf = Array.from({ length: 25 }, (_, index) => ({ $ref: `#${'/not'.repeat(index + 1)}` }));
    expect(() => schemaCheck({ ...nested, allOf })).toThrow('it is too complex');
  });

  it('a schema that is nested thousands of levels deep is refused', () => {
    const schema = JSON.parse('{"not":'.repeat(9_000) + '{}' + '}'.repeat(9_000)) as Record<string, unknown>;
    expect(() => schemaCheck(schema)).toThrow(BadSchema);
  });

  it('`multipleOf` allows for the rounding of decimal fractions', () => {
    const check = schemaCheck({ type: 'number', multipleOf: 0.01 });
    const cents = Array.from({ length: 10_000 }, (_, index) => (index + 1) / 100);
    expect(cents.filter((amount) => !check(amount).fits)).toEqual([]);
    expect(check(19.995).fits).toBe(false);
  });

  it.each([
    [1, 1_000_000],
    [1_048_577, 1_048_576],
    [5.000_000_5, 1],
    [1e308, 0.123_456_789],
  ])('%d is no multiple of %d', (value, multipleOf) =>
    expect(schemaCheck({ type: 'number', multipleOf })(value)).toMatchObject({
      fits: false,
      problem: expect.stringContaining('must be multiple of'),
    }),
  );

  it('schemaCheck accepts two schemas with the same `$id`', () => {
    expect(schemaCheck({ $id: 'https://x.example/a', type: 'string' })('x')).toEqual({ fits: true });
    expect(schemaCheck({ $id: 'https://x.example/a', type: 'number' })(1)).toEqual({ fits: true });
  });
});
