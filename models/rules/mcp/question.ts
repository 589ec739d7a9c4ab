/**
 * Questions that a tool asks during a call (MCP elicitation): a sentence and a few simple fields, which only the
 * customer of the conversation answers. The tool's server wrote the question, so the question is shown as plain text
 * without active content.
 */
import { harmlessText } from './result.ts';
import type { JsonSchema } from './tool.ts';
import { defined } from '../base/defined.ts';

export const questionActions = ['accept', 'decline', 'cancel'] as const;
/**
 * `accept`: the customer answers. `decline`: the customer refuses to answer. `cancel`: the customer closes the
 * question.
 */
type QuestionAction = (typeof questionActions)[number];

/** The type of a field's value. `choices`: any number of the options. */
export const fieldKinds = [
  'text',
  'email',
  'uri',
  'date',
  'date-time',
  'number',
  'integer',
  'boolean',
  'choice',
  'choices',
] as const;
type FieldKind = (typeof fieldKinds)[number];
type QuestionField = {
  name: string;
  label: string;
  description?: string;
  kind: FieldKind;
  required: boolean;
  options?: { value: string; label: string }[];
  initial?: string | number | boolean | string[];
};
export type Question = { message: string; fields: QuestionField[] };
export type QuestionReply = { action: QuestionAction; content?: Record<string, unknown> };

/** `id`: the server's id of the question. `schema`: the JSON Schema that validates the answer. */
type AskedBack = { id: string; question: Question; schema: JsonSchema; reply?: QuestionReply };
/** The questions that block a call. `state`: opaque data of the server, sent back unchanged with the answers. */
export type CallQuestions = { asked: AskedBack[]; state?: string };

/** The maximum number of questions that a tool asks at once (a round), and the maximum number of rounds in one call. */
export const maxQuestions = 5;
export const maxRounds = 5;
const maxFields = 20;
const maxOptions = 50;
export const maxStateLength = 64_000;
const lengths = { message: 1_000, label: 100, description: 300, option: 200 } as const;

type Given = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown, max: number): string => (typeof value === 'string' ? harmlessText(value, max) : '');

/**
 * Parses the questions that a tool's server asks; undefined when a customer cannot answer one of them. A customer can
 * answer only forms with simple fields. Requests for a model's answer, for a folder, or to visit a web page are not
 * forms.
 */
export function questionsOf(requests: unknown, state: string | undefined): CallQuestions | undefined {
  const entries = Object.entries(isRecord(requests) ? requests : {});
  if (entries.length === 0 || entries.length > maxQuestions || (state?.length ?? 0) > maxStateLength) return undefined;
  const asked: AskedBack[] = [];
  for (const [id, request] of entries) {
    const params = isRecord(request) && request['method'] === 'elicitation/create' ? request['params'] : undefined;
    if (!isRecord(params) || (params['mode'] ?? 'form') !== 'form' || id.length > 200) return undefined;
    const schema = params['requestedSchema'];
    const fields = isRecord(schema) ? fieldsOf(schema) : undefined;
    const message = textOf(params['message'], lengths.message);
    if (!fields || message === '') return undefined;
    asked.push({ id, question: { message, fields }, schema: schema as JsonSchema });
  }
  return { asked, ...defined({ state }) };
}

function fieldsOf(schema: Given): QuestionField[] | undefined {
  const properties = schema['properties'];
  if (schema['type'] !== 'object' || !isRecord(properties)) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = Object.keys(properties);
  if (names.length > maxFields || required.some((name) => !names.includes(name as string))) return undefined;
  const fields = names.map((name) => fieldOf(name, properties[name], required.includes(name)));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, given: unknown, required: boolean): QuestionField | undefined {
  if (!isRecord(given) || !/^[\w.-]{1,100}$/.test(name) || name === '__proto__') return undefined;
  const kind = kindOf(given);
  const options = kind === 'choice' || kind === 'choices' ? optionsOf(given) : undefined;
  if (kind === undefined || (options === undefined) === kind.startsWith('choice')) return undefined;
  const description = textOf(given['description'], lengths.description);
  const initial = initialOf(given['default'], kind, options);
  return {
    name,
    label: textOf(given['title'], lengths.label) || name.replace(/[._-]+/g, ' '),
    ...(description === '' ? {} : { description }),
    kind,
    required,
    ...(options ? { options } : {}),
    ...defined({ initial }),
  };
}

