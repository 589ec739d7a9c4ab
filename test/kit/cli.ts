/** The command-line tool without the cost of a process, for tests of what its commands do. */
import { PassThrough } from 'node:stream';
import { run } from '../../cli/program.ts';

export type Ended = { code: number; stdout: string; stderr: string };

/** `env` is all of its environment; `HOME` is where it keeps logins. */
export async function runCli(
  args: readonly string[],
  env: Record<string, string> & { HOME: string },
  input = '',
): Promise<Ended> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  const code = await run(args, { env, stdin, stdout, stderr });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}
