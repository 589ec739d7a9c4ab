import { expect, it } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows } from '../../workers/bundle.ts';

it('a workflow bundle is stored under the hash of its sources, and is built even when the bundle cannot be stored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'support-bundle-'));
  try {
    await writeFile(join(folder, 'workflows-0123.js'), 'the bundle of another version');
    await writeFile(join(folder, 'secret.key'), 'not ours');
    const { code } = await bundleWorkflows(folder);
    expect(code).toContain('crawlSite');
    const files = (await readdir(folder)).sort();
    expect(files).toEqual(['secret.key', expect.stringMatching(/^workflows-[0-9a-f]{32}\.js$/)]);
    expect(await readFile(join(folder, files[1]!), 'utf8')).toBe(code);

    await writeFile(join(folder, files[1]!), 'kept');
    expect(await bundleWorkflows(folder)).toEqual({ code: 'kept' });

    const nowhere = join(folder, 'secret.key', 'below a file');
    expect((await bundleWorkflows(nowhere)).code).toContain('crawlSite');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
