/**
 * The HTTP client for addresses that customers and web pages name: crawling, webhooks, MCP servers. It reaches public
 * addresses only (and EGRESS_ALLOW), each checked when it is connected to, and keeps every reply within limits of size and
 * time. Nothing else in this project may connect to an address it was given.
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

export { headerOf, type HttpHead, type HttpHeaders, type HttpResponse, type Lookup };

export type HttpLimits = {
  /** Most bytes of a decoded body. */
  maxBytes: number;
  /** From asking to the head of the reply, ms; finding the host and connecting included. */
  headersTimeoutMs: number;
  /** From asking to the last byte, ms; over all hops when redirects are followed. A server that drips ends here. */
  totalTimeoutMs: number;
};

/** A web page is seldom over 2 MiB of HTML; people wait some 10 s for one to begin. */
export const defaultHttpLimits: Readonly<HttpLimits> = Object.freeze({
  maxBytes: 10 * 1024 * 1024,
  headersTimeoutMs: 10_000,
  totalTimeoutMs: 30_000,
});

export type HttpOptions = {
  /** Says who asks, with a way to reach them. */
  userAgent: string;
  /** Hosts (`host` or `host:port`) that may be reached though private. */
  egressAllow?: readonly string[];
  lookup?: Lookup;
  /** Certificates trusted instead of the usual ones, in PEM. */
  ca?: string;
  /** Connections to one origin; further requests wait for one, on their own clock. */
  connectionsPerOrigin?: number;
  /** Origins connected to at a time; one more is refused as `busy`. Idle ones are let go after 4 s. */
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
  /** Asked once the head is there: false leaves the body out, so that a film is not fetched to learn that it is one. */
  wantsBody?(head: HttpHead): boolean;
};

export type FollowRequest = HttpRequest & {
  /** Hops after the first request. */
  maxRedirects?: number;
  /** Whether a hop may be taken; robots.txt and scope belong here. */
  allow?(to: URL, from: URL): boolean | Promise<boolean>;
};

/** `url` is where the reply came from, `redirects` the addresses before it, the first one first. */
export type FollowedResponse = HttpResponse & { redirects: string[] };

export type Http = {
  /**
   * One request. Any status is a reply, 3xx too.
   * @throws HttpError when there is no whole reply.
   */
  request(url: string, request?: HttpRequest): Promise<HttpResponse>;
  /**
   * The same, following redirects; each hop is checked like a first request. The address asked for is not put to `allow`.
   * @throws HttpError, also out_of_scope and too_many_redirects, with the `url` it is about.
   */
  follow(url: string, request?: FollowRequest): Promise<FollowedResponse>;
  /** Ends all connections; requests under way fail as `aborted`. */
  close(): Promise<void>;
};

/** Largest head of a reply, bytes; twice what most servers take in a request. */
const maxHeaderBytes = 32 * 1024;
const keepAliveMs = 4_000;
/** However long a server offers to keep a connection. */
const keepAliveMaxMs = 30_000;
/** A connection that nobody waits for any more must end as well, ms. */
const connectTimeoutMs = 10_000;

/** Headers arrive as Latin-1; an address in one is UTF-8 if it can be, as browsers read it. */
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
  // It would name another host than the one that was checked, to TLS as well.
  if (names.has('host')) throw new HttpError('bad_request', { url });
  return {
    ...(names.has('user-agent') ? {} : { 'user-agent': userAgent }),
    ...(names.has('accept-encoding') ? {} : { 'accept-encoding': acceptedEncodings }),
    ...given,
  };
}

export function createHttp(options: HttpOptions): Http {
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
        // Nothing changes between two visits, for no cookie is kept: the same again is a circle.
        if (redirects.length > maxRedirects || seen.has(`${next.method} ${next.url.href}`))
          throw new HttpError('too_many_redirects', { url: next.url.href });
        if (allow && !(await allow(next.url, hop.url))) throw new HttpError('out_of_scope', { url: next.url.href });
        hop = next;
      }
    },

    close: () => agent.destroy(),
  };
}
