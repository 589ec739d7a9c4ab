/**
 * Bundles the workflows for the workers' sandbox in a child process, because the bundler would permanently make this
 * process's heap several times as large. When run directly, this file writes the bundle to stdout.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { failureConverterPath } from '../workflows/encryption.ts';
import { fingerprintOf, kept } from './fingerprint.ts';

/** The maximum size of the child process's output; the bundle has about 1.2 million characters. */
const maxBundleBytes = 64 * 1024 * 1024;

/**
 * Bundles the workflows, which takes two to three seconds, or reads the same bundle from its cache in `folder`. Safe to
 * run in several workers at once. `encrypted`: messages and stack traces of failures are stored as payloads, which the
 * payload codec encrypts. Rejects with the bundler's error output.
 */
export async function bundleWorkflows(folder?: string, { encrypted = false } = {}): Promise<{ code: string }> {
  if (folder === undefined) return bundleAnew(encrypted);
  const fingerprint = await fingerprintOf('workers/bundle.ts', ['workflows', 'models/rules']);
  const id = `${fingerprint}${encrypted ? '_encrypted' : ''}.js`;
  const built = await readFile(join(folder, `workflows-${id}`), 'utf8').catch(() => undefined);
  if (built !== undefined) return { code: built };
  const bundle = await bundleAnew(encrypted);
  const write = (draft: string) => writeFile(draft, bundle.code, { mode: 0o600 });
  // A failure to write the cache is ignored, because it only makes the next start slower.
  await kept(folder, 'workflows', id, write, 1).catch(() => undefined);
  return bundle;
}

async function bundleAnew(encrypted: boolean): Promise<{ code: string }> {
  const args = [
    '--disable-warning=ExperimentalWarning',
    fileURLToPath(import.meta.url),
    encrypted ? 'encrypted' : 'plain',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: maxBundleBytes });
  return { code: stdout };
}

if (import.meta.main) {
  // The bundler is imported here because a process that only requests a bundle does not need it.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/bundled.ts', import.meta.url)),
    workflowInterceptorModules: ['board', 'trace'].map((name) =>
      fileURLToPath(new URL(`../workflows/base/${name}.ts`, import.meta.url)),
    ),
    ...(process.argv[2] === 'encrypted' ? { failureConverterPath } : {}),
    // The bundler's messages go to stderr, which is shown when it fails.
    logger: new DefaultLogger('ERROR'),
  });
  process.stdout.write(withoutSources(code));
}

/**
 * Removes the source texts from a bundle's source map. Stack traces name file and line without these texts. In a worker
 * process, the Temporal SDK parses the map for each fleet and keeps it in memory. With the texts, the parsing takes
 * twice as long, and the parsed map takes 13 MiB more.
 */
function withoutSources(code: string): string {
  const start = code.lastIndexOf('base64,') + 'base64,'.length;
  const map = JSON.parse(Buffer.from(code.slice(start), 'base64').toString()) as Record<string, unknown>;
  delete map['sourcesContent'];
  return code.slice(0, start) + Buffer.from(JSON.stringify(map)).toString('base64');
}
