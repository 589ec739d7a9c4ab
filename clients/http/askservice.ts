/**
 * Sends a request to a connected service, such as GitHub, and parses its JSON reply. The time limit is the same for
 * every service.
 */
import type { Http, HttpResponse } from './http.ts';
import type { ServiceError, ServiceFailure } from './serviceerror.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';
import { jsonIn } from '../../models/rules/base/json.ts';

/** GitHub and Linear usually reply within a second, and themselves abort a request after 10 s. */
const timeoutMs = 15_000;

type ServiceRequest = {
  method: HttpMethod;
  headers: Record<string, string>;
  /** The request's body; an object is sent as JSON. */
  body?: object | string | undefined;
  maxBytes: number;
  signal?: AbortSignal | undefined;
};
type ServiceReply = {
  reply: HttpResponse;
  /** The parsed body if it is an object or a list; undefined otherwise. */
  said: object | undefined;
};

/**
 * Resolves with a reply of any HTTP status. @throws `Failure`, whose message names the `service`, when there was no
 * reply; the signal's reason when it aborted the request
 */
export async function askService(
  http: Http,
  { service, Failure }: { service: string; Failure: new (message: string, about: ServiceFailure) => ServiceError },
  url: string,
  { method, headers, body, maxBytes, signal }: ServiceRequest,
): Promise<ServiceReply> {
  const reply = await http
    .request(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      maxBytes,
      totalTimeoutMs: timeoutMs,
      headersTimeoutMs: timeoutMs,
      signal,
    })
    .catch((error: unknown) => {
      signal?.throwIfAborted();
      const timedOut = error instanceof HttpError && error.reason === 'timed_out';
      throw new Failure(`${service} could not be reached. ${(error as Error).message}`, { timedOut, cause: error });
    });
  const said = jsonIn(reply.body);
  return { reply, said: typeof said === 'object' && said !== null ? said : undefined };
}
