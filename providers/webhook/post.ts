/** Posts to an address that an organization configured, and reads the beginning of the answer. */
import type { Http, HttpResponse } from '../../clients/http/http.ts';
import { HttpError } from '../../models/rules/base/http.ts';
import { DeliveryRefused, type OutgoingRequest } from '../../models/rules/events/delivery.ts';

/** Time for an attempt, from its beginning to the end of the reply. */
const totalTimeoutMs = 15_000;
/** Of a reply's body; more is not read. */
const maxBytes = 2_048;

/** `request` is what is shown of it; its address may be masked. @throws DeliveryRefused when there was no answer. */
export async function post(
  http: Http,
  url: string,
  request: OutgoingRequest,
  signal: AbortSignal,
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
      signal,
    });
    return { response, said: response.body.toString('utf8').trim() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HttpError)) throw error;
    throw new DeliveryRefused(error.message, { request, timedOut: error.reason === 'timed_out', cause: error });
  }
}
