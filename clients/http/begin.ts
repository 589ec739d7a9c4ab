/**
 * Sends one request through undici's dispatcher and waits for the head of the reply, within limits on time. It follows
 * no redirect, does not retry, and checks no address.
 */
import type { Dispatcher } from 'undici';
import { abortable } from '../base/abortable.ts';
import { HttpError, type HttpMethod, type HttpReason } from '../../models/rules/base/http.ts';
import { BlockedAddress } from './connect.ts';

/** Header names are in lower case. A header that occurs several times is a list. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type HttpHead = { status: number; headers: HttpHeaders; url: string };

/** One request to an allowed URL. Header names may be in any case. */
export type Hop = {
  url: URL;
  method: HttpMethod;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer | undefined;
};

export type TimeLimits = {
  /** Time limit for the head of the reply, in ms. */
  headersTimeoutMs: number;
  /** Time limit for the whole reply, in ms. */
  totalTimeoutMs: number;
  signal: AbortSignal | undefined;
};

/**
 * A reply whose body is not read yet. Reading throws an HttpError when a time limit has passed or the request is
 * aborted.
 */
export type Begun = {
  head: HttpHead;
  /** The body as the server sent it, still with its Content-Encoding. */
  body: Dispatcher.ResponseData['body'];
  /** Ends the time limits, and also the connection unless the body is read to its end. Must be called. */
  end(): void;
};

/** The value of a header. Repeated headers are joined according to RFC 9110, section 5.3. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Errors of Node and undici are identified by code, errors of undici's parser by name. */
function errorShape(error: unknown): { code: string; name: string } {
  const { code = '', name = '' } = (error ?? {}) as { code?: unknown; name?: unknown };
  return { code: String(code), name: String(name) };
}

/** Maps an error of undici, a socket, TLS, DNS or a decoder of zlib to a reason. */
function reasonOf(error: unknown): HttpReason {
  if (error instanceof HttpError) return error.reason;
  if (error instanceof BlockedAddress) return 'blocked_address';
  const { code, name } = errorShape(error);
  // DNS answered that the name does not exist, or that it has no address.
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'no_host';
  if (/^(EAI_|ESERVFAIL|EREFUSED|ETIMEOUT)/.test(code)) return 'dns';
  if (/^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/.test(code)) return 'timed_out';
  if (name === 'HTTPParserError' || /^UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH)/.test(code)) return 'protocol';
  if (/^(Z_|ERR__ERROR_|ERR_BROTLI)/.test(code)) return 'protocol';
  if (code === 'UND_ERR_INVALID_ARG') return 'bad_request';
  if (code === 'UND_ERR_MAX_ORIGINS_REACHED') return 'busy';
  if (/^UND_ERR_(CLOSED|DESTROYED|ABORTED)$/.test(code)) return 'aborted';
  if (/^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|EPROTO$)|SELF_SIGNED|_CERT(_|$)|HOSTNAME_MISMATCH/.test(code))
    return 'tls';
  return 'connection';
}

/** The HttpError for an error of any layer. `bytes`: the number of decoded bytes before the failure. */
export function httpErrorOf(error: unknown, at: { url: string; bytes?: number }): HttpError {
  return new HttpError(reasonOf(error), { ...at, cause: error instanceof HttpError ? error.cause : error });
}

/** @throws HttpError when no head of a reply arrives */
export async function begin(
  dispatcher: Dispatcher,
  { url, method, headers, body }: Hop,
  { headersTimeoutMs, totalTimeoutMs, signal }: TimeLimits,
): Promise<Begun> {
  const over = new AbortController();
  const stop = (reason: 'timed_out' | 'aborted', cause?: unknown): void =>
    over.abort(new HttpError(reason, { url: url.href, cause }));
  const headTimer = setTimeout(() => stop('timed_out'), headersTimeoutMs);
  const timer = setTimeout(() => stop('timed_out'), totalTimeoutMs);
  const onAbort = (): void => stop('aborted', signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const stopTiming = (): void => {
    clearTimeout(headTimer);
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  try {
    over.signal.throwIfAborted();
    const asked = dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers,
      body: body ?? null,
      signal: over.signal,
      // undici's timeouts are off, because the timers above are exact and include connecting.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // undici observes the signal only after it has a connection, so `abortable` ends the wait for a connection.
    const reply = await abortable(asked, over.signal);
    clearTimeout(headTimer);
    // Without this listener, an error of an unread body would end the process. A reader of the body still gets the
    // error.
    reply.body.on('error', () => undefined);
    return {
      head: { status: reply.statusCode, headers: reply.headers, url: url.href },
      body: reply.body,
      end() {
        stopTiming();
        reply.body.destroy();
      },
    };
  } catch (error) {
    stopTiming();
    throw httpErrorOf(error, { url: url.href });
  }
}
