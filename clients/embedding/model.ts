/**
 * The embedding models inside the process that runs them: they turn texts into unit vectors. A model run blocks the
 * calling thread for up to 70 ms, so only clients/embedding/child.ts and its thread may use this file.
 */
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { Unigram } from './unigram.ts';
import { WordPiece } from './wordpiece.ts';
import { modelNames, models, type EmbeddingText, type ModelName } from './vectors.ts';

type Model = { embed(text: string, kind: EmbeddingText['kind']): Promise<Float32Array> };

/**
 * An ONNX session uses one thread and no memory arena, and gets one text at a time. Batches would not be faster, and an
 * arena would keep the memory of the longest text.
 */
const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  enableCpuMemArena: false,
  enableMemPattern: false,
};

async function openModel(folder: string, name: ModelName): Promise<Model> {
  const { dimensions, tokens, prefix } = models[name];
  const vocabulary =
    name === 'bge'
      ? new WordPiece(join(folder, name, 'tokenizer.json'))
      : new Unigram(join(folder, name, 'vocabulary.bin'));
  // The session is opened by its path instead of from a buffer, so that the weights are memory-mapped and shared
  // between processes.
  const session = await InferenceSession.create(join(folder, name, 'model.onnx'), sessionOptions);
  const output = session.outputNames[0]!;
  return {
    async embed(text, kind) {
      const ids = vocabulary.encode(prefix[kind] + text, tokens[kind]);
      const filled = (value: bigint): Tensor =>
        new Tensor('int64', new BigInt64Array(ids.length).fill(value), [1, ids.length]);
      const given: Record<string, Tensor> = {
        input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
        attention_mask: filled(1n),
        token_type_ids: filled(0n),
      };
      const wanted = Object.fromEntries(session.inputNames.map((input) => [input, given[input]!]));
      const { [output]: embedding } = await session.run(wanted, [output]);
      // bge returns one vector for each token; the first one represents the whole text.
      return Float32Array.from((embedding!.data as Float32Array).subarray(0, dimensions));
    },
  };
}

/**
 * Scales a vector to length 1; a zero vector stays zero. A heading's vector is added with weight `share`, so that one
 * comparison covers the passage and its heading.
 */
function unit(vector: Float32Array, heading?: Float32Array, share = 0): Float32Array {
  const sum = heading ? vector.map((x, i) => x + share * heading[i]!) : vector;
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((x) => x / length);
}

/** The weight of a heading relative to its passage, chosen by measurements with real customers' questions. */
const headingShare: Record<ModelName, number> = { me5: 0.7, use: 0.7, bge: 0.5 };

/**
 * The number of cached heading vectors, 2 KiB each. The passages of a section arrive one after another and share their
 * heading.
 */
const keptHeadings = 600;

export type OpenedModels = {
  /** The unit vectors of the given models, concatenated. */
  embed(text: EmbeddingText, names: readonly ModelName[]): Promise<Float32Array>;
};

/** Opens the given models from `folder`. */
export async function openModels(folder: string, names: readonly ModelName[] = modelNames): Promise<OpenedModels> {
  const opened = new Map(await Promise.all(names.map(async (name) => [name, await openModel(folder, name)] as const)));
  const headings = new LRUCache<string, Float32Array>({ max: keptHeadings });

  async function headingBy(name: ModelName, heading: string): Promise<Float32Array> {
    const key = `${name} ${heading}`;
    const vector = headings.get(key) ?? (await opened.get(name)!.embed(heading, 'passage'));
    headings.set(key, vector);
    return vector;
  }

  return {
    async embed({ kind, text, heading }, names) {
      const parts: number[] = [];
      for (const name of names) {
        const body = await opened.get(name)!.embed(text, kind);
        const head = heading ? await headingBy(name, heading) : undefined;
        parts.push(...unit(body, head, headingShare[name]));
      }
      return Float32Array.from(parts);
    },
  };
}
