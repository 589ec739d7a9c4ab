/**
 * Validates values against untrusted JSON Schemas, in the version that each schema names. Schemas may be hostile: they
 * cannot load other schemas, a check has a time limit, and an unusable schema is rejected when it is compiled.
 */
import { createContext, Script } from 'node:vm';
import { str, type ErrorObject, type FuncKeywordDefinition } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { dialectNames, dialectOf, type Dialect } from './dialects.ts';
import { flagsOf, withoutForeign } from './patterns.ts';
import { maxSchemaDepth, maxSchemaLength, maxSchemaParts, type JsonSchema } from '../../models/rules/mcp/tool.ts';

/** `problem`: where and why the value is invalid, without the value itself. */
export type Fit = { fits: true } | { fits: false; problem: string };
type SchemaCheck = (value: unknown) => Fit;
/** `unenforced`: the paths of regular expressions in another language's syntax, which are not checked. */
type ReadSchema = { check: SchemaCheck; unenforced: readonly string[] };

/** An unusable schema; the message is for the schema's author. */
export class BadSchema extends Error {
  override readonly name = 'BadSchema';
}

/**
 * Time limit of one check, in ms of CPU time. Definitions that each refer twice to the next one take time that doubles
 * with each definition, and so do some regular expressions on a longer text; an ordinary check takes less than a
 * millisecond.
 */
const checkMs = 1_000;
const bed = createContext(Object.create(null));
const checking = new Script('check()');

/**
 * Runs a check that throws when it runs longer than `checkMs`. The limit of the script counts wall-clock time. If the
 * check used little CPU time, the process was busy with other work, so the check is run again.
 */
function inTime(check: () => boolean): boolean {
  Object.assign(bed, { check });
  const began = process.threadCpuUsage();
  for (;;) {
    try {
      return checking.runInContext(bed, { timeout: checkMs }) as boolean;
    } catch (error) {
      const { user, system } = process.threadCpuUsage(began);
      const isTimeout = (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      if (!isTimeout || (user + system) / 1_000 >= checkMs / 2) throw error;
    }
  }
}

/** Compiles a regular expression with the flags that its syntax needs. */
function flaggedExpression(pattern: string) {
  const flags = flagsOf(pattern) ?? 'u';
  const expression = new RegExp(pattern, flags);
  return {
    test: (text: string): boolean => expression.test(text),
    // Ajv caches expressions by this text.
    toString: () => `/${pattern}/${flags}`,
  };
}
flaggedExpression.code = 'flaggedExpression';

/**
 * `format` is not validated: from 2019-09 on it is only an annotation, and in older versions it is ambiguous. A
 * definition is compiled once, not once for each reference, because a small schema may have many references.
 */
const options = {
  strict: false,
  validateFormats: false,
  logger: false,
  inlineRefs: false,
} as const;
/**
 * The maximum number of characters of the code that a schema is compiled to. References into nested parts compile the
 * inner parts several times, so the number of parts alone does not bound the work.
 */
const maxCodeLength = 2_000_000;
/** The meta-schema validators, one for each version. */
const judges = new Map<Dialect, ReturnType<Dialect['make']>>();
const known = new LRUCache<string, ReadSchema>({ max: 500 });
/** Schemas that were refused when they were compiled, which takes up to half a second. */
const refused = new LRUCache<string, BadSchema>({ max: 500 });

/** Whether a number is a multiple, with the rounding of decimal fractions: 19.99 / 0.01 is no whole number. */
function isMultiple(of: number, value: number): boolean {
  const quotient = value / of;
  if (Number.isInteger(quotient)) return true;
  const apart = Math.abs(quotient - Math.round(quotient));
  return !Number.isInteger(of) && apart <= 2 * Number.EPSILON * Math.abs(quotient);
}
const multipleOf: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  errors: false,
  validate: isMultiple,
  error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
};

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
  const { depth, parts } = sizeOf(schema);
  // The depth is checked first, because a very deep value cannot be written as JSON.
  if (depth > maxSchemaDepth) throw new BadSchema(`may be nested ${maxSchemaDepth} deep`);
  const text = JSON.stringify(schema);
  const standing = known.get(text);
  if (standing) return standing;
  const flaw = refused.get(text);
  if (flaw) throw flaw;
  if (text.length > maxSchemaLength) throw new BadSchema(`may have ${maxSchemaLength} characters as JSON`);
  if (parts > maxSchemaParts) throw new BadSchema(`may have ${maxSchemaParts} objects and lists`);
  const dialect = dialectOf(schema);
  if (!dialect) throw new BadSchema(`names a version of JSON Schema that is not known; ${dialectNames} are`);
  // `$schema` is removed: the version is already known, and the validator rejects other spellings of its URL.
  // `$async` is no keyword of JSON Schema, but it makes the validator compile to a function that returns a promise.
  const { $schema: _named, $async: _flag, ...given } = JSON.parse(text) as JsonSchema;
  const { schema: enforced, removed } = withoutForeign(given);
  try {
    const read = { check: compile(enforced, dialect), unenforced: removed };
    known.set(text, read);
    return read;
  } catch (error) {
    refused.set(text, error as BadSchema);
    throw error;
  }
}

