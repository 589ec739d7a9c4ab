/** Checks what a caller sent against its schema: the value, or a problem that names every offending field. */
import { z } from 'zod';
import { check } from './faults.ts';
import { Problem } from '../../models/rules/base/errors.ts';

/** Parses or throws `VALIDATION` with every offending field. */
export function parse<S extends z.ZodType>(schema: S, value: unknown, place: 'body' | 'query' | 'params'): z.infer<S> {
  const checked = check(schema, value, place);
  if ('faults' in checked) throw new Problem('VALIDATION', checked.faults);
  return checked.value;
}

const nothing = z.strictObject({});

/** Throws `VALIDATION` for every parameter in an address that takes none. */
export function takeNoParameters(query: unknown): void {
  parse(nothing, query, 'query');
}
