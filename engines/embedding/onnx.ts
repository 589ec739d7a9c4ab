/**
 * Writes ONNX graphs for any model. Small tensors go into the graph, large ones into a separate data file that the
 * runtime memory-maps. So rows of a word table that no text uses take no resident memory.
 */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import protobuf from 'protobufjs';

const fields = (spec: Record<string, [id: number, type: string, repeated?: 'repeated']>) => ({
  fields: Object.fromEntries(
    Object.entries(spec).map(([name, [id, type, rule]]) => [name, { id, type, ...(rule ? { rule } : {}) }]),
  ),
});

/** The part of the ONNX format (onnx.proto, IR version 10) that the graphs of this project need. */
const { Model } = protobuf.Root.fromJSON({
  nested: {
    Entry: fields({ key: [1, 'string'], value: [2, 'string'] }),
    Tensor: fields({
      dims: [1, 'int64', 'repeated'],
      dataType: [2, 'int32'],
      name: [8, 'string'],
      rawData: [9, 'bytes'],
      externalData: [13, 'Entry', 'repeated'],
      dataLocation: [14, 'int32'],
    }),
    Attribute: fields({
      name: [1, 'string'],
      f: [2, 'float'],
      i: [3, 'int64'],
      ints: [8, 'int64', 'repeated'],
      type: [20, 'int32'],
    }),
    Node: fields({
      input: [1, 'string', 'repeated'],
      output: [2, 'string', 'repeated'],
      name: [3, 'string'],
      opType: [4, 'string'],
      attribute: [5, 'Attribute', 'repeated'],
      domain: [7, 'string'],
    }),
    Dimension: fields({ dimValue: [1, 'int64'], dimParam: [2, 'string'] }),
    Shape: fields({ dim: [1, 'Dimension', 'repeated'] }),
    TensorType: fields({ elemType: [1, 'int32'], shape: [2, 'Shape'] }),
    Type: fields({ tensorType: [1, 'TensorType'] }),
    Value: fields({ name: [1, 'string'], type: [2, 'Type'] }),
    Graph: fields({
      node: [1, 'Node', 'repeated'],
      name: [2, 'string'],
      initializer: [5, 'Tensor', 'repeated'],
      input: [11, 'Value', 'repeated'],
      output: [12, 'Value', 'repeated'],
    }),
    Opset: fields({ domain: [1, 'string'], version: [2, 'int64'] }),
    Model: fields({
      irVersion: [1, 'int64'],
      producerName: [2, 'string'],
      graph: [7, 'Graph'],
      opsetImport: [8, 'Opset', 'repeated'],
    }),
  },
}) as protobuf.Root & { Model: protobuf.Type };

/** The numeric codes of TensorProto.DataType. */
const elementTypes = { float: 1, uint8: 2, int32: 6, int64: 7, int4: 22 } as const;
type Element = keyof typeof elementTypes;
/** The numeric codes of AttributeProto.AttributeType. */
const attributeTypes = { float: 1, int: 2, ints: 7 } as const;

/** Tensors of at least this many bytes go into the data file. */
const externalFromBytes = 65_536;
const pageBytes = 4096;

/** A number is an integer attribute, `{ float }` a float attribute, and a list an attribute of integers. */
export type Attributes = Record<string, number | { float: number } | readonly number[]>;

export class Graph {
  readonly #dataFile: string;
  readonly #graph = {
    name: 'g',
    node: [] as object[],
    initializer: [] as object[],
    input: [] as object[],
    output: [] as object[],
  };
  readonly #blobs: Uint8Array[] = [];
  #dataBytes = 0;

  /** `dataFile`: the name of the file of large tensors, in the graph's folder. */
  constructor(dataFile: string) {
    this.#dataFile = dataFile;
  }

  /** Adds a constant and returns its name. `raw`: its little-endian bytes (two int4 in a byte, the low half first). */
  tensor(name: string, type: Element, dims: readonly number[], raw: Uint8Array): string {
    const head = { name, dims, dataType: elementTypes[type] };
    if (raw.length < externalFromBytes) {
      this.#graph.initializer.push({ ...head, rawData: raw });
      return name;
    }
    const gap = (pageBytes - (this.#dataBytes % pageBytes)) % pageBytes;
    if (gap > 0) this.#blobs.push(new Uint8Array(gap));
    const offset = this.#dataBytes + gap;
    const place = { location: this.#dataFile, offset: String(offset), length: String(raw.length) };
    const externalData = Object.entries(place).map(([key, value]) => ({ key, value }));
    this.#graph.initializer.push({ ...head, externalData, dataLocation: 1 });
    this.#blobs.push(raw);
    this.#dataBytes = offset + raw.length;
    return name;
  }

  floats(name: string, dims: readonly number[], values: Float32Array | readonly number[]): string {
    const typed = values instanceof Float32Array ? values : Float32Array.from(values);
    return this.tensor(name, 'float', dims, new Uint8Array(typed.buffer, typed.byteOffset, typed.byteLength));
  }

  /** Adds a list of integers as a constant, or a scalar when `dims` is empty. */
  integers(name: string, values: readonly number[], dims: readonly number[] = [values.length]): string {
    return this.tensor(name, 'int64', dims, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer));
  }

  /** Adds an operator; returns the name of its first output. */
  op(
    opType: string,
    input: readonly string[],
    output: string | readonly string[],
    attributes: Attributes = {},
    domain?: 'com.microsoft',
  ): string {
    const outputs = typeof output === 'string' ? [output] : output;
    const attribute = Object.entries(attributes).map(([name, value]) => {
      if (typeof value === 'number') return { name, i: value, type: attributeTypes.int };
      if ('float' in value) return { name, f: value.float, type: attributeTypes.float };
      return { name, ints: value, type: attributeTypes.ints };
    });
    this.#graph.node.push({
      opType,
      input,
      output: outputs,
      name: outputs[0],
      attribute,
      ...(domain ? { domain } : {}),
    });
    return outputs[0]!;
  }

  input(name: string, type: Element, dims: readonly (number | string)[]): void {
    this.#graph.input.push(value(name, type, dims));
  }

  output(name: string, type: Element, dims: readonly (number | string)[]): void {
    this.#graph.output.push(value(name, type, dims));
  }

  /** Writes the graph to `path`, and the data file into the same folder. */
  async save(path: string): Promise<void> {
    const model = {
      irVersion: 10,
      producerName: 'support-platform',
      graph: this.#graph,
      opsetImport: [
        { domain: '', version: 18 },
        { domain: 'com.microsoft', version: 1 },
      ],
    };
    await writeFile(path, Model.encode(Model.fromObject(model)).finish());
    await writeFile(join(dirname(path), this.#dataFile), this.#blobs);
  }
}

function value(name: string, type: Element, dims: readonly (number | string)[]): object {
  const dim = dims.map((size) => (typeof size === 'string' ? { dimParam: size } : { dimValue: size }));
  return { name, type: { tensorType: { elemType: elementTypes[type], shape: { dim } } } };
}
