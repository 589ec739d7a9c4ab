/**
 * Turns fields of the contract's schemas into arguments and options of a command, and parses their values. Only types
 * are checked here; the server checks the values.
 */
import { Argument, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { list } from './arguments.ts';
import { readAll, type Input } from './prompt.ts';

/** The values given to a command, by field name. */
export type Given = Record<string, unknown>;

/** A field that can be given on the command line. */
export type Field = {
  name: string;
  option: string;
  help: string;
  /** `word`: not a schema's field but another input of the command, such as a file's name. */
  type: 'text' | 'word' | 'flag' | 'number' | 'whole' | 'list' | 'json';
  choices?: readonly string[];
  nullable: boolean;
  required: boolean;
};

type JsonSchema = {
  type?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
};

const jsonSchema = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

/** The fields of a schema. `names`: the options whose name differs from the field's name. */
export function fieldsOf(schema: z.ZodType, names: Readonly<Record<string, string>> = {}): Field[] {
  const { properties = {}, required = [] } = jsonSchema(schema);
  return Object.entries(properties).map(([name, property]) => ({
    name,
    option: names[name] ?? name.replaceAll('_', '-').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    required: required.includes(name),
    ...kindOf(property),
  }));
}

/** An input of a command that is no field of its schemas. */
export const word = (name: string): Field => ({
  name,
  option: name,
  help: '',
  type: 'word',
  nullable: false,
  required: true,
});

function kindOf(property: JsonSchema): Pick<Field, 'help' | 'type' | 'choices' | 'nullable'> {
  const all = alternatives(property);
  const [first = {}, ...others] = all.filter(({ type }) => type !== 'null');
  const kind = others.every(({ type }) => type === first.type) ? first : {};
  const values = kind.items?.enum ? `of ${kind.items.enum.join(', ')}` : '';
  const help = [plain(descriptionOf(property)), values].filter(Boolean).join('; ');
  const shared = { help, nullable: all.some(({ type }) => type === 'null') };
  const choices = kind.enum ?? (kind.const === undefined ? undefined : [kind.const]);
  if (choices) return { ...shared, type: 'text', choices: choices.map(String) };
  if (kind.type === 'boolean') return { ...shared, type: 'flag' };
  if (kind.type === 'integer') return { ...shared, type: 'whole' };
  if (kind.type === 'number') return { ...shared, type: 'number' };
  if (kind.type === 'array' && kind.items?.type === 'string') return { ...shared, type: 'list' };
  return { ...shared, type: kind.type === 'string' ? 'text' : 'json' };
}

const alternatives = (property: JsonSchema): JsonSchema[] => property.anyOf?.flatMap(alternatives) ?? [property];

const descriptionOf = (property: JsonSchema): string | undefined =>
  property.description ?? property.anyOf?.map(descriptionOf).find((text) => text !== undefined);

/** Formats a description for options: no capital at the beginning, no full stop. */
const plain = (text = ''): string =>
  text
    .replaceAll('`', '')
    .replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
    .replace(/\.$/, '');

export function argumentOf({ name, choices, required, ...field }: Field): Argument {
  const called = name.replaceAll('_', '-');
  const argument = new Argument(required ? `<${called}>` : `[${called}]`, field.help);
  return choices ? argument.choices(choices) : argument.argParser((text: string) => valueOf(text, field));
}

/**
 * The options of a field. Null is accepted only in a change, where it removes a value. `keepsValues`: in this change
 * null removes nothing, so `none` is refused.
 */
export function optionsOf(
  { option, choices, required, ...field }: Field,
  isChange: boolean,
  keepsValues = false,
): Option[] {
  const { type, nullable } = field;
  const isRemovable = nullable && isChange && !keepsValues;
  const help = [field.help, ...(isRemovable ? ['none removes it'] : [])].filter(Boolean).join('; ');
  if (type === 'flag') return [new Option(`--${option}`, help), new Option(`--no-${option}`, 'the opposite')];
  const made = new Option(`--${option} <${placeholderOf(type, option)}>`, help).makeOptionMandatory(required);
  if (choices) return [made.choices(isRemovable ? [...choices, 'none'] : choices)];
  const parse = (text: string): unknown => {
    if (keepsValues && nullable && text === 'none')
      throw new InvalidArgumentError('This value can be replaced, but not removed.');
    return valueOf(text, field);
  };
  return [made.argParser(parse)];
}

function placeholderOf(type: Field['type'], option: string): string {
  if (type === 'number' || type === 'whole') return 'n';
  if (type === 'list') return 'a,b';
  if (type === 'json') return 'json';
  const last = option.split('-').at(-1)!;
  return last.length > 2 ? last : 'value';
}

/** The name under which commander stores an option's value. */
export const attributeOf = ({ option }: Field): string =>
  option.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function valueOf(text: string, { type, nullable }: Pick<Field, 'type' | 'nullable'>): unknown {
  if (type === 'text' || type === 'word' || (nullable && text === 'none')) return text;
  if (type === 'list') return list(text);
  if (type === 'json') return parsed(text);
  const number = Number(text);
  if (text.trim() !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number))) return number;
  throw new InvalidArgumentError(type === 'whole' ? 'Give a whole number.' : 'Give a number.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Give JSON, in quotes.');
  }
}

/**
 * Parses the values of fields. `-` reads stdin, so that a secret stays out of the process list. `none` means null, if
 * the field allows null.
 */
export async function valuesOf(
  stdin: Input,
  fields: readonly Field[],
  given: (field: Field) => unknown,
): Promise<Given> {
  const values: Given = {};
  for (const field of fields) {
    const value = given(field);
    if (value === undefined) continue;
    if (field.nullable && value === 'none') values[field.name] = null;
    else if (field.type === 'text' && value === '-') values[field.name] = await readAll(stdin);
    else values[field.name] = value;
  }
  return values;
}

/** The given values that are fields of the schema. */
export function only(given: Given, schema: z.ZodType): Given {
  const names = Object.keys(jsonSchema(schema).properties ?? {});
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
}
