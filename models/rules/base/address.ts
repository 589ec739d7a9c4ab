/**
 * Which hosts outbound requests may reach: public hosts, and hosts that an operator allows in EGRESS_ALLOW. Pure: this
 * file judges host names and literal addresses in the URL parser's form. When a connection is made,
 * clients/http/connect.ts judges the addresses that the name resolves to by the same rules.
 */
import ipaddr from 'ipaddr.js';

/**
 * Whether a host name in the URL parser's form could be public. The parser has already turned `0x7f.1` and `2130706433`
 * into dotted form. ipaddr.js knows the ranges of the IANA special-purpose registries (RFC 6890 and its successors).
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  if (host.startsWith('[')) return isPublicIpv6(host.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host))
    return ipaddr.IPv4.isValidFourPartDecimal(host) && ipaddr.IPv4.parse(host).range() === 'unicast';
  // A name without a dot, or with one of these endings, resolves only inside a private network.
  return host.includes('.') && !/(^|\.)(localhost|local|internal|home\.arpa|localdomain)$/.test(host);
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** The block 3fff::/16. It contains 3fff::/20, which is reserved for examples in documentation. */
const documentation = ipaddr.IPv6.parseCIDR('3fff::/16');

/**
 * Whether an IPv6 address could be public. Only 2000::/3 is global unicast. IPv4-mapped and NAT64 addresses lie outside
 * 2000::/3 and are always refused: no honest URL contains them. Teredo and 6to4 addresses contain an IPv4 address;
 * ipaddr.js does not count them as unicast, so they are refused, too.
 */
function isPublicIpv6(text: string): boolean {
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  return address.range() === 'unicast' && address.match(globalUnicast) && !address.match(documentation);
}

/** One entry of EGRESS_ALLOW: a host with one port, or with every port when `port` is undefined. */
export type EgressEntry = { hostname: string; port: number | undefined };

/**
 * Parses `intranet.example`, `10.0.0.7:8080`, `[::1]:9000` or `::1`; undefined for anything else. Ranges and wildcards
 * are refused, because they would open more than the one service that was meant.
 */
export function readEgressEntry(text: string): EgressEntry | undefined {
  const bareIpv6 = /^[0-9a-f.]*:[0-9a-f.]*:[0-9a-f:.]*$/i.test(text);
  const parts = /^(\[[^\]]+\]|[^:/?#@\\\s*%[\]]+)(?::(\d{1,5}))?$/.exec(bareIpv6 ? `[${text}]` : text);
  const host = parts?.[1];
  if (host === undefined || !URL.canParse(`http://${host}/`)) return undefined;
  const port = parts?.[2] === undefined ? undefined : Number(parts[2]);
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined;
  return { hostname: plainHost(new URL(`http://${host}/`).hostname), port };
}

/** The form in which hosts are compared: lower case, without IPv6 brackets or a trailing dot. */
function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^\[|\]$/g, '');
}

/**
 * Whether an operator allowed this host on this port. Only the host as written in the URL counts: another name that
 * resolves to an allowed address is still refused.
 */
export function isEgressAllowed(hostname: string, port: number, egressAllow: readonly string[]): boolean {
  const wanted = plainHost(hostname);
  return egressAllow.some((text) => {
    const entry = readEgressEntry(text);
    return entry?.hostname === wanted && (entry.port ?? port) === port;
  });
}

/** The port of a URL, explicit or the scheme's default. */
export function portOf(url: Pick<URL, 'port' | 'protocol'>): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** `host:port`, with brackets around a literal IPv6 address. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
