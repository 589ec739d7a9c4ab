/** What a message plainly gives of a tool's arguments, whichever way the schema describes them. */
import { describe, expect, it } from '@jest/globals';
import { argumentsFrom } from '../../../models/rules/mcp/arguments.ts';
import { borneArguments } from '../../../models/rules/mcp/grounds.ts';

const colors = { $defs: { Color: { type: 'string', enum: ['red', 'dark blue'] } } };
const given = (name: string, property: object, message: string) =>
  argumentsFrom(
    message,
    { type: 'object', properties: { [name]: property }, required: [name], ...colors },
    {},
    { reads: true },
  );

describe('an argument of several types', () => {
  it.each<[string, object, string, unknown]>([
    ['order_id', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'order 1042', 1042],
    ['order_id', { anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { oneOf: [{ type: 'string' }] }, 'order A-1042', 'A-1042'],
    ['order_id', { type: ['string', 'null'] }, 'order A-1042', 'A-1042'],
    ['color', { $ref: '#/$defs/Color' }, 'the dark blue one', 'dark blue'],
    ['color', { anyOf: [{ $ref: '#/$defs/Color' }, { type: 'null' }] }, 'the red one', 'red'],
    ['color', { allOf: [{ $ref: '#/$defs/Color' }], default: 'red' }, 'the red one', 'red'],
  ])('%s, as %j, is taken from "%s"', (name, property, message, value) =>
    expect(given(name, property, message)).toEqual({ arguments: { [name]: value }, missing: [] }),
  );

  it.each<[object, string]>([
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'orders A-1042 and A-1043'],
    [{ anyOf: [{ type: 'null' }] }, 'order A-1042'],
    [{ $ref: '#/$defs/Nothing' }, 'order A-1042'],
    [{ $ref: '#' }, 'order A-1042'],
  ])('as %j is not taken from "%s"', (property, message) =>
    expect(given('order_id', property, message).missing).toEqual(['order_id']),
  );

  it('may have a value that one of them names, though nobody has said it', () => {
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
