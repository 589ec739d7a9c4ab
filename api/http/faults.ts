/** Explains to the caller in plain sentences why a schema refuses a value. Zod's own messages are never shown. */
import type { z } from 'zod';
import { fieldName, type Detail } from '../../models/rules/base/errors.ts';

/**
 * Bounds on a reply: the number of details, and the length of a field name that the reply quotes. Without them a reply
 * could be huge, because a caller can send a hundred thousand wrong fields.
 */
const maxDetails = 20;
const maxNameCharacters = 100;

type Faults = { details: Detail[]; message: string };
type Checked<S extends z.ZodType> = { value: z.infer<S> } | { value?: never; faults: Faults };

/**
 * The parsed value, or its faults, of which the reply lists at most `maxDetails`. `place` is the part of the request
 * (`body`, `query`, …) and begins the path of each detail. `message` states the first fault and the number of others.
 */
export function check<S extends z.ZodType>(schema: S, value: unknown, place: string): Checked<S> {
  const parsed = schema.safeParse(value, { error: (issue) => sentenceOf(issue, schema) });
  if (parsed.success) return { value: parsed.data };
  const issues =
    place === 'query' ? parsed.error.issues.map((issue) => ofParameter(issue, value)) : parsed.error.issues;
  return { faults: faultsOf(issues, place, unknownSentence(schema, place)) };
}

/** A query parameter that occurs several times is reported as repeated, because no route accepts that. */
function ofParameter(issue: z.core.$ZodIssue, query: unknown): z.core.$ZodIssue {
  const [name] = issue.path;
  const isRepeated = name !== undefined && Array.isArray((query as Record<PropertyKey, unknown>)[name]);
  return isRepeated ? { ...issue, message: 'is given more than once; give it once' } : issue;
}

function unknownSentence(schema: z.ZodType, place: string): string {
  if (place !== 'query') return 'is not a field here; take it out';
  const { def } = (bare(schema) as z.core.$ZodTypes)._zod;
  const names = def.type === 'object' ? Object.keys(def.shape) : [];
  return `is not a parameter here; this route takes ${names.length > 0 ? names.join(', ') : 'none'}`;
}

function faultsOf(issues: readonly z.core.$ZodIssue[], place: string, unknownIs: string): Faults {
  const all = issues.flatMap((issue) => opened(issue));
  const details: Detail[] = [];
  let count = 0;
  for (const issue of all) {
    const path = pathOf(place, issue);
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
    count += issue.code === 'unrecognized_keys' ? unknown.length : 1;
    const room = maxDetails - details.length;
    if (room <= 0) continue;
    if (issue.code !== 'unrecognized_keys') details.push({ path, message: issue.message });
    for (const name of unknown.slice(0, room)) {
      details.push({ path: [...path, shortened(name)], message: unknownIs });
    }
  }
  const [first] = details;
  const others = count > 1 ? `, and ${count - 1} more; see details` : '';
  const message = first ? `${fieldName(first.path)}: ${first.message}${others}` : 'The request is not valid.';
  if (count > details.length) details.push({ path: [place], message: `has ${count - details.length} more faults` });
  return { details, message };
}

const shortened = (name: string) => name.slice(0, maxNameCharacters);

function pathOf(place: string, issue: z.core.$ZodIssue): (string | number)[] {
  return [place, ...issue.path.map((step) => (typeof step === 'number' ? step : shortened(String(step))))];
}

/**
 * Replaces the issue of a union by the issues of the intended alternative, if exactly one alternative has the right
 * type.
 */
function opened(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.filter((branch) => !branch.some(isOfAnotherType));
  if (meant.length !== 1 || meant[0]!.length === 0) return [issue];
  return meant[0]!.flatMap((inner) => opened({ ...inner, path: [...issue.path, ...inner.path] }));
}

const isOfAnotherType = ({ code, path }: z.core.$ZodIssue) =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

/**
 * The sentence for an issue. Zod calls this function while it validates, when the issue still has the input and the
 * failed check. A schema's own message takes precedence.
 */
