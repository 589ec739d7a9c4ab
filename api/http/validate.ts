/** What a caller sent, against its schema: the value, or a problem that names every offending field. */
import type { z } from 'zod';
import { toDetails } from './errors.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Parses or throws `VALIDATION` with every offending field. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, place: 'body' | 'query' | 'params'): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Problem('VALIDATION', { details: toDetails(parsed.error, place) });
  return parsed.data;
}
