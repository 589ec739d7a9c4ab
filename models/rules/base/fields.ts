/**
 * The fields of records. Each is written once: it says what is checked before a record is stored (models/base/define.ts), and
 * the record's type follows from it (`RecordWith`).
 */
declare const held: unique symbol;
/** A field that holds a `V`; `O` says whether a record may lack it. */
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
  /** The value of a new record when none is given. */
  readonly initial?: unknown;
  readonly [held]?: V;
};
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The type of a field's value. */
export type ValueOf<F extends Field<unknown>> = F extends Field<infer V> ? V : never;
/** The record that has these fields. */
export type RecordWith<F extends Fields> = {
  -readonly [K in keyof F as F[K] extends Field<unknown, false> ? K : never]: ValueOf<F[K]>;
} & {
  -readonly [K in keyof F as F[K] extends Field<unknown, false> ? never : K]?: ValueOf<F[K]>;
} extends infer R
  ? { [K in keyof R]: R[K] }
  : never;

type Required<V> = Field<V, false>;
/** A string that is not empty. */
export const string: Required<string> = { kind: 'string', optional: false };
/** A string that may be empty, and is empty by default. */
export const text: Required<string> = { kind: 'string', optional: false, initial: '' };
export const number: Required<number> = { kind: 'number', optional: false };
export const boolean: Required<boolean> = { kind: 'boolean', optional: false };
export const date: Required<Date> = { kind: 'date', optional: false };
export const bytes: Required<Buffer> = { kind: 'bytes', optional: false };
/** One of these strings. */
export const oneOf = <const S extends string>(values: readonly S[]): Required<S> => ({
  ...(string as Field<S, false>),
  values,
});
/** Any JSON; `V` is the type that the code stores, which nothing checks. */
export const mixed = <V>(): Required<V> => ({ kind: 'mixed', optional: false });
/** An array; empty by default. */
export const list = <V>(item: Required<V>): Required<V[]> => ({ kind: 'list', optional: false, item });
/** A record inside a record, without an id. */
export const embedded = <F extends Fields>(fields: F): Required<RecordWith<F>> => ({
  kind: 'embedded',
  optional: false,
  fields,
});

/** A field that records may lack. */
export const optional = <V>(field: Required<V>): Field<V, true> => ({ ...field, optional: true });
/** True or absent, for unique and partial indexes. */
export const flag = optional(boolean) as Field<true, true>;
/** A value or null; null by default. */
export const nullable = <V>(field: Required<V>): Required<V | null> => ({ initial: null, ...field, nullable: true });
/** A field with a default value. */
export const orElse = <V>(field: Required<V>, initial: NoInfer<V>): Required<V> => ({ ...field, initial });
/** A field whose value is unique in the collection. */
export const unique = <V>(field: Required<V>): Required<V> => ({ ...field, unique: true });
