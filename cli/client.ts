/**
 * Calls the API at one URL with one credential, and validates replies against the contract. It follows no redirect, so
 * that the credential reaches only its own server.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { z } from 'zod';
import { CliError } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type RequestOptions = {
  query?: Record<string, string | number | undefined>;
  /** The request's body, which is sent as JSON. */
  body?: unknown;
  /**
   * A form, which is sent as multipart/form-data instead of a JSON body. `onSent` gets the number of bytes sent so far,
   * and restarts at 0 on a retry.
   */
  form?: { data: FormData; onSent?: (bytes: number) => void };
  /** Marks a POST that must never be repeated, not even with an Idempotency-Key: it gets no key and is not retried. */
  once?: boolean;
};

export type Client = {
  /** The API's URL including the path `/v1`. */
  url: string;
  /**
   * Throws CliError with the API's code and details, or with `NO_SERVER`, `TIMEOUT`, `CONNECTION_FAILED`,
   * `UNEXPECTED_REPLY`.
   */
  request<S extends z.ZodType>(method: Method, path: string, reply: S, options?: RequestOptions): Promise<z.infer<S>>;
};

export type ClientOptions = {
  url: string;
  token?: string | undefined;
  /**
   * Called with the `warning` of a reply (for example a live key used before go-live), unless the last warning was the
   * same.
   */
  onWarning?: (message: string) => void;
  sleep?: (ms: number) => Promise<unknown>;
};

/** Limits of a retryable request: the number of attempts, and the total wait between them in ms (`maxWaitMs`). */
const maxTries = 4;
const maxWaitMs = 15_000;
const firstWaitMs = 250;
const timeoutMs = 60_000;
/** An upload of 25 MiB over a slow line (100 KiB/s) takes 256 s. */
const uploadTimeoutMs = 300_000;

type ErrorBody = {
  error?: unknown;
  code?: unknown;
  details?: { path: (string | number)[]; message: string }[];
  request_id?: unknown;
};

export function createClient(options: ClientOptions): Client {
  const { url, token, sleep = wait } = options;
  let warned = '';

  async function sendOnce(
    method: Method,
    address: URL,
    given: RequestOptions,
    key: string | undefined,
  ): Promise<Response> {
    const headers = new Headers({ accept: 'application/json' });
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    if (key !== undefined) headers.set('idempotency-key', key);
    const init: RequestInit = { method, headers, redirect: 'manual' };
    if (given.form) {
      const { body, contentType } = counted(given.form);
      headers.set('content-type', contentType);
      Object.assign(init, { body, duplex: 'half' });
    } else if (given.body !== undefined) {
      headers.set('content-type', 'application/json');
      init.body = JSON.stringify(given.body);
    }
    init.signal = AbortSignal.timeout(given.form ? uploadTimeoutMs : timeoutMs);
    return fetch(address, init);
  }

  /** Sends a request, and retries it if that is safe: GET, PUT, PATCH, and a POST with an Idempotency-Key. */
  async function send(
    method: Method,
    address: URL,
    given: RequestOptions,
  ): Promise<{ response: Response; text: string }> {
    const repeatable = method === 'GET' || method === 'PUT' || method === 'PATCH' || (method === 'POST' && !given.once);
    const key = method === 'POST' && repeatable ? randomUUID() : undefined;
    let waited = 0;
    for (let tries = 1; ; tries += 1) {
      let delay = firstWaitMs * 2 ** (tries - 1);
      const mayRepeat = (): boolean => repeatable && tries < maxTries && waited + delay <= maxWaitMs;
      try {
        const response = await sendOnce(method, address, given, key);
        const text = await response.text();
        delay = retryAfter(response.headers) ?? delay;
        if (!(isTransient(response.status) || isStillRunning(response.status, text, tries)) || !mayRepeat())
          return { response, text };
      } catch (error) {
        if (!isReset(error) || !mayRepeat()) throw unreachable(error, url);
      }
      await sleep(delay);
      waited += delay;
    }
  }

  return {
    url,
    async request(method, path, reply, given = {}) {
      const address = new URL(`${url}${path}`);
      for (const [name, value] of Object.entries(given.query ?? {})) {
        if (value !== undefined) address.searchParams.set(name, String(value));
      }
      const { response, text } = await send(method, address, given);
      const body = readBody(response, text, url);
      const warning = (body as { warning?: { message?: unknown } }).warning?.message;
      if (typeof warning === 'string' && warning !== warned) options.onWarning?.((warned = warning));
      const parsed = reply.safeParse(unwrap(body));
      if (parsed.success) return parsed.data;
      const issue = parsed.error.issues[0];
      throw unexpected(
        `The answer of ${url} is not what this version understands (${issue?.path.join('.')}: ${issue?.message}).`,
        response,
      );
    },
  };
}

