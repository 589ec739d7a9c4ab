/** The failures of the command-line tool with their exit codes. */

/** Exit codes: 0 success, 1 the request failed, 2 wrong usage, 130 interrupted by Ctrl-C. */
export const exitCodes = { failed: 1, usage: 2, interrupted: 130 } as const;

export type CliErrorOptions = {
  exitCode?: number;
  /** The API's error code, or one of this tool's (`NO_SERVER`, `NOT_LOGGED_IN`, `USAGE`, …). */
  code?: string;
  /** HTTP status; missing when no server replied. */
  status?: number;
  /** The wrong fields, each with its problem. */
  details?: readonly { path: readonly (string | number)[]; message: string }[];
  requestId?: string;
  cause?: unknown;
};

/** A failure that is shown as one sentence. Any other thrown value is a bug in this tool. */
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

/** The stable JSON of an error for scripts: `{error, code, details?, status?, request_id?}`. */
export function errorJson(error: CliError): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    ...(error.details.length > 0 ? { details: error.details } : {}),
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
  };
}

/** The message, then a line for each detail that adds information, and after an internal error the request's id. */
export function errorLines(error: CliError): string[] {
  const lines = error.details
    .filter(({ message }, at) => !(at === 0 && error.message.includes(message)) && message !== error.message)
    .map(({ path, message }) => `  ${[...path.slice(1).map(String), message].join(': ')}`);
  const failedInside = error.status !== undefined && error.status >= 500 && error.requestId !== undefined;
  return [error.message, ...lines, ...(failedInside ? [`  request: ${error.requestId}`] : [])];
}
