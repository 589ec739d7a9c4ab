/**
 * The embedding models in the process that runs them: texts become unit vectors. A run computes inside the calling thread for
 * up to 70 ms, so only clients/embedding/child.ts may use this.
 */
import { join } from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { Unigram } from './unigram.ts';
import { modelNames, models, type EmbeddingText, type ModelName } from './vectors.ts';

type Model = { embed(text: string, kind: EmbeddingText['kind']): Promise<Float32Array> };

/** One thread, one text at a time and no arena: batches gain nothing, and an arena keeps what the longest text once took. */
const sessionOptions: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  graphOptimizationLevel: 'all',
  enableCpuMemArena: false,
  enableMemPattern: false,
};

async function openModel(folder: string, name: ModelName): Promise<Model> {
  const { tokens, prefix } = models[name];
  const vocabulary = new Unigram(join(folder, name, 'vocabulary.bin'));
  // By its path, never from a buffer: then the weights are mapped into memory and shared between processes.
  const session = await InferenceSession.create(join(folder, name, 'model.onnx'), sessionOptions);
  return {
    async embed(text, kind) {
      const ids = vocabulary.encode(prefix[kind] + text, tokens[kind]);
      const shape = [1, ids.length];
      const { embedding } = await session.run({
        input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), shape),
        attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), shape),
      });
      return Float32Array.from(embedding!.data as Float32Array);
    },
  };
}

/**
 * Of length 1; zero stays zero. Passage and heading meet the same question vector, so their two scores fold into one vector
 * that is their sum.
 */
function unit(vector: Float32Array, heading?: Float32Array, share = 0): Float32Array {
  const sum = heading ? vector.map((x, i) => x + share * heading[i]!) : vector;
  const length = Math.hypot(...sum);
  return length === 0 ? sum : sum.map((x) => x / length);
}

/** How much a heading counts beside its passage; measured on real customers' questions. */
const headingShare = 0.7;

export type OpenedModels = {
  /** The parts of these models side by side, each of length 1. */
  embed(text: EmbeddingText, names: readonly ModelName[]): Promise<Float32Array>;
};

/** Opens all models of `folder`. */
export async function openModels(folder: string): Promise<OpenedModels> {
  const opened = new Map(
    await Promise.all(modelNames.map(async (name) => [name, await openModel(folder, name)] as const)),
  );
  return {
    async embed({ kind, text, heading }, names) {
      const parts: number[] = [];
      for (const name of names) {
        const model = opened.get(name)!;
        const body = await model.embed(text, kind);
        const head = heading ? await model.embed(heading, kind) : undefined;
        parts.push(...unit(body, head, headingShare));
      }
      return Float32Array.from(parts);
    },
  };
}
