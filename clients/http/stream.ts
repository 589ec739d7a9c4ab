/** Sends one request and returns its body as a stream, for servers that send events. It limits size and time. */
import type { Dispatcher } from 'undici';
import { begin, headerOf, httpErrorOf, type Hop, type HttpHead, type TimeLimits } from './begin.ts';
import { HttpError } from '../../models/rules/base/http.ts';

/**
 * Reading the body throws HttpError when it is too large, takes too long or breaks off. A caller that does not read to
 * the end must cancel the stream.
 */
export type HttpStream = HttpHead & { body: ReadableStream<Uint8Array> };

/** @throws HttpError when no head of a reply arrives */
export async function openStream(
  dispatcher: Dispatcher,
  hop: Hop,
  { maxBytes, ...limits }: TimeLimits & { maxBytes: number },
): Promise<HttpStream> {
  const { head, body, end } = await begin(dispatcher, hop, limits);
  const { url } = head;
  const encoding = headerOf(head.headers, 'content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    end();
    throw new HttpError('protocol', { url });
  }
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
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
        if (bytes > maxBytes) throw new HttpError('too_large', { url });
        controller.enqueue(new Uint8Array(value));
      } catch (error) {
        end();
        controller.error(httpErrorOf(error, { url, bytes }));
      }
    },
    cancel: end,
  });
  return { ...head, body: bounded };
}
