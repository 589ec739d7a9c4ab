/**
 * The only door to the network for outbound HTTP: every connection passes here, literal addresses too, and is made to an
 * address that was checked, not to a name that could mean something else a moment later. It must not remember answers.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { isEgressAllowed, isPublicHost, portOf } from '../../models/rules/base/address.ts';

/** Resolves a name to all its addresses: `dns.lookup` with `all`. */
export type Lookup = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** A host that is, or has among its addresses, one that is not public. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';

  constructor(host: string, address: string) {
    super(`${host} is or resolves to ${address}, which is not a public address`);
  }
}

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Whether an address that a name resolved to is public unicast. Two tables have to agree, ipaddr.js's and ours. In a
 * network without IPv4, DNS gives every IPv4 host a NAT64 address (RFC 6147): there the IPv4 address inside counts.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast' && isPublicHost(address.toString());
  if (address.match(nat64)) return isPublicAddress(address.toByteArray().slice(12).join('.'));
  return address.range() === 'unicast' && isPublicHost(`[${address.toNormalizedString()}]`);
}

/** A `lookup` for sockets: one question per connection; the socket gets the addresses that were checked, or an error. */
export function checkedLookup(lookup: Lookup, accept: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      // One private address among public ones is refused as a whole: no honest name has both.
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
    // undici takes the brackets off literal IPv6 addresses.
    const { hostname } = options;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    if (isEgressAllowed(host, portOf(options), egressAllow)) return connectAllowed(options, callback);
    // A socket never looks a literal address up, so this is the only check it meets.
    const open = isPublicHost(host) && (isIP(hostname) === 0 || isPublicAddress(hostname));
    if (open) return connectPublic(options, callback);
    process.nextTick(callback, new BlockedAddress(hostname, hostname), null);
  };
}