function kindOf({ type, format, enum: listed, oneOf }: Given): FieldKind | undefined {
  if (type === 'array') return 'choices';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  if (type !== 'string') return undefined;
  if (listed !== undefined || oneOf !== undefined) return 'choice';
  return format === 'email' || format === 'uri' || format === 'date' || format === 'date-time' ? format : 'text';
}

/**
 * The options of a choice field. Undefined when a value is not plain text, because the customer would choose a value
 * other than the one that is shown.
 */
function optionsOf(given: Given): QuestionField['options'] {
  const {
    enum: listed,
    enumNames,
    oneOf,
    anyOf,
  } = given['type'] === 'array' && isRecord(given['items']) ? given['items'] : given;
  const names = Array.isArray(enumNames) ? (enumNames as unknown[]) : [];
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  const found: unknown[] = Array.isArray(listed)
    ? listed.map((value: unknown, index) => ({ const: value, title: names[index] }))
    : Array.isArray(titled)
      ? titled
      : [];
  if (found.length === 0 || found.length > maxOptions) return undefined;
  const options = found.map((option) => {
    const value = isRecord(option) ? option['const'] : undefined;
    if (typeof value !== 'string' || value.length > lengths.option || harmlessText(value) !== value) return undefined;
    return { value, label: textOf((option as Given)['title'], lengths.option) || value };
  });
  return options.every((option) => option !== undefined) ? options : undefined;
}

function initialOf(given: unknown, kind: FieldKind, options: QuestionField['options']): QuestionField['initial'] {
  const offered = (value: unknown): value is string => options?.some((option) => option.value === value) ?? false;
  if (kind === 'choices') return Array.isArray(given) && given.every(offered) ? given : undefined;
  if (kind === 'choice') return offered(given) ? given : undefined;
  if (kind === 'boolean') return typeof given === 'boolean' ? given : undefined;
  if (kind === 'number' || kind === 'integer') return typeof given === 'number' ? given : undefined;
  return typeof given === 'string' && given.length <= lengths.option ? harmlessText(given) : undefined;
}

/** The first unanswered question, and its number from 1. */
export function openQuestion({ asked }: CallQuestions): { number: number; asked: AskedBack } | undefined {
  const at = asked.findIndex(({ reply }) => reply === undefined);
  return at < 0 ? undefined : { number: at + 1, asked: asked[at]! };
}

/** Stores a reply. When the customer declines or cancels one question, all unanswered questions are cancelled. */
export function withReply({ asked, ...others }: CallQuestions, id: string, reply: QuestionReply): CallQuestions {
  const isOver = reply.action !== 'accept';
  return {
    ...others,
    asked: asked.map((one) =>
      one.id === id
        ? { ...one, reply }
        : isOver && one.reply === undefined
          ? { ...one, reply: { action: 'cancel' } }
          : one,
    ),
  };
}

/** The replies in the form that the server expects, under the server's own ids. */
export const repliesTo = ({ asked, state }: CallQuestions) => ({
  responses: Object.fromEntries(asked.map(({ id, reply }) => [id, reply ?? { action: 'cancel' as const }])),
  state,
});

/** The error in an answer that the JSON Schema does not detect; undefined when there is none. */
export function replyProblem({ fields }: Question, content: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, value] of Object.entries(content)) {
    const field = fields.find((one) => one.name === name);
    if (!field) return `${name} is not asked for`;
    if (typeof value === 'string' && formats[field.kind]?.test(value) === false) return `${name} is no ${field.kind}`;
  }
  return undefined;
}

/** JSON Schema does not enforce `format`, so these patterns enforce the formats. */
const formats: Readonly<Partial<Record<FieldKind, RegExp>>> = {
  email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/,
};
