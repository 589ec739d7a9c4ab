/** What a schema of one argument allows, one variant after the other. Pure. */
import type { JsonSchema } from './tool.ts';

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Variants read of one argument; more are for a form, not for a sentence. */
const maxVariants = 20;

/**
 * The variants of a schema: what it refers to inside `root`, and each of `anyOf`, `oneOf` and of several types, without null.
 * Python's servers describe every optional argument so, and every list of values.
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

/** `#/$defs/Color` in `root`. */
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
