/**
 * The fields of records. Each is written once: it says what is checked before a record is stored (models/base/define.ts), and
 * the record's type follows from it (`RecordWith`).
 */
declare const held: unique symbol;
/** A field that holds a `V`; `O` says whether a record may lack it. */
export type Field<V, O extends boolean = boolean> = {
  readonly optional: O;
  readonly kind: 'string' | 'number' | 'boolean' | 'date' | 'bytes' | 'mixed' | 'list' | 'embedded';
  /** Of a string: what it may be. */
  readonly values?: readonly string[];
  /** Of a list. */
  readonly item?: Field<unknown>;
  /** Of an embedded record. */
  readonly fields?: Fields;
  readonly unique?: true;
  readonly nullable?: true;
  /** What a new record has where nothing is given. */
  readonly initial?: unknown;
  readonly [held]?: V;
};
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What a field holds. */
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
/** Not the empty string. */
export const string: Required<string> = { kind: 'string', optional: false };
/** Possibly the empty string, which it is where nothing is given. */
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
/** Any JSON; `V` is what the code stores there, and nothing checks it. */
export const mixed = <V>(): Required<V> => ({ kind: 'mixed', optional: false });
/** An array; an empty one where nothing is given. */
export const list = <V>(item: Required<V>): Required<V[]> => ({ kind: 'list', optional: false, item });
/** A record inside a record, without an id of its own. */
export const embedded = <F extends Fields>(fields: F): Required<RecordWith<F>> => ({
  kind: 'embedded',
  optional: false,
  fields,
});

/** A field that records may lack. */
export const optional = <V>({ initial: _, ...field }: Required<V>): Field<V, true> => ({ ...field, optional: true });
/** True, or not there: what a unique or partial index counts. */
export const flag = optional(boolean) as Field<true, true>;
/** A value or null; null where nothing is given. */
export const nullable = <V>(field: Required<V>): Required<V | null> => ({ initial: null, ...field, nullable: true });
/** A field that has this value where none is given. */
export const orElse = <V>(field: Required<V>, initial: NoInfer<V>): Required<V> => ({ ...field, initial });
/** No two records of the collection have the same value. */
export const unique = <V>(field: Required<V>): Required<V> => ({ ...field, unique: true });
