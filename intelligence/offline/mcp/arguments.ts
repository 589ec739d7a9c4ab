/**
 * Fills the arguments of a tool call from the customer's message. Pure: it uses the schema and the message only. An
 * ambiguous value is left out and never guessed.
 */
import { fold } from '../../../models/rules/language/words.ts';
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

/** Names that end in the e-mail, such as `customerEmail`; `email_body` is something else. */
const emailName = /(?:^|_|e-?)mail(?:_?(?:address|addr|id))?$/i;
/** Words such as `to` mean a date only as the whole name, because `ship_to` and `from_account` mean something else. */
const dateName = /(?:^|_)(?:date|day)(?:_|$)|date$|^(?:on|from|until|since|to)$/i;
/** Names of arguments whose values are codes with a digit, such as an order number. */
const codeName =
  /(?:^|_)(?:id|number|no|nr|num|code|ref|reference|iban|order|invoice|ticket|booking|tracking|account|card|serial|case|contract|customer|policy)(?:_|$)|(?:Id|Number|Code|No|Ref)$/;
/** A pattern that takes digits, so that its values are codes; `^[A-Z]{3}$` takes a word. */
const codePattern = /\\d|\[[^\]]*\d/;
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
  const codes = required.filter(
    (name) => found[name] !== undefined && (typeof found[name] === 'number' || !isListed(name)),
  );
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
  const { pattern } = property;
  if (codeName.test(name) || (typeof pattern === 'string' && codePattern.test(pattern))) return 'code';
  return reads && pattern === undefined && queryName.test(name) ? 'query' : 'words';
}

function valueFor(message: string, name: string, property: Property, known: Known, reads: boolean): unknown {
  switch (readingOf(name, property, reads)) {
    case 'choice':
      return only((property.enum as unknown[]).filter((one) => namesWord(message, one)));
    case 'number':
      return only(numbersFor(message, property, codeName.test(name)));
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

/**
 * The text of a short one-line answer; undefined for longer texts, for questions and for e-mail addresses, of which
 * only verified ones are used.
 */
function wordsOf(answer: string): string | undefined {
  const words = answer.trim().replace(/[.!]$/u, '');
  return words !== '' && words.length <= 80 && !/[\n?@]/u.test(words) ? words : undefined;
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
  if (typeof value === 'number') return numbersFor(message, { type: 'number' }).includes(value);
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

/** Dates whose order of day and month differs between countries: `3/4/2026`, `03-04-2026`, `2026/3/4`, `3/2026`. */
const ambiguousDate =
  /(?<![\p{L}\p{N}/-])(?:\d{1,2}\/\d{1,2}\/\d{2,4}|\d{1,2}-\d{1,2}-\d{4}|\d{4}\/\d{1,2}\/\d{1,2}|\d{1,2}\/\d{4})(?![\p{L}\p{N}/-])/gu;
const months = ['en', 'de', 'fr', 'es'].flatMap((language) =>
  (['long', 'short'] as const).flatMap((month) => {
    const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
    return Array.from({ length: 12 }, (_, at) => format.format(Date.UTC(2000, at)).replace('.', ''));
  }),
);
const monthName = String.raw`(?:${[...new Set(months.flatMap((name) => [name, fold(name)]))].join('|')})(?!\p{L})\.?`;
const yearDigits = String.raw`(?:19|20)\d{2}(?!\p{N})`;
const dayFirst = String.raw`\d{1,2}(?:(?:st|nd|rd|th|er)?[\s-]+|\.\s*)(?:(?:of|de)\s+)?${monthName}(?:,?[\s-]*(?:de\s+)?${yearDigits})?`;
const monthFirst = String.raw`${monthName}\s+(?:\d{1,2}(?:st|nd|rd|th)?(?![\p{L}\p{N}])(?:,?\s*${yearDigits})?|(?:de\s+)?${yearDigits})`;
/** Dates with the name of a month: `12 March 2026`, `12. März`, `March 12th, 2026`, `12 de marzo de 2026`, `mars 2026`. */
const namedDate = new RegExp(String.raw`(?<![\p{L}\p{N}-])(?:${dayFirst}|${monthFirst})`, 'giu');

const withoutDates = (message: string): string =>
  [iso, dotted, ambiguousDate, namedDate].reduce((text, date) => text.replace(date, ' '), message);

const currencyBefore = /(?:[€$£¥]\s?|(?<![\p{L}\p{N}])(?:eur|usd|gbp|chf)\s)$/iu;
const currencyAfter =
  /^\s?(?:[€$£¥]|(?:eur|euros?|usd|d[oó]lar(?:es)?|dollars?|gbp|pounds?|pfund|livres|libras|chf|franken|francs?|francos?|cents?|yen)(?![\p{L}\p{N}]))/iu;

/**
 * Identifier tokens: at least three characters with a digit among them, such as `A-1042` and `#5531`. A number with
 * blanks, such as `DE12 3456`, gives several tokens.
 */
function codesIn(message: string): string[] {
  const text = withoutDates(message);
  const tokens = text.matchAll(
    /(?<![\p{L}\p{N}])#?((?=[\p{L}-]{0,20}\p{N})[\p{L}\p{N}][\p{L}\p{N}_-]{1,40}[\p{L}\p{N}])(?![\p{L}\p{N}])/gu,
  );
  // Excludes parts of e-mail addresses and of decimal numbers, and amounts with their currency.
  return [...tokens]
    .filter(
      ({ index, 0: whole }) =>
        !/[@.,]\p{N}?$/u.test(text.slice(0, index)) &&
        !currencyBefore.test(text.slice(0, index)) &&
        !/^(?:[@%]|[.,][\p{N}-])/u.test(text.slice(index + whole.length)) &&
        !currencyAfter.test(text.slice(index + whole.length)),
    )
    .map(([, token = '']) => token);
}

/**
 * Numbers such as `1.000` and `1,000`, which mean one or a thousand in different languages. They give no value, and a
 * message with one gives only a number that is one of its two meanings.
 */
const grouped = /(?<![\p{L}\p{N}.,-])[1-9]\d{0,2}(?:[.,]\d{3})+(?![\p{L}\p{N}]|[.,]\d)/gu;

/** `long`: a number of more than nine digits counts, too, unless it starts as a telephone number does. */
function numbersFor(message: string, { type, minimum, maximum }: Property, long = false): number[] {
  const text = withoutDates(message);
  const meanings = [...text.matchAll(grouped)].map(([one]) => [
    Number(one.replace(',', '.')),
    Number(one.replaceAll(/[.,]/g, '')),
  ]);
  const written = text
    .replace(grouped, ' ')
    .matchAll(/(?<![\p{L}\p{N}.,-])(?:\d{1,9}|(?<!\+)[1-9]\d{9,14})(?:\.\d{1,4})?(?![\p{L}\p{N}]|[.,]\d)/gu);
  return [...written]
    .map(([one]) => Number(one))
    .filter(
      (value) =>
        (long || value < 1e9) &&
        meanings.every((both) => both.includes(value)) &&
        (type === 'number' || Number.isInteger(value)) &&
        (typeof minimum !== 'number' || value >= minimum) &&
        (typeof maximum !== 'number' || value <= maximum),
    );
}
