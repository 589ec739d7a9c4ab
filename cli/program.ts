/**
 * Sets up the command-line tool and runs one command: global options, errors and exit codes. Commands are in
 * cli/nouns/ and cli/<noun>.ts; the entry point of the process is main.ts.
 */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { addAccountCommands } from './account.ts';
import { openCredentials } from './credentials.ts';
import { addNouns, withExamples } from './described.ts';
import { examples } from './examples.ts';
import { defaultUrl } from './arguments.ts';
import { addDoctorCommand } from './doctor.ts';
import { addDocumentCommands } from './documents.ts';
import { CliError, errorJson, errorLines, exitCodes, usageError } from './errors.ts';
import { addAskCommand } from './knowledge.ts';
import { nouns as described } from './nouns/index.ts';
import { addOpsCommands } from './ops.ts';
import { addOrgCommands } from './orgs.ts';
import { createOutput, visible, visibleJson, visibleLines, type Stream } from './output.ts';
import type { Input } from './prompt.ts';
import { addSecretCommands } from './secrets.ts';
import { createSession, type Globals, type Session } from './session.ts';

export type Io = { env: Record<string, string | undefined>; stdin: Input; stdout: Stream; stderr: Stream };

function version(): string {
  return (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}

/** Creates all commands. commander's own messages go to `say`. */
function createProgram(io: Io, say: { out(text: string): void; err(text: string): void }): Command {
  const program = new Command('support-platform')
    .description('Use the support platform from a terminal or a script.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: say.out,
      writeErr: say.err,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .option('--url <address>', `address of the server, else SUPPORT_URL, else ${defaultUrl}`)
    .option('--org <id>', 'organization, else SUPPORT_ORG, else the one chosen with org use, else your only one')
    .option('--key <key>', 'API key to use instead of the login; SUPPORT_API_KEY keeps it out of the process list')
    .addOption(
      new Option(
        '--mode <mode>',
        'test or live data; with a login, lists reach both unless this is given, and what adds or asks takes the mode of the organization',
      ).choices(['test', 'live']),
    )
    .option('--json', 'print one JSON document on stdout, and errors as JSON on stderr');
  function act<A extends unknown[]>(run: (session: Session, ...args: A) => Promise<void>) {
    return async (...args: [...A, ...unknown[]]): Promise<void> => {
      // commander passes the command itself as the last argument.
      const globals: Globals = (args.at(-1) as Command).optsWithGlobals();
      const output = createOutput({ json: globals.json === true, stdout: io.stdout, stderr: io.stderr });
      const credentials = openCredentials(io.env);
      const session = createSession({
        globals,
        env: io.env,
        credentials,
        output,
        stdin: io.stdin,
        now: () => new Date(),
      });
      await run(session, ...(args.slice(0, -1) as A));
    };
  }
  const nouns = [
    addAccountCommands,
    addOrgCommands,
    addDocumentCommands,
    addAskCommand,
    addSecretCommands,
    addOpsCommands,
    addDoctorCommand,
  ];
  for (const add of nouns) add(program, act);
  addNouns(program, act, described);
  for (const [path, lines] of Object.entries(examples)) withExamples(commandAt(program, path), lines);
  return program;
}

/** Finds the command of a path such as `docs list`. */
function commandAt(program: Command, path: string): Command {
  let at = program;
  for (const name of path.split(' ')) at = at.commands.find((each) => each.name() === name)!;
  return at;
}

/** Runs one command. Returns its exit code: 0 success, 1 the request failed, 2 wrong usage, 130 interrupted. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const json = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).includes('--json');
  const print = (stream: Stream, text: string): void => void stream.write(visibleLines(text).join('\n'));
  const program = createProgram(io, {
    out: (text) => print(io.stdout, text),
    // With --json, commander's message is not printed, because the error's JSON contains it.
    err: (text) => void (json || print(io.stderr, text)),
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const sentence =
        error.code === 'commander.help' ? 'Name a command; --help lists them.' : error.message.replace(/^error: /, '');
      if (json) io.stderr.write(`${visibleJson(errorJson(usageError(sentence)))}\n`);
      return exitCodes.usage;
    }
    const failure = error instanceof CliError ? error : defect(error);
    if (json) io.stderr.write(`${visibleJson(errorJson(failure))}\n`);
    else for (const line of errorLines(failure)) io.stderr.write(`${visible(line)}\n`);
    return failure.exitCode;
  }
}

/** An unexpected error is shown with its stack, so that people can report it. */
function defect(error: unknown): CliError {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new CliError(`This is a defect of the command-line tool: ${stack}`, { code: 'DEFECT', cause: error });
}
