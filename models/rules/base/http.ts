/**
 * The rules of outbound HTTP: which URLs are allowed, and why a request can fail. Pure; clients/http/http.ts applies
 * them.
 */
import { portOf } from './address.ts';

/**
 * Every way in which an outbound request can fail, with a sentence for the person who maintains the address.
 * `temporary`: a retry may succeed.
 */
export const httpReasons = {
  bad_url: {
    temporary: false,
    message:
      'This address cannot be fetched: it must begin with http:// or https://, and have no user name, password or port of another service.',
  },
  bad_request: { temporary: false, message: 'The request could not be sent: one of its headers is not valid.' },
  blocked_address: {
    temporary: false,
    message:
      'This address leads into a private network, which is not allowed unless the operator of this system names the host in EGRESS_ALLOW.',
  },
  too_many_redirects: { temporary: false, message: 'This address redirects in a circle or too many times.' },
  /**
   * `no_host`: a name server answered that the name does not exist. `dns`: the name server failed or did not answer.
   */
  no_host: { temporary: false, message: 'There is no host with this name.' },
  dns: { temporary: true, message: 'The name of this host could not be resolved now.' },
  connection: { temporary: true, message: 'The server could not be reached, or it broke the connection off.' },
  tls: {
    temporary: false,
    message: 'No secure connection could be made: the certificate or the encryption is not valid.',
  },
  timed_out: { temporary: true, message: 'The server did not answer in time.' },
  protocol: { temporary: false, message: 'The server sent a reply that is not valid HTTP.' },
  too_large: { temporary: false, message: 'The reply is larger than allowed.' },
  busy: { temporary: true, message: 'Too many servers are being talked to right now.' },
  aborted: { temporary: true, message: 'The request was cancelled.' },
} as const satisfies Record<string, { temporary: boolean; message: string }>;

export type HttpReason = keyof typeof httpReasons;

/** An outbound request that got no complete response. A response with any status, even 500, is not an error. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly reason: HttpReason;
  /**
   * The URL whose request failed, which may be the target of a redirect. For a URL that is not allowed, it has no
   * credentials and no fragment.
   */
  readonly url: string;
  /** Bytes of the decoded body received before the failure. */
  readonly bytes: number;
  readonly temporary: boolean;

  constructor(reason: HttpReason, at: { url: string; bytes?: number; cause?: unknown }) {
    super(httpReasons[reason].message, { cause: at.cause });
    this.reason = reason;
    this.url = at.url;
    this.bytes = at.bytes ?? 0;
    this.temporary = httpReasons[reason].temporary;
  }
}

export const badPorts: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
]);

/** The maximum length of a URL, in characters; servers commonly refuse request lines over 8 KiB. */
export const maxUrlLength = 8_000;

/**
 * The URL of an outbound request, without its fragment.
 * @throws HttpError bad_url for a scheme other than http and https, a user name or password (which would be sent
 * unnoticed), a port in `badPorts`, or more than `maxUrlLength` characters.
 */
export function readOutboundUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  const fits =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.username === '' &&
    url.password === '' &&
    !badPorts.has(portOf(url)) &&
    url.href.length <= maxUrlLength;
  if (!fits) throw new HttpError('bad_url', { url: withoutCredentials(url, text) });
  url.hash = '';
  return url;
}

function withoutCredentials(url: URL | null, text: string): string {
  const longest = 2_000;
  // A URL that cannot be parsed may still contain a password before an @, which is removed.
  if (url === null) return text.replace(/\/\/[^/?#]*@/, '//').slice(0, longest);
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href.slice(0, longest);
}

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
