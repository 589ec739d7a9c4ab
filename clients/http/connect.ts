/**
 * Makes all connections of the outbound HTTP client, including those to literal addresses. It connects to the checked
 * address instead of the name, which could resolve to another address a moment later (DNS rebinding). Do not cache DNS
 * results here: each new connection must use the name's current addresses.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { isEgressAllowed, isPublicHost, portOf } from '../../models/rules/base/address.ts';
import { defined } from '../../models/rules/base/defined.ts';

/** Resolves a name to all of its addresses: `dns.lookup` with `all`. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The host is, or resolves to, a non-public address. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';

  constructor(host: string, address: string) {
    super(`${host} is or resolves to ${address}, which is not a public address`);
  }
}

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether a resolved address is public unicast. In a network without IPv4, DNS maps each IPv4 host to a NAT64 address
 * (RFC 6147); then the embedded IPv4 address is checked.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) !== 6) return isIP(text) === 4 && isPublicHost(text);
  if (!ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  return isPublicHost(address.match(nat64) ? address.toByteArray().slice(12).join('.') : `[${text}]`);
}

/**
 * A `lookup` function for sockets. It queries DNS once for each connection, and gives the socket only checked addresses
 * or an error.
 */
export function checkedLookup(lookup: Lookup, accept: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // A name with both private and public addresses is refused entirely, because it is probably an attack.
      const refused = addresses.find(({ address }) => !accept(address));
      if (refused) return callback(new BlockedAddress(hostname, refused.address), []);
      const [first] = addresses;
      if (!first) return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), []);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

export type ConnectOptions = {
  egressAllow: readonly string[];
  lookup: Lookup;
  timeoutMs: number;
  /** CA certificates in PEM, trusted in place of the default ones. */
  ca: string | undefined;
  /** Skips the checks of addresses, for an address that the operator configured. */
  anywhere?: boolean;
};

/** The connector for undici's dispatchers, limited to HTTP/1.1. */
export function createConnector(options: ConnectOptions): buildConnector.connector {
  const { egressAllow, lookup, timeoutMs, ca, anywhere = false } = options;
  const connectorFor = (accept: (address: string) => boolean): buildConnector.connector =>
    buildConnector({
      allowH2: false,
      timeout: timeoutMs,
      autoSelectFamily: true,
      lookup: checkedLookup(lookup, accept),
      ...defined({ ca }),
    });
  const connectPublic = connectorFor(isPublicAddress);
  const connectAllowed = connectorFor((address) => isIP(address) !== 0);

  return (to, callback) => {
    // undici passes a literal IPv6 address without its brackets.
    const { hostname } = to;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    if (anywhere || isEgressAllowed(host, portOf(to), egressAllow)) return connectAllowed(to, callback);
    // Sockets skip `lookup` for a literal address, so the address is checked here.
    const open = isPublicHost(host) && (isIP(hostname) === 0 || isPublicAddress(hostname));
    if (open) return connectPublic(to, callback);
    process.nextTick(callback, new BlockedAddress(hostname, hostname), null);
  };
}

/**
 * Opens a connection for a protocol other than HTTP, with the same address checks. @throws BlockedAddress, or the error
 * of the connection
 */
export function openSocket(
  { host, port, anywhere = false }: { host: string; port: number; anywhere?: boolean },
  options: Omit<ConnectOptions, 'ca' | 'anywhere'>,
): Promise<Socket> {
  const connect = createConnector({ ...options, ca: undefined, anywhere });
  return new Promise((resolve, reject) => {
    connect({ hostname: host, protocol: 'smtp:', port: String(port) }, (error, socket) => {
      if (error === null) resolve(socket);
      else if ((error as NodeJS.ErrnoException).code !== 'UND_ERR_CONNECT_TIMEOUT') reject(error);
      else reject(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' }));
    });
  });
}
