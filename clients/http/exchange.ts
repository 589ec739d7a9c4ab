/**
 * Sends one request through undici's dispatcher and reads the reply, within limits on time and size. It follows no
 * redirect, does not retry, and checks no address.
 */
import type { Dispatcher } from 'undici';
import { HttpError, type Hop, type HttpReason } from '../../models/rules/base/http.ts';
import { createBody, type Body } from './body.ts';
import { BlockedAddress } from './connect.ts';

/** Header names are in lower case. A header that occurs several times is a list. */
export type HttpHeaders = Readonly<Record<string, string | string[] | undefined>>;
export type HttpHead = { status: number; headers: HttpHeaders; url: string };
/** `body` is decoded. It is empty when `wantsBody` returned false. */
export type HttpResponse = HttpHead & { body: Buffer };

export type ExchangeOptions = {
  maxBytes: number;
  /** Truncates a longer body at `maxBytes`; the rest is not read. */
  cut?: boolean | undefined;
  /** Time limit for the head of the reply, in ms. */
  headersTimeoutMs: number;
  /** Time limit for the whole reply, in ms. */
  totalTimeoutMs: number;
  signal: AbortSignal | undefined;
  wantsBody(head: HttpHead): boolean;
};

/** The value of a header. Repeated headers are joined according to RFC 9110, section 5.3. */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** An unwanted body up to this size is read and discarded, which is cheaper than opening a new connection. */
const drainBytes = 64 * 1024;

const lengthOf = (headers: HttpHeaders): number | undefined => {
  const value = headerOf(headers, 'content-length');
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
};

/** Errors of Node and undici are identified by code, errors of undici's parser by name. */
function errorShape(error: unknown): { code: string; name: string } {
  const { code = '', name = '' } = (error ?? {}) as { code?: unknown; name?: unknown };
  return { code: String(code), name: String(name) };
}

/** Maps an error of undici, a socket, TLS or DNS to a reason. */
export function reasonOf(error: unknown): HttpReason {
  if (error instanceof HttpError) return error.reason;
  if (error instanceof BlockedAddress) return 'blocked_address';
  const { code, name } = errorShape(error);
  // DNS answered that the name, or an address for it, does not exist.
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

/** Sends one request. Resolves with any status. @throws HttpError */
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
    /** Undefined before the head has arrived, and when the body is not wanted. */
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
      // When the body is not wanted, the head is the whole reply, even if the body then fails. Only an abort still
      // rejects.
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
        // undici's timeouts are off, because the timer above is exact and includes connecting.
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
            // The request fails with the error that the caller's `wantsBody` threw.
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
