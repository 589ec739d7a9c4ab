/**
 * Makes every connection of the outbound HTTP client, also those to literal addresses. It connects to the address that it has
 * checked, not to the name, which could resolve to another address a moment later. It must not cache answers of DNS.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { isEgressAllowed, isPublicHost, portOf } from '../../models/rules/base/address.ts';

/** Resolves a name to all its addresses: `dns.lookup` with `all`. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The host is, or resolves to, an address that is not public. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';

  constructor(host: string, address: string) {
    super(`${host} is or resolves to ${address}, which is not a public address`);
  }
}

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an address that a name resolved to is public unicast, both by the table of ipaddr.js and by ours. In a network
 * without IPv4, DNS gives every IPv4 host a NAT64 address (RFC 6147); the IPv4 address inside it is checked then.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && isPublicHost(address.toString());
  if (address.match(nat64)) return isPublicAddress(address.toByteArray().slice(12).join('.'));
  return address.range() === 'unicast' && isPublicHost(`[${address.toNormalizedString()}]`);
}

/** A `lookup` for sockets. It asks DNS once per connection and gives the socket the checked addresses, or an error. */
export function checkedLookup(lookup: Lookup, accept: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // A name with both private and public addresses is refused as a whole, because it is probably an attack.
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
  /** Certificates trusted instead of the usual ones, in PEM. */
  ca: string | undefined;
};

/** The connector for undici's dispatchers. HTTP/1.1 only. */
export function createConnector({ egressAllow, lookup, timeoutMs, ca }: ConnectOptions): buildConnector.connector {
  const connectorFor = (accept: (address: string) => boolean): buildConnector.connector =>
    buildConnector({
      allowH2: false,
      timeout: timeoutMs,
      autoSelectFamily: true,
      lookup: checkedLookup(lookup, accept),
      ...(ca === undefined ? {} : { ca }),
    });
  const connectPublic = connectorFor(isPublicAddress);
  const connectAllowed = connectorFor((address) => isIP(address) !== 0);

  return (options, callback) => {
    // undici removes the brackets of literal IPv6 addresses.
    const { hostname } = options;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    if (isEgressAllowed(host, portOf(options), egressAllow)) return connectAllowed(options, callback);
    // A socket does not look up a literal address, so this is its only check.
    const open = isPublicHost(host) && (isIP(hostname) === 0 || isPublicAddress(hostname));
    if (open) return connectPublic(options, callback);
    process.nextTick(callback, new BlockedAddress(hostname, hostname), null);
  };
}

/**
 * Opens a connection for a protocol other than HTTP, under the same rules; `anywhere` for an address that the operator
 * configured. @throws BlockedAddress, or what the connection failed with.
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
