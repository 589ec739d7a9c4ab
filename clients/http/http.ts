/**
 * The HTTP client for URLs that come from customers and web pages: crawling, webhooks, MCP servers. It connects only to
 * public addresses and to hosts in EGRESS_ALLOW, checks each address at connection time, and limits size and time of
 * every reply. No other code may connect to a URL that comes from outside this system.
 */
import { lookup as dnsLookup } from 'node:dns';
import { Agent } from 'undici';
import { HttpError, readOutboundUrl, redirectStatuses, type HttpMethod } from '../../models/rules/base/http.ts';
import { acceptedEncodings } from './body.ts';
import { inSpan, traceparent } from '../base/tracing.ts';
import { defined } from '../../models/rules/base/defined.ts';
import { createConnector, type Lookup } from './connect.ts';
import { headerOf, type Hop, type HttpHead, type HttpHeaders } from './begin.ts';
import { exchange, type HttpResponse } from './exchange.ts';
import { openStream, type HttpStream } from './stream.ts';

export { headerOf, type HttpHead, type HttpHeaders, type HttpResponse, type HttpStream, type Lookup };

export type HttpLimits = {
  /** Maximum bytes of a decoded body. */
  maxBytes: number;
  /** Time limit from the request to the head of the reply, in ms, including DNS and connecting. */
  headersTimeoutMs: number;
  /**
   * Time limit from the request to the last byte, in ms. In `follow` it covers all redirects together. It also ends
   * replies that arrive very slowly.
   */
  totalTimeoutMs: number;
};

/** A web page seldom has more than 2 MiB of HTML, and people wait about 10 s for one. */
const defaultHttpLimits: Readonly<HttpLimits> = Object.freeze({
  maxBytes: 10 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
});

export type HttpOptions = {
  /** Names this product, with a URL or address for reaching its operator. */
  userAgent: string;
  /** Private hosts (`host` or `host:port`) to which connections are allowed. */
  egressAllow?: readonly string[];
  lookup?: Lookup;
  /** CA certificates in PEM, trusted in place of the default ones. */
  ca?: string;
  /** Maximum number of connections to one origin. Further requests wait; the wait counts towards their time limit. */
  connectionsPerOrigin?: number;
  /**
   * Maximum number of origins connected at a time. While that many are connected, a request to a further origin fails
   * as `busy`. Idle connections close after 4 s, or after the time that the server offers, up to 30 s.
   */
  maxOrigins?: number;
  limits?: Partial<HttpLimits>;
  /** Whether each request is recorded as a span of its trace; true by default. `follow` records none. */
  traced?: boolean;
};

export type HttpRequest = Partial<HttpLimits> & {
  method?: HttpMethod;
  /** The client adds `user-agent` and `accept-encoding` when they are missing. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  signal?: AbortSignal | undefined;
  /** Whether the header `traceparent` tells the server the current trace. Outside of a span it is not sent. */
  tellsTrace?: boolean;
  /** Truncates a body at `maxBytes` instead of failing as `too_large`; the rest is not read. */
  cut?: boolean;
  /**
   * Called with the head of the reply. When it returns false the body is not read; a crawler skips videos in this way.
   */
  wantsBody?(head: HttpHead): boolean;
};

export type FollowOptions = Pick<HttpRequest, 'signal' | 'maxBytes' | 'cut'> & {
  maxRedirects?: number;
};

export type Http = {
  /** Sends one request. Resolves with any status, including 3xx. @throws HttpError when there is no complete reply */
  request(url: string, request?: HttpRequest): Promise<HttpResponse>;
  /**
   * Sends a GET request and follows redirects. Each hop is checked like a first request. The reply's `url` is that of
   * the last hop. @throws HttpError, also too_many_redirects, with the `url` that failed
   */
  follow(url: string, options?: FollowOptions): Promise<HttpResponse>;
  /** Closes all connections; running requests fail as `aborted`. */
  close(): Promise<void>;
};

export type StreamingHttp = Http & {
  /**
   * Sends one request and resolves with the head of the reply. A redirect is returned, not followed. The body is a
   * stream. @throws HttpError when there is no head
   */
  open(url: string, request?: Omit<HttpRequest, 'cut' | 'wantsBody'>): Promise<HttpStream>;
};

/** Maximum size of a reply's head, in bytes: twice what most servers accept in a request. */
const maxHeaderBytes = 32 * 1024;
const keepAliveMs = 4_000;
/** Maximum time an idle connection is kept, in ms, whatever the server offers. */
const keepAliveMaxMs = 30_000;
/** Time limit for connecting, in ms. It also ends attempts to connect whose request has already failed. */
const connectTimeoutMs = 10_000;