function compile(schema: JsonSchema, dialect: Dialect): SchemaCheck {
  const judge = judges.get(dialect) ?? dialect.make(options);
  judges.set(dialect, judge);
  // Each schema gets a new instance, because schemas of different owners may have the same `$id`.
  // The code is not optimized, because the time for that grows with the square of its length.
  const code = { regExp: flaggedExpression, process: boundedCode(), optimize: false };
  const ajv = dialect.make({ ...options, meta: false, validateSchema: false, code });
  ajv.removeKeyword('multipleOf').addKeyword(multipleOf);
  try {
    if (judge.validateSchema(schema) !== true) throw new Error(judge.errorsText(judge.errors));
    const validate = ajv.compile(schema);
    // A promise counts as a fit, and its rejection would end the process.
    if ('$async' in validate) throw new Error('it may not be asynchronous');
    return (value) => {
      try {
        const fits = inTime(() => validate(value));
        return fits ? { fits } : { fits, problem: said(validate.errors?.[0]) };
      } catch {
        // A `$ref` that refers to itself without end throws, and so does a check that exceeds its time limit.
        return { fits: false, problem: 'cannot be checked by this schema' };
      }
    };
  } catch (error) {
    const problem = `is not a usable JSON Schema ${dialect.name}: ${(error as Error).message.slice(0, 200)}`;
    throw new BadSchema(problem, { cause: error });
  }
}

/** Returns a function that receives the code of each compiled part, and throws when the total is too long. */
function boundedCode(): (code: string) => string {
  let length = 0;
  return (code) => {
    length += code.length;
    if (length > maxCodeLength) throw new Error('it is too complex');
    return code;
  };
}

function said(error: ErrorObject | undefined): string {
  const path = error?.instancePath.replace(/^\//, '').replaceAll('/', '.') ?? '';
  return `${path === '' ? '' : `${path} `}${error?.message ?? 'does not fit'}`.slice(0, 300);
}

/**
 * The nesting depth of a value, and the number of its objects and lists. Levels below the first forbidden one are not
 * counted.
 */
function sizeOf(value: unknown, depthLeft = maxSchemaDepth + 1): { depth: number; parts: number } {
  if (value === null || typeof value !== 'object' || depthLeft === 0) return { depth: 0, parts: 0 };
  let depth = 0;
  let parts = 1;
  for (const inner of Object.values(value)) {
    const size = sizeOf(inner, depthLeft - 1);
    depth = Math.max(depth, size.depth);
    parts += size.parts;
  }
  return { depth: depth + 1, parts };
}
