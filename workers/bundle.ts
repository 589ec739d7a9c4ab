/**
 * Bundles the workflows for the workers' sandbox, in a process of its own: the bundler leaves behind a heap several times
 * as large as a worker needs, for as long as its process lives. Run by itself, this file writes the bundle to stdout.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Some two million characters today. */
const maxBundleBytes = 64 * 1024 * 1024;

/** Takes two to three seconds; any number of workers can run the same bundle. Rejects with what the bundler complained of. */
export async function bundleWorkflows(): Promise<{ code: string }> {
  const args = ['--disable-warning=ExperimentalWarning', fileURLToPath(import.meta.url)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: maxBundleBytes });
  return { code: stdout };
}

if (import.meta.main) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    // Its messages go to stderr, which is what a failure shows.
    logger: new DefaultLogger('ERROR'),
  });
  process.stdout.write(code);
}
