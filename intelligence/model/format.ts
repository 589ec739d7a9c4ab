/** The form of a reply as endpoints take it, made of the zod shape by which the reply is checked. */
import { z } from 'zod';

export type Format = {
  type: 'json_schema';
  json_schema: { name: string; strict: true; schema: Record<string, unknown> };
};

/** Bounds that strict endpoints refuse; the reply is held to them all the same when it is checked. */
const bounds = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
] as const;

/** `name`: letters and `_`. */
export function formatOf(name: string, shape: z.ZodType): Format {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      for (const bound of bounds) delete jsonSchema[bound];
    },
  });
  return { type: 'json_schema', json_schema: { name, strict: true, schema } };
}
