/**
 * Posts a delivery to a URL that an organization or a service has given, and decides whether the receiver accepted it.
 */
import type { SenderDeps } from '../base/sender.ts';
import { headerOf, type HttpRequest } from '../../clients/http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { DeliveryRefused, type OutgoingRequest, type Refusal, type Sent } from '../../models/rules/events/delivery.ts';
import { readRetryAfter } from '../../models/rules/events/schedule.ts';

/** Time limit of an attempt, from its start to the end of the response. */
const totalTimeoutMs = 15_000;
/** At most this many bytes of a response's body are read. */
const maxBytes = 2_048;

/** `request.url` may be masked for display; the request goes to `url`. */
export type Post = { url: string; request: OutgoingRequest };
/** Explains to members a response without success. `said`: the beginning of its body. */
type Explain = (status: number, said: string) => Pick<Refusal, 'broken' | 'permanent'> & { message: string };
type Options = Pick<HttpRequest, 'tellsTrace'> & {
  /** Whether no other delivery uses the URL, so that its timeout must not slow down the destination. */
  ownUrl?: boolean;
};

/** @throws DeliveryRefused unless the response has a status of success */
export async function post(
  { url, request }: Post,
  { http, clock }: Pick<SenderDeps, 'http' | 'clock'>,
  signal: AbortSignal,
  explain: Explain,
  { tellsTrace = false, ownUrl = false }: Options = {},
): Promise<Sent> {
  const { status, headers, body } = await http
    .request(url, {
      method: 'POST',
      headers: { ...request.headers },
      body: request.body,
      headersTimeoutMs: totalTimeoutMs,
      totalTimeoutMs,
      maxBytes,
      cut: true,
      tellsTrace,
      signal,
    })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof HttpError)) throw error;
      const timedOut = error.reason === 'timed_out' && !ownUrl;
      throw new DeliveryRefused(error.message, { request, timedOut, cause: error });
    });
  const said = body.toString('utf8').trim();
  const reply = { request, status_code: status, response_head: said === '' ? undefined : said };
  if (status >= 200 && status < 300) return reply;
  const { message, ...refusal } = explain(status, said);
  const retryAfterMs = readRetryAfter(headerOf(headers, 'retry-after'), clock());
  throw new DeliveryRefused(message, { ...reply, ...refusal, retryAfterMs });
}
