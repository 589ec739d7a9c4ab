/**
 * Calls operations of the API as the member who is signed in to this browser. The browser adds the login cookie, which
 * no script can read.
 */
import type { z } from 'zod';

/**
 * An operation of the API: its method, its path below `/v1`, and whether the reply is wrapped as `{ success, data }`.
 * `types` has no value at run time; it only declares the types that `call` uses.
 */
export type Operation<P, Q, B, R> = readonly [method: string, path: string, wrapped?: boolean] & {
  readonly types?: { params: P; query: Q; body: B; reply: R };
};

/** Stands for the query or the body of an operation that has none. */
export type None = undefined;
type OutputOf<S, Otherwise> = S extends z.ZodType ? z.output<S> : Otherwise;
type InputOf<S> = S extends z.ZodType ? z.input<S> : S;

/** The operation with path parameters of these names, and with these schemas. Files and forms have no schema. */
export type OperationOf<P extends string, Q, B, R extends z.ZodType> = Operation<
  Record<P, string>,
  OutputOf<Q, Record<string, never>>,
  InputOf<B>,
  z.output<R>
>;

/**
 * Like `OperationOf`, for an operation that API keys may call too. A member names the mode in the query, while an API
 * key has a mode of its own.
 */
export type InMode<P extends string, Q, B, R extends z.ZodType> = Operation<
  Record<P, string>,
  OutputOf<Q, unknown> & { mode?: 'test' | 'live' },
  InputOf<B>,
  z.output<R>
>;

export type Detail = { path?: (string | number)[]; message: string };

/** An error response of the API. Status 0: no response arrived. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  readonly code: string;
  readonly details: readonly Detail[];
  /** Seconds to wait before trying again. */
  readonly retryAfter: number;
  constructor(status: number, code: string, message: string, details: readonly Detail[] = [], retryAfter = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

type Given<P, Q, B> = {
  params?: P;
  query?: Q extends Record<string, never> ? never : { [K in keyof Q]?: Q[K] | undefined };
  body?: B;
  /** The idempotency key: a repeated call with the same key gets the response to the first call. */
  once?: string;
  signal?: AbortSignal;
};

let onSignedOut = (): void => undefined;
/** `then` is called whenever the API says that nobody is signed in. */
export const whenSignedOut = (then: () => void): void => void (onSignedOut = then);

/** @throws CallError */
export async function call<P, Q, B, R>(
  [method, path, wrapped]: Operation<P, Q, B, R>,
  { params, query, body, once, signal }: Given<P, Q, B> = {},
): Promise<R> {
  const given = (params ?? {}) as Record<string, string>;
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given[name]!));
  const search = new URLSearchParams(
    Object.entries((query ?? {}) as Record<string, string | number | undefined>)
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  const raw = body instanceof FormData || body instanceof Blob;
  const response = await fetch(`/v1${filled}${search && `?${search}`}`, {
    method,
    credentials: 'same-origin',
    headers: {
      ...(body === undefined || raw ? {} : { 'content-type': 'application/json' }),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
    },
    body: body === undefined ? null : raw ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : new CallError(0, 'UNREACHABLE', 'The server does not answer.');
  });
  const text = await response.text();
  const read = parse(text);
  if (response.ok) return (wrapped ? (read as { data: R }).data : read) as R;
  const { error, code = '', details } = (read ?? {}) as { error?: string; code?: string; details?: Detail[] };
  if (code === 'UNAUTHENTICATED') onSignedOut();
  const wait = Number(response.headers.get('retry-after') ?? 0);
  throw new CallError(response.status, code, error ?? `The server answered ${response.status}.`, details, wait);
}

/** Undefined when the text is no JSON: a proxy in front of the API may answer with an HTML page. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
