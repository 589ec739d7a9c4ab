/**
 * Regular expressions in foreign schemas. JSON Schema means those of ECMA-262, but many servers use their own
 * language's, which JavaScript cannot run or would read differently. Such an expression is not enforced, and a note
 * says so.
 */
import type { JsonSchema } from '../../models/rules/mcp/tool.ts';

/** Syntax of other languages that JavaScript without the flag `u` takes as plain characters. */
const foreign = /\\[^bBcdDfknrsStuvwWx0-9\W_]|\{,|\[\[:/;

/** The flags with which JavaScript reads an expression correctly; undefined when it is of another language. */
export function flagsOf(pattern: string): 'u' | '' | undefined {
  if (isExpression(pattern, 'u')) return 'u';
  return !foreign.test(pattern) && isExpression(pattern, '') ? '' : undefined;
}

function isExpression(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Keywords whose members are schemas under free names, and keywords whose values are no schemas. */
const byName = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const values = new Set(['const', 'enum', 'default', 'examples']);

/** The schema without foreign expressions, and their places: `properties.code.pattern`. */
export function withoutForeign(schema: JsonSchema): { schema: JsonSchema; removed: string[] } {
  const removed: string[] = [];
  const read = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((one, index) => read(one, `${path}.${index}`));
    return isRecord(value) ? readSchema(value, path) : value;
  };
  const readSchema = (given: JsonSchema, path: string): JsonSchema => {
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    const names = Object.keys(isRecord(given['patternProperties']) ? given['patternProperties'] : {});
    const unread = new Set(names.filter((name) => flagsOf(name) === undefined));
    const kept = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      const isForeign = name === 'pattern' && typeof value === 'string' && flagsOf(value) === undefined;
      // Without the expression it is unknown which properties are additional.
      const isRest = unread.size > 0 && (name === 'additionalProperties' || name === 'unevaluatedProperties');
      if (isForeign || isRest) {
        removed.push(at(name));
        return [];
      }
      if (values.has(name)) return [[name, value]];
      if (!byName.has(name) || !isRecord(value)) return [[name, read(value, at(name))]];
      const members = Object.entries(value).flatMap(([member, inner]): [string, unknown][] => {
        if (name === 'patternProperties' && unread.has(member)) {
          removed.push(`${at(name)}.${member}`);
          return [];
        }
        return [[member, read(inner, `${at(name)}.${member}`)]];
      });
      return [[name, Object.fromEntries(members)]];
    });
    return Object.fromEntries(kept);
  };
  return { schema: readSchema(schema, ''), removed };
}

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
