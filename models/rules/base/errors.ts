/**
 * The table of all errors of the API: code, HTTP status and default message. Pure: any layer may throw a `Problem`;
 * api/http/errors.ts turns it into a response.
 */
export const errorTable = {
  VALIDATION: { status: 400, message: 'The request is not valid.' },
  MALFORMED_JSON: { status: 400, message: 'The body is not valid JSON.' },
  PROVIDER_NOT_CONNECTED: { status: 400, message: 'A selected destination is not connected.' },
  PROVIDER_REFUSED: { status: 400, message: 'The provider refused this.' },
  UNAUTHENTICATED: { status: 401, message: 'Send a valid credential as `Authorization: Bearer …`.' },
  WRONG_CREDENTIAL_KIND: { status: 401, message: 'This route does not take this kind of credential.' },
  BAD_LOGIN: { status: 401, message: 'The e-mail or the password is wrong.' },
  FEDERATED_LOGIN_FAILED: {
    status: 401,
    message: 'The identity provider did not confirm this sign-in; start it again.',
  },
  MISSING_SCOPE: { status: 403, message: 'The key lacks a scope that this route needs.' },
  MISSING_ROLE: { status: 403, message: 'Your role in this organization does not allow this.' },
  EMAIL_UNVERIFIED: {
    status: 403,
    message:
      'Going live takes an owner whose e-mail address is proven: by a link that POST /auth/email has mailed, or by signing in through an identity provider that verifies it.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: 'Pages of this origin may not embed the chat; list it in allowed_origins of the support configuration.',
  },
  SANDBOX_LIMIT: { status: 403, message: 'The sandbox allowance is used up; delete something or go live.' },
  BETA_LIMIT_REACHED: { status: 403, message: "The plan's limit is reached; delete something to make room." },
  NOT_FOUND: { status: 404, message: 'There is no such resource.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not take this method; see the Allow header.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive whole in time; send it again.' },
  CONFLICT: { status: 409, message: 'The resource is not in a state that allows this.' },
  ILLEGAL_TRANSITION: { status: 409, message: 'The state it is in does not allow this; see details.' },
  CRAWL_RUNNING: { status: 409, message: 'A crawl is already running; wait for it to end, or cancel it.' },
  NO_TRANSCRIPT: { status: 409, message: 'There is no transcript yet.' },
  EMAIL_TAKEN: { status: 409, message: 'An account with this e-mail exists; log in instead.' },
  LINK_OVER: { status: 409, message: 'This link is over; ask for another one.' },
  NO_MAIL_SERVER: {
    status: 409,
    message: 'This system sends no mail. Whoever operates it sets SMTP_URL, or helps by the command-line tool.',
  },
  ALREADY_MEMBER: { status: 409, message: 'This person is already a member of the organization.' },
  LAST_OWNER: {
    status: 409,
    message: 'An organization keeps at least one owner. Make somebody else one first.',
  },
  KEY_REVOKED: { status: 409, message: 'This key is revoked; create a new one.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 409,
    message: 'This Idempotency-Key was used with another request; use a new key.',
  },
  IDEMPOTENCY_KEY_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still running.',
  },
  NOTHING_PENDING: { status: 409, message: 'Nothing waits for this answer.' },
  NO_TOOL_SERVER: { status: 409, message: 'No tool server is connected; connect one first.' },
  TOO_LARGE: { status: 413, message: 'The request is too large.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'This route does not take this media type.' },
  UNSUPPORTED_FILE_TYPE: {
    status: 415,
    message: 'This file type is not supported; upload DOCX, TXT, MD, CSV or XLSX.',
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests; wait as Retry-After says.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The address and the headers together are too large; shorten them.' },
  INTERNAL: {
    status: 500,
    message: 'Something failed on our side; try again, and name the request_id if it persists.',
  },
  MODEL_FAILED: { status: 502, message: 'The configured language model did not give a usable answer; try again.' },
  TOOL_SERVER_FAILED: { status: 502, message: 'The tool server did not give a usable answer.' },
  UNAVAILABLE: { status: 503, message: 'A service this needs is not reachable right now; try again.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorTable;

/** One invalid field of a request: its path (`['body', 'skills', 0]`) and how to correct it. */
export type Detail = { path: (string | number)[]; message: string };

/** The path of a field as text without `body` or `query`: `skills[0]`. */
export function fieldName([place, ...steps]: readonly (string | number)[]): string {
  if (steps.length === 0) return String(place);
  return steps.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}

/** The first detail as a sentence, followed by the number of further details. */
function summary([first, ...others]: readonly Detail[]): string | undefined {
  if (!first) return undefined;
  const more = others.length > 0 ? `, and ${others.length} more; see details` : '';
  return `${fieldName(first.path)}: ${first.message}${more}`;
}

/** What an organization's quotas limit. `test_*`: in test mode; `outside_mails`: mails to outsiders a day. */
export type Quota = 'documents' | 'knowledge_pages' | 'test_conversations' | 'test_replies' | 'outside_mails';

export type ProblemOptions = {
  /**
   * Replaces the default message of the code, and for `VALIDATION` the message made from the first detail. Callers see
   * it, so it must not contain secrets or another organization's data.
   */
  message?: string;
  details?: Detail[];
  /** Additional members of the response body, such as `feature`. */
  extra?: Record<string, unknown>;
  /** Additional members of the error frame on a socket, such as `not_begun`. */
  frame?: Record<string, unknown>;
  /** Response headers, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** The quota that is used up, for the metric `quota_refusals_total`; it is not sent to the caller. */
  quota?: Quota;
  cause?: unknown;
};

/** An error whose code and message are sent to the caller. Any other error becomes `INTERNAL`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Detail[] | undefined;
  readonly extra: Record<string, unknown>;
  readonly frame: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly quota: Quota | undefined;

  constructor(code: ErrorCode, options: ProblemOptions = {}) {
    const named = code === 'VALIDATION' ? summary(options.details ?? []) : undefined;
    super(options.message ?? named ?? errorTable[code].message, { cause: options.cause });
    this.code = code;
    this.status = errorTable[code].status;
    this.details = options.details;
    this.extra = options.extra ?? {};
    this.frame = options.frame ?? {};
    this.headers = options.headers ?? {};
    this.quota = options.quota;
  }
}

/**
 * Makes the error for an invalid field of the request. `message` continues the field's name: `must be in the future`.
 */
export const invalid = (path: Detail['path'], message: string): Problem =>
  new Problem('VALIDATION', { details: [{ path, message }] });

export const noSuch = (noun: string): Problem => new Problem('NOT_FOUND', { message: `There is no such ${noun}.` });

/** The record that a query found. @throws Problem NOT_FOUND when it found nothing. */
export async function sought<T>(found: Promise<T | null | undefined>, noun: string): Promise<T> {
  const one = await found;
  if (one === null || one === undefined) throw noSuch(noun);
  return one;
}
