/**
 * The HTTP client for addresses that come from customers and web pages: crawling, webhooks, MCP servers. It connects only to
 * public addresses and to the hosts in EGRESS_ALLOW, checks each address when it connects, and limits the size and time of
 * every reply. No other code may connect to an address that comes from outside.
 */
import { lookup as dnsLookup } from 'node:dns';
import { Agent } from 'undici';
import {
  HttpError,
  nextHop,
  readOutboundUrl,
  redirectStatuses,
  type Hop,
  type HttpMethod,
} from '../../models/rules/base/http.ts';
import { acceptedEncodings } from './body.ts';
import { createConnector, type Lookup } from './connect.ts';
import { exchange, headerOf, type HttpHead, type HttpHeaders, type HttpResponse } from './exchange.ts';

import { openStream, type HttpStream } from './stream.ts';

export { headerOf, type HttpHead, type HttpHeaders, type HttpResponse, type HttpStream, type Lookup };

export type HttpLimits = {
  /** The most bytes of a decoded body. */
  maxBytes: number;
  /** Time from the request to the head of the reply, ms; DNS and connecting included. */
  headersTimeoutMs: number;
  /** Time from the request to the last byte, ms; over all hops when redirects are followed. It ends very slow replies. */
  totalTimeoutMs: number;
};

/** A web page seldom has more than 2 MiB of HTML. People wait about 10 s for one to appear. */
const defaultHttpLimits: Readonly<HttpLimits> = Object.freeze({
  maxBytes: 10 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
});

export type HttpOptions = {
  /** Names this product, with an address where its operator can be reached. */
  userAgent: string;
  /** Private hosts (`host` or `host:port`) that may be connected to. */
  egressAllow?: readonly string[];
  lookup?: Lookup;
  /** Certificates trusted instead of the usual ones, in PEM. */
  ca?: string;
  /** The most connections to one origin. Further requests wait for one, and the wait counts towards their timeout. */
  connectionsPerOrigin?: number;
  /** The most origins connected to at a time; a request to one more fails as `busy`. Idle connections close after 4 s. */
  maxOrigins?: number;
  limits?: Partial<HttpLimits>;
};

export type HttpRequest = Partial<HttpLimits> & {
  method?: HttpMethod;
  /** `user-agent` and `accept-encoding` are set unless given. */
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  signal?: AbortSignal | undefined;
  /** A body longer than `maxBytes` is cut there instead of being `too_large`; the rest is not read. */
  cut?: boolean;
  /** Called with the head of the reply. If it returns false the body is not read; so a crawler fetches no videos, for example. */
  wantsBody?(head: HttpHead): boolean;
};

export type FollowRequest = HttpRequest & {
  /** The most hops after the first request. */
  maxRedirects?: number;
  /** Whether a hop may be followed, for example by robots.txt and scope. */
  allow?(to: URL, from: URL): boolean | Promise<boolean>;
};

/** `url` is the address that gave the reply, `redirects` the addresses before it, in order. */
export type FollowedResponse = HttpResponse & { redirects: string[] };

export type Http = {
  /**
   * Sends one request. It resolves with any status, also 3xx.
   * @throws HttpError when there is no complete reply.
   */
  request(url: string, request?: HttpRequest): Promise<HttpResponse>;
  /**
   * The same, following redirects. Each hop is checked like a first request. `allow` is called for each hop, but not for the
   * first address.
   * @throws HttpError, also out_of_scope and too_many_redirects, with the `url` it is about.
   */
  follow(url: string, request?: FollowRequest): Promise<FollowedResponse>;
  /** Closes all connections; requests under way fail as `aborted`. */
  close(): Promise<void>;
};

/** The same, for servers that answer with a stream. */
export type StreamingHttp = Http & {
  /**
   * Sends one request and resolves with its head, also of a redirect; the body is read as it comes. @throws HttpError when
   * there is no head.
   */
  open(url: string, request?: Omit<HttpRequest, 'cut' | 'wantsBody'>): Promise<HttpStream>;
};

/** The largest head of a reply, bytes: twice what most servers accept in a request. */
const maxHeaderBytes = 32 * 1024;
const keepAliveMs = 4_000;
/** The longest time an idle connection is kept, whatever the server offers, ms. */
const keepAliveMaxMs = 30_000;
/** Also ends attempts to connect whose request has failed meanwhile, ms. */
const connectTimeoutMs = 10_000;

/** Headers arrive as Latin-1. As in browsers, an address in one is read as UTF-8 if it is valid UTF-8. */
function locationOf(headers: HttpHeaders): string | undefined {
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
  // A `host` header would name another host than the one that was checked, also to TLS.
  if (names.has('host')) throw new HttpError('bad_request', { url });
  return {
    ...(names.has('user-agent') ? {} : { 'user-agent': userAgent }),
    ...(names.has('accept-encoding') ? {} : { 'accept-encoding': acceptedEncodings }),
    ...given,
  };
}

export function createHttp(options: HttpOptions): StreamingHttp {
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

  const firstHop = (address: string, { method = 'GET', headers = {}, body }: HttpRequest): Hop<string | Buffer> => {
    const url = readOutboundUrl(address);
    return { url, method, headers: withDefaultHeaders(headers, url.href, userAgent), body };
  };
  const send = (hop: Hop<string | Buffer>, request: HttpRequest): Promise<HttpResponse> =>
    exchange(agent, hop, {
      maxBytes: request.maxBytes ?? defaults.maxBytes,
      cut: request.cut,
      headersTimeoutMs: request.headersTimeoutMs ?? defaults.headersTimeoutMs,
      totalTimeoutMs: request.totalTimeoutMs ?? defaults.totalTimeoutMs,
      signal: request.signal,
      wantsBody: request.wantsBody ?? (() => true),
    });

  return {
    request: async (address, request = {}) => await send(firstHop(address, request), request),

    async follow(address, request = {}) {
      const { maxRedirects = 5, allow, wantsBody = () => true, totalTimeoutMs = defaults.totalTimeoutMs } = request;
      const end = performance.now() + totalTimeoutMs;
      const redirects: string[] = [];
      const seen = new Set<string>();
      for (let hop = firstHop(address, request); ;) {
        seen.add(`${hop.method} ${hop.url.href}`);
        const response = await send(hop, {
          ...request,
          totalTimeoutMs: Math.max(1, end - performance.now()),
          wantsBody: (head) => !isRedirect(head) && wantsBody(head),
        });
        const location = isRedirect(response) ? locationOf(response.headers) : undefined;
        if (location === undefined) return { ...response, redirects };
        const next = nextHop(hop, response.status, location);
        redirects.push(hop.url.href);
        // No cookies are kept, so a second request for the same address would be answered the same: this is a loop.
        if (redirects.length > maxRedirects || seen.has(`${next.method} ${next.url.href}`))
          throw new HttpError('too_many_redirects', { url: next.url.href });
        if (allow && !(await allow(next.url, hop.url))) throw new HttpError('out_of_scope', { url: next.url.href });
        hop = next;
      }
    },

    async open(address, request = {}) {
      // A body that is read as it comes is not decoded.
      const headers = { ...request.headers, 'accept-encoding': 'identity' };
      const hop = firstHop(address, { ...request, headers });
      return openStream(agent, hop, {
        maxBytes: request.maxBytes ?? defaults.maxBytes,
        headersTimeoutMs: request.headersTimeoutMs ?? defaults.headersTimeoutMs,
        totalTimeoutMs: request.totalTimeoutMs ?? defaults.totalTimeoutMs,
        signal: request.signal,
      });
    },

    close: () => agent.destroy(),
  };
}
