/** Posts to a URL that an organization configured, and reads the beginning of the response. */
import type { Http, HttpRequest, HttpResponse } from '../../clients/http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';

/** Time limit of an attempt, from its start to the end of the response. */
const totalTimeoutMs = 15_000;
/** At most this many bytes of a response's body are read. */
const maxBytes = 2_048;

/**
 * `request.url` may be masked for display; the request goes to `url`. @throws DeliveryRefused when there was no
 * response.
 */
export async function post(
  http: Http,
  url: string,
  request: OutgoingRequest,
  signal: AbortSignal,
  { tellsTrace = false }: Pick<HttpRequest, 'tellsTrace'> = {},
): Promise<{ response: HttpResponse; said: string }> {
  try {
    const response = await http.request(url, {
      method: 'POST',
      headers: { ...request.headers },
      body: request.body,
      headersTimeoutMs: totalTimeoutMs,
      totalTimeoutMs,
      maxBytes,
      cut: true,
      tellsTrace,
      signal,
    });
    return { response, said: response.body.toString('utf8').trim() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HttpError)) throw error;
    throw new DeliveryRefused(error.message, { request, timedOut: error.reason === 'timed_out', cause: error });
  }
}
