/** `npm run cli`: the process. It starts fast, runs one command (program.ts) and ends with its exit code. */
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

// Compiling what is imported is most of a short command's time (0.5 s of CPU without, 0.15 s with this). Node's
// default place is a folder in /tmp, where another user could put compiled code for us to run.
const { env, stdin, stdout, stderr } = process;
const configured = env['XDG_CACHE_HOME'];
const cache =
  configured !== undefined && isAbsolute(configured) ? configured : join(env['HOME'] ?? homedir(), '.cache');
enableCompileCache(join(cache, 'support-platform', 'compiled'));
const { run } = await import('./program.ts');

// `… | head` closes stdout early; that is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await run(process.argv.slice(2), { env, stdin, stdout, stderr });
