/**
 * Bundles each of the programs that tests start often into one file. Node then opens a few modules instead of more than
 * two thousand and strips no types, which saves a third of the processor time of a start. `npm start` starts the
 * sources.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { builtName } from './processes.ts';
import { kept } from '../../workers/fingerprint.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The folder is below node_modules, so that external packages are found. */
const cache = join(root, 'node_modules', '.cache', 'test-programs');
/** Other runs of this clone may still use older programs, so this many versions are kept. */
const keptVersions = 20;

const programs = [
  'api/server.ts',
  'workers/main.ts',
  'workers/embedding.ts',
  'test/kit/chatapi.ts',
  'test/kit/crawlworker.ts',
  'test/kit/faulty-api.ts',
  'test/kit/worker.ts',
];

/** Packages that are not bundled, because they have native code or files beside their modules. */
const outside = [
  '*.node',
  '@temporalio/*',
  '@lancedb/lancedb-*',
  '@node-rs/argon2',
  'onnxruntime-node',
  'puppeteer',
  'esbuild',
  'tinypool',
];

/** Modules keep their own URL, by which they find files. Only the started program is the main module. */
const addresses: Plugin = {
  name: 'addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/, namespace: 'file' }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (path.includes('node_modules') || !source.includes('import.meta.')) return undefined;
      const main = JSON.stringify(`/${builtName(relative(root, path))}`);
      const contents = source
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.main', `process.argv[1].endsWith(${main})`);
      return { contents, loader: 'ts' };
    });
  },
};

/** Stores the compiled code for the next start, because a killed process would not store it. */
const started = (program: string): string =>
  `import ${JSON.stringify(`./${program}`)};\nimport { flushCompileCache } from 'node:module';\nflushCompileCache();\n`;

/** Builds all programs and returns the URL of the folder with them. Each file has its `builtName`. */
export async function buildPrograms(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(programs.map((program) => [program.replace(/\.ts$/u, ''), `start:${program}`])),
    outdir: cache,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    logLevel: 'error',
    // Workflows are started by their function names.
    keepNames: true,
    external: outside,
    // CommonJS packages need `require`.
    banner: {
      js: `import { createRequire as $require } from 'node:module'; const require = $require(${JSON.stringify(pathToFileURL(join(root, 'package.json')).href)});`,
    },
    plugins: [
      addresses,
      {
        name: 'start',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^start:/ }, ({ path }) => ({ path: path.slice('start:'.length), namespace: 'start' }));
          onLoad({ filter: /./, namespace: 'start' }, ({ path }) => ({ contents: started(path), resolveDir: root }));
        },
      },
    ],
  });
  const hash = createHash('sha256');
  for (const { path, contents } of outputFiles) hash.update(`${path}\0`).update(contents);
  const write = async (draft: string): Promise<void> => {
    for (const { path, contents } of outputFiles) {
      const target = join(draft, relative(cache, path));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, contents);
    }
  };
  const folder = await kept(cache, 'programs', hash.digest('hex').slice(0, 16), write, keptVersions);
  return pathToFileURL(`${folder}/`).href;
}
