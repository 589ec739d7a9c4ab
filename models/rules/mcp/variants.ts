import type { JsonSchema } from './tool.ts';

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The maximum number of alternatives of one argument; an argument with more cannot be filled from a sentence. */
const maxVariants = 20;

/**
 * The alternative types of one argument's schema, without null: references into `root` are resolved, and `anyOf`,
 * `oneOf` and type lists are expanded. Tool servers written in Python describe optional arguments and enums in these
 * forms.
 */
export function variantsOf(given: unknown, root: JsonSchema): JsonSchema[] {
  const found: JsonSchema[] = [];
  const read = (schema: unknown, depthLeft: number): void => {
    if (!isRecord(schema) || depthLeft === 0 || found.length === maxVariants) return;
    const { $ref: reference, anyOf, oneOf, allOf, type, ...rest } = schema;
    const one = Array.isArray(allOf) && allOf.length === 1 ? (allOf[0] as unknown) : undefined;
    const inner = typeof reference === 'string' ? resolved(reference, root) : one;
    if (isRecord(inner)) return read({ ...rest, ...inner }, depthLeft - 1);
    const several = Array.isArray(anyOf) ? anyOf : oneOf;
    if (Array.isArray(several)) {
      for (const variant of several)
        read({ ...rest, ...(isRecord(variant) ? variant : { type: 'null' }) }, depthLeft - 1);
    } else if (Array.isArray(type)) {
      for (const each of type) read({ ...rest, type: each as unknown }, depthLeft - 1);
    } else if (type !== 'null') found.push(schema);
  };
  read(given, 8);
  return found;
}

/** Resolves a JSON pointer such as `#/$defs/Color` in `root`. */
function resolved(reference: string, root: JsonSchema): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isRecord(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}
