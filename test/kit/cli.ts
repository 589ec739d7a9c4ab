/** Runs the command-line tool in this process for tests of its commands. */
import { PassThrough } from 'node:stream';
import { run } from '../../cli/program.ts';

export type Ended = { code: number; stdout: string; stderr: string };

/** `env` is the whole environment of the tool, which stores logins below `HOME`. */
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
