/** Converts bge, which is already ONNX: its weights are moved to a separate file, which ONNX Runtime memory-maps. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';

/** Tensors of at least this many bytes are moved to the data file. */
const externalFromBytes = 65_536;

export async function convertBge(model: Buffer, tokenizer: Buffer, folder: string): Promise<void> {
  const whole = join(folder, 'whole.onnx');
  await writeFile(whole, model);
  // Optimizations are off, because their result depends on the processor.
  const session = await InferenceSession.create(whole, {
    graphOptimizationLevel: 'disabled',
    optimizedModelFilePath: join(folder, 'model.onnx'),
    extra: {
      session: {
        optimized_model_external_initializers_file_name: 'model.data',
        optimized_model_external_initializers_min_size_in_bytes: String(externalFromBytes),
      },
    },
  });
  await session.release();
  await rm(whole);
  await writeFile(join(folder, 'tokenizer.json'), tokenizer);
}
