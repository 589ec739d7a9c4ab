/** The rows of vector tables: their columns, writing and reading. Vectors are stored as 16-bit floats. */
import {
  Field,
  FixedSizeList,
  Float16,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  Utf8,
  vectorFromArray,
  type Vector,
} from 'apache-arrow';
import { candidateOf, labels, schema as words } from './rows.ts';
import type { Authority } from '../../../models/rules/knowledge/authority.ts';

export type VectorRow = {
  /** The chunk's id. */
  id: string;
  source_id: string;
  /** The chunk's generation. A vector belongs to a text, so it does not depend on the attempt that indexed the text. */
  generation: number;
  segments: readonly string[];
  authority: Authority;
  language: string | undefined;
  /** The vectors of a table must have the same length. */
  vector: Float32Array;
};

export const vectorSchema = (width: number): Schema =>
  new Schema([
    ...words.fields.filter(({ name }) => name !== 'text'),
    new Field('language', new Utf8(), false),
    new Field('vector', new FixedSizeList(width, new Field('item', new Float16(), true)), false),
  ]);

/** The length of a table's vectors; 0 when the table has none. */
export function widthOf(schema: Schema): number {
  const field = schema.fields.find(({ name }) => name === 'vector');
  return (field?.type as { listSize?: number } | undefined)?.listSize ?? 0;
}

export function toArrow(rows: readonly VectorRow[], width: number): ArrowTable {
  const schema = vectorSchema(width);
  const halves = new Float16Array(rows.length * width);
  for (const [at, { vector }] of rows.entries()) halves.set(vector, at * width);
  const values: Record<string, (row: VectorRow) => unknown> = {
    id: ({ id }) => id,
    source_id: ({ source_id }) => source_id,
    generation: ({ generation }) => String(generation),
    labels: ({ segments, authority }) => labels(segments, authority),
    authority: ({ authority }) => authority,
    candidate: ({ id, authority }) => candidateOf(id, authority),
    language: ({ language = '' }) => language,
  };
  const children = schema.fields.map(({ name, type }) =>
    name === 'vector'
      ? makeData({
          type: type as FixedSizeList<Float16>,
          length: rows.length,
          child: makeData({ type: new Float16(), length: halves.length, data: new Uint16Array(halves.buffer) }),
        })
      : vectorFromArray(rows.map(values[name]!), type).data[0]!,
  );
  return new ArrowTable(schema, [
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: rows.length, children })),
  ]);
}

/** Converts a stored vector, as a query returns it. */
export function fromArrow(value: unknown): Float16Array {
  const bits = (value as Vector<Float16>).toArray();
  return new Float16Array(bits.buffer, bits.byteOffset, bits.length);
}
