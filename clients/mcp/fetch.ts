/**
 * `fetch` for the MCP library on top of the checked HTTP client. All requests of a connection and of its OAuth sign-in
 * use it.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { StreamingHttp } from '../http/http.ts';
import { isEgressAllowed, portOf } from '../../models/rules/base/address.ts';
import { HttpError, type HttpMethod } from '../../models/rules/base/http.ts';

export type FetchLimits = { maxBytes: number; headersTimeoutMs: number; totalTimeoutMs: number };

/** The statuses of replies without a body. */
const bodiless: readonly number[] = [204, 205, 304];

const sentWith = new WeakMap<Response, string>();

/**
 * The `authorization` header that was sent with the request of this reply. Undefined for replies not from
 * `createFetch`.
 */
export const authorizationOf = (reply: Response): string | undefined => sentWith.get(reply);

/**
 * The returned `fetch` returns a redirect to the library instead of following it. The library follows no redirect to
 * another origin.
 */
export function createFetch(
  http: Pick<StreamingHttp, 'open'>,
  egressAllow: readonly string[],
  limits: FetchLimits,
): FetchLike {
  return async (input, init = {}) => {
    const url = new URL(input);
    const method = (init.method ?? 'GET').toUpperCase() as HttpMethod;
    const headers = Object.fromEntries(new Headers(init.headers));
    // A server of an older protocol revision may offer a stream of notifications. This system reads no notifications,
    // so the request for the stream is not sent.
    if (method === 'GET' && headers['accept'] === 'text/event-stream') return new Response(null, { status: 405 });
    // Plain http is refused, because every request carries credentials.
    if (url.protocol !== 'https:' && !isEgressAllowed(url.hostname, portOf(url), egressAllow))
      throw new HttpError('bad_url', { url: url.href });
    const reply = await http.open(url.href, {
      ...limits,
      method,
      headers,
      tellsTrace: true,
      ...(init.body === undefined || init.body === null ? {} : { body: textOf(init.body) }),
      signal: init.signal ?? undefined,
    });
    const answer = new Headers();
    for (const [name, value] of Object.entries(reply.headers))
      for (const one of Array.isArray(value) ? value : [value ?? '']) answer.append(name, one);
    const hasBody = !bodiless.includes(reply.status);
    if (!hasBody) await reply.body.cancel();
    const response = new Response(hasBody ? reply.body : null, { status: reply.status, headers: answer });
    if (headers['authorization'] !== undefined) sentWith.set(response, headers['authorization']);
    return response;
  };
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('The MCP library sent a body that is no text.');
}
