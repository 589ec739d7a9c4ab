/** The JSON schema of a reply for the endpoint, derived from the Zod schema that checks the reply. */
import { z } from 'zod';

export type Format = {
  type: 'json_schema';
  json_schema: { name: string; strict: true; schema: Record<string, unknown> };
};

/**
 * JSON Schema keywords that strict endpoints refuse. They are not sent, but the reply is still checked against them.
 */
const bounds = 'minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems'.split(' ');

/** `name`: letters and `_` only. */
export function formatOf(name: string, shape: z.ZodType): Format {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    override({ jsonSchema }) {
      for (const bound of bounds) delete jsonSchema[bound];
    },
  });
  return { type: 'json_schema', json_schema: { name, strict: true, schema } };
}
