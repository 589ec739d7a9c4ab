import { describe, expect, it } from '@jest/globals';
import { argumentsFrom, canBeAsked } from '../../../intelligence/offline/mcp/arguments.ts';
import { borneArguments } from '../../../intelligence/model/chat/grounds.ts';

const colors = { $defs: { Color: { type: 'string', enum: ['red', 'dark blue'] } } };
const given = (name: string, property: object, message: string) =>
  argumentsFrom(
    message,
    { type: 'object', properties: { [name]: property }, required: [name], ...colors },
    {},
    { reads: true },
  );

describe('arguments of several types', () => {
  it.each<[string, object, string, unknown]>([
    ['order_id', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'order 1042', 1042],
    ['order_id', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { oneOf: [{ type: 'string' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { type: ['string', 'null'] }, 'order A-1042', 'A-1042'],
    ['color', { $ref: '#/$defs/Color' }, 'the dark blue one', 'dark blue'],
    ['color', { anyOf: [{ $ref: '#/$defs/Color' }, { type: 'null' }] }, 'the red one', 'red'],
    ['color', { allOf: [{ $ref: '#/$defs/Color' }], default: 'red' }, 'the red one', 'red'],
  ])('the argument %s with the schema %j is read from "%s" as %j', (name, property, message, value) =>
    expect(given(name, property, message)).toEqual({ arguments: { [name]: value }, missing: [] }),
  );

  it.each<[object, string]>([
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'orders A-1042 and A-1043'],
    [{ anyOf: [{ type: 'null' }] }, 'order A-1042'],
    [{ $ref: '#/$defs/Nothing' }, 'order A-1042'],
    [{ $ref: '#' }, 'order A-1042'],
  ])('an argument with the schema %j is not read from "%s"', (property, message) =>
    expect(given('order_id', property, message).missing).toEqual(['order_id']),
  );

  it('an enum value or a default may be passed to a tool even when the customer did not say it', () => {
    const input_schema = {
      ...colors,
      properties: {
        color: { anyOf: [{ $ref: '#/$defs/Color' }, { type: 'null' }] },
        shades: { type: 'array', items: { $ref: '#/$defs/Color' } },
        limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: 10 },
        code: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      },
    };
    const said = { told: ['the darker one'], results: [], days: [] };
    const wanted = { color: 'dark blue', shades: ['red'], limit: 10, code: 'X-99' };
    expect(borneArguments(wanted, { input_schema, risk_tier: 'safe_write' }, said).arguments).toEqual({
      color: 'dark blue',
      shades: ['red'],
      limit: 10,
    });
  });
});

describe('free-text arguments', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const withAnswer = (answer?: string) =>
    argumentsFrom(`When does the branch open?\n${answer ?? ''}`, schema, { answer }, { reads: true });

  it.each([['Hamburg'], [' New York. ']])(
    'the customer’s reply "%s" to the question for a free-text argument becomes its value',
    (answer) =>
      expect(withAnswer(answer)).toEqual({ arguments: { city: answer.trim().replace('.', '') }, missing: [] }),
  );

  it.each([[undefined], ['Which ones are there?'], ['Hamburg\nBerlin'], ['x'.repeat(81)], [' ']])(
    'the reply %j is not taken as the value of a free-text argument',
    (answer) => expect(withAnswer(answer)).toEqual({ arguments: {}, missing: ['city'] }),
  );
});

describe('canBeAsked', () => {
  const words = { type: 'string' };
  const number = { type: 'number' };
  it.each<[boolean, Record<string, object>]>([
    [true, { city: words }],
    [true, { order_id: words, day: words }],
    [true, { color: { enum: ['red', 'blue'] }, size: { enum: ['small', 'large'] } }],
    [true, { amount: number, day: words }],
    [false, { city: words, street: words }],
    [false, { a: number, b: number }],
    [false, { email: words }],
    [false, { items: { type: 'array' } }],
  ])(
    'canBeAsked returns %s: whether one reply of the customer can give the missing arguments %j',
    (expected, properties) =>
      expect(canBeAsked(Object.keys(properties), { type: 'object', properties }, { reads: true })).toBe(expected),
  );
});
