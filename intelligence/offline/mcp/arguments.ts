/**
 * Fills the arguments of a tool call from the customer's message. Pure: it uses the schema and the message only. An
 * ambiguous value is left out and never guessed.
 */
import type { JsonSchema } from '../../../models/rules/mcp/tool.ts';
import { variantsOf } from '../../../models/rules/mcp/variants.ts';

type Property = {
  type?: unknown;
  enum?: unknown;
  pattern?: unknown;
  format?: unknown;
  minimum?: unknown;
  maximum?: unknown;
};
/** `missing`: names of required arguments that the message does not give. */
export type Given = { arguments: Record<string, unknown>; missing: string[] };
/**
 * Values known besides the message. `email`: an address for which the organization's backend or a signature vouches.
 * `answer`: the customer's reply to a question for one argument, used where the schema takes free text.
 */
export type Known = { email?: string | undefined; answer?: string | undefined };

const emailName = /e-?mail/i;
const dateName = /(?:^|_)(?:date|day|on|from|until|since|to)(?:_|$)|date$/i;
/** Names of arguments whose values are codes with a digit, such as an order number. */
const codeName =
  /(?:^|_)(?:id|number|no|nr|num|code|ref|reference|iban|order|invoice|ticket|booking|tracking|account|card|serial|case|contract|customer|policy)(?:_|$)|(?:Id|Number|Code|No|Ref)$/;
/**
 * Names of search arguments, which are filled with the customer's whole message, but only for tools that merely read.
 */
const queryName = /^(?:q|query|question|search|search_?term|text|term)$/i;

export function argumentsFrom(message: string, schema: JsonSchema, known: Known, { reads }: { reads: boolean }): Given {
  const properties = (schema['properties'] ?? {}) as Record<string, Property>;
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const found: Record<string, unknown> = {};
  const missing: string[] = [];
  for (const name of required) {
    // If the schema allows several types, the first type for which the message has a value counts.
    const values = variantsOf(properties[name], schema).map((one) => valueFor(message, name, one, known, reads));
    const value = values.find((one) => one !== undefined);
    if (value === undefined) missing.push(name);
    else found[name] = value;
  }
  // Two arguments that would get the same token are both ambiguous, so both count as missing.
  const isListed = (name: string) => variantsOf(properties[name], schema).some((one) => Array.isArray(one['enum']));
  const codes = required.filter((name) => found[name] !== undefined && !isListed(name));
  for (const name of codes)
    if (codes.some((other) => other !== name && String(found[other]) === String(found[name]))) missing.push(name);
  for (const name of missing) delete found[name];
  return { arguments: found, missing: [...new Set(missing)] };
}

/** The way in which an argument's value is found in a message. */
type Reading = 'choice' | 'number' | 'email' | 'date' | 'code' | 'query' | 'words';

function readingOf(name: string, property: Property, reads: boolean): Reading | undefined {
  const { type } = property;
  if (Array.isArray(property.enum)) return 'choice';
  if (type === 'integer' || type === 'number') return 'number';
  if (type !== 'string') return undefined;
  if (property.format === 'email' || emailName.test(name)) return 'email';
  if (property.format === 'date' || dateName.test(name)) return 'date';
  if (codeName.test(name) || typeof property.pattern === 'string') return 'code';
  return reads && queryName.test(name) ? 'query' : 'words';
}

function valueFor(message: string, name: string, property: Property, known: Known, reads: boolean): unknown {
  switch (readingOf(name, property, reads)) {
    case 'choice':
      return only((property.enum as unknown[]).filter((one) => namesWord(message, one)));
    case 'number':
      return only(numbersFor(message, property));
    case 'email':
      return known.email;
    case 'date':
      return only(datesIn(message));
    case 'code':
      // The schema validation later checks the pattern.
      return only(codesIn(message));
    case 'query':
      return message.trim();
    case 'words':
      return known.answer === undefined ? undefined : wordsOf(known.answer);
    case undefined:
      return undefined;
  }
}

/** The text of a short one-line answer; undefined for longer texts and for questions. */
function wordsOf(answer: string): string | undefined {
  const words = answer.trim().replace(/[.!]$/u, '');
  return words !== '' && words.length <= 80 && !/[\n?]/u.test(words) ? words : undefined;
}

/**
 * Whether the customer can be asked for the missing arguments. An e-mail address cannot be asked for, because only a
 * verified address is used. Free text can be asked for only alone. Two numbers, dates or codes could not be told apart
 * in a reply.
 */
export function canBeAsked(missing: readonly string[], schema: JsonSchema, { reads }: { reads: boolean }): boolean {
  const properties = (schema['properties'] ?? {}) as Record<string, Property>;
  const readings = missing.map((name) =>
    variantsOf(properties[name], schema).flatMap((one) => readingOf(name, one, reads) ?? []),
  );
  const plain = readings.flatMap((ways) => ways.filter((way) => way !== 'choice'));
  if (readings.some((ways) => ways.length === 0) || plain.includes('email')) return false;
  return missing.length === 1 || (!plain.includes('words') && new Set(plain).size === plain.length);
}

/** The single distinct value; undefined when there is none, or several. */
function only<T>(values: readonly T[]): T | undefined {
  const distinct = [...new Set(values)];
  return distinct.length === 1 ? distinct[0] : undefined;
}

function namesWord(message: string, value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false;
  const words = ` ${message.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
  return words.includes(
    ` ${value
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()} `,
  );
}

const iso = /(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])/g;
const dotted = /(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])/g;

/** The unambiguous dates in a message: `2026-03-04`, and `04.03.2026`, whose dots mean that the day comes first. */
function datesIn(message: string): string[] {
  const found = [...message.matchAll(iso)].map(([text]) => text);
  for (const [, day = '', month = '', year = ''] of message.matchAll(dotted))
    found.push(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
  return found.filter((text) => {
    const date = new Date(`${text}T00:00:00Z`);
    return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
  });
}

const withoutDates = (message: string): string => message.replace(iso, ' ').replace(dotted, ' ');

/**
 * Identifier tokens: at least three characters with a digit among them, such as `A-1042` and `#5531`. A number with
 * blanks, such as `DE12 3456`, gives several tokens.
 */
function codesIn(message: string): string[] {
  const tokens = withoutDates(message).matchAll(
    /(?<![\p{L}\p{N}])#?((?=[\p{L}-]{0,20}\p{N})[\p{L}\p{N}][\p{L}\p{N}_-]{1,40}[\p{L}\p{N}])(?![\p{L}\p{N}])/gu,
  );
  // Excludes parts of e-mail addresses, and amounts with their currency.
  return [...tokens]
    .filter(
      ({ index, 0: whole }) =>
        !/[@.,]\p{N}?$/u.test(message.slice(0, index)) && !/^[@%€$]/.test(message.slice(index + whole.length)),
    )
    .map(([, token = '']) => token);
}

function numbersFor(message: string, { type, minimum, maximum }: Property): number[] {
  const written = withoutDates(message).matchAll(/(?<![\p{L}\p{N}.,-])\d{1,9}(?:\.\d{1,4})?(?![\p{L}\p{N}]|[.,]\d)/gu);
  return [...written]
    .map(([text]) => Number(text))
    .filter(
      (value) =>
        (type === 'number' || Number.isInteger(value)) &&
        (typeof minimum !== 'number' || value >= minimum) &&
        (typeof maximum !== 'number' || value <= maximum),
    );
}
