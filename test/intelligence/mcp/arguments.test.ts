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

describe('values that are not plainly an argument', () => {
  const text = { type: 'string' };
  const number = { type: 'number' };

  it.each([
    'cancel the order of 12 March 2026',
    'cancel the order of March 12th, 2026',
    'cancel the order of 12-Mar-2026',
    'Storniere die Bestellung vom 12. März 2026',
    'la commande du 1er août 2026',
    'el pedido del 12 de marzo de 2026',
    'the order of March 2026',
    'the order of 3/4/2026',
    'the order of 03-04-2026',
    'the order for 129.99 euros',
    'the order for 129 euros',
    'the order for 129 €.',
    'the order for €129',
    'the order for EUR 129',
  ])('a part of a date or of an amount of money is never read as a code: "%s"', (message) =>
    expect(given('order_id', text, message).missing).toEqual(['order_id']),
  );

  it.each([
    'order A-1042 of 12 March 2026',
    'order A-1042 for 129 euros',
    'on 2026-01-02 ordered A-1042',
    'A-1042, 2 of it',
  ])('a code is read beside a date or an amount of money: "%s"', (message) =>
    expect(given('order_id', text, message).arguments).toEqual({ order_id: 'A-1042' }),
  );

  it.each(['Bitte 1.000 Euro vom Konto überweisen', '2.500', '1.000 Euro auf Konto 5', '1,000 euros to account 5'])(
    'a number that means another amount in another language gives no value: "%s"',
    (message) => expect(given('amount', number, message).missing).toEqual(['amount']),
  );

  it.each<[string, number]>([
    ['0.500', 0.5],
    ['129.99', 129.99],
    ['Bitte 1.000 Euro überweisen\n1000', 1000],
  ])('a plain number is read as an amount: %j', (message, value) =>
    expect(given('amount', number, message).arguments).toEqual({ amount: value }),
  );

  it.each<[string, boolean]>([
    ['start_date', true],
    ['day', true],
    ['from', true],
    ['ship_to', false],
    ['from_account', false],
    ['on_behalf_of', false],
  ])('a date is read only for an argument whose name means a date: %s, %s', (name, isDate) =>
    expect(given(name, text, 'on 2026-12-01').missing.length === 0).toBe(isDate),
  );

  it('one number of a message does not fill two arguments, one of which is chosen from a list', () => {
    const properties = { customer_no: { type: 'integer' }, plan: { type: 'integer', enum: [1, 2, 3] } };
    const schema = { type: 'object', properties, required: ['customer_no', 'plan'] };
    const message = 'Please change the plan of customer 2';
    expect(argumentsFrom(message, schema, {}, { reads: false }).missing).toEqual(['customer_no', 'plan']);
  });

  it('the number of an account is no amount', () =>
    expect(given('amount', { type: 'number' }, 'transfer money from account 1234567890').missing).toEqual(['amount']));

  it.each<[string, boolean]>([
    ['email', true],
    ['e-mail', true],
    ['customerEmail', true],
    ['user_email_address', true],
    ['email_id', true],
    ['email_body', false],
    ['email_subject', false],
  ])(
    'the verified e-mail address fills only an argument whose name means an e-mail address: %s, %s',
    (name, isAddress) => {
      const schema = { type: 'object', properties: { [name]: text }, required: [name] };
      const { missing } = argumentsFrom('hello', schema, { email: 'ada@customers.example' }, { reads: false });
      expect(missing.length === 0).toBe(isAddress);
    },
  );
});

describe('arguments that the customer is asked for', () => {
  it.each<[string, object, string, unknown]>([
    ['plan', { type: 'integer', enum: [1, 2, 3] }, '2', 2],
    ['order_id', { type: 'integer' }, '5551234567890', 5551234567890],
    ['currency', { type: 'string', pattern: '^[A-Z]{3}$' }, 'USD', 'USD'],
    ['postcode', { type: 'string', pattern: String.raw`^\d{5}$` }, '20095', '20095'],
  ])('the reply to a question for %s with the schema %j is read: "%s"', (name, property, answer, value) => {
    const schema = { type: 'object', properties: { [name]: property }, required: [name] };
    expect(canBeAsked([name], schema, { reads: true })).toBe(true);
    const told = `Please do it for me\n${answer}`;
    expect(argumentsFrom(told, schema, { answer }, { reads: true }).arguments).toEqual({ [name]: value });
  });

  it.each(['on 2 March', '2.5 of them', '1 or 2'])('a listed number is not read from "%s"', (message) =>
    expect(given('plan', { type: 'integer', enum: [1, 2, 3] }, message).missing).toEqual(['plan']),
  );

  it('a telephone number is not read as an amount', () =>
    expect(given('amount', { type: 'number' }, 'call 01701234567 or +491701234567').missing).toEqual(['amount']));
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

  it.each([
    [undefined],
    ['Which ones are there?'],
    ['Hamburg\nBerlin'],
    ['x'.repeat(81)],
    [' '],
    ['bob@customers.example'],
  ])('the reply %j is not taken as the value of a free-text argument', (answer) =>
    expect(withAnswer(answer)).toEqual({ arguments: {}, missing: ['city'] }),
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
