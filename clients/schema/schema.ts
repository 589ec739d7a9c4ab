/**
 * Checks values against JSON Schemas (2020-12) that others wrote. A schema may be as hostile as the value: it loads nothing,
 * its expressions run with a time limit, and one that cannot be used is refused when it is compiled.
 */
import { createContext, Script } from 'node:vm';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { maxSchemaDepth, maxSchemaLength, type JsonSchema } from '../../models/rules/mcp/tool.ts';

/** `problem`: where the value does not fit and why, without the value itself. */
export type Fit = { fits: true } | { fits: false; problem: string };
export type SchemaCheck = (value: unknown) => Fit;

/** A schema that cannot be used; its message is for the person who wrote it. */
export class BadSchema extends Error {
  override readonly name = 'BadSchema';
}

/** Enough for any honest expression on a text of `maxArgumentsLength`. */
const expressionMs = 50;
const bed = createContext(Object.create(null));
const search = new Script('new RegExp(pattern, flags).test(text)');

/**
 * An expression that takes longer than `expressionMs` throws; the check then fails. The limit goes by the clock, so one that was
 * broken off although it had little of a processor is run again: a process that is held up refuses nothing by mistake.
 */
function boundedExpression(pattern: string, flags: string) {
  void new RegExp(pattern, flags);
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
    // By this the library tells expressions apart.
    toString: () => `/${pattern}/${flags}`,
  };
}
boundedExpression.code = 'boundedExpression';

/** `format` is a note to people in 2020-12. */
const options = { strict: false, validateFormats: false, logger: false } as const;
/** Knows what a schema is. */
const judge = new Ajv2020(options);
const compiled = new LRUCache<string, SchemaCheck>({ max: 500 });

/** @throws BadSchema */
export function schemaCheck(schema: JsonSchema): SchemaCheck {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) return known;
  if (text.length > maxSchemaLength) throw new BadSchema(`may have ${maxSchemaLength} characters as JSON`);
  if (depthOf(schema) > maxSchemaDepth) throw new BadSchema(`may be nested ${maxSchemaDepth} deep`);
  const check = compile(JSON.parse(text) as JsonSchema);
  compiled.set(text, check);
  return check;
}

function compile(schema: JsonSchema): SchemaCheck {
  // An instance each, because schemas of different owners may carry the same `$id`.
  const ajv = new Ajv2020({ ...options, meta: false, validateSchema: false, code: { regExp: boundedExpression } });
  try {
    if (judge.validateSchema(schema) !== true) throw new Error(judge.errorsText(judge.errors));
    const validate = ajv.compile(schema);
    return (value) => {
      try {
        return validate(value) ? { fits: true } : { fits: false, problem: said(validate.errors?.[0]) };
      } catch {
        // An endless reference, or an expression that took too long.
        return { fits: false, problem: 'cannot be checked by this schema' };
      }
    };
  } catch (error) {
    throw new BadSchema(`is not a usable JSON Schema 2020-12: ${(error as Error).message.slice(0, 200)}`, {
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