/**
 * All entries of a list, page by page, or the first `most`. @param page returns the entries and the cursor of the next
 * page, null at the end
 */
export async function allPages<T>(
  page: (query: {
    limit: number;
    cursor: string | undefined;
  }) => Promise<{ entries: readonly T[]; cursor: string | null }>,
  most = Infinity,
): Promise<T[]> {
  const found: T[] = [];
  const seen = new Set<string>();
  for (let cursor: string | undefined; ;) {
    const { entries, cursor: next } = await page({ limit: Math.min(100, most - found.length), cursor });
    found.push(...entries);
    if (next === null || found.length >= most) return found.slice(0, most);
    // Guards against an endless loop if a server repeats a cursor.
    if (seen.has(next)) throw new CliError('The server repeats the pages of this list.', { code: 'UNEXPECTED_REPLY' });
    seen.add(next);
    cursor = next;
  }
}

/** A form as a stream that reports how many bytes have been sent. */
function counted({ data, onSent }: NonNullable<RequestOptions['form']>): { body: ReadableStream; contentType: string } {
  const encoded = new Response(data);
  let sent = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      sent += piece.byteLength;
      onSent?.(sent);
      controller.enqueue(piece);
    },
  });
  return { body: encoded.body!.pipeThrough(counter), contentType: encoded.headers.get('content-type')! };
}

const isTransient = (status: number): boolean => status === 429 || status === 503;

/**
 * After a broken connection, the first attempt may still be running with the same Idempotency-Key. Then the request is
 * repeated until it gets the answer of that attempt.
 */
function isStillRunning(status: number, text: string, tries: number): boolean {
  return tries > 1 && status === 409 && text.includes('IDEMPOTENCY_KEY_IN_PROGRESS');
}

/** `Retry-After` in ms, from seconds or a date; undefined when the header is missing. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The error code of the operating system or of undici in a failed fetch. */
function failureCode(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: unknown; message?: unknown } };
  if (name === 'TimeoutError') return 'TIMEOUT';
  const known = [cause?.code, cause?.message, name].find((part) => typeof part === 'string');
  return typeof known === 'string' ? known : 'unknown';
}

const isReset = (error: unknown): boolean => ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(failureCode(error));

function unreachable(error: unknown, url: string): CliError {
  const code = failureCode(error);
  if (code === 'TIMEOUT') return new CliError(`${url} did not answer in time.`, { code: 'TIMEOUT', cause: error });
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/.test(code)) {
    return new CliError(`No server answers at ${url}; start one with npm start, or name another address with --url.`, {
      code: 'NO_SERVER',
      cause: error,
    });
  }
  return new CliError(`The connection to ${url} failed: ${code}.`, { code: 'CONNECTION_FAILED', cause: error });
}

function unexpected(message: string, response: Response): CliError {
  return new CliError(message, { code: 'UNEXPECTED_REPLY', status: response.status });
}

/** The JSON of a successful reply. Throws the API's error for any other reply. */
function readBody(response: Response, text: string, url: string): unknown {
  if (response.status >= 300 && response.status < 400) {
    throw unexpected(
      `${url} redirects to ${response.headers.get('location') ?? 'nowhere'}; name the right address with --url.`,
      response,
    );
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw unexpected(
      `What answers at ${url} is not this API (status ${response.status}); name the right address with --url.`,
      response,
    );
  }
  if (typeof body !== 'object' || body === null)
    throw unexpected(`What answers at ${url} is not this API; name the right address with --url.`, response);
  if (response.ok) return body;
  const { error, code, details, request_id: requestId } = body as ErrorBody;
  throw new CliError(typeof error === 'string' ? error : `The server answered with status ${response.status}.`, {
    status: response.status,
    code: typeof code === 'string' ? code : 'FAILED',
    details: Array.isArray(details)
      ? details.filter((d) => Array.isArray(d?.path) && typeof d.message === 'string')
      : [],
    ...(typeof requestId === 'string' ? { requestId } : {}),
  });
}

/** Dashboard routes reply with `{success, data}`, all others with the bare object. */
function unwrap(body: unknown): unknown {
  return (body as { success?: unknown }).success === true ? (body as { data?: unknown }).data : body;
}
