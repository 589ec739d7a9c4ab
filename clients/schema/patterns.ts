/**
 * Finds regular expressions in untrusted schemas that JavaScript cannot enforce. JSON Schema prescribes ECMA-262, but
 * many servers use the syntax of their own programming language, which JavaScript rejects or reads differently. Such an
 * expression is not enforced, and a note tells the members who see the tool.
 */
import type { JsonSchema } from '../../models/rules/mcp/tool.ts';

/** Syntax of other languages that JavaScript accepts without the flag `u`, but reads as literal characters. */
const foreign = /\\[^bBcdDfknrsStuvwWx0-9\W_]|\{,|\[\[:/;

/**
 * The flags with which JavaScript reads an expression correctly; undefined when the expression is in another language's
 * syntax.
 */
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

/**
 * `byName`: keywords whose members are schemas under arbitrary names. `values`: keywords whose values are no schemas.
 */
const byName = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const values = new Set(['const', 'enum', 'default', 'examples']);

/**
 * Removes expressions in other languages' syntax from a schema. `removed`: their paths, such as
 * `properties.code.pattern`.
 */
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
      // When a `patternProperties` expression was removed, it is unknown which properties are additional. So the
      // keyword for additional properties is removed too.
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
