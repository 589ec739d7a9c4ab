/**
 * Sends one request and returns its body as a stream, for servers that send events. It limits size and time. It follows
 * no redirect, does not retry, and checks no address.
 */
import type { Dispatcher } from 'undici';
import { headerOf, reasonOf, type HttpHead } from './exchange.ts';
import { HttpError, type Hop } from '../../models/rules/base/http.ts';

/**
 * Reading the body throws HttpError when it is too large, takes too long or breaks off. A caller that does not read to
 * the end must cancel the stream.
 */
export type HttpStream = HttpHead & { body: ReadableStream<Uint8Array> };

export type StreamOptions = {
  maxBytes: number;
  headersTimeoutMs: number;
  totalTimeoutMs: number;
  signal: AbortSignal | undefined;
};

/** @throws HttpError when no head of a reply arrives */
export async function openStream(
  dispatcher: Dispatcher,
  { url, method, headers, body }: Hop<string | Buffer>,
  { maxBytes, headersTimeoutMs, totalTimeoutMs, signal }: StreamOptions,
): Promise<HttpStream> {
  const over = new AbortController();
  const stop = (reason: 'timed_out' | 'aborted', cause?: unknown) =>
    over.abort(new HttpError(reason, { url: url.href, cause }));
  const headTimer = setTimeout(() => stop('timed_out'), headersTimeoutMs);
  const timer = setTimeout(() => stop('timed_out'), totalTimeoutMs);
  const onAbort = () => stop('aborted', signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const end = () => {
    clearTimeout(headTimer);
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  };
  const failure = (error: unknown) => {
    end();
    const known = over.signal.aborted ? over.signal.reason : error;
    return known instanceof HttpError ? known : new HttpError(reasonOf(known), { url: url.href, cause: known });
  };
  try {
    const reply = await dispatcher.request({
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
    clearTimeout(headTimer);
    const encoding = headerOf(reply.headers, 'content-encoding') ?? 'identity';
    if (encoding.toLowerCase() !== 'identity') {
      reply.body.destroy();
      throw new HttpError('protocol', { url: url.href });
    }
    const chunks = reply.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let bytes = 0;
    const bounded = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { value, done } = await chunks.next();
          if (done) {
            end();
            controller.close();
            return;
          }
          bytes += value.length;
          if (bytes > maxBytes) throw new HttpError('too_large', { url: url.href, bytes });
          controller.enqueue(new Uint8Array(value));
        } catch (error) {
          controller.error(failure(error));
          reply.body.destroy();
        }
      },
      cancel() {
        end();
        reply.body.destroy();
      },
    });
    return { status: reply.statusCode, headers: reply.headers, url: url.href, body: bounded };
  } catch (error) {
    throw failure(error);
  }
}
