/** Checks a caller's input against its schema: returns the value, or throws a problem that names every wrong field. */
import { z } from 'zod';
import { check } from './faults.ts';
import { Problem } from '../../models/rules/base/errors.ts';

export function parse<S extends z.ZodType>(schema: S, value: unknown, place: 'body' | 'query' | 'params'): z.infer<S> {
  const checked = check(schema, value, place);
  if ('faults' in checked) throw new Problem('VALIDATION', checked.faults);
  return checked.value;
}

const nothing = z.strictObject({});

/** Throws `VALIDATION` if the query has any parameter. */
export function takeNoParameters(query: unknown): void {
  parse(nothing, query, 'query');
}
