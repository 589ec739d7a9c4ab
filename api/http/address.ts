/**
 * The caller's network address, and the part of it that rate limits count per. A proxy's headers are trusted only when
 * that is configured.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The caller's address. Behind a proxy it is the address that the nearest proxy names, if that is valid; some proxies
 * add the port.
 */
export function addressOf(request: IncomingMessage, trustProxy: boolean): string {
  const forwarded = trustProxy ? request.headers['x-forwarded-for'] : undefined;
  const nearest = String(forwarded ?? '')
    .split(',')
    .at(-1)!
    .trim()
    .replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, '$1$3');
  return isIP(nearest) ? nearest : (request.socket.remoteAddress ?? '');
}

/**
 * The first bytes of an IPv6 address identify its network. A host can use any address within its network (RFC 4291,
 * 2.5.4).
 */
const networkBytes = 8;

/**
 * The part of an address that identifies one subscriber: an IPv4 address, or the /64 network of an IPv6 address. Text
 * that is no address is returned unchanged.
 */
export function networkOf(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const network = parsed.toByteArray().fill(0, networkBytes);
  return `${ipaddr.fromByteArray(network).toString()}/64`;
}
