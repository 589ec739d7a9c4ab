/**
 * Calls operations of the API as the member who is signed in to this browser. The browser adds the login cookie, which
 * no script can read.
 */
import type { z } from 'zod';
import type { Operation, ParameterOf } from '../../../api/base/contract/operation.ts';

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

type Schema<S> = Extract<S, z.ZodType>;
/** A member names the mode in the query of an operation that API keys may call too; a key has a mode of its own. */
type QueryOf<O extends Operation> = z.output<Schema<O['query']>> & { mode?: 'test' | 'live' };
export type BodyOf<O extends Operation> = true extends O['upload']
  ? FormData
  : true extends O['raw']
    ? Blob
    : z.input<Schema<O['body']>>;

export type ReplyOf<O extends Operation> = z.output<O['reply']>;

export type Given<O extends Operation> = {
  params?: Record<ParameterOf<O['head']>, string>;
  query?: { [N in keyof QueryOf<O>]?: QueryOf<O>[N] | undefined };
  body?: BodyOf<O>;
  signal?: AbortSignal;
};

let onSignedOut = (): void => undefined;
/** `then` is called whenever the API says that nobody is signed in. */
export const whenSignedOut = (then: () => void): void => void (onSignedOut = then);

/** @throws CallError */
export async function call<O extends Operation>(
  { head }: O,
  { params, query, body, signal }: Given<O> = {},
): Promise<ReplyOf<O>> {
  const [method, path] = head.split(' ') as [method: string, path: string];
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
    headers: body === undefined || raw ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? null : raw ? body : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : new CallError(0, 'UNREACHABLE', 'The server does not answer.');
  });
  const text = await response.text();
  const read = parse(text);
  // Some replies are wrapped as `{ success, data }`.
  if (response.ok) return (read?.['success'] === true ? read['data'] : read) as ReplyOf<O>;
  const { error, code = '', details } = (read ?? {}) as { error?: string; code?: string; details?: Detail[] };
  if (code === 'UNAUTHENTICATED') onSignedOut();
  const wait = Number(response.headers.get('retry-after') ?? 0);
  throw new CallError(response.status, code, error ?? `The server answered ${response.status}.`, details, wait);
}

/** Undefined when the text is no JSON: a proxy in front of the API may answer with an HTML page. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
