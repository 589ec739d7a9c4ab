/** Runs a server program as a process. Every entry point of a server uses it. */

/** What runs in the process. When `running` rejects, the process ends, and its supervisor starts it again. */
type Program = { url?: string; close(): Promise<void>; running?: Promise<void> };

/** The classes of errors that JavaScript itself throws where the code has a defect. */
const defects = [TypeError, ReferenceError, RangeError, SyntaxError];
/** The codes of errors about a module or a native library that cannot be loaded. */
const notLoaded = ['ERR_DLOPEN_FAILED', 'ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

/**
 * Starts a program, sends the parent process a `ready` message, and closes the program when this process is asked to
 * end. The process exits with 0, or with 1 and the reason on standard error.
 */
export async function runProgram(start: () => Promise<Program>): Promise<void> {
  try {
    const program = await start();
    let closing: Promise<void> | undefined;
    const end = (failure?: unknown): void => {
      closing ??= program.close().then(() => (failure === undefined ? process.exit(0) : fail(failure)), fail);
    };
    // `disconnect`: the parent process that started this process has ended.
    for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(event, () => end());
    program.running?.catch(end);
    // The message is sent last, because the receiver may stop this process at once.
    process.send?.({ type: 'ready', url: program.url });
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): never {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  const sentence = code === 'EADDRINUSE' ? `The port is taken: ${message}. Set PORT to another one.` : message;
  process.stderr.write(`${isDefect(error) ? (stack ?? message) : sentence}\n`);
  process.exit(1);
}

/**
 * Whether an operator needs the stack of an error and not only its message: for a defect, and for a module or native
 * library that cannot be loaded. The TypeErrors of `parseArgs` are no defects: their messages explain what is wrong
 * with the command line.
 */
function isDefect(error: unknown): boolean {
  const code = String((error as NodeJS.ErrnoException).code);
  if (code.startsWith('ERR_PARSE_ARGS_')) return false;
  return notLoaded.includes(code) || defects.some((kind) => error instanceof kind);
}
