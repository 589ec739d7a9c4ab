/**
 * Builds the programs that read untrusted files and pages: plain JavaScript, bundled with their packages. A process
 * that runs such a program reads one file and ends, so most of its time is its start. To start fast, a built program
 * opens a few files instead of hundreds and strips no types.
 */
import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { fingerprintOf, kept } from './fingerprint.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = { files: 'clients/files/child.ts', pages: 'clients/crawl/site/pages/child.ts' };

export type Readers = Record<keyof typeof sources, string>;

/** How many versions are kept: workers and APIs of an older version may still start the programs of their version. */
const keptVersions = 3;

/**
 * Builds the programs, which takes a second, or finds the same programs cached in `folder`. Safe to run in several
 * processes at once. Rejects when the folder is not writable, and with the bundler's error output.
 */
export async function buildReaders(folder: string): Promise<Readers> {
  const fingerprint = await fingerprintOf('workers/readers.ts', ['clients', 'models/rules']);
  const built = await kept(folder, 'readers', fingerprint, buildInto, keptVersions);
  // The sandbox's permissions apply to the real path, so symbolic links are resolved.
  const real = await realpath(built);
  return { files: join(real, 'files.mjs'), pages: join(real, 'pages.mjs') };
}

/**
 * The bundler runs in a child process, because it starts a helper process that lives as long as the process that called
 * the bundler.
 */
async function buildInto(folder: string): Promise<void> {
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url), folder];
  await promisify(execFile)(process.execPath, args);
}

if (import.meta.main) {
  // The bundler is imported here because a worker that finds the programs built does not need it.
  const { build, stop } = await import('esbuild');
  const requiring = JSON.stringify(pathToFileURL(join(root, 'package.json')).href);
  await build({
    absWorkingDir: root,
    entryPoints: sources,
    outdir: process.argv[2]!,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'error',
    // `keepNames` is off because it renames each function whenever it is created, also in loops, which doubles the time
    // for a page. The banner defines `require` for CommonJS packages, because an ES module has none.
    banner: { js: `import { createRequire as $require } from 'node:module'; const require = $require(${requiring});` },
  });
  await stop();
}
