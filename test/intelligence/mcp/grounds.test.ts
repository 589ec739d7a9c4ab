/** A model may pass to a tool only what the customer said. Invented values and text of others are refused. */
import { describe, expect, it } from '@jest/globals';
import { borneArguments, type ArgumentGrounds } from '../../../intelligence/model/chat/grounds.ts';
import type { JsonSchema, RiskTier } from '../../../models/rules/mcp/tool.ts';

const any = { type: 'string' };
const schemaOf = (...required: string[]): JsonSchema => ({
  type: 'object',
  properties: {
    size: { type: 'string', enum: ['small', 'large'] },
    limit: { type: 'integer', default: 10 },
    items: { type: 'array', items: { type: 'object', properties: { sku: any, gift: { type: 'boolean' } } } },
  },
  required,
});
const said = (told: string, more: Partial<ArgumentGrounds> = {}): ArgumentGrounds => ({
  told: [told],
  results: [],
  days: [],
  ...more,
});
const borne = (given: Record<string, unknown>, grounds: ArgumentGrounds, risk_tier: RiskTier = 'safe_write') =>
  borneArguments(given, { input_schema: schemaOf(...Object.keys(given)), risk_tier }, grounds);

describe('arguments that the customer said', () => {
  it.each<[string, string, unknown]>([
    ['a code', 'cancel A-1042 please', 'A-1042'],
    ['a code, put together', 'cancel order a 1042', 'A1042'],
    ['a code, with its sign', 'what about #5531?', '5531'],
    ['a number', 'I want 12 of them', 12],
    ['a number in words', 'three tickets please', 3],
    ['an amount', 'refund 1,250.50 EUR', 1250.5],
    ['an IBAN in groups', 'to DE89 3704 0044 0532 0130 00', 'DE89370400440532013000'],
    ['a day', 'on 2026-12-24', '2026-12-24'],
    ['a day with its month in words', 'on 4 March 2027', '2027-03-04'],
    ['a time', 'on 2026-12-01 at 15:30', '2026-12-01T15:30:00Z'],
    ['a time in the afternoon', 'on 2026-12-01 at 3 pm', '2026-12-01T15:00:00+01:00'],
    ['a time with its minutes in words', 'on 2026-12-01 at half past 3', '2026-12-01T15:30:00Z'],
    ['a time told by the next hour', 'on 2026-12-01 at quarter to four', '2026-12-01T15:45:00Z'],
    ['a half hour told in German', 'am 2026-12-01 um halb vier', '2026-12-01T15:30:00Z'],
    ['noon', 'on 2026-12-01 at noon', '2026-12-01T12:00:00Z'],
    ['a written date-time', 'at 2026-12-01T15:00:00Z', '2026-12-01T15:00:00Z'],
    ['a whole day', 'on 2026-12-01', '2026-12-01T00:00:00Z'],
    ['a negative number', 'it was -5.50 this night', -5.5],
    ['a negative number with a minus sign', 'it was −5 this night', -5],
    ['a day in German', 'am 4. März 2027', '2027-03-04'],
    ['a name', 'send it to Ada Lovelace', 'Ada Lovelace'],
    ['a value that the schema names', 'the bigger one', 'large'],
    ['values inside a list', 'two of B-77, as a gift', [{ sku: 'B-77', gift: true }]],
    ['an address', 'my page is https://ada.example/me', 'https://ada.example/me'],
  ])('an argument that the customer said is accepted: %s', (_, told, value) => {
    const name = value === 'large' ? 'size' : Array.isArray(value) ? 'items' : 'value';
    expect(borne({ [name]: value }, said(told))).toEqual({ arguments: { [name]: value }, missing: [] });
  });

  it('an argument is accepted when it is a date that the customer’s words mean, or the default in the schema', () => {
    expect(borne({ day: '2026-11-27' }, said('next Friday', { days: ['2026-11-27'] })).missing).toEqual([]);
    expect(borne({ limit: 10 }, said('show them')).missing).toEqual([]);
  });

  it('an hour is accepted only when the customer said it, even when the day is a date that the words mean', () => {
    const at = (told: string) => borne({ at: '2026-12-01T15:00:00Z' }, said(told, { days: ['2026-12-01'] })).missing;
    expect([at('book me for tomorrow'), at('book me for tomorrow at 3 pm')]).toEqual([['at'], []]);
  });
});

