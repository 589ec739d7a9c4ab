/**
 * `npm run operations` writes `web/app/api/operations.ts` from the OpenAPI document. The page `/app` calls the API by
 * its constants: one for each operation that a member may call, with the types of its parameters, body and reply.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { openApiDocument } from '../../api/http/openapi.ts';
import { routeGroups } from '../../api/routes.ts';

export const operationsFile = fileURLToPath(new URL('../../web/app/api/operations.ts', import.meta.url));

type Schema = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  format?: string;
};
type Content = Record<string, { schema: Schema }>;
type Described = {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { in: string; name: string; required?: boolean; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf('/') + 1);

/** The members of a union, each once. `string` replaces all string literals, because it includes them. */
function membersOf(schema: Schema): string[] {
  const { type } = schema;
  const either =
    schema.anyOf ?? schema.oneOf ?? (Array.isArray(type) ? type.map((one) => ({ ...schema, type: one })) : undefined);
  const members = schema.enum?.map((value) => JSON.stringify(value)) ?? either?.flatMap(membersOf) ?? [typeOf(schema)];
  const unique = [...new Set(members)];
  return unique.includes('string') ? unique.filter((one) => !one.startsWith('"')) : unique;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.allOf) return schema.allOf.map((one) => `(${typeOf(one)})`).join(' & ');
  if (schema.enum ?? schema.anyOf ?? schema.oneOf ?? Array.isArray(schema.type)) return membersOf(schema).join(' | ');
  if (schema.type === 'array') return `(${typeOf(schema.items ?? {})})[]`;
  if (schema.type === 'object') return objectOf(schema);
  if (schema.type === 'integer') return 'number';
  if (schema.format === 'binary') return 'Blob';
  return schema.type ?? 'unknown';
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};`,
  );
  if (fields.length > 0) return `{ ${fields.join(' ')} }`;
  return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
}

function parametersOf({ parameters = [] }: Described, where: string): string {
  const wanted = parameters.filter((one) => one.in === where);
  const required = wanted.filter((one) => one.required).map(({ name }) => name);
  // The API refuses unknown parameters.
  if (wanted.length === 0) return 'Record<string, never>';
  return objectOf({ properties: Object.fromEntries(wanted.map(({ name, schema }) => [name, schema])), required });
}

function operationOf(method: string, path: string, described: Described): string {
  const form = described.requestBody?.content['multipart/form-data'];
  const json = described.requestBody?.content['application/json'];
  const body = form ? 'FormData' : json ? typeOf(json.schema) : described.requestBody ? 'Blob' : 'undefined';
  const reply = Object.entries(described.responses).find(([status]) => status.startsWith('2'))?.[1].content?.[
    'application/json'
  ]?.schema;
  const data = reply?.properties?.['success'] && reply.properties['data'];
  const types = [parametersOf(described, 'path'), parametersOf(described, 'query'), body, typeOf(data ?? reply ?? {})];
  const value = [method.toUpperCase(), path, ...(data ? [true] : [])].map((one) => JSON.stringify(one)).join(', ');
  return `export const ${described.operationId}: Operation<${types.join(', ')}> = [${value}];`;
}

/**
 * Whether the team page may call an operation. The operation does not redirect, and is for members or needs no
 * credential.
 */
const isOfPage = ({ security, responses }: Described): boolean =>
  !('302' in responses) && (security.length === 0 || security.some((one) => 'dashboardLogin' in one));

/** The text of `operationsFile`. */
export async function operations(): Promise<string> {
  const document = openApiDocument(routeGroups, { version: '' }) as unknown as {
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema> };
  };
  const called = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, one]) => (isOfPage(one) ? [operationOf(method, path, one)] : [])),
  );
  const schemas = Object.entries(document.components.schemas);
  const used = (name: string, lines: readonly string[]) => lines.some((line) => new RegExp(`\\b${name}\\b`).test(line));
  const types = new Map<string, string>();
  for (let size = -1; size < types.size;) {
    size = types.size;
    for (const [name, schema] of schemas)
      if (!types.has(name) && used(name, [...called, ...types.values()])) types.set(name, typeOf(schema));
  }
  const text = [
    '/** Written by `npm run operations`; not edited by hand. */',
    "import type { Operation } from './call.ts';",
    ...[...types].map(([name, type]) => `export type ${name} = ${type};`),
    ...called,
  ].join('\n\n');
  return format(text, { ...(await resolveConfig(operationsFile)), parser: 'typescript' });
}

if (import.meta.main) await writeFile(operationsFile, await operations());
