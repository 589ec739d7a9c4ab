/** Prompts a person at the terminal, on stderr. A password is never echoed and never stored. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CliError, exitCodes, usageError } from './errors.ts';
import type { Stream } from './output.ts';

export type Input = NodeJS.ReadableStream & { isTTY?: boolean };

/**
 * Reads one line. Throws a usage error that recommends `instead` when there is no terminal, and CliError when
 * interrupted.
 */
export async function ask(
  terminal: { stdin: Input; stderr: Stream },
  label: string,
  options: { hidden?: boolean; instead: string },
): Promise<string> {
  if (terminal.stdin.isTTY !== true) throw usageError(`There is no terminal to ask for this: ${options.instead}.`);
  let muted = false;
  const echo = new Writable({
    write(piece: Buffer, _encoding, done) {
      if (!muted) terminal.stderr.write(piece);
      done();
    },
  });
  const reader = createInterface({ input: terminal.stdin, output: echo, terminal: true, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      const interrupted = (): void =>
        reject(new CliError('Interrupted.', { code: 'INTERRUPTED', exitCode: exitCodes.interrupted }));
      reader.once('SIGINT', interrupted);
      reader.question(`${label}: `, resolve);
      // Ctrl-D closes the input without an answer. The input also closes after an answer, when `interrupted` has no
      // effect.
      reader.once('close', interrupted);
      muted = options.hidden === true;
    });
  } finally {
    reader.close();
    if (options.hidden === true) terminal.stderr.write('\n');
  }
}

/**
 * All of stdin without the last line break. With this, scripts pass a password that must not appear in the process
 * list.
 */
export async function readAll(stdin: Input): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stdin) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
