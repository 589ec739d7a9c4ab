/**
 * Validates values against untrusted JSON Schemas, in the version that each schema names. Schemas may be hostile: they
 * cannot load other schemas, their regular expressions run with a time limit, and an unusable schema is rejected when
 * it is compiled.
 */
import { createContext, Script } from 'node:vm';
import type { ErrorObject } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { dialectNames, dialectOf, type Dialect } from './dialects.ts';
import { flagsOf, withoutForeign } from './patterns.ts';
import { maxSchemaDepth, maxSchemaLength, type JsonSchema } from '../../models/rules/mcp/tool.ts';

/** `problem`: where and why the value is invalid, without the value itself. */
export type Fit = { fits: true } | { fits: false; problem: string };
type SchemaCheck = (value: unknown) => Fit;
/** `unenforced`: the paths of regular expressions in another language's syntax, which are not checked. */
type ReadSchema = { check: SchemaCheck; unenforced: readonly string[] };

/** An unusable schema; the message is for the schema's author. */
export class BadSchema extends Error {
  override readonly name = 'BadSchema';
}

/** Time limit of one regular expression, in ms: enough for any ordinary one on a text of `maxArgumentsLength`. */
const expressionMs = 50;
const bed = createContext(Object.create(null));
const search = new Script('new RegExp(pattern, flags).test(text)');

/**
 * Compiles a regular expression whose `test` throws when it runs longer than `expressionMs`; the value then fails the
 * check. The limit counts wall-clock time. If the expression used little processor time, the process was busy with
 * other work, so the expression is run again.
 */
function boundedExpression(pattern: string) {
  const flags = flagsOf(pattern) ?? 'u';
  return {
    test(text: string): boolean {
      Object.assign(bed, { pattern, flags, text });
      const began = process.threadCpuUsage();
      for (;;) {
        try {
          return search.runInContext(bed, { timeout: expressionMs }) as boolean;
        } catch (error) {
          const { user, system } = process.threadCpuUsage(began);
          const isTimeout = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
          if (!isTimeout || (user + system) / 1_000 >= expressionMs / 2) throw error;
        }
      }
    },
    // Ajv caches expressions by this text.
    toString: () => `/${pattern}/${flags}`,
  };
}
boundedExpression.code = 'boundedExpression';

/** `format` is not validated: from 2019-09 on it is only an annotation, and in older versions it is ambiguous. */
const options = { strict: false, validateFormats: false, logger: false } as const;
/** The meta-schema validators, one for each version. */
const judges = new Map<Dialect, ReturnType<Dialect['make']>>();
const known = new LRUCache<string, ReadSchema>({ max: 500 });

/** @throws BadSchema */
export const schemaCheck = (schema: JsonSchema): SchemaCheck => readSchema(schema).check;

/** The check of a schema; undefined when the schema is unusable. */
export function checkOf(schema: JsonSchema): SchemaCheck | undefined {
  try {
    return schemaCheck(schema);
  } catch (error) {
    if (error instanceof BadSchema) return undefined;
    throw error;
  }
}

/** @throws BadSchema */
export function readSchema(schema: JsonSchema): ReadSchema {
  const text = JSON.stringify(schema);
  const standing = known.get(text);
  if (standing) return standing;
  if (text.length > maxSchemaLength) throw new BadSchema(`may have ${maxSchemaLength} characters as JSON`);
  if (depthOf(schema) > maxSchemaDepth) throw new BadSchema(`may be nested ${maxSchemaDepth} deep`);
  const dialect = dialectOf(schema);
  if (!dialect) throw new BadSchema(`names a version of JSON Schema that is not known; ${dialectNames} are`);
  // `$schema` is removed: the version is already known, and the validator rejects other spellings of its URL.
  const { $schema: _named, ...given } = JSON.parse(text) as JsonSchema;
  const { schema: enforced, removed } = withoutForeign(given);
  const read = { check: compile(enforced, dialect), unenforced: removed };
  known.set(text, read);
  return read;
}

function compile(schema: JsonSchema, dialect: Dialect): SchemaCheck {
  const judge = judges.get(dialect) ?? dialect.make(options);
  judges.set(dialect, judge);
  // Each schema gets a new instance, because schemas of different owners may have the same `$id`.
  const ajv = dialect.make({ ...options, meta: false, validateSchema: false, code: { regExp: boundedExpression } });
  try {
    if (judge.validateSchema(schema) !== true) throw new Error(judge.errorsText(judge.errors));
    const validate = ajv.compile(schema);
    return (value) => {
      try {
        return validate(value) ? { fits: true } : { fits: false, problem: said(validate.errors?.[0]) };
      } catch {
        // A `$ref` that refers to itself without end throws, and so does a regular expression that exceeds its time
        // limit.
        return { fits: false, problem: 'cannot be checked by this schema' };
      }
    };
  } catch (error) {
    throw new BadSchema(`is not a usable JSON Schema ${dialect.name}: ${(error as Error).message.slice(0, 200)}`, {
      cause: error,
    });
  }
}

function said(error: ErrorObject | undefined): string {
  const path = error?.instancePath.replace(/^\//, '').replaceAll('/', '.') ?? '';
  return `${path === '' ? '' : `${path} `}${error?.message ?? 'does not fit'}`.slice(0, 300);
}

function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  let depth = 0;
  for (const inner of Object.values(value)) depth = Math.max(depth, depthOf(inner));
  return depth + 1;
}
