/**
 * Makes all connections of the outbound HTTP client, including those to literal addresses. It connects to the checked
 * address instead of the name, which could resolve to another address a moment later (DNS rebinding). Do not cache DNS
 * results here: each new connection must use the name's current addresses.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
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
 * Whether a resolved address is public unicast, according to both ipaddr.js and `isPublicHost`. In a network without
 * IPv4, DNS maps each IPv4 host to a NAT64 address (RFC 6147); then the embedded IPv4 address is checked.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && isPublicHost(address.toString());
  if (address.match(nat64)) return isPublicAddress(address.toByteArray().slice(12).join('.'));
  return address.range() === 'unicast' && isPublicHost(`[${address.toNormalizedString()}]`);
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
};

/** The connector for undici's dispatchers, limited to HTTP/1.1. */
export function createConnector({ egressAllow, lookup, timeoutMs, ca }: ConnectOptions): buildConnector.connector {
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

  return (options, callback) => {
    // undici passes a literal IPv6 address without its brackets.
    const { hostname } = options;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    if (isEgressAllowed(host, portOf(options), egressAllow)) return connectAllowed(options, callback);
    // Sockets skip `lookup` for a literal address, so the address is checked here.
    const open = isPublicHost(host) && (isIP(hostname) === 0 || isPublicAddress(hostname));
    if (open) return connectPublic(options, callback);
    process.nextTick(callback, new BlockedAddress(hostname, hostname), null);
  };
}

/**
 * Opens a connection for a protocol other than HTTP, with the same address checks. `anywhere`: skips the checks, for an
 * address that the operator configured. @throws BlockedAddress, or the error of the connection
 */
export function openSocket(
  { host, port, anywhere = false }: { host: string; port: number; anywhere?: boolean },
  { egressAllow, lookup, timeoutMs }: Omit<ConnectOptions, 'ca'>,
): Promise<Socket> {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  const allowed = anywhere || isEgressAllowed(bracketed, port, egressAllow);
  const open = allowed || (isPublicHost(bracketed) && (isIP(host) === 0 || isPublicAddress(host)));
  if (!open) return Promise.reject(new BlockedAddress(host, host));
  const accept = allowed ? (address: string) => isIP(address) !== 0 : isPublicAddress;
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: checkedLookup(lookup, accept), autoSelectFamily: true });
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(timeoutMs, () =>
      fail(Object.assign(new Error('connecting took too long'), { code: 'ETIMEDOUT' })),
    );
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
