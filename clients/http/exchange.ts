/** Sends one request and reads the reply, within limits on time and size. */
import type { Dispatcher } from 'undici';
import { HttpError } from '../../models/rules/base/http.ts';
import { begin, headerOf, type Hop, type HttpHead, type HttpHeaders, type TimeLimits } from './begin.ts';
import { readBody } from './body.ts';

/** `body` is decoded. It is empty when `wantsBody` returned false. */
export type HttpResponse = HttpHead & { body: Buffer };

export type ExchangeOptions = TimeLimits & {
  maxBytes: number;
  /** Truncates a longer body at `maxBytes`; the rest is not read. */
  cut?: boolean | undefined;
  wantsBody(head: HttpHead): boolean;
};

/** An unwanted body up to this size is read and discarded, which is cheaper than opening a new connection. */
const drainBytes = 64 * 1024;

const lengthOf = (headers: HttpHeaders): number | undefined => {
  const value = headerOf(headers, 'content-length');
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
};

/** Sends one request. Resolves with any status. @throws HttpError, and what `wantsBody` throws */
export async function exchange(
  dispatcher: Dispatcher,
  hop: Hop,
  { maxBytes, cut, wantsBody, ...limits }: ExchangeOptions,
): Promise<HttpResponse> {
  const { head, body, end } = await begin(dispatcher, hop, limits);
  const { status, headers, url } = head;
  try {
    if (!wantsBody(head)) {
      await body.dump({ limit: drainBytes });
      // A failure of an unwanted body is ignored, because the caller wants only the head. Only an abort, or the close
      // of the client, rejects.
      const { code } = (body.errored ?? {}) as { code?: string };
      const ended = code === 'UND_ERR_CLOSED' || code === 'UND_ERR_DESTROYED';
      if (limits.signal?.aborted || ended)
        throw new HttpError('aborted', { url, cause: limits.signal?.reason ?? body.errored });
      return { ...head, body: Buffer.alloc(0) };
    }
    const expectedBytes = hop.method === 'HEAD' || status === 304 ? undefined : lengthOf(headers);
    if (expectedBytes !== undefined && expectedBytes > maxBytes && !cut) throw new HttpError('too_large', { url });
    const encoding = headerOf(headers, 'content-encoding');
    return { ...head, body: await readBody(body, { url, encoding, maxBytes, cut }) };
  } finally {
    end();
  }
}
