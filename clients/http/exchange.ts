/**
 * Sends one request over undici's dispatcher and reads its reply, within limits of time and size. It follows no redirect,
 * retries nothing and checks no address.
 */
import type { Dispatcher } from 'undici';
import { HttpError, type Hop, type HttpReason } from '../../models/rules/base/http.ts';
import { createBody, type Body } from './body.ts';
import { BlockedAddress } from './connect.ts';

/** Names in lower case; a list when a header came more than once. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type HttpHead = { status: number; headers: HttpHeaders; url: string };
/** `body` is decoded; it is empty when `wantsBody` refused it. */
export type HttpResponse = HttpHead & { body: Buffer };

export type ExchangeOptions = {
  maxBytes: number;
  /** A longer body is cut at `maxBytes`, and the rest is not read. */
  cut?: boolean | undefined;
  /** Time until the head of the reply has arrived, ms. */
  headersTimeoutMs: number;
  /** Time until the whole reply has arrived, ms. */
  totalTimeoutMs: number;
  signal: AbortSignal | undefined;
  wantsBody(head: HttpHead): boolean;
};

/** A header's value. Several headers of one name are joined by RFC 9110, section 5.3. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** An unwanted body up to this size is read and dropped, which is cheaper than a new connection. */
const drainBytes = 64 * 1024;

const lengthOf = (headers: HttpHeaders): number | undefined => {
  const value = headerOf(headers, 'content-length');
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
};

/** Errors of Node and undici are recognized by their codes, those of undici's parser by their name. */
function errorShape(error: unknown): { code: string; name: string } {
  const { code = '', name = '' } = (error ?? {}) as { code?: unknown; name?: unknown };
  return { code: String(code), name: String(name) };
}

/** What an error of undici, a socket, TLS or DNS means. */
export function reasonOf(error: unknown): HttpReason {
  if (error instanceof HttpError) return error.reason;
  if (error instanceof BlockedAddress) return 'blocked_address';
  const { code, name } = errorShape(error);
  // A name server has answered that the name, or an address for it, does not exist.
  if (code === 'ENOTFOUND' || code === 'ENODATA') return 'no_host';
  if (/^(EAI_|ESERVFAIL|EREFUSED|ETIMEOUT)/.test(code)) return 'dns';
  if (/^(UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/.test(code)) return 'timed_out';
  if (name === 'HTTPParserError' || /^UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH)/.test(code)) return 'protocol';
  if (code === 'UND_ERR_INVALID_ARG') return 'bad_request';
  if (code === 'UND_ERR_MAX_ORIGINS_REACHED') return 'busy';
  if (/^UND_ERR_(CLOSED|DESTROYED|ABORTED)$/.test(code)) return 'aborted';
  if (/^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|CRL_|UNABLE_TO_|EPROTO$)|SELF_SIGNED|_CERT(_|$)|HOSTNAME_MISMATCH/.test(code))
    return 'tls';
  return 'connection';
}

/**
 * Sends one request. The reply resolves with any status.
 * @throws HttpError
 */
export function exchange(
  dispatcher: Dispatcher,
  hop: Hop<string | Buffer>,
  { maxBytes, cut, headersTimeoutMs, totalTimeoutMs, signal, wantsBody }: ExchangeOptions,
): Promise<HttpResponse> {
  const { url, method, headers } = hop;
  const started = performance.now();

  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: HttpHead | undefined;
    /** Undefined while there is no head, and when the body is not wanted. */
    let body: Body | undefined;
    let dropped = 0;
    let settled = false;
    let timer: NodeJS.Timeout;

    const settle = (): void => {
      settled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const succeed = (bytes: Buffer, rest = false): void => {
      if (settled || !head) return;
      settle();
      resolve({ ...head, body: bytes });
      if (rest) controller?.abort(new HttpError('aborted', { url: url.href }));
    };
    const fail = (reason: HttpReason, cause?: unknown): void => {
      if (settled) return;
      const error = new HttpError(reason, { url: url.href, bytes: body?.bytes() ?? 0, cause });
      settle();
      body?.destroy();
      controller?.abort(error);
      // The head is the whole reply when the body is not wanted, however reading that body ends.
      if (head && !body && reason !== 'aborted') resolve({ ...head, body: Buffer.alloc(0) });
      else reject(error);
    };
    const onAbort = (): void => fail('aborted', signal?.reason);
    const onTimeout = (): void => fail('timed_out');

    if (signal?.aborted) return reject(new HttpError('aborted', { url: url.href, cause: signal.reason }));
    signal?.addEventListener('abort', onAbort, { once: true });
    timer = setTimeout(onTimeout, Math.min(headersTimeoutMs, totalTimeoutMs));

    const begin = (status: number, replyHeaders: HttpHeaders): void => {
      clearTimeout(timer);
      timer = setTimeout(onTimeout, Math.max(1, totalTimeoutMs - (performance.now() - started)));
      head = { status, headers: replyHeaders, url: url.href };
      const length = method === 'HEAD' || status === 304 ? undefined : lengthOf(replyHeaders);
      if (!wantsBody(head)) return length !== undefined && length > drainBytes ? fail('too_large') : undefined;
      body = createBody({
        encoding: headerOf(replyHeaders, 'content-encoding'),
        maxBytes,
        cut,
        expectedBytes: length,
        onDone: succeed,
        onFail: fail,
        onDrain: () => controller?.resume(),
      });
      if (length !== undefined && length > maxBytes && !cut) fail('too_large');
    };

    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        body: hop.body ?? null,
        // The timer above is exact and includes connecting, so undici's timeouts are off.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (settled) started.abort(new HttpError('aborted', { url: url.href }));
        },
        onResponseStart(_, status, replyHeaders) {
          if (settled || status < 200) return;
          try {
            begin(status, replyHeaders);
          } catch (error) {
            // The caller's `wantsBody` threw.
            settle();
            reject(error);
            throw error;
          }
        },
        onResponseData(current, chunk) {
          if (settled) return;
          if (body) {
            if (!body.write(chunk)) current.pause();
          } else {
            dropped += chunk.length;
            if (dropped > drainBytes) fail('too_large');
          }
        },
        onResponseEnd() {
          if (body) body.end();
          else succeed(Buffer.alloc(0));
        },
        onResponseError: (_, error) => fail(reasonOf(error), error),
      },
    );
  });
}
