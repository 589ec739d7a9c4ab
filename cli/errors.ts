/** The failures of the command-line tool, and the exit code of each. */

/** Exit codes: 0 it worked, 1 the request failed, 2 the command was written wrongly, 130 interrupted by Ctrl-C. */
export const exitCodes = { failed: 1, usage: 2, interrupted: 130 } as const;

export type CliErrorOptions = {
  exitCode?: number;
  /** The API's own code, or one of this tool's (`NO_SERVER`, `NOT_LOGGED_IN`, `USAGE`, …). */
  code?: string;
  /** HTTP status, when a server answered. */
  status?: number;
  /** The field and its fault, one line each. */
  details?: readonly { path: readonly (string | number)[]; message: string }[];
  requestId?: string;
  cause?: unknown;
};

/** A failure that is shown as one sentence. Any other thrown value is a defect of this tool. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  readonly code: string;
  readonly status: number | undefined;
  readonly details: NonNullable<CliErrorOptions['details']>;
  readonly requestId: string | undefined;

  constructor(message: string, options: CliErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? exitCodes.failed;
    this.code = options.code ?? 'FAILED';
    this.status = options.status;
    this.details = options.details ?? [];
    this.requestId = options.requestId;
  }
}

export function usageError(message: string): CliError {
  return new CliError(message, { exitCode: exitCodes.usage, code: 'USAGE' });
}

/** The stable form of an error for scripts: `{error, code, details?, status?, request_id?}`. */
export function errorJson(error: CliError): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
  };
}

/** The sentence, then a line for each detail that adds to it. */
export function errorLines(error: CliError): string[] {
  const lines = error.details
    .filter(({ message }, at) => !(at === 0 && error.message.includes(message)) && message !== error.message)
    .map(({ path, message }) => `  ${[...path.slice(1).map(String), message].join(': ')}`);
  const failedInside = error.status !== undefined && error.status >= 500 && error.requestId !== undefined;
  return [error.message, ...lines, ...(failedInside ? [`  request: ${error.requestId}`] : [])];
}
