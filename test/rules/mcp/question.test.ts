/** A question from a tool becomes a harmless form or is not asked. Replies are validated against the form. */
import { describe, expect, it } from '@jest/globals';
import {
  maxQuestions,
  maxStateLength,
  openQuestion,
  questionsOf,
  repliesTo,
  replyProblem,
  withReply,
} from '../../../models/rules/mcp/question.ts';

const asking = (properties: object, extra: object = {}) => ({
  method: 'elicitation/create',
  params: { message: 'Which one?', requestedSchema: { type: 'object', properties, ...extra } },
});
const fieldsOf = (properties: object, extra: object = {}) =>
  questionsOf({ q: asking(properties, extra) }, undefined)?.asked[0]!.question.fields;

describe('questionsOf', () => {
  it.each([
    ['text', { type: 'string' }, { kind: 'text' }],
    ['an address', { type: 'string', format: 'email', default: 'a@b.c' }, { kind: 'email', initial: 'a@b.c' }],
    ['a day', { type: 'string', format: 'date' }, { kind: 'date' }],
    ['an unknown format', { type: 'string', format: 'phone' }, { kind: 'text' }],
    ['a number', { type: 'number', default: 2.5 }, { kind: 'number', initial: 2.5 }],
    ['yes or no', { type: 'boolean', default: 'yes' }, { kind: 'boolean' }],
    [
      'one of a list',
      { type: 'string', enum: ['a', 'b'], enumNames: ['A <i>one</i>'], default: 'b' },
      {
        kind: 'choice',
        initial: 'b',
        options: [
          { value: 'a', label: 'A one' },
          { value: 'b', label: 'b' },
        ],
      },
    ],
    [
      'one with titles',
      { type: 'string', oneOf: [{ const: 'a', title: 'An A' }] },
      { kind: 'choice', options: [{ value: 'a', label: 'An A' }] },
    ],
    [
      'several of a list',
      { type: 'array', items: { anyOf: [{ const: 'a', title: 'An A' }] }, default: ['x'] },
      { kind: 'choices', options: [{ value: 'a', label: 'An A' }] },
    ],
  ])('a tool server’s question with a schema of %s becomes a form with one matching field', (_what, schema, field) => {
    expect(fieldsOf({ the_one: schema })).toEqual([{ name: 'the_one', label: 'the one', required: false, ...field }]);
  });

  it('text of the tool server in a form is made harmless and bounded', () => {
    const message = '<script>alert(1)</script>Why?' + ' x'.repeat(5_000);
    const requestedSchema = {
      type: 'object',
      properties: { a: { type: 'string', title: '<b>A</b>\u202e', description: '![x](https://evil.example/?q)' } },
      required: ['a'],
    };
    const request = { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
    const { question, schema } = questionsOf({ q: request }, 's')!.asked[0]!;
    expect(question.message).toMatch(/^Why\? x/);
    expect(question.message.length).toBeLessThanOrEqual(1_000);
    expect(question.fields).toEqual([{ name: 'a', label: 'A', description: 'x', kind: 'text', required: true }]);
    expect(schema).toBe(requestedSchema);
  });

  it.each([
    ['an object in it', { a: { type: 'object', properties: {} } }],
    ['a list of texts', { a: { type: 'array', items: { type: 'string' } } }],
    ['an option that cannot be shown', { a: { type: 'string', enum: ['a\u200b'] } }],
    ['an option that is no text', { a: { type: 'string', enum: [1] } }],
    ['a name that is none', { 'a b<': { type: 'string' } }],
    ['too many fields', Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, { type: 'string' }]))],
  ])('the customer is asked nothing when the schema of the tool server’s form contains %s', (_what, properties) => {
    expect(fieldsOf(properties)).toBeUndefined();
  });

  it('the customer is asked nothing when the schema of a form requires a field without describing the field', () => {
    expect(fieldsOf({ a: { type: 'string' } }, { required: ['b'] })).toBeUndefined();
  });

  it.each([
    ['it has no question', {}, undefined],
    ['it asks for something other than input', { q: { method: 'roots/list' } }, undefined],
    [
      'one of its requests asks for something other than input',
      { q: asking({}), r: { method: 'sampling/createMessage', params: {} } },
      undefined,
    ],
    ['a page is to be visited', { q: { ...asking({}), params: { ...asking({}).params, mode: 'url' } } }, undefined],
    [
      'it has too many questions',
      Object.fromEntries(Array.from({ length: maxQuestions + 1 }, (_, n) => [`q${n}`, asking({})])),
      undefined,
    ],
    ['its state is too long', { q: asking({}) }, 'x'.repeat(maxStateLength + 1)],
    ['it is malformed', 'elicitation/create', 's'],
  ])('the request of a tool server asks the customer nothing when %s', (_what, requests, state) =>
    expect(questionsOf(requests, state)).toBeUndefined(),
  );
});

describe('answers', () => {
  const two = questionsOf({ one: asking({}), other: asking({}) }, 'state')!;

  it('the questions of a tool server are asked one by one, and the replies keep the server’s ids', () => {
    expect(openQuestion(two)).toMatchObject({ number: 1, asked: { id: 'one' } });
    const next = withReply(two, 'one', { action: 'accept', content: {} });
    expect(openQuestion(next)).toMatchObject({ number: 2, asked: { id: 'other' } });
    const all = withReply(next, 'other', { action: 'decline' });
    expect(openQuestion(all)).toBeUndefined();
    expect(repliesTo(all)).toEqual({
      responses: { one: { action: 'accept', content: {} }, other: { action: 'decline' } },
      state: 'state',
    });
  });

  it.each(['decline', 'cancel'] as const)(
    'the customer’s reply “%s” to a tool server’s question cancels the remaining questions',
    (action) => {
      const over = withReply(two, 'one', { action });
      expect(repliesTo(over).responses).toEqual({ one: { action }, other: { action: 'cancel' } });
    },
  );

  const question = {
    message: 'm',
    fields: fieldsOf({ mail: { type: 'string', format: 'email' }, day: { type: 'string', format: 'date' } })!,
  };
  it.each([
    [{ mail: 'ada@example.com', day: '2026-11-22' }, undefined],
    [{}, undefined],
    [{ mail: 'ada' }, 'mail is no email'],
    [{ day: '22.11.2026' }, 'day is no date'],
    [{ more: 1 }, 'more is not asked for'],
  ])('the reply %j to a form that asks for mail and day has the problem: %s', (content, problem) =>
    expect(replyProblem(question, content)).toBe(problem),
  );
});
