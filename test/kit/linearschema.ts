/**
 * The GraphQL schema of Linear, rebuilt from the types of Linear's library. Those types are generated from the schema:
 * one for each of its types, and one for the arguments of each field.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, type GraphQLSchema } from 'graphql';

const folder = fileURLToPath(new URL('../../node_modules/@linear/sdk/dist/', import.meta.url));
const builtIn: ReadonlySet<string> = new Set(['ID', 'String', 'Boolean', 'Int', 'Float']);

/** Converts `Maybe<Array<Scalars["String"]>>` to `[String!]`. A type without `Maybe` is required. */
function graphqlType(type: string): string {
  const inside = /^(?:Input)?Maybe<(.*)>$/.exec(type)?.[1];
  if (inside !== undefined) return graphqlType(inside).replace(/!$/, '');
  const item = /^Array<(.*)>$/.exec(type)?.[1];
  if (item !== undefined) return `[${graphqlType(item)}]!`;
  return `${/^Scalars\["(\w+)"\]$/.exec(type)?.[1] ?? type}!`;
}

/**
 * Definitions by name. The first of two with the same name counts, because the operations of the library follow the
 * schema.
 */
const byName = (found: Iterable<RegExpExecArray>): Map<string, string> =>
  new Map([...found].map(([, name, body]) => [name!, body!] as const).toReversed());

/** The names of fields or arguments with their types. */
const fieldsOf = (body: string): [name: string, type: string][] =>
  [...body.matchAll(/^ {2}(\w+)\??: (.+);$/gm)]
    .map(([, name, type]): [string, string] => [name!, graphqlType(type!)])
    .filter(([name]) => name !== '__typename');

export async function linearSchema(): Promise<GraphQLSchema> {
  const files = (await readdir(folder)).filter((name) => /^index-.*\.d\.mts$/.test(name));
  const text = (await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
  const types = byName(text.matchAll(/^type (\w+) = (?:\w+ & )*\{\n([\s\S]*?)^\};/gm));
  const enums = byName(text.matchAll(/^declare enum (\w+) \{\n([\s\S]*?)^\}/gm));
  const unions = byName(text.matchAll(/^type (\w+) = (\w+(?: \| \w+)+);$/gm));

  const definitions = new Map<string, string>();
  /** Returns a reference to a type, and defines it with all types that it uses. */
  function use(type: string, kind: 'type' | 'input'): string {
    const name = type.replaceAll(/[[\]!]/g, '');
    if (definitions.has(name) || builtIn.has(name)) return type;
    definitions.set(name, '');
    definitions.set(name, define(name, kind));
    return type;
  }
  function define(name: string, kind: 'type' | 'input'): string {
    const body = types.get(name);
    if (body !== undefined) {
      const fields = fieldsOf(body).map(([field, type]) => `${field}${argumentsOf(name, field)}: ${use(type, kind)}`);
      return `${kind} ${name} { ${fields.join('\n')} }`;
    }
    const values = enums.get(name);
    if (values !== undefined)
      return `enum ${name} { ${[...values.matchAll(/= "(\w+)"/g)].map(([, value]) => value).join(' ')} }`;
    const members = unions.get(name);
    if (members === undefined) return `scalar ${name}`;
    for (const member of members.split(' | ')) use(member, kind);
    return `union ${name} = ${members}`;
  }
  function argumentsOf(name: string, field: string): string {
    const body = types.get(`${name}${field[0]!.toUpperCase()}${field.slice(1)}Args`);
    if (body === undefined) return '';
    return `(${fieldsOf(body)
      .map(([given, type]) => `${given}: ${use(type, 'input')}`)
      .join(', ')})`;
  }
  use('Query', 'type');
  use('Mutation', 'type');
  return buildSchema([...definitions.values()].join('\n'));
}