/**
 * The URL in the `location` header. undici decodes headers as Latin-1. Like browsers, this function reads the URL as
 * UTF-8 if its bytes are valid UTF-8.
 */
export function locationOf(headers: HttpHeaders): string | undefined {
  const value = headers['location'];
  const raw = Array.isArray(value) ? value[0] : value;
  if (raw === undefined) return undefined;
  const utf8 = Buffer.from(raw, 'latin1').toString('utf8');
  return utf8.includes('\uFFFD') ? raw : utf8;
}

const isRedirect = (head: HttpHead): boolean =>
  redirectStatuses.includes(head.status) && locationOf(head.headers) !== undefined;

function withDefaultHeaders(
  given: Readonly<Record<string, string>>,
  url: string,
  userAgent: string,
): Record<string, string> {
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  // A `host` header could name another host than the one that was checked, in the request and in TLS.
  if (names.has('host')) throw new HttpError('bad_request', { url });
  return {
    ...(names.has('user-agent') ? {} : { 'user-agent': userAgent }),
    ...(names.has('accept-encoding') ? {} : { 'accept-encoding': acceptedEncodings }),
    ...given,
  };
}

/** Returns a function that runs a request in a span, or without a span if `isTraced` is false. */
function tracing(isTraced: boolean) {
  return async <R extends HttpRequest, T>(address: string, request: R, run: (request: R) => Promise<T>): Promise<T> => {
    if (!isTraced) return run(request);
    const { method = 'GET', tellsTrace = false } = request;
    const attributes = { 'server.address': URL.parse(address)?.hostname ?? '', 'http.request.method': method };
    return inSpan(method, { kind: 'client', attributes }, () =>
      run(
        tellsTrace
          ? { ...request, headers: { ...defined({ traceparent: traceparent() }), ...request.headers } }
          : request,
      ),
    );
  };
}

export function createHttp(options: HttpOptions): StreamingHttp {
  const traced = tracing(options.traced ?? true);
  const { userAgent, egressAllow = [], lookup = dnsLookup, ca, connectionsPerOrigin = 4, maxOrigins = 1_000 } = options;
  const defaults: HttpLimits = { ...defaultHttpLimits, ...options.limits };
  const agent = new Agent({
    connect: createConnector({ egressAllow, lookup, timeoutMs: connectTimeoutMs, ca }),
    allowH2: false,
    connections: connectionsPerOrigin,
    maxOrigins,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMaxMs,
    maxHeaderSize: maxHeaderBytes,
  });

  const hopTo = (url: URL, { method = 'GET', headers = {}, body }: HttpRequest = {}): Hop => ({
    url,
    method,
    headers: withDefaultHeaders(headers, url.href, userAgent),
    body,
  });
  const send = (hop: Hop, request: HttpRequest): Promise<HttpResponse> =>
    exchange(agent, hop, {
      maxBytes: request.maxBytes ?? defaults.maxBytes,
      cut: request.cut,
      headersTimeoutMs: request.headersTimeoutMs ?? defaults.headersTimeoutMs,
      totalTimeoutMs: request.totalTimeoutMs ?? defaults.totalTimeoutMs,
      signal: request.signal,
      wantsBody: request.wantsBody ?? (() => true),
    });

  return {
    request: (address, request = {}) =>
      traced(address, request, (given) => send(hopTo(readOutboundUrl(address), given), given)),

    async follow(address, { maxRedirects = 5, ...request } = {}) {
      const end = performance.now() + defaults.totalTimeoutMs;
      const seen = new Set<string>();
      for (let url = readOutboundUrl(address); ;) {
        seen.add(url.href);
        const response = await send(hopTo(url), {
          ...request,
          totalTimeoutMs: Math.max(1, end - performance.now()),
          wantsBody: (head) => !isRedirect(head),
        });
        const location = isRedirect(response) ? locationOf(response.headers) : undefined;
        if (location === undefined) return response;
        url = readOutboundUrl(location, url);
        // No cookies are kept, so a repeated request would get the same redirect: this is a loop.
        if (seen.size > maxRedirects || seen.has(url.href))
          throw new HttpError('too_many_redirects', { url: url.href });
      }
    },

    open: (address, asked = {}) =>
      traced(address, asked, async (request) => {
        // A streamed body is not decoded, so no encoding is offered.
        const headers = { ...request.headers, 'accept-encoding': 'identity' };
        const hop = hopTo(readOutboundUrl(address), { ...request, headers });
        return openStream(agent, hop, {
          maxBytes: request.maxBytes ?? defaults.maxBytes,
          headersTimeoutMs: request.headersTimeoutMs ?? defaults.headersTimeoutMs,
          totalTimeoutMs: request.totalTimeoutMs ?? defaults.totalTimeoutMs,
          signal: request.signal,
        });
      }),

    close: () => agent.destroy(),
  };
}