function sentenceOf(issue: z.core.$ZodRawIssue, schema: z.core.$ZodType): string {
  if (issue.input === undefined && isAboutType(issue.code)) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return numberSentence(issue, schema) ?? `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin !== 'number' && Number(issue.minimum) === 1) return 'must not be empty';
      return numberSentence(issue, schema) ?? `must have at least ${counted(issue.origin, issue.minimum)}`;
    case 'too_big':
      return numberSentence(issue, schema) ?? `must have at most ${counted(issue.origin, issue.maximum)}`;
    case 'invalid_format':
      return formats[issue.format] ?? 'does not have the form that this field takes';
    case 'unrecognized_keys':
      return 'has unknown fields; take them out';
    case 'invalid_union':
      return unionSentence(issue);
    case 'invalid_key':
      return `has a name that is not allowed: ${inner(issue.issues)}`;
    default:
      return 'is not valid';
  }
}

const isAboutType = (code: string | undefined) =>
  code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union';

/** The word for each type of value in a request, except numbers. */
const nouns: Record<string, string> = {
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

type NumberRule = { isWhole?: boolean; least?: string; most?: string; from?: number; to?: number };

/** The whole rule for a number (for example its range), whichever part was violated; undefined for other issues. */
function numberSentence(issue: z.core.$ZodRawIssue, schema: z.core.$ZodType): string | undefined {
  const expected = 'origin' in issue ? issue.origin : 'expected' in issue ? issue.expected : undefined;
  if (expected !== 'number' && expected !== 'int') return undefined;
  const rule = numberRule(issue, schema);
  const noun = expected === 'int' || rule.isWhole ? 'a whole number' : 'a number';
  if (rule.from !== undefined && rule.to !== undefined) return `must be ${noun} from ${rule.from} to ${rule.to}`;
  const limits = [rule.least, rule.most].filter((limit) => limit !== undefined).join(' and ');
  return `must be ${noun} ${limits}`.trimEnd();
}

/** The number's bounds from its schema, or only the bounds in the issue when `schemaAt` does not find the schema. */
function numberRule(issue: z.core.$ZodRawIssue, schema: z.core.$ZodType): NumberRule {
  const found = schemaAt(schema, issue.path ?? []);
  const checks = found?._zod.def.checks ?? [];
  const rule: NumberRule = {};
  if (found && (found === issue.inst || checks.some((each) => each === issue.inst))) {
    for (const each of [found, ...checks]) {
      const def = each._zod.def as { check?: string; format?: string; value?: number; inclusive?: boolean };
      if (def.check === 'number_format') rule.isWhole = /int/.test(def.format ?? '');
      else if (def.check === 'greater_than') setLeast(rule, Number(def.value), def.inclusive);
      else if (def.check === 'less_than') setMost(rule, Number(def.value), def.inclusive);
    }
  } else if (issue.code === 'too_small') setLeast(rule, Number(issue.minimum), issue.inclusive);
  else if (issue.code === 'too_big') setMost(rule, Number(issue.maximum), issue.inclusive);
  return rule;
}

function setLeast(rule: NumberRule, least: number, inclusive = true): void {
  rule.least = inclusive ? `of at least ${least}` : `above ${least}`;
  if (inclusive) rule.from = least;
}

function setMost(rule: NumberRule, most: number, inclusive = true): void {
  rule.most = inclusive ? `of at most ${most}` : `below ${most}`;
  if (inclusive) rule.to = most;
}

function schemaAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = bare(schema);
  for (const step of path) {
    const { def } = (at as z.core.$ZodTypes)._zod;
    if (def.type === 'object') at = Object.hasOwn(def.shape, step) ? def.shape[String(step)] : undefined;
    else if (def.type === 'array') at = def.element;
    else if (def.type === 'record') at = def.valueType;
    else at = undefined;
    if (!at) return undefined;
    at = bare(at);
  }
  return at;
}

/** The schema inside `optional`, `nullable`, `default` and similar wrappers. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  return 'innerType' in def ? bare(def.innerType) : def.type === 'pipe' ? bare(def.in) : schema;
}

/** The size of a text or a list with its unit. */
function counted(origin: string, amount: number | bigint): string {
  const [one, more] = origin === 'string' ? ['character', 'characters'] : ['entry', 'entries'];
  return `${amount} ${Number(amount) === 1 ? one : more}`;
}

/**
 * The sentences for string formats. Regular expressions have no entry: if the schema has no message of its own, the
 * sentence only says that the form is wrong.
 */
const formats: Record<string, string> = {
  url: 'must be an address, such as https://www.example.com',
  datetime: 'must be a date and time with its zone, such as 2030-01-31T09:30:00Z',
  date: 'must be a date, such as 2030-01-31',
};

function unionSentence(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if ('options' in issue && Array.isArray(issue.options) && issue.options.length > 0)
    return `must be one of ${issue.options.map(String).join(', ')}`;
  const sentences = issue.errors.flatMap((branch) => (branch[0] ? [inner(branch)] : []));
  return [...new Set(sentences)].join(', or ') || 'is not valid';
}

/** The sentence of the first issue inside a value, with the issue's path inside that value. */
function inner([first]: readonly z.core.$ZodIssue[]): string {
  if (!first) return 'is not valid';
  return first.path.length > 0 ? `${fieldName(pathOf('', first))}: ${first.message}` : first.message;
}
