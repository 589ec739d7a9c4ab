/**
 * Field definitions of MongoDB records. Each one is the source of both the check before a record is stored
 * (models/base/define.ts) and the record's TypeScript type (`RecordWith`).
 */
declare const held: unique symbol;
/** A field with a value of type `V`. `O` is true when records may lack the field. */
export type Field<V, O extends boolean = boolean> = {
  readonly optional: O;
  readonly kind: 'string' | 'number' | 'boolean' | 'date' | 'bytes' | 'mixed' | 'list' | 'embedded';
  /** The allowed values of a string. */
  readonly values?: readonly string[];
  /** The field of a list's items. */
  readonly item?: Field<unknown>;
  /** The fields of an embedded record. */
  readonly fields?: Fields;
  readonly unique?: true;
  readonly nullable?: true;
  /** The default value in a new record. */
  readonly initial?: unknown;
  readonly [held]?: V;
};
export type Fields = Readonly<Record<string, Field<unknown>>>;

export type ValueOf<F extends Field<unknown>> = F extends Field<infer V> ? V : never;
/** The TypeScript type of records with these fields. */
export type RecordWith<F extends Fields> = {
  -readonly [K in keyof F as F[K] extends Field<unknown, false> ? K : never]: ValueOf<F[K]>;
} & {
  -readonly [K in keyof F as F[K] extends Field<unknown, false> ? never : K]?: ValueOf<F[K]>;
} extends infer R
  ? { [K in keyof R]: R[K] }
  : never;

type Required<V> = Field<V, false>;
/** A non-empty string. */
export const string: Required<string> = { kind: 'string', optional: false };
/** A string that may be empty; empty by default. */
export const text: Required<string> = { kind: 'string', optional: false, initial: '' };
export const number: Required<number> = { kind: 'number', optional: false };
export const boolean: Required<boolean> = { kind: 'boolean', optional: false };
export const date: Required<Date> = { kind: 'date', optional: false };
export const bytes: Required<Uint8Array> = { kind: 'bytes', optional: false };
/** A string that must be one of the given values. */
export const oneOf = <const S extends string>(values: readonly S[]): Required<S> => ({
  ...(string as Field<S, false>),
  values,
});
/** Any JSON value. `V` is the assumed type, which is not checked at run time. */
export const mixed = <V>(): Required<V> => ({ kind: 'mixed', optional: false });
/** A list; empty by default. */
export const list = <V>(item: Required<V>): Required<V[]> => ({ kind: 'list', optional: false, item });
/** A record embedded in a record, without an id of its own. */
export const embedded = <F extends Fields>(fields: F): Required<RecordWith<F>> => ({
  kind: 'embedded',
  optional: false,
  fields,
});

export const optional = <V>(field: Required<V>): Field<V, true> => ({ ...field, optional: true });
/** True or absent, never false. So a partial index can contain only the records that have the field. */
export const flag = optional(boolean) as Field<true, true>;
/** A value or null; null by default. */
export const nullable = <V>(field: Required<V>): Required<V | null> => ({ initial: null, ...field, nullable: true });
export const orElse = <V>(field: Required<V>, initial: NoInfer<V>): Required<V> => ({ ...field, initial });
export const unique = <V>(field: Required<V>): Required<V> => ({ ...field, unique: true });