describe('arguments that nobody said', () => {
  it.each<[string, string, unknown]>([
    ['a code', 'cancel my order', 'A-1042'],
    ['a code with another digit', 'cancel A-10425', 'A-1042'],
    ['a part of a number', 'cancel 10425', '1042'],
    ['a number', 'refund it', 500],
    ['a day', 'some time next year', '2027-03-04'],
    ['a time', 'book me for 2026-12-01', '2026-12-01T15:00:00Z'],
    ['another hour', 'on 2026-12-01 at 9', '2026-12-01T15:00:00Z'],
    ['an hour that only the day names', 'on 2026-12-03 at 9', '2026-12-03T15:00:00Z'],
    ['other minutes', 'on 2026-12-01 at 9', '2026-12-01T09:45:00Z'],
    ['a negative number', 'refund 5 euro', -5],
    ['a negative number as text', 'refund 5 euro', '-5'],
    ['a negative number from a code', 'cancel A-5', -5],
    ['a negative number from a range', 'in 3-5 days', -5],
    ['a day of another month', 'on 4 March 2027', '2027-05-04'],
    ['a name, for a tool that acts without confirmation', 'send it to my friend', 'Mallory'],
    ['an address', 'look at my page', 'https://evil.example/x'],
    ['an e-mail', 'what did bob order?', 'bob@customers.example'],
    ['a value inside a list', 'two of them', [{ sku: 'B-77', gift: true }]],
  ])('an argument that nobody said is removed, and asked for when required: %s', (_, told, value) => {
    const name = Array.isArray(value) ? 'items' : 'value';
    expect(borne({ [name]: value }, said(told))).toEqual({ arguments: {}, missing: [name] });
  });

  it('an optional argument that nobody said is removed without a question', () => {
    const tool = { input_schema: schemaOf('order'), risk_tier: 'read_public' } as const;
    const given = { order: 'A-1042', limit: 50, note: null };
    expect(borneArguments(given, tool, said('where is A-1042'))).toEqual({
      arguments: { order: 'A-1042' },
      missing: [],
    });
  });
});

describe('values from tool results', () => {
  const grounds = said('cancel my last order', { results: ['Orders: A-7, A-77 (last)'] });
  it.each<[RiskTier, boolean]>([
    ['read_public', true],
    ['read_private', true],
    ['safe_write', false],
    ['customer_confirm', true],
    ['step_up', true],
    ['admin_approve', true],
  ])('a value from an earlier tool result may be passed to a %s tool: %s', (tier, counts) => {
    expect(borne({ order: 'A-77' }, grounds, tier).missing).toEqual(counts ? [] : ['order']);
  });
});

describe('an e-mail', () => {
  const own = { email: 'ada@customers.example' };
  it.each<[string, RiskTier, string, boolean]>([
    ['the address that a backend vouched for', 'safe_write', 'ada@customers.example', true],
    ['the address that a backend vouched for, in other letters', 'read_private', 'Ada@Customers.example', true],
    ['another address that the customer wrote, for a read', 'read_private', 'bob@customers.example', false],
    [
      'another address that the customer wrote, for a write without confirmation',
      'safe_write',
      'bob@customers.example',
      false,
    ],
    [
      'another address that the customer wrote, for a tool that a person confirms',
      'customer_confirm',
      'bob@customers.example',
      true,
    ],
    [
      'an address that nobody wrote, for a tool that a person confirms',
      'customer_confirm',
      'eve@customers.example',
      false,
    ],
  ])(
    'the origin of an e-mail argument and the tool’s risk tier decide whether it is accepted: %s (%s, %s): %s',
    (_, tier, value, stands) => {
      const grounds = said('it is for bob@customers.example', own);
      expect(borne({ email: value }, grounds, tier).missing).toEqual(stands ? [] : ['email']);
    },
  );

  it('the full stop after an e-mail address at the end of a sentence is no part of the address', () => {
    const grounds = said('Change my e-mail to bob@customers.example.');
    expect(borne({ email: 'bob@customers.example' }, grounds, 'customer_confirm').missing).toEqual([]);
    expect(borne({ email: 'eve@localhost' }, grounds, 'customer_confirm').missing).toEqual(['email']);
  });

  it('an e-mail address from a tool result is never accepted as an argument', () => {
    const grounds = said('look me up', { results: ['owner: bob@customers.example'] });
    for (const tier of ['read_private', 'customer_confirm'] as const)
      expect(borne({ email: 'bob@customers.example' }, grounds, tier).missing).toEqual(['email']);
  });
});
