/** Values against schemas that others wrote, of which some mean no good. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { BadSchema, schemaCheck } from '../../clients/schema/schema.ts';

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
  ])('%j: %s', (value, problem) => {
    const fit = schemaCheck(order)(value);
    expect(fit.fits ? undefined : fit.problem).toEqual(problem && expect.stringContaining(problem));
  });

  it('does not repeat the value, which may be a secret', () => {
    const fit = schemaCheck({ type: 'object', properties: { pin: { type: 'integer' } } })({ pin: 'hunter2' });
    expect(JSON.stringify(fit)).not.toContain('hunter2');
  });

  it.each<[string, Record<string, unknown>]>([
    ['is none', { type: 'nonsense' }],
    ['loads another one', { $ref: 'https://evil.example/schema.json' }],
    ['has an expression that is none', { pattern: '(' }],
    ['is very long', { description: 'x'.repeat(100_000) }],
    ['is nested deeply', JSON.parse('{"not":'.repeat(60) + '{}' + '}'.repeat(60)) as Record<string, unknown>],
  ])('refuses a schema that %s', (_what, schema) => expect(() => schemaCheck(schema)).toThrow(BadSchema));

  it('gives up an expression that would run for years', () => {
    const check = schemaCheck({ type: 'string', pattern: '^(a+)+$' });
    expect(check(`${'a'.repeat(60)}!`)).toEqual({ fits: false, problem: 'cannot be checked by this schema' });
    expect(check('aaa')).toEqual({ fits: true });
  });

  it('takes no time for its own in which its process was held up', async () => {
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

  it('gives up a reference to itself', () => {
    expect(schemaCheck({ $ref: '#' })({})).toMatchObject({ fits: false });
  });

  it('takes two schemas with the same name', () => {
    expect(schemaCheck({ $id: 'https://x.example/a', type: 'string' })('x')).toEqual({ fits: true });
    expect(schemaCheck({ $id: 'https://x.example/a', type: 'number' })(1)).toEqual({ fits: true });
  });
});
