/**
 * Which hosts outbound requests may reach: public ones, and those that an operator allows in EGRESS_ALLOW. Pure: this
 * file judges host names and literal addresses in the URL parser's form. When a connection is made,
 * clients/http/connect.ts judges the addresses that the name resolves to by the same rules.
 */

/**
 * Whether a host name in the URL parser's form could be public. The parser has already turned `0x7f.1` and `2130706433`
 * into dotted form. The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors).
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  if (host.startsWith('[')) return isPublicIpv6(host.slice(1, -1));
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPublicIpv4(host.split('.').map(Number));
  // A name without a dot, or with one of these endings, resolves only inside a private network.
  return host.includes('.') && !/(^|\.)(localhost|local|internal|home\.arpa|localdomain)$/.test(host);
}

const specialIpv4: readonly [number[], number][] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 31, 196, 0], 24],
  [[192, 52, 193, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[192, 175, 48, 0], 24],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3],
];

const toNumber = (octets: readonly number[]) => octets.reduce((sum, octet) => sum * 256 + octet, 0);

function isPublicIpv4(octets: readonly number[]): boolean {
  const address = toNumber(octets);
  return !specialIpv4.some(
    ([base, bits]) => Math.floor(address / 2 ** (32 - bits)) === Math.floor(toNumber(base) / 2 ** (32 - bits)),
  );
}

/**
 * Only 2000::/3 is global unicast. Inside it, Teredo, documentation and 6to4 ranges are refused, because they carry or
 * hide another address. IPv4-mapped and NAT64 addresses lie outside 2000::/3 and are always refused: no honest URL
 * contains them.
 */
function isPublicIpv6(address: string): boolean {
  const [first = 0, second = 0, third = 0] = address
    .split('::')[0]!
    .split(':')
    .map((group) => Number.parseInt(group || '0', 16));
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2002 || first === 0x3fff) return false;
  if (first === 0x2620 && second === 0x4f && third === 0x8000) return false;
  return !(first === 0x2001 && (second < 0x200 || second === 0x0db8));
}

/** One entry of EGRESS_ALLOW: a host, with one port or (undefined) with every port. */
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
