/** The words in which a tool call is shown to the person who is asked to approve it. Pure. */
import { sentences } from '../language/sentences.ts';
import { harmlessText } from './result.ts';
import { titleOf, type JsonSchema } from './tool.ts';

/** One value of a call. The widget shows booleans, numbers and dates (ISO 8601) in the reader's language. */
export type Detail = { label: string; value: string | number | boolean };

type Given = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const recordOf = (value: unknown): Given => (isRecord(value) ? value : {});

const maxLabel = 100;
const maxSentence = 300;
/** A code that is made of words, such as `next_month`. */
const isCode = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;

/**
 * The value of each argument with its label, which is the argument's title in the tool's schema, or else its name. Each
 * value of a nested object is an entry of its own.
 */
export function detailsOf(schema: JsonSchema, given: Given): Detail[] {
  const properties = recordOf(recordOf(schema)['properties']);
  return Object.entries(given).flatMap(([name, value]): Detail[] => {
    const property = recordOf(properties[name]);
    const label = textOf(property['title']) || titleOf(name);
    if (isRecord(value))
      return detailsOf(property, value).map((inner) => ({ ...inner, label: `${label}: ${inner.label}` }));
    if (!Array.isArray(value)) return [{ label, value: worded(property, value) }];
    const words = (value as unknown[]).map((item) => worded(recordOf(property['items']), item));
    return [{ label, value: words.map(String).join(', ') }];
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? harmlessText(value, maxLabel) : '');

/** The title that the schema gives a value, or else the value itself. */
function worded(schema: Given, value: unknown): Detail['value'] {
  const { enum: listed, enumNames, oneOf, anyOf } = schema;
  const options = [oneOf, anyOf].flatMap((each) => (Array.isArray(each) ? each.map(recordOf) : []));
  const place = Array.isArray(listed) ? listed.indexOf(value) : -1;
  const title =
    textOf(options.find((option) => option['const'] === value)?.['title']) ||
    textOf(Array.isArray(enumNames) ? enumNames[place] : undefined);
  if (title !== '') return title;
  if (typeof value === 'boolean' || typeof value === 'number') return value;
  if (typeof value !== 'string') return JSON.stringify(value);
  return place >= 0 && isCode.test(value) ? titleOf(value) : value;
}

/**
 * The text that a person approves: each value on a line. For a call without values, the text is the first sentence of
 * the tool's description, which a member has approved.
 */
export function agreementText(description: string, details: readonly Detail[]): string {
  if (details.length > 0) return details.map(({ label, value }) => `${label}: ${value}`).join('\n');
  const [first = ''] = sentences(description.slice(0, 4 * maxSentence));
  return harmlessText(first, maxSentence);
}
